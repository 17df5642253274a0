#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# pgo.sh: a profile of last branch records makes a real program better (bench/pgo.sh): perf2bolt
# finds none of its traces to contradict the program, the program that llvm-bolt makes of it does the
# same, and takes at least a fifth fewer branches.  Its time is a matter for the benchmark.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
RUNS=0 run "$SCRATCH/pgo" "$ROOT/bench/pgo.sh" "$SCRATCH/work"
if ((status != 0)); then
	fail "optimised by its profile" "status $status: $(tail -n 3 "$SCRATCH/pgo.err")"
	finish
fi
pass "optimised by its profile: the same output"

same "traces that contradict the program" "0 (0.0%)" \
	"$(sed -n 's/^PERF2BOLT: traces mismatching.*contents: //p' "$SCRATCH/pgo.out")"
taken() {
	sed -n "s/^$1: .* instructions, \([0-9]*\) taken branches/\1/p" "$SCRATCH/pgo.out"
}
before=$(taken lua) after=$(taken lua.bolt)
if [[ $before =~ ^[0-9]+$ && $after =~ ^[0-9]+$ ]] && ((after * 5 <= before * 4)); then
	pass "taken branches: $before, then $after"
else
	fail "taken branches" "$before, then $after"
fi
finish
