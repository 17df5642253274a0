# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shellcheck disable=SC2034
# lib.sh: what the scripts of tests/tool share.  A script sources it, runs the tool with `run`, checks the
# output and ends with `finish`.
#
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
unset COLUMNS
LIMIT=${LIMIT:-60} # seconds for one run
out='' err=''	   # of the last run

# run ARGUMENT...: runs the tool; its standard output, standard error and status are in out, err and status.
run() {
	timeout -s KILL "$LIMIT" "$SOFTPMU" "$@" >"$SCRATCH/out" 2>"$SCRATCH/err" </dev/null
	status=$?
	out=$(<"$SCRATCH/out") err=$(<"$SCRATCH/err")
}

# has NAME TEXT PART: TEXT contains PART.
has() {
	if [[ $2 == *"$3"* ]]; then
		pass "$1"
	else
		fail "$1" "'$3' is not in: $2"
	fi
}

# has_not NAME TEXT PART
has_not() {
	if [[ $2 == *"$3"* ]]; then
		fail "$1" "'$3' is in: $2"
	else
		pass "$1"
	fi
}

# has_line NAME TEXT REGEX: a whole line of TEXT matches the extended regular expression.
has_line() {
	if grep -Exq -- "$3" <<<"$2"; then
		pass "$1"
	else
		fail "$1" "no line matches '$3' in: $2"
	fi
}

# succeeds NAME: the last run ended with 0 and wrote nothing to standard error.
succeeds() {
	same "$1: status" 0 "$status"
	same "$1: standard error" "" "$err"
}

# refuses NAME STATUS PART: the last run ended with STATUS, wrote no standard output, and wrote one line
# that contains PART to standard error.
refuses() {
	same "$1: status" "$2" "$status"
	same "$1: standard output" "" "$out"
	same "$1: lines on standard error" 1 "$(grep -c '' <<<"$err")"
	has "$1: standard error" "$err" "$3"
}
