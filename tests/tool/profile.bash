# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# profile.bash: what the tests of report and annotate share: a program that writes a perf.data from a
# description (make_perfdata.c), and files whose addresses the samples can have (hot.S).
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
export HOME=$SCRATCH # perf keeps a cache there

"$CC" -std=gnu11 -O1 -Wall -Wextra -Werror -I"$ROOT" -I"$ROOT/include" -o "$SCRATCH/make_perfdata" \
	"$ROOT/tests/tool/make_perfdata.c" "$ROOT"/src/perfdata/*.c -ldw -lelf -lzstd ||
	stop "build of make_perfdata" "$CC failed"

# build_hot FILE FLAGS...
build_hot() {
	local to=$1
	shift
	(cd "$ROOT/tests/tool" && "$CC" -g -nostdlib -Wl,--build-id=sha1 -Wl,-e,hot "$@" -o "$to" hot.S) ||
		stop "build of hot" "$CC failed"
}
build_hot "$SCRATCH/hot" -static -no-pie

# address FILE SYMBOL: prints the address in decimal.
address() {
	echo $((0x$(nm "$1" | awk -v name="$2" '$3 == name { print $1 }')))
}

build_id() {
	readelf -n "$1" | sed -n 's/.*Build ID: //p'
}

# text FILE: prints file offset, address and size of the segment with code, in decimal.
text() {
	readelf -lW "$1" | awk '$1 == "LOAD" && $0 ~ /R E/ { print $2, $3, $5 }' | while read -r a b c; do
		echo $((a)) $((b)) $((c))
	done
}

# map PID TIME FILE BIAS: prints a line for make_perfdata that maps the code of FILE at its address plus BIAS.
map() {
	local offset address size
	read -r offset address size < <(text "$3")
	echo "mmap $1 $2 $((address + $4)) $((size + 4096 & ~4095)) $offset $(build_id "$3") $3"
}

# samples COUNT EVENT PID TIME PERIOD IP: prints COUNT equal lines for make_perfdata.
samples() {
	local i
	for ((i = 0; i < $1; i++)); do
		echo "sample $2 $3 $3 $(($4 + i)) $5 $6"
	done
}

make_perfdata() {
	"$SCRATCH/make_perfdata" "$1" || stop "make_perfdata" "$1 cannot be written"
}
