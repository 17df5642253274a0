#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# tidy.sh [TREE]: clang-tidy with the checks of .clang-tidy finds nothing in the C files.
# The decoder's table ($B/gen) must have been made.
# shellcheck source=tools/lint/lib.sh
. "$(dirname "$0")/lib.sh"
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
# Tests read what they wrote themselves, draw random numbers side by side, and write through
# pointers in assembler; one shows what vfork() is for.
tests=--checks=-cert-err34-c,-misc-redundant-expression,-bugprone-suspicious-memory-comparison,-readability-non-const-parameter,-clang-analyzer-security.insecureAPI.vfork,-clang-analyzer-unix.Vfork
export root build results tests

tidy_one() {
	local out=$results/${1//\//-} less='' as=''
	[[ $1 != tests/* ]] || less=$tests
	[[ $1 != hosts/user/engine/* ]] || as=-ffreestanding # the kernel's headers, not the C library's
	# The finding and its line, without the path that leads there.
	clang-tidy --quiet --config-file="$root/.clang-tidy" ${less:+"$less"} "$1" -- -std=gnu11 -D_GNU_SOURCE ${as:+"$as"} \
		-Iinclude -I"$root/include" -I. -Ihosts/user -I"$build/gen" -Wall -Wextra \
		2>&1 | grep -A 2 ' error: ' >"$out"
}
export -f tidy_one
# What is compiled into QEMU needs its headers.
list=$(files '\.c$' | grep -v '^hosts/qemu/glue/')
xargs -r -P "$(nproc)" -I{} bash -c 'tidy_one {}' <<<"$list"
for file in $list; do
	check "$file" "$(cat "$results/${file//\//-}")"
done
finish
