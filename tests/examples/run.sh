#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# run.sh: each public header names an example that includes it, and each example, compiled as
# strict C11 against the installed headers and library, prints what its header comment says.
# Needs B, the build folder.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
passed=0 failed=0

# expect NAME COMMAND...
expect() {
	local name=$1
	shift
	if "$@" >"$stage/said" 2>&1; then
		((++passed))
	else
		((++failed))
		echo "FAILED: $name:"
		cat "$stage/said"
	fi
}

expect "make install" env -u MAKEFLAGS -u MFLAGS make -s -C "$top" B="$B" PREFIX=/usr/local \
	DESTDIR="$stage" install
root=$stage/usr/local

for header in "$root"/include/softpmu/*.h; do
	name=$(basename "$header")
	example=$(grep -oE 'examples/[a-z]+\.c' "$header" | head -n 1)
	expect "$name names an example" test -n "$example" -a -f "$top/$example"
	expect "$name: $example includes it" grep -q "^#include <softpmu/$name>" "$top/$example"
done

for source in "$top"/examples/*.c; do
	name=$(basename "$source" .c)
	expect "$name is compiled" "${CC:-gcc}" -std=c11 -pedantic -Wall -Wextra -Wshadow -Werror -O1 \
		-I"$root/include" "$source" "$root/lib/libsoftpmu.a" -o "$stage/$name"
	sed -nE '/^ \* Prints:$/,/^ \*\//s/^ \*\t//p' "$source" >"$stage/$name.told"
	expect "$name says what it prints" test -s "$stage/$name.told"
	"$stage/$name" >"$stage/$name.printed" 2>&1
	expect "$name: status" test $? -eq 0
	expect "$name: output" diff -u "$stage/$name.told" "$stage/$name.printed"
done
echo "$passed passed, $failed failed"
((failed == 0))
