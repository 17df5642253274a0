# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# lib.sh: what the checkers share.  A checker takes the tree to look at as its first argument
# (the project itself without one), says what is wrong, and counts.
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck disable=SC2034 # used by the checkers
build=$(realpath -m "${B:-$root/build}")
cd "${1:-$root}" || exit 2
passed=0 failed=0

# The project's files whose names match the extended regular expression.
files() {
	if [[ -e .git ]]; then
		git ls-files -co --exclude-standard
	else
		find . -type f -printf '%P\n'
	fi | grep -E "$1" | sort -u | while read -r file; do
		[[ -e $file ]] && echo "$file"
	done
}

sources() {
	files '\.(c|h|S|inc|sh|py|bash|js|css)$|^\.ci/run$|^tools/fuzz/|^tests/fuzz/'
}

# pass; fail MESSAGE...
pass() {
	((++passed))
}
fail() {
	((++failed))
	printf '%s\n' "$@"
}

# check NAME TEXT: passes when TEXT, what a checker had to say of NAME, is empty.
check() {
	if [[ -z $2 ]]; then pass; else fail "$1:" "$2"; fi
}

finish() {
	echo "$passed passed, $failed failed"
	((failed == 0 && passed > 0))
}
