#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# threads.sh: programs with threads. Each thread has its own counters, which are summed (Vol. 3B, 18.2). The
# test compares known counts (threads-program.S), which do not depend on other threads; samples, and
# FORK and EXIT records with the thread's number; and the behaviour of threads (threads.c) with native
# runs. ROUNDS=N repeats the last part N times.
# shellcheck source-path=SCRIPTDIR
# shellcheck disable=SC2154
. "$(dirname "$0")/lib.sh"
compile threads "$ROOT/tests/user/threads-system.c" -pthread
"$ASSEMBLER" -nostdlib -static -no-pie -o "$BUILT/program" "$ROOT/tests/user/threads-program.S" ||
	stop "threads-program" "does not build"
FIRST=14 OTHER=2000008 # instructions of the first thread for each other one, and of that one

# many N: prints N arguments.
many() {
	seq 1 "$1"
}

# counts NAME EVENTS WANT THREADS: compares the counts, one after the other.
counts() {
	local name=$1 events=$2 want=$3 threads=$4
	# shellcheck disable=SC2046
	run "$SCRATCH/count" "$SOFTPMU" stat -x, -e "$events" -o "$SCRATCH/count.stat" -- \
		"$BUILT/program" $(many "$threads")
	((status)) && fail "$name" "status $status: $(head -n 1 "$SCRATCH/count.err")"
	same "$name" "$want" "$(sed '/^#/d; /^$/d; s/,.*//' "$SCRATCH/count.stat" | tr '\n' ' ' | sed 's/ $//')"
}
for n in 0 1 2 7 40; do
	counts "$n threads" instructions:u,branches:u \
		"$((6 + n * (FIRST + OTHER))) $((2 + n * (3 + 1000002)))" $n
done
counts "3 threads, many events" \
	instructions:u,branches:u,mem_inst_retired.all_loads:u,fp_arith_inst_retired.scalar_double:u,br_inst_retired.far_branch:u \
	"$((6 + 3 * (FIRST + OTHER))) $((2 + 3 * (3 + 1000002))) 1 0 $((1 + 3 * 2))" 3

# Each thread has its own periods: it has the same samples as when it runs alone.
if have perf; then
	for event in instructions:u instructions:upp; do
		places="" each=100003
		[[ $event == *pp ]] && each=100004 # the next occurrence makes the record
		for n in 1 4; do
			# shellcheck disable=SC2046
			run "$SCRATCH/rec" "$SOFTPMU" record -e $event -c 100003 -o "$SCRATCH/perf.data" -- \
				"$BUILT/program" $(many $n)
			perf script -i "$SCRATCH/perf.data" -F pid,tid,ip 2>/dev/null |
				awk '{split($1, id, "/")} id[1] != id[2] {at[id[2]] = at[id[2]] " " $2}
					END {for (t in at) print at[t]}' >"$SCRATCH/places"
			same "$event: samples of $n threads" "$n" "$(wc -l <"$SCRATCH/places")"
			same "$event: all alike with $n threads" 1 "$(sort -u "$SCRATCH/places" | wc -l)"
			[[ -n $places ]] && same "$event: as if it were alone" "$places" "$(sort -u "$SCRATCH/places")"
			places=$(sort -u "$SCRATCH/places")
			same "$event: as many as there are periods" \
				$((OTHER / each)) "$(wc -w <<<"$places")"
		done
	done
	# PROCESS/THREAD of each record: the first thread's, then one FORK and one EXIT for each thread.
	perf script --show-task-events -F pid,tid,time,ip -i "$SCRATCH/perf.data" 2>/dev/null |
		awk '/RECORD_FORK/ {split($NF, a, /[():]/); forks++; if (a[2] != a[6] || a[3] == a[2]) bad++; began[a[3]]}
			/RECORD_EXIT/ {split($NF, a, /[():]/); exits++}
			!/RECORD/ {split($1, id, "/"); if (id[1] != id[2] && !(id[2] in began)) early++}
			END {print forks, exits, bad + 0, early + 0}' >"$SCRATCH/tasks"
	same "FORK and EXIT of threads" "4 5 0 0" "$(<"$SCRATCH/tasks")"
	if "$SOFTPMU" record -q -b -e branches:upp -c 100003 -o "$SCRATCH/lbr.data" -- "$BUILT/program" 1 2 3 &&
		perf script -i "$SCRATCH/lbr.data" -F tid,brstack 2>/dev/null |
		awk '{t[$1]++; n = split($2, b, "/"); if (!n) bad++} END {for (k in t) c++; exit !(c == 3 && !bad)}'; then
		pass "last branches of three threads"
	else
		fail "last branches of three threads" "samples are missing"
	fi
else
	not_run "samples of threads" "no perf"
fi

# What a program does with threads, as natively.
cd "$SCRATCH" || exit 1
like_native() {
	local name=$1 native options
	run "$SCRATCH/native" "$BUILT/threads" "$name"
	native=$status
	shift
	for options in "$@"; do
		# shellcheck disable=SC2086
		run "$SCRATCH/soft" "$SOFTPMU" $options -- "$BUILT/threads" "$name"
		if ((status != native)); then
			fail "$name: $options" "status $status, natively $native: $(head -n 2 "$SCRATCH/soft.err")"
		elif ! cmp -s "$SCRATCH/native.out" "$SCRATCH/soft.out"; then
			fail "$name: $options" "$(diff "$SCRATCH/native.out" "$SCRATCH/soft.out" | head -n 4)"
		elif [[ -n $(sed '/: Aborted\( (core dumped)\)\?$/d' "$SCRATCH/soft.err") ]]; then
			fail "$name: $options" "$(head -n 2 "$SCRATCH/soft.err")"
		else
			pass "$name: ${options%% *}"
		fi
	done
}
ulimit -c 0
for ((round = 0; round < ${ROUNDS:-1}; round++)); do
	for name in locks churn many cancel signals timers robust processes exec leave last die identities \
		changes waits; do
		like_native $name "stat -e instructions:u -o $SCRATCH/stat" \
			"record -q -e instructions:u -c 10007 -o $SCRATCH/perf.data"
	done
done 2>/dev/null # what the shell says about signals
finish
