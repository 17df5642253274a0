#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# registers.sh [TREE [SOURCE]]: the fields of every register of every model cover 64 bits once.
# SOURCE takes the library's place (tests/lint gives one with a gap).
# shellcheck source=tools/lint/lib.sh
. "$(dirname "$0")/lib.sh"
program=$(mktemp)
trap 'rm -f "$program"' EXIT
"${CC:-gcc}" -std=c11 -Wall -Werror -I"$root/include" "$root/tools/lint/registers.c" \
	"${2:-$build/libsoftpmu.a}" -o "$program" || { fail "cannot be built"; finish; exit; }
"$program"
