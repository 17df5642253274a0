#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# run.sh: runs the test cases of each statement (README.md) and checks that
# docs/reference/conformance.md shows their results.  Wrong lists must be refused.
set -u
passed=0 failed=0
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT

check() { # check NAME STATUS
	if (($2 == 0)); then
		passed=$((passed + 1))
	else
		echo "failed: $1"
		failed=$((failed + 1))
	fi
}

conformance() { python3 tools/docs/conformance.py "$B" "$made/page.md" "$@"; }

conformance tests/conformance/*.list >"$made/counts" 2>"$made/errors"
check "every statement's test cases" $?
cat "$made/errors"
diff -u docs/reference/conformance.md "$made/page.md" | head -n 20
check "docs/reference/conformance.md is up to date (make docs)" "${PIPESTATUS[0]}"
# Each statement with a test is a check of its own.
passed=$((passed + $(awk '/^(done|partial|differs):/ {sum += $2} END {print sum + 0}' "$made/counts")))

# refused NAME TEXT: a list with this text must be refused.
refused() {
	printf '%b' "$2" >"$made/$1.list"
	! conformance "$made/$1.list" >"$made/$1.log" 2>&1
	check "$1 is refused" $?
}

head='section 18.2 Title\n'
good='The overflow arms PEBS. | unit/pebs:overflow_arms\n'
conformance <(printf '%b' "$head$good") >"$made/good.log" 2>&1
check "a right list is accepted" $?
refused unknown-case "${head}Text. | unit/pebs:no_such_case\n"
refused unknown-program "${head}Text. | unit/no_such_program\n"
refused unknown-scenario "${head}Text. | scenario/pebs:no such title\n"
refused part-of-name "${head}Text. | unit/pebs:overflow\n"
refused no-case "${head}Text. |\n"
refused no-reason "${head}Text. | | absent\n"
refused unknown-state "${head}Text. | unit/pebs | maybe: a reason\n"
refused absent-with-case "${head}Text. | unit/pebs | absent: a reason\n"
refused no-section "$good"
refused no-statement "$head"
refused empty ''

echo "$passed passed, $failed failed"
((failed == 0 && passed > 0))
