#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# format.sh [TREE]: every C file stands as .clang-format says.
# shellcheck source=tools/lint/lib.sh
. "$(dirname "$0")/lib.sh"
for file in $(files '\.[ch]$'); do
	check "$file" "$(clang-format --dry-run -Werror --style="file:$house/.clang-format" "$file" 2>&1)"
done
finish
