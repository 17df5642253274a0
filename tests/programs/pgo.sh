#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# pgo.sh: a profile of last branch records improves a real program (bench/pgo.sh). perf2bolt
# finds no trace that contradicts the program. The programs of llvm-bolt, and of
# clang with llvm-profgen's profile, do the same, and take at least a fifth fewer branches. The benchmark
# measures the time.
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
fewer() { # BEFORE AFTER
	local before after
	before=$(taken "$1") after=$(taken "$2")
	if [[ $before =~ ^[0-9]+$ && $after =~ ^[0-9]+$ ]] && ((after * 5 <= before * 4)); then
		pass "taken branches: $1 $before, $2 $after"
	else
		fail "taken branches" "$1 $before, $2 $after"
	fi
}
fewer lua lua.bolt
fewer lua.clang lua.afdo
finish
