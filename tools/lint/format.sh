#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# format.sh [TREE]: every C file is formatted as .clang-format says, and no line is longer than 100
# columns.  The formatter leaves comments alone, so that their tables and lists keep their lines.
# shellcheck source=tools/lint/lib.sh
. "$(dirname "$0")/lib.sh"
for file in $(files '\.[ch]$'); do
	check "$file" "$(clang-format --dry-run -Werror --style="file:$root/.clang-format" "$file" 2>&1
		expand "$file" | awk '!said && length($0) > 100 {print "line " FNR " is longer than 100 columns"; said = 1}')"
done
finish
