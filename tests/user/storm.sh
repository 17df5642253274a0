#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# storm.sh: signals that come very fast. The program makes progress, and prints what it prints natively. A
# pending signal is delivered before the next instruction. A signal costs little more than natively.
# STORM_SIGNALS=N, STORM_SECONDS=N: a timer of 20 kHz sends at least so many signals under softpmu, for at least so
# long, while threads run and code changes. tests/programs/storm.sh takes more.
# shellcheck source-path=SCRIPTDIR
# shellcheck disable=SC2154
. "$(dirname "$0")/lib.sh"
compile storm -pthread
ulimit -c 0

# like_native NAME OPTIONS SUBJECT NUMBER: the native run need not last for STORM_SECONDS.
like_native() {
	local name=$1 options=$2 native
	run "$SCRATCH/native" "$BUILT/storm" "${@:3}"
	native=$status
	# shellcheck disable=SC2086
	run "$SCRATCH/soft" "$SOFTPMU" $options -- "$BUILT/storm" "${@:3}" "${STORM_SECONDS:-0}"
	same "$name: status" "$native" "$status"
	same "$name: output" "$(<"$SCRATCH/native.out")" "$(<"$SCRATCH/soft.out")"
}

stat="stat -e instructions:u -o $SCRATCH/stat"
record="record -q -e instructions:upp -c 10007 -o $SCRATCH/perf.data"
like_native "order" "$stat" order 0
like_native "a timer of 10 kHz" "$stat" alone 100000000
like_native "a flood from a thread" "$stat" flood 500000
like_native "a timer beside threads and changing code" "$stat" timer "${STORM_SIGNALS:-8000}"
like_native "the same, sampled" "$record" timer "${STORM_SIGNALS:-4000}"

# A signal costs about twice what it costs natively.
like_native "the cost of a signal" "$stat" cost 100000
soft=$(<"$SCRATCH/soft.err") native=$(<"$SCRATCH/native.err")
expect "100,000 signals: $soft us of processor time, natively $native" test "$soft" -lt $((8 * native))
finish
