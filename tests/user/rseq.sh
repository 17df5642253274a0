#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# rseq.sh: restartable sequences (rseq.c): output and status are those of a native run, also while small
# periods interrupt the sections; sections that nothing interrupts are counted exactly.
# ROUNDS=N does it N times.
# shellcheck source-path=SCRIPTDIR
# shellcheck disable=SC2154
. "$(dirname "$0")/lib.sh"
compile rseq -pthread
cd "$SCRATCH" || exit 1
ulimit -c 0

# like_native NAME SUBJECT OPTIONS: with what the native run left in $SCRATCH/native.out and $native.
like_native() {
	# shellcheck disable=SC2086
	run "$SCRATCH/soft" "$SOFTPMU" $3 -- "$BUILT/rseq" "$2"
	same "$2: $1: status" "$native" "$status"
	same "$2: $1: output" "$(<"$SCRATCH/native.out")" "$(<"$SCRATCH/soft.out")"
}

# The count of N sections, once nothing has interrupted one; empty: something always did.
count_alone() {
	for ((try = 0; try < 20; try++)); do
		run "$SCRATCH/soft" "$SOFTPMU" stat --deterministic -j -o "$SCRATCH/json" -e instructions:u -- "$BUILT/rseq" alone "$1"
		if [[ $(<"$SCRATCH/soft.out") == "$1 0" ]]; then
			count_of "$SCRATCH/json" 1
			return
		fi
	done
}

run "$SCRATCH/native" "$BUILT/rseq" processor
((status == 0)) || {
	not_run "restartable sequences" "the kernel has none: $(<"$SCRATCH/native.out")"
	finish
}
for ((round = 0; round < ${ROUNDS:-1}; round++)); do
	for subject in errors processor counters library committed interrupted faults unnamed refused children exits; do
		run "$SCRATCH/native" "$BUILT/rseq" "$subject"
		native=$status
		like_native "stat" "$subject" "stat -e instructions:u -o $SCRATCH/stat"
		like_native "sampled" "$subject" "record -q -e instructions:upp -c 97 -o $SCRATCH/perf.data"
		like_native "branches" "$subject" "record -q -b -e instructions:u -c 1009 -o $SCRATCH/perf.data"
	done
	few=$(count_alone 100) many=$(count_alone 300)
	same "200 sections" 7000 "$((many - few))"
done 2>/dev/null # what the shell says about signals
finish
