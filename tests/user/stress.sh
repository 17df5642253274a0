#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# stress.sh: runs the programs of signals.sh, threads.sh, corners.sh and children.sh again and again, in turns,
# to find faults that depend on timing. Output and status are those of a native run
# each time, and there is a count or a profile. `make check-stress`.
#
# Runs vary: stat and record with several events and periods, with and without the persistent code cache,
# on all processors and on one. It ends after STRESS_SECONDS, or when each program has run
# STRESS_ROUNDS times. STRESS_ONLY=PATTERN selects programs by name. The output of a failed run
# is kept in $B/tests/stress.
# shellcheck source-path=SCRIPTDIR
# shellcheck disable=SC2154
. "$(dirname "$0")/lib.sh"
LIMIT=60
STRESS_SECONDS=${STRESS_SECONDS:-3600}
STRESS_ROUNDS=${STRESS_ROUNDS:-1000000}
KEPT=$B/tests/stress
mkdir -p "$KEPT"

compile signals-program
compile threads "$ROOT/tests/user/threads-system.c" -pthread
compile corners -pthread
compile filters -pthread
compile aliases -pthread
compile jits -pthread
compile children
compile unusual -pthread
compile storm -pthread
compile signals-corners -pthread
ulimit -c 0
cd "$SCRATCH" || exit 1

programs=()
add() {
	local subject
	for subject in "${@:2}"; do
		# shellcheck disable=SC2053 # it is a pattern
		[[ "$1 $subject" != ${STRESS_ONLY:-*} ]] || programs+=("$1 $subject")
	done
}
add signals-program masks flags stacks faults nowhere state calls jumps altered profile dies
add threads locks churn many cancel signals timers robust processes exec leave last die identities changes waits
add corners killed clones elsewhere myself
add aliases two protected doubled moved open calls memory itself threads seen listed
add jits flips patches reuse handlers forks threads published moved spawns across beside
"$BUILT/filters" refused >"$SCRATCH/said" && add filters traps trap-default kills allowed threads strict executes
add children signals clone spawn
add unusual threads forks handles timers rewrites remaps rewrites-loop
add storm order
add signals-corners frames pointers unwritable blocked inherited counter vanishes dispatched
((${#programs[@]})) || stop "programs" "none is named ${STRESS_ONLY:-}"

# native I: sets how the I-th program ends natively.
statuses=()
for i in "${!programs[@]}"; do
	# shellcheck disable=SC2086
	set -- ${programs[i]}
	run "$SCRATCH/$i" "$BUILT/$1" "$2"
	statuses[i]=$status
done 2>/dev/null

ways=(
	"stat -e instructions:u"
	"record -q -e instructions:upp -c 10007"
	"stat -e instructions:u,branches:u,mem_inst_retired.all_loads:u"
	"record -q -e branches:u -c 101"
	"stat --no-cache -e branches:u"
	"record -q -b -e br_inst_retired.near_taken:upp -c 1009"
	"stat -e instructions:u,branches:u,mem_inst_retired.all_stores:u,fp_arith_inst_retired.scalar_double:u,br_inst_retired.far_branch:u"
	"record -q --no-cache -e instructions:u -c 997"
)

# once I WAY PLACE: prints what is wrong with a run of the I-th program, or nothing.
once() {
	local i=$1 way=$2 place=$3 result=$SCRATCH/result
	rm -f "$result"
	# shellcheck disable=SC2086
	set -- ${programs[i]}
	# shellcheck disable=SC2086
	run "$SCRATCH/soft" $place "$SOFTPMU" $way -o "$result" -- "$BUILT/$1" "$2"
	if ((status != statuses[i])); then
		echo "status $status, natively ${statuses[i]}: $(head -n 1 "$SCRATCH/soft.err")"
	elif ! cmp -s "$SCRATCH/$i.out" "$SCRATCH/soft.out"; then
		echo "output: $(diff "$SCRATCH/$i.out" "$SCRATCH/soft.out" | head -n 2 | tr '\n' ' ')"
	elif [[ ! -s $result ]]; then
		echo "no result"
	fi
}

runs=0
trap 'STRESS_SECONDS=0' TERM # it ends with its numbers
for ((round = 0; round < STRESS_ROUNDS && SECONDS < STRESS_SECONDS; round++)); do
	place="" way=${ways[round % ${#ways[@]}]}
	((round / ${#ways[@]} % 3 != 2)) || place="taskset -c $((round % $(nproc)))"
	for i in "${!programs[@]}"; do
		once "$i" "$way" "$place" >"$SCRATCH/wrong" 2>/dev/null
		runs=$((runs + 1))
		if [[ ! -s $SCRATCH/wrong ]]; then
			pass "${programs[i]}"
			continue
		fi
		fail "round $round: ${programs[i]}: $place $way" "$(<"$SCRATCH/wrong")"
		cp "$SCRATCH/soft.out" "$KEPT/$round-${programs[i]// /-}.out"
		cp "$SCRATCH/soft.err" "$KEPT/$round-${programs[i]// /-}.err"
	done
	((SECONDS < STRESS_SECONDS)) || break
done
echo "$runs runs of ${#programs[@]} programs, $round rounds, $SECONDS s"
finish
