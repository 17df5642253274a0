#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# storm.sh: signals that come very fast: the program gets on, and prints what it prints natively; what is
# pending is delivered before the next instruction.  STORM_SIGNALS=N is how many signals a timer of 20 kHz
# sends beside threads and changing code; tests/programs/storm.sh takes more.
# shellcheck source-path=SCRIPTDIR
# shellcheck disable=SC2154
. "$(dirname "$0")/lib.sh"
compile storm -pthread
ulimit -c 0

# like_native NAME OPTIONS ARGUMENT...
like_native() {
	local name=$1 options=$2 native
	run "$SCRATCH/native" "$BUILT/storm" "${@:3}"
	native=$status
	# shellcheck disable=SC2086
	run "$SCRATCH/soft" "$SOFTPMU" $options -- "$BUILT/storm" "${@:3}"
	same "$name: status" "$native" "$status"
	same "$name: output" "$(<"$SCRATCH/native.out")" "$(<"$SCRATCH/soft.out")"
}

stat="stat -e instructions:u -o $SCRATCH/stat"
record="record -q -e instructions:upp -c 10007 -o $SCRATCH/perf.data"
like_native "order" "$stat" order
like_native "a timer of 10 kHz" "$stat" alone 100000000
like_native "a flood from a thread" "$stat" flood 500000
like_native "a timer beside threads and changing code" "$stat" timer "${STORM_SIGNALS:-8000}"
like_native "the same, sampled" "$record" timer "${STORM_SIGNALS:-4000}"
finish
