#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# run.sh: the examples of the public headers. Needs B, the build folder.
#
# Each public header names an example that includes it. Each example is compiled as strict C11
# against the installed headers and library. It prints what its header comment says.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../lib.sh"

expect "make install" env -u MAKEFLAGS -u MFLAGS make -s -C "$ROOT" B="$B" PREFIX=/usr/local \
	DESTDIR="$SCRATCH" install
root=$SCRATCH/usr/local

for header in "$root"/include/softpmu/*.h; do
	name=$(basename "$header")
	example=$(grep -oE 'examples/[a-z]+\.c' "$header" | head -n 1)
	expect "$name names an example" test -n "$example" -a -f "$ROOT/$example"
	expect "$name: $example includes it" grep -q "^#include <softpmu/$name>" "$ROOT/$example"
done

for source in "$ROOT"/examples/*.c; do
	name=$(basename "$source" .c)
	expect "$name is compiled" "$CC" -std=c11 -pedantic -Wall -Wextra -Wshadow -Werror -O1 \
		-I"$root/include" "$source" "$root/lib/libsoftpmu.a" -o "$SCRATCH/$name"
	sed -nE '/^ \* Prints:$/,/^ \*\//s/^ \*\t//p' "$source" >"$SCRATCH/$name.told"
	expect "$name says what it prints" test -s "$SCRATCH/$name.told"
	"$SCRATCH/$name" >"$SCRATCH/$name.printed" 2>&1
	expect "$name: status" test $? -eq 0
	expect "$name: output" diff -u "$SCRATCH/$name.told" "$SCRATCH/$name.printed"
done
finish
