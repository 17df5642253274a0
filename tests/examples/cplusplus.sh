#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# cplusplus.sh: a host in C++ compiles without a warning in each language standard and links with
# both libraries. A program may use every name that the static library uses internally. Needs B,
# the build folder.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../lib.sh"
here=$ROOT/tests/examples
told=$(sed -nE '/^ \* Prints:$/,/^ \*\//s/^ \*\t//p' "$here/host.cc")

# build_and_run NAME LIBRARY COMMAND...
build_and_run() {
	local name=$1 library=$2
	shift 2
	expect "$name" "$@" -Wall -Wextra -pedantic -Werror -I"$ROOT/include" "$here/host.cc" "$library" \
		-Wl,-rpath,"$B" -o "$SCRATCH/host"
	same "$name: output" "$told" "$("$SCRATCH/host" 2>&1)"
	rm -f "$SCRATCH/host"
}

for compiler in g++ clang++; do
	for library in libsoftpmu.a libsoftpmu.so; do
		build_and_run "$compiler, $library" "$B/$library" "$compiler" -std=c++17
	done
	for standard in c++11 c++14 c++20; do
		build_and_run "$compiler, $standard" "$B/libsoftpmu.a" "$compiler" -std="$standard"
	done
done

# What the library's files call each other by, each as a function of the program.
nm -g --defined-only "$B/lib/objects.a" 2>/dev/null | awk 'NF == 3 && $3 !~ /^spmu_/ { print $3 }' | sort -u >"$SCRATCH/names"
same "the library has names of its own" yes "$([[ $(grep -c . "$SCRATCH/names") -gt 50 ]] && echo yes)"
sed 's/.*/int &(void);\nint &(void)\n{\n\treturn 1;\n}/' "$SCRATCH/names" >"$SCRATCH/names.c"
expect "a program with the same names" gcc -ffreestanding -c "$SCRATCH/names.c" -o "$SCRATCH/names.o"
expect "it links with the static library" g++ -std=c++17 -I"$ROOT/include" "$here/host.cc" \
	"$SCRATCH/names.o" -Wl,--whole-archive "$B/libsoftpmu.a" -Wl,--no-whole-archive -o "$SCRATCH/host"
same "and runs" "$told" "$("$SCRATCH/host" 2>&1)"
for library in "-D $B/libsoftpmu.so" "$B/libsoftpmu.a"; do
	# shellcheck disable=SC2086 # the option is a word of its own
	same "global names of $(basename "${library#-D }")" "" \
		"$(nm -g --defined-only $library | awk 'NF == 3 && $2 != "A" { print $3 }' | grep -v '^spmu_')"
done
finish
