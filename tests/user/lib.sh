# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shellcheck disable=SC2034
# lib.sh: what the scripts of tests/user and tests/programs share.  A script sources it, calls
# pass, fail or one of the checks below, and ends with finish.
#
# SOFTPMU is the tool under test, B the build folder, CC the compiler.  What a check cannot do on
# this machine is not_run: it is reported, and counts neither as passed nor as failed.
set -u
export LC_ALL=C
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
B=${B:-$ROOT/build}
SOFTPMU=${SOFTPMU:-$B/softpmu}
CC=${CC:-gcc}
ASSEMBLER=${ASSEMBLER:-gcc} # the assembly programs are in the dialect of GNU as
LIMIT=${LIMIT:-120} # seconds for one program

passed=0 failed=0 skipped=0
status=0 # of the last run
SCRATCH=$(mktemp -d "${TMPDIR:-/tmp}/softpmu-test.XXXXXX")
trap 'rm -rf "$SCRATCH"' EXIT
BUILT=$B/tests/programs-built/$(basename "$0" .sh)
export BUILT
mkdir -p "$BUILT"

pass() {
	passed=$((passed + 1))
	[[ -z ${VERBOSE:-} ]] || echo "ok: $1"
}

# fail NAME [DETAIL]
fail() {
	failed=$((failed + 1))
	echo "FAILED: $1${2:+: $2}"
}

not_run() {
	skipped=$((skipped + 1))
	echo "not run: $1: $2"
}

# same NAME EXPECTED ACTUAL
same() {
	if [[ $2 == "$3" ]]; then
		pass "$1"
	else
		fail "$1" "expected '$2', got '$3'"
	fi
}

# same_file NAME EXPECTED ACTUAL
same_file() {
	if cmp -s "$2" "$3"; then
		pass "$1"
	else
		fail "$1" "$(cmp "$2" "$3" 2>&1 | head -n 1)"
	fi
}

finish() {
	((skipped == 0)) || echo "$skipped not run on this machine"
	echo "$passed passed, $failed failed"
	((failed == 0 && passed > 0))
	exit
}

# stop NAME DETAIL: nothing further makes sense.
stop() {
	fail "$@"
	finish
}

[[ -x $SOFTPMU ]] || stop "the tool" "there is no $SOFTPMU"

# compile NAME FLAGS...: build tests/user/NAME.c into $BUILT/NAME.
compile() {
	local name=$1
	shift
	"$CC" -std=gnu11 -O2 -g -Wall -Wextra -Werror -I"$ROOT/include" -I"$ROOT/tests/user" \
		-o "$BUILT/$name" "$ROOT/tests/user/$name.c" "$@" ||
		stop "build of $name" "$CC failed"
}

# run OUTPUT-PREFIX COMMAND...: streams to PREFIX.out and PREFIX.err, exit status in $status.
# A command that hangs is killed and has status 137.
run() {
	local to=$1
	shift
	timeout -s KILL "$LIMIT" "$@" >"$to.out" 2>"$to.err"
	status=$?
}

# count_of FILE N: the counter value of the N-th event of a `stat -j` output, or what it says
# instead of a number.
count_of() {
	sed -n 's/.*"counter-value" *: *"\{0,1\}\([^",}]*\)"\{0,1\}.*/\1/p' "$1" |
		sed -n "$2"'{s/\.0*$//;p;}'
}

has_feature() {
	grep -qw "$1" <(sed -n '/^flags/{p;q;}' /proc/cpuinfo)
}

have() {
	command -v "$1" >/dev/null
}
