# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# player.bash: a softpmu that plays records from a description instead of running a program (player.c):
# $SCRATCH/player, used as SOFTPMU; hot.S to point branches into.
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
mapfile -t objects < <(find "$B/tool" -name '*.o' ! -name engine_image.o)
"$CC" -o "$SCRATCH/player" "${objects[@]}" "$SCRATCH/image.o" "$B/libsoftpmu.a" \
	-lpfm -ldw -lelf -lZydis -lm || stop "build of player" "$CC failed"

# play DESCRIPTION ARGUMENT...: as run; the description stands in a file of that name.
play() {
	local description=$1
	shift
	SOFTPMU=$SCRATCH/player run "$@" -- true "$description"
}

# play_map FILE BIAS: the line that maps the code of FILE at its address plus BIAS.
play_map() {
	local offset address size
	read -r offset address size < <(text "$1")
	echo "map $((address + $2)) $((size + 4095 & ~4095)) $offset $1"
}
