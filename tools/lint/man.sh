#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# man.sh [TREE]: mandoc has no warning about the manual pages.
# shellcheck source=tools/lint/lib.sh
. "$(dirname "$0")/lib.sh"
for file in $(files '^docs/man/.*\.[1-8]$'); do
	check "$file" "$(mandoc -T lint -W warning "$file" 2>&1)"
done
finish
