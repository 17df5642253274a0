#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# tidy.sh [TREE]: clang-tidy with the checks of .clang-tidy finds nothing in the C files.
# The decoder's table ($B/gen) must have been made.
# shellcheck source=tools/lint/lib.sh
. "$(dirname "$0")/lib.sh"
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
export house build results

tidy_one() {
	local out=$results/${1//\//-}
	clang-tidy --quiet --config-file="$house/.clang-tidy" "$1" -- -std=gnu11 -D_GNU_SOURCE \
		-Iinclude -I"$house/include" -I. -I"$build/gen" -Wall -Wextra \
		>"$out" 2>"$out.stderr" && : >"$out"
	[[ -s $out ]] || grep -E ' error: ' "$out.stderr" >>"$out"
	rm -f "$out.stderr"
}
export -f tidy_one
list=$(files '\.c$')
xargs -r -P "$(nproc)" -I{} bash -c 'tidy_one {}' <<<"$list"
for file in $list; do
	check "$file" "$(cat "$results/${file//\//-}")"
done
finish
