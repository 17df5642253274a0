# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# player.bash: makes $SCRATCH/player, a softpmu that plays records from a description instead of running a
# program (player.c), to be used as SOFTPMU.  hot.S is a file whose addresses the branches can have.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/profile.bash"

"$CC" -std=gnu11 -O2 -Wall -Wextra -Werror -static -I"$ROOT" -I"$ROOT/include" -o "$SCRATCH/player.elf" \
	"$ROOT/tests/tool/player.c" || stop "build of player" "$CC failed"
cat >"$SCRATCH/image.s" <<END
.section .rodata
.balign 16
.global engine_image, engine_image_end, engine_image_sum
engine_image_sum: .quad 1
engine_image: .incbin "$SCRATCH/player.elf"
engine_image_end:
.section .note.GNU-stack,"",@progbits
END
"$CC" -c -o "$SCRATCH/image.o" "$SCRATCH/image.s" || stop "build of player" "$CC failed"
# Only the objects of today's sources, because an old build folder can have others.
mapfile -t objects < <(cd "$ROOT" && printf "$B/tool/%s\n" tools/softpmu/{,*/}*.c {src/perfdata,hosts/user}/*.c \
	hosts/user/{decode/decode,perf_event/perf_caches}.c |
	sed 's/c$/o/')
objects+=("$B/tool/vm_scripts.o" "$B/tool/html_parts.o" "$B/tool/delayed_names.o")
"$CC" -o "$SCRATCH/player" "${objects[@]}" "$SCRATCH/image.o" "$B/libsoftpmu.a" \
	-lpfm -ldw -lelf -lzstd -lZydis -liberty -lm || stop "build of player" "$CC failed"

# play DESCRIPTION ARGUMENT...: like run; the description is the file of that name.
play() {
	local description=$1
	shift
	SOFTPMU=$SCRATCH/player run "$@" -- true "$description"
}

# play_map FILE BIAS: prints the line that maps the code of FILE at its address plus BIAS.
play_map() {
	local offset address size
	read -r offset address size < <(text "$1")
	echo "map $((address + $2)) $((size + 4095 & ~4095)) $offset $1"
}
