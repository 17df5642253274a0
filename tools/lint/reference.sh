#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# reference.sh [TREE]: the pages of docs/reference are those that `make docs` would write.
# $B/reference must have been made.  tests/conformance/run.sh checks conformance.md.
# shellcheck source=tools/lint/lib.sh
. "$(dirname "$0")/lib.sh"
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
"$build/reference" "$made" || fail "cannot make the pages"
for page in "$made"/*.md docs/reference/*.md; do
	name=$(basename "$page")
	[[ $name == conformance.md ]] && continue
	check "docs/reference/$name" "$(diff -u "docs/reference/$name" "$made/$name" 2>&1 | head -n 20)"
done
finish
