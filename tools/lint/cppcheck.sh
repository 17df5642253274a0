#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# cppcheck.sh [TREE]: cppcheck finds nothing in what is built.  Tests, which it cannot parse where they
# are mostly assembler, have clang-tidy and the sanitizers.  It cannot pass an empty argument through two macros,
# as global.inc does; the compilers can.
# shellcheck source=tools/lint/lib.sh
. "$(dirname "$0")/lib.sh"
list=$(mktemp)
trap 'rm -f "$list"' EXIT
files '^(src|hosts/(user|unicorn)|tools|examples|bench|demo)/.*\.c$' >"$list"
found=$(cppcheck --quiet -j "$(nproc)" --std=c11 --language=c --enable=warning,portability,performance \
	--inline-suppr --suppress=missingInclude --suppress=missingIncludeSystem \
	--suppress=normalCheckLevelMaxBranches --suppress=toomanyconfigs \
	--suppress=preprocessorErrorDirective:data/registers/global.inc \
	-D__x86_64__ -D__GNUC__=12 -D__linux__ -I include -I . -I hosts/user -I "$build/gen" \
	--template='{file}:{line}: {id}: {message}' --file-list="$list" 2>&1)
for file in $(<"$list"); do
	check "$file" "$(grep -F "$file:" <<<"$found")"
done
# What it says of headers and of itself counts too.
check other "$(grep -vFf "$list" <<<"$found" | grep .)"
finish
