#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# headers.sh [TREE]: each public header compiles alone, in strict C11 and in C++11 and later. No
# name is both a structure's and a function's, because C++ would then need `struct` before it.
# shellcheck source=tools/lint/lib.sh
. "$(dirname "$0")/lib.sh"

# compiles HEADER COMPILER STANDARD LANGUAGE: says what is wrong with a file that includes the header alone.
compiles() {
	printf '#include "%s"\n' "$PWD/$1" |
		"$2" -std="$3" -pedantic -Wall -Wextra -Werror -fsyntax-only -Iinclude -x "$4" - 2>&1
}

# Names of structures that are also followed by a parenthesis, as functions are.
both_names() {
	comm -12 <(grep -hoE '^struct [a-z_0-9]+ \{' "$@" | awk '{ print $2 }' | sort -u) \
		<(grep -hoE '\bspmu_[a-z_0-9]+\(' "$@" | tr -d '(' | sort -u)
}

check names "$(both_names include/softpmu/*.h | sed 's/$/ is a structure and a function/')"
for file in $(files '^include/softpmu/.*\.h$'); do
	check "$file" "$(compiles "$file" gcc c11 c)"
	for standard in c++11 c++20; do
		for compiler in g++ clang++; do
			check "$file in $standard" "$(compiles "$file" "$compiler" "$standard" c++)"
		done
	done
done
finish
