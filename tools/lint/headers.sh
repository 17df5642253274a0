#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# headers.sh [TREE]: each public header stands alone, in strict C11 and in C++.
# shellcheck source=tools/lint/lib.sh
. "$(dirname "$0")/lib.sh"
for file in $(files '^include/softpmu/.*\.h$'); do
	check "$file" "$(gcc -std=c11 -pedantic -Wall -Wextra -Werror -fsyntax-only -Iinclude -x c "$file" 2>&1)"
	check "$file in C++" "$(clang -std=c++17 -Wall -Werror -Wno-pragma-once-outside-header -fsyntax-only -Iinclude -x c++ "$file" 2>&1)"
done
finish
