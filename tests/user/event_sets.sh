#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# event_sets.sh: `--control` and `-D` of stat and record switch events on and off while a program
# runs. event_sets-program.S has sections with known counts. event_sets.c has threads and
# processes that do not enter the engine by themselves.
# shellcheck source-path=SCRIPTDIR
# shellcheck disable=SC2154
. "$(dirname "$0")/lib.sh"
compile event_sets -pthread -lrt
"$ASSEMBLER" -nostdlib -static -no-pie -o "$BUILT/program" "$ROOT/tests/user/event_sets-program.S" ||
	stop "event_sets-program" "does not build"
cd "$SCRATCH" || exit 1
mkfifo commands answers in out
CONDITIONAL=br_inst_retired.conditional:u
TURNS=100000

# with_channel OPTIONS... -- PROGRAM...: descriptors 5 and 6 of the program are the channel.
with_channel() {
	local -a options=()
	while [[ $1 != -- ]]; do
		options+=("$1")
		shift
	done
	shift
	run said "$SOFTPMU" "${options[@]}" --control fifo:commands,answers -- "$@" 5<>commands 6<>answers
}

# counted FILE: the counts of a `stat -x,`, one after the other
counted() {
	sed '/^#/d; /^$/d; s/,.*//' "$1" | tr '\n' ' ' | sed 's/ $//'
}

# sections NAME BRANCHES LEAST MOST SECTION...: conditional branches are exact.  A command is done somewhere
# between the two system calls of the program, so five instructions count or not.
sections() {
	local name=$1 branches=$2 least=$3 most=$4
	with_channel stat -D -1 -x, -o counts -e "$CONDITIONAL,instructions:u" -- "$BUILT/program" 5 6 "${@:5}"
	((status)) && fail "$name" "status $status: $(head -n 1 said.err)"
	read -r got instructions <<<"$(counted counts)"
	same "$name: branches" "$branches" "$got"
	if ((instructions >= least && instructions <= most)); then
		pass "$name: instructions"
	else
		fail "$name: instructions" "$instructions, not from $least to $most"
	fi
}
WORK=$((2 * TURNS + 8)) # and the six that go to the next section
sections "never on" 0 0 0 w w
sections "on to the end" $TURNS $((1 + 6 + WORK + 3)) $((1 + 6 + WORK + 8)) w e w
sections "on and off" $TURNS $((1 + 6 + WORK + 5)) $((1 + 6 + WORK + 5 + 10)) w e w d w
sections "three times" $((4 * TURNS)) $((4 * WORK)) $((4 * WORK + 3 * 30)) e w d w w e w w d w e w d
same "what is said" "Events disabled Events enabled Events disabled" \
	"$(head -n 3 said.err | tr '\n' ' ' | sed 's/ $//')"

# --- the program waits while the command is given: every instruction is known ---

# wait_until_blocked PID: the program waits in the only system call that can
wait_until_blocked() {
	local state i
	for ((i = 0; i < 3; i++)); do
		sleep 0.02
		state=$(sed 's/.*) //; s/ .*//' "/proc/$1/stat")
		[[ $state == S ]] || i=-1
	done
}
# order COMMAND: wait for the acknowledgement
order() {
	local answer
	echo "$1" >&7
	read -r -t "$LIMIT" answer <&8
	same "'$1' is acknowledged" ack "$answer"
}
# step_to COMMAND: the program has said that it waits; it goes on when the command is done
step_to() {
	local pid
	IFS= read -r -t "$LIMIT" -N 1 _ <&9
	read -r pid </proc/"$tool"/task/"$tool"/children
	wait_until_blocked "${pid%% *}"
	order "$1"
	printf g >&10
}
exec 7<>commands 8<>answers 9<>out 10<>in
SECTIONS="r w r w"
start() {
	# shellcheck disable=SC2086
	"$SOFTPMU" stat "$@" --control fifo:commands,answers -x, -o counts -- "$BUILT/program" 0 0 $SECTIONS \
		<in >out 2>said.err &
	tool=$!
}
# From the read to the next one: back, next, the loop, next, ten.
EXACT=$((1 + 6 + WORK + 10))
start -D -1 -e "instructions:u,$CONDITIONAL"
step_to enable
step_to disable
wait "$tool"
same "exactly one section" "$EXACT $TURNS" "$(counted counts)"

start -e "instructions:u,$CONDITIONAL,mem_inst_retired.all_loads:u" -D -1
step_to "enable $CONDITIONAL"
step_to enable
wait "$tool"
# next, the loop, next, exit
same "one event, then all" "$((1 + 6 + WORK + 3)) $((2 * TURNS))" "$(counted counts | cut -d ' ' -f 1,2)"
same "the event by its name" 1 "$(grep -c "^Event $CONDITIONAL enabled$" said.err)"

start -e "instructions:u,$CONDITIONAL"
step_to "disable instructions:u"
step_to ping
wait "$tool"
same "from the start, then one less" $((2 * TURNS)) "$(counted counts | cut -d ' ' -f 2)"
# More sets of events, one after the other, than the code cache has variants.  Step by step one event is
# switched, in the order of a Gray code, so that all sets differ.
events=(instructions:u "$CONDITIONAL" branches:u mem_inst_retired.all_stores:u mem_inst_retired.all_loads:u)
# gray NAME SETS [MAP]: in set MAP the program also maps so much memory that only a small code cache fits.
gray() {
	local name=$1 sets=$2 map=${3:-0} i on changed k
	local -a expected=(0 0 0)
	SECTIONS=
	for ((i = 1; i <= sets; i++)); do
		((i == map)) && SECTIONS+="r m w " || SECTIONS+="r w "
	done
	start -D -1 -e "$(IFS=, && echo "${events[*]}")"
	for ((i = 1; i <= sets; i++)); do
		on=$((i ^ i >> 1)) changed=$(((i ^ i >> 1) ^ (i - 1 ^ i - 1 >> 1))) k=0
		while ((changed >> k != 1)); do ((k++)); done
		step_to "$( ((on & changed)) && echo enable || echo disable) ${events[k]}"
		((on & 1)) && ((expected[0] += (i < sets ? EXACT : 1 + 6 + WORK + 3) + (i == map ? 15 : 0)))
		((on & 2)) && ((expected[1] += TURNS))
		((on & 4)) && ((expected[2] += TURNS + 4 + (i < sets ? 2 : 1) + (i == map ? 3 : 0)))
	done
	wait "$tool"
	same "$name" "${expected[*]}" "$(counted counts | cut -d ' ' -f 1-3)"
}
gray "24 sets of events" 24
gray "sets of events in a code cache that becomes small" 11 6
exec 7>&- 8<&- 9<&- 10>&-

# --- code of both lists is there once, however often they change ---

# blocks FILE: translated in the run
blocks() {
	sed -n 's/.*blocks: \([0-9]*\), bytes.*/\1/p' "$1"
}
with_channel stat -v -D -1 --no-cache -o once -- "$BUILT/program" 5 6 w e w d w
with_channel stat -v -D -1 --no-cache -o often -- "$BUILT/program" 5 6 w e w d w e w d w e w d w e w d w e w d w
once=$(blocks once) often=$(blocks often)
if [[ -n $once ]] && ((often <= once + 2)); then
	pass "code is found again"
else
	fail "code is found again" "$once blocks for one change, $often for five"
fi
# A shell as the program: its code is kept for the next run, before and after the change.
cat >script <<'S'
twice() {
	for ((i = 0; i < 50; i++)); do
		x=${x:0:20}$i y=$((i * 3))
		printf -v z '%5d' "$y"
		[[ $z =~ [0-9]+ ]] && set -- "${BASH_REMATCH[0]}" "$@"
	done
}
twice
echo enable >&5
read -r answer <&6
twice
S
for i in 1 2 3; do
	with_channel stat -v -D -1 -e "instructions:u,$CONDITIONAL" -o kept -- bash script
done
if (($(blocks kept) < 300)); then
	pass "code of both lists is kept"
else
	fail "code of both lists is kept" "$(blocks kept) blocks were translated in the third run"
fi

# --- threads and processes that only compute ---

for how in threads processes tasks execs; do
	export EVENT_SETS_MEMORY=/softpmu-test.$$.$how
	with_channel stat -D -1 -x, -o counts -e "$CONDITIONAL" -- "$BUILT/event_sets" 5 6 $how
	read -r least most <said.out
	got=$(counted counts)
	if ((status == 0 && least > 0 && got >= least && got <= most + 100000)); then
		pass "$how"
	else
		fail "$how" "status $status, $got not from ${least:-?} to ${most:-?}"
	fi
done
# Threads of execution with and without events, at the same time and in the same memory.
export EVENT_SETS_MEMORY=/softpmu-test.$$.single
with_channel stat -i -D -1 -x, -o counts -e "$CONDITIONAL" -- "$BUILT/event_sets" 5 6 tasks
got=$(counted counts)
if ((status == 0 && got > 0 && got < 100000)); then
	pass "tasks without --inherit"
else
	fail "tasks without --inherit" "status $status, $got"
fi

# --- samples, branches ---

if have perf; then
	# samples NAME LEAST MOST OPTIONS...
	samples() {
		local n
		with_channel record -q -D -1 -o perf.data "${@:4}" -- "$BUILT/program" 5 6 w e w d w e w d w
		n=$(perf script -i perf.data -F ip 2>perf.err | grep -c .)
		if ((status == 0 && n >= $2 && n <= $3)); then
			pass "$1"
		else
			fail "$1" "status $status, $n samples: $(head -n 1 said.err perf.err)"
		fi
	}
	each=$((2 * WORK / 1000))
	samples "samples" $each $((each + 1)) -e instructions:u -c 1000
	samples "precise samples" $((each - 1)) $((each + 1)) -e instructions:upp -c 1000
	samples "samples with branches" $((each - 1)) $((each + 1)) -e instructions:upp -c 1000 -b
	same "each has branches" 0 "$(perf script -i perf.data -F brstack 2>/dev/null | grep -vc /)"
	# The loop's branch is taken in all turns but the last.
	with_channel record -q -D -1 -o perf.data -e intel_bts// -- "$BUILT/program" 5 6 w e w d w e w d w
	same "traced branches of the loop" $((2 * (TURNS - 1))) \
		"$(perf script --itrace=b -i perf.data -F ip,addr 2>/dev/null | sort | uniq -c | sort -n |
			awk 'END { print $1 }')"
else
	not_run "samples and branches" "no perf"
fi

# --- -D ---

# The program goes on when the tool has said that events count.
run said "$SOFTPMU" stat -D 20 -x, -o counts -e "$CONDITIONAL" -- \
	sh -c 'until grep -q enabled said.err; do :; done; exec "$0" 0 0 w' "$BUILT/program"
if (($(counted counts) >= TURNS)); then
	pass "after a delay"
else
	fail "after a delay" "$(counted counts), $(head -n 1 said.err)"
fi

# The program works while the events are off, on, off, on and off.  It works for two ranges and is not counted
# in between.
says() { grep -c "^Events $1" said.err; }
run said "$SOFTPMU" stat -D 20-40,60-80 -x, -o counts -e "$CONDITIONAL" -- \
	sh -c 'until [ "$(grep -c "^Events disabled" said.err)" -gt 2 ]; do :; done; exec "$0" 0 0 w' "$BUILT/program"
same "ranges: switched on and off" "2 3" "$(says enabled) $(says disabled)"
run plain "$SOFTPMU" stat -D 0-600000 -x, -o plain -e "$CONDITIONAL" -- "$BUILT/program" 0 0 w
run all "$SOFTPMU" stat -x, -o all -e "$CONDITIONAL" -- "$BUILT/program" 0 0 w
same "a range from the start: all counts" "$(counted all)" "$(counted plain)"

# refuses NAME SAYS OPTIONS...
refuses() {
	run said "$SOFTPMU" "${@:3}" -- true
	same "$1: status" 129 "$status"
	same "$1: message" 1 "$(grep -c -- "$2" said.err)"
}
refuses "a delay that is none" "-D takes a number of milliseconds, ranges .* not 'x'" stat -D x
for ranges in 20-10 10-20,15-30 10-20,30 10- -5 '10-20,' 10-10; do
	refuses "-D $ranges" "-D takes a number of milliseconds, ranges .* not '$ranges'" record -D "$ranges"
done
refuses "a channel of another kind" "--control is fd:N\[,N\] or fifo:FILE" stat --control pipe:3
refuses "a descriptor that is not open" "--control cannot use '99'" record --control fd:99
refuses "a FIFO that is not there" "cannot use 'nowhere': No such file" record --control fifo:commands,nowhere
finish
