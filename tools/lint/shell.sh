#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# shell.sh [TREE]: shellcheck finds nothing in the scripts.
# shellcheck source=tools/lint/lib.sh
. "$(dirname "$0")/lib.sh"
for file in $(files '\.sh$|\.bash$|^\.ci/run$'); do
	check "$file" "$(shellcheck --severity=warning --external-sources --source-path="$root" --exclude=SC1090,SC1091 "$file" 2>&1)"
done
finish
