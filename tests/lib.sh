# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shellcheck disable=SC2034
# lib.sh: shared parts of the test scripts: counting, comparing, a scratch folder, the last line. A script
# calls pass, fail or one of the checks below, and ends with finish.
#
# SOFTPMU is the tool under test, B the build folder, CC the compiler. A check that is impossible on
# this machine calls not_run: the summary reports it, and it counts neither as passed nor as failed.
set -u
export LC_ALL=C
# No personal settings of the tools that tests use, and no servers that they would ask for symbols.
export PERF_CONFIG=/dev/null
unset DEBUGINFOD_URLS PERF_BUILDID_DIR PERF_PAGER CDPATH BASH_ENV ENV POSIXLY_CORRECT GREP_OPTIONS GREP_COLORS GREP_COLOR
umask 022
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
B=${B:-$ROOT/build}
SOFTPMU=${SOFTPMU:-$B/softpmu}
CC=${CC:-gcc}
# Sources and builds are in the usual cache. Tests have their own persistent code cache: later tests use what earlier
# ones have translated, as a user's runs do.
export SOFTPMU_CACHE=${SOFTPMU_CACHE:-${XDG_CACHE_HOME:-${HOME:-}/.cache}/softpmu}
export XDG_CACHE_HOME=$B/tests/cache
mkdir -p "$XDG_CACHE_HOME"

# Options for a guest's kernel on a loaded machine. They switch off its tests of the timer and of
# the time-stamp counter, and its complaints about a processor that makes no progress. After a
# failed test of the counter, programs seem to take no time, and perf shows them as not counted.
SLOW_MACHINE="no_timer_check tsc=reliable nosoftlockup rcupdate.rcu_cpu_stall_suppress=1"

passed=0 failed=0 skipped=0
status=0 # of the last run
# The scratch folder's name is one word in descriptions and scripts that tests write.
TMPDIR=${TMPDIR:-/tmp}
[[ $TMPDIR != *[[:space:]]* ]] || TMPDIR=/tmp
SCRATCH=$(mktemp -d "$TMPDIR/softpmu-test.XXXXXX")
trap 'rm -rf "$SCRATCH"' EXIT

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

# expect NAME COMMAND...: the command succeeds. If it does not, its output is shown.
expect() {
	local name=$1
	shift
	if "$@" >"$SCRATCH/said" 2>&1; then
		pass "$name"
	else
		fail "$name" "$(<"$SCRATCH/said")"
	fi
}

finish() {
	((skipped == 0)) || echo "$skipped not run on this machine"
	echo "$passed passed, $failed failed"
	((failed == 0 && passed > 0))
	exit
}

# stop NAME DETAIL: fails and ends, because no further check makes sense.
stop() {
	fail "$@"
	finish
}

[[ -x $SOFTPMU ]] || stop "the tool" "there is no $SOFTPMU"
