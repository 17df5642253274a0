#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# script.sh [TREE]: Node.js accepts the scripts of the HTML report, and their lines are at most 120 characters long.
# shellcheck source=tools/lint/lib.sh
. "$(dirname "$0")/lib.sh"
for file in $(files '\.js$'); do
	check "$file" "$(node --check "$file" 2>&1)"
	check "$file" "$(grep -nE '^.{121}' "$file")"
done
finish
