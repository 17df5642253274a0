#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# thread_sets.sh: different events in the threads of one program: `-t` in the commands of `--control`, and the rows
# of `stat --per-thread`.  thread_sets-program.S has known counts; in event_sets.c the threads and processes do not
# come to the engine by themselves.
# shellcheck source-path=SCRIPTDIR
# shellcheck disable=SC2154
. "$(dirname "$0")/lib.sh"
compile event_sets -pthread -lrt
"$ASSEMBLER" -nostdlib -static -no-pie -o "$BUILT/program" "$ROOT/tests/user/thread_sets-program.S" ||
	stop "thread_sets-program" "does not build"
cd "$SCRATCH" || exit 1
mkfifo commands answers f0 f1 f2 f3
exec 3<>commands 4<>answers 5<>f0 6<>f1 7<>f2 8<>f3
CONDITIONAL=br_inst_retired.conditional:u
INSTRUCTIONS=instructions:u
# The sections of the program: instructions and conditional branches of the thread, and of what it starts.
TURNS=100000
WORK=$((2 * TURNS + 9))
START=15 FORK=18 EXECUTE=18
STARTED=$((2 * TURNS + 6)) EXECUTED=$((2 * TURNS + 13))

# wait_until_idle: no task has anything to do
wait_until_idle() {
	local i
	for ((i = 0; i < 3; i++)); do
		sleep 0.02
		[[ $(cat "/proc/$program"/task/*/children 2>/dev/null) == "" &&
			$(sed 's/.*) //; s/ .*//' "/proc/$program"/task/*/stat 2>/dev/null | tr -d '\n') == SSSS ]] || i=-1
	done
}
# order COMMAND: wait for the acknowledgement
order() {
	local answer
	echo "$1" >&3
	read -r -t "$LIMIT" answer <&4
	[[ $answer == ack ]] || fail "order '$1'" "answer '$answer'"
}
# start OPTIONS...: the program in the background; tid[0] to tid[3] are its threads
start() {
	"$SOFTPMU" "$@" --control fifo:commands,answers -- "$BUILT/program" >out 2>said.err &
	tool=$!
	program=
	until [[ $program && $(find "/proc/$program/task" -mindepth 1 -maxdepth 1 2>/dev/null | wc -l) == 4 ]]; do
		kill -0 "$tool" 2>/dev/null || stop "start" "$(head -n 1 said.err)"
		read -r program <"/proc/$tool/task/$tool/children"
		program=${program%% *}
		sleep 0.01
	done
	wait_until_idle
	mapfile -t tid < <(find "/proc/$program/task" -mindepth 1 -maxdepth 1 -printf '%f\n' | sort -n)
}
# sections WORD...: thread I does the sections of word I, all threads at the same time
sections() {
	local i
	for ((i = 0; i < $#; i++)); do
		printf %s "${@:i+1:1}" >&$((5 + i))
	done
	wait_until_idle
}
end() {
	printf q >&5
	wait "$tool"
	status=$?
	((status)) && fail "$1" "status $status: $(head -n 1 said.err)"
}
# row NAME TID EVENT EXPECTED: the count of a thread
row() {
	same "$1" "$4" "$(sed -n "s/^[^,]*-$2,\([0-9]*\),,$3,.*/\1/p" counts)"
}
STAT=(stat --per-thread '-x,' -o counts -D -1)

# --- threads with different events in the same code at the same time ---

start "${STAT[@]}" -e "$INSTRUCTIONS,$CONDITIONAL"
order "enable -t ${tid[1]} $INSTRUCTIONS"
order "enable -t ${tid[2]} $CONDITIONAL"
sections "" www www www
end "two lists and none"
row "thread 1 counts instructions" "${tid[1]}" "$INSTRUCTIONS" $((3 * WORK))
row "thread 1 counts no branches" "${tid[1]}" "$CONDITIONAL" 0
row "thread 2 counts no instructions" "${tid[2]}" "$INSTRUCTIONS" 0
row "thread 2 counts branches" "${tid[2]}" "$CONDITIONAL" $((3 * TURNS))
row "thread 3 counts no instructions" "${tid[3]}" "$INSTRUCTIONS" 0
row "thread 3 counts no branches" "${tid[3]}" "$CONDITIONAL" 0

# --- sets that change: a change for all threads replaces an earlier one for some, and the other way round ---

start "${STAT[@]}" -e "$INSTRUCTIONS,$CONDITIONAL"
order "enable -t ${tid[1]},${tid[3]}"
sections "" w w w # 1: both, 3: both
order "disable $INSTRUCTIONS"
sections "" w w w # 1: branches, 3: branches
order "enable -t ${tid[2]} $INSTRUCTIONS"
order "disable -t ${tid[3]}"
sections "" w w w # 1: branches, 2: instructions
order "enable"
order "disable -t ${tid[1]} $CONDITIONAL"
order "disable -t ${tid[1]} $INSTRUCTIONS"
sections "" w w w # 2: both, 3: both
order "disable"
sections "" w w w
end "changes"
row "changes: instructions of 1" "${tid[1]}" "$INSTRUCTIONS" $WORK
row "changes: branches of 1" "${tid[1]}" "$CONDITIONAL" $((3 * TURNS))
row "changes: instructions of 2" "${tid[2]}" "$INSTRUCTIONS" $((2 * WORK))
row "changes: branches of 2" "${tid[2]}" "$CONDITIONAL" $TURNS
row "changes: instructions of 3" "${tid[3]}" "$INSTRUCTIONS" $((2 * WORK))
row "changes: branches of 3" "${tid[3]}" "$CONDITIONAL" $((3 * TURNS))

# --- several changes that a thread sees at once, because it waits ---

start "${STAT[@]}" -e "$INSTRUCTIONS,$CONDITIONAL"
order "enable -t ${tid[1]} $INSTRUCTIONS"
order "enable -t ${tid[2]} $INSTRUCTIONS"
order "disable $INSTRUCTIONS"
order "enable -t ${tid[2]} $CONDITIONAL"
order "enable -t ${tid[3]} $INSTRUCTIONS"
order "enable -t ${tid[3]} $CONDITIONAL"
sections "" w w w
end "at once"
row "at once: a later change for all" "${tid[1]}" "$INSTRUCTIONS" 0
row "at once: before one for the thread" "${tid[2]}" "$INSTRUCTIONS" 0
row "at once: the one for the thread" "${tid[2]}" "$CONDITIONAL" $TURNS
row "at once: the first for the thread" "${tid[3]}" "$INSTRUCTIONS" $WORK
row "at once: the second for the thread" "${tid[3]}" "$CONDITIONAL" $TURNS

# --- what a thread starts begins with the thread's events ---

# new_row EVENT EXPECTED: the only task besides the threads has counted so many
new_row() {
	same "$1" "$3" "$(grep -v -e "-\(${tid[0]}\|${tid[1]}\|${tid[2]}\|${tid[3]}\)," counts |
		sed -n "s/^[^,]*-[0-9]*,\([0-9]*\),,$2,.*/\1/p")"
}
# starts SECTION INSTRUCTIONS NEW-INSTRUCTIONS NEW-BRANCHES: of the thread, and of what it starts
starts() {
	start "${STAT[@]}" -e "$INSTRUCTIONS,$CONDITIONAL"
	order "enable -t ${tid[1]} $INSTRUCTIONS"
	order "enable -t ${tid[2]} $CONDITIONAL"
	sections "" "$1" w w
	order "disable"
	end "$1"
	row "$1: instructions of the thread" "${tid[1]}" "$INSTRUCTIONS" "$2"
	new_row "$1: instructions of the new one" "$INSTRUCTIONS" "$3"
	new_row "$1: it counts no branches" "$CONDITIONAL" 0
	row "$1: branches of another thread" "${tid[2]}" "$CONDITIONAL" $TURNS
	start "${STAT[@]}" -e "$INSTRUCTIONS,$CONDITIONAL"
	order "enable -t ${tid[1]} $INSTRUCTIONS"
	order "enable -t ${tid[3]} $CONDITIONAL"
	sections "" w w "$1"
	order "disable"
	end "$1 in another thread"
	row "$1: a branch of the thread" "${tid[3]}" "$CONDITIONAL" 1
	new_row "$1: branches of the new one" "$CONDITIONAL" "$4"
	new_row "$1: it counts no instructions" "$INSTRUCTIONS" 0
}
starts s $START $STARTED $((TURNS + 1))
starts f $FORK $STARTED $((TURNS + 1))
starts x $EXECUTE $EXECUTED $((TURNS + 2))
start "${STAT[@]}" -e "$INSTRUCTIONS,$CONDITIONAL"
sections "" f
order "enable -t ${tid[1]} $CONDITIONAL"
sections "" f
end "a second process"
same "a second process has the events of then" "0 0 0 $((TURNS + 1))" \
	"$(grep -v -e "-\(${tid[0]}\|${tid[1]}\|${tid[2]}\|${tid[3]}\)," counts | sort -t, -k 4,4r -k 2,2n |
		sed 's/^[^,]*,\([0-9]*\),.*/\1/' | tr '\n' ' ' | sed 's/ $//')"

# --- more sets than the code cache has variants, in all threads at once ---

EVENTS=("$INSTRUCTIONS" "$CONDITIONAL" branches:u mem_inst_retired.all_loads:u mem_inst_retired.all_stores:u)
EACH=("$WORK" "$TURNS" $((TURNS + 3)) 2 0) # of a section
start "${STAT[@]}" -e "$(IFS=, && echo "${EVENTS[*]}")"
declare -A expected=()
for ((round = 0; round < 12; round++)); do
	for i in 1 2 3; do
		set=$(((round * 7 + i * 11) * 13 % 31 + 1))
		for e in "${!EVENTS[@]}"; do
			((set >> e & 1)) || continue
			order "enable -t ${tid[i]} ${EVENTS[e]}"
			((expected[$i,$e] += EACH[e]))
		done
	done
	sections "" w w w
	order "disable"
done
end "many sets"
for i in 1 2 3; do
	for e in "${!EVENTS[@]}"; do
		row "many sets: ${EVENTS[e]} of $i" "${tid[i]}" "${EVENTS[e]}" "${expected[$i,$e]:-0}"
	done
done
same "rows are in the order of their counts" \
	"$(sed -n "/,$CONDITIONAL,/p" counts)" "$(sed -n "/,$CONDITIONAL,/p" counts | sort -t, -k2,2nr -s)"

# --- changes while threads begin and end ---

start "${STAT[@]}" -e "$INSTRUCTIONS,$CONDITIONAL"
order "enable -t ${tid[2]} $CONDITIONAL"
printf 'ssssssssssssssssssssssssssssssssssssssss' >&6
printf 'wwwwwwwwww' >&7
for ((i = 0; i < 20; i++)); do
	order "enable -t ${tid[1]}"
	order "enable -t ${tid[3]} $INSTRUCTIONS"
	order "disable -t ${tid[1]},${tid[3]}"
done
wait_until_idle
end "threads that begin and end"
row "all branches of a thread, meanwhile" "${tid[2]}" "$CONDITIONAL" $((10 * TURNS))
row "a waiting thread counts nothing" "${tid[3]}" "$INSTRUCTIONS" 0
same "new threads count all their branches or none" 40 "$(grep -c ",\(0\|$((TURNS + 1))\),,$CONDITIONAL," \
	<(grep -v -e "-\(${tid[0]}\|${tid[1]}\|${tid[2]}\|${tid[3]}\)," counts))"

# --- samples in one thread ---

if have perf; then
	start record -q -o perf.data -D -1 -e "$INSTRUCTIONS" -c 1000
	order "enable -t ${tid[2]}"
	sections "" www www www
	order "disable"
	end "samples"
	same "samples of one thread" "$((3 * WORK / 1000)) ${tid[2]}" \
		"$(perf script -i perf.data -F tid 2>perf.err | sort | uniq -c | awk '{ print $1, $2 }')"
else
	not_run "samples of one thread" "no perf"
fi

# --- threads and processes that only compute ---

for how in threads processes tasks execs; do
	export EVENT_SETS_MEMORY=/softpmu-test.$$.$how
	run said "$SOFTPMU" stat -D -1 -x, -o counts -e "$CONDITIONAL" --control fifo:commands,answers -- \
		"$BUILT/event_sets" 3 4 $how each
	read -r least most <said.out
	got=$(sed '/^#/d; /^$/d; s/,.*//' counts)
	if ((status == 0 && least > 0 && got >= least && got <= most + 100000)); then
		pass "$how"
	else
		fail "$how" "status $status, $got not from ${least:-?} to ${most:-?}: $(head -n 1 said.err)"
	fi
done

# --- wrong commands, wrong options ---

start "${STAT[@]}" -e "$INSTRUCTIONS"
order "enable -t 1"
order "enable -t x"
order "disable -t ${tid[1]} nothing"
end "wrong commands"
same "a thread of nobody" "failed: the run has no thread 1" "$(sed -n 2p said.err)"
same "no number" "failed: '-t' needs the numbers of threads, as in '-t 12,34'" "$(sed -n 3p said.err)"
same "no such event" "failed: can't find 'nothing' event" "$(sed -n 4p said.err)"
run said "$SOFTPMU" stat --per-thread -r 2 -- true
same "--per-thread and -r" "129 softpmu: --per-thread and -r cannot be combined (see softpmu stat --help)" \
	"$status $(cat said.err)"
run said "$SOFTPMU" stat --per-thread -j -e "$INSTRUCTIONS" -- sh -c '/bin/true; exit 0'
same "JSON has threads" "sh true" \
	"$(sed -n 's/^{"thread" : "\([a-z]*\)-[0-9]*", "counter-value" : "[1-9].*/\1/p' said.err | sort | tr '\n' ' ' | sed 's/ $//')"
run said "$SOFTPMU" stat --per-thread -e "$INSTRUCTIONS" -- sh -c '/bin/true; exit 0'
same "text has threads" "2" "$(grep -c "^ *\(sh\|true\)-[0-9]*  *[1-9][0-9,]*  *$INSTRUCTIONS  *exact" said.err)"
finish
