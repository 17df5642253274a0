#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# perf_record.sh: `softpmu run`: Debian's perf samples programs: record in its ways, report, script, annotate. The
# samples are those of `softpmu record`.
# shellcheck source-path=SCRIPTDIR
# shellcheck disable=SC2154
. "$(dirname "$0")/lib.sh"
if ! have perf; then
	not_run perf "it is not installed"
	finish
fi
compile perf_tasks -pthread
"$ASSEMBLER" -nostdlib -static -no-pie -o "$BUILT/program" "$ROOT/tests/user/perf_record-program.S" ||
	stop "perf_record-program" "does not build"
cd "$SCRATCH" || exit 1

# records NAME MODEL OPTION...: records the program; the file is perf.data
records() {
	local name=$1 model=$2
	shift 2
	rm -f perf.data
	run said "$SOFTPMU" run -M "$model" -- perf record -o perf.data "$@"
	((status)) && fail "$name" "status $status: $(head -n 3 said.err)"
	grep -q 'lost' said.err && fail "$name" "$(grep -m 1 lost said.err)"
	return 0
}
# fields LIST [FILE]: these fields of all samples
fields() {
	perf script -F "$1" -i "${2:-perf.data}" 2>/dev/null
}

# --- samples at hand-counted places: 31004 instructions, each 100th; each of the 31 places in a turn ten times ---

records "perf record" skylake -e instructions:u -c 100 "$BUILT/program"
same "samples" 310 "$(fields ip | wc -l)"
symbols() {
	awk '!/^#/ && $NF ~ /^[_fg]/ { print $NF, $1 }'
}
perf report -i perf.data --stdio 2>/dev/null | symbols >report.out
same "perf report" "_start 64.52% g 19.35% f 16.13%" "$(xargs <report.out)"
same "in a run" "$(<report.out)" "$("$SOFTPMU" run -- perf report -i perf.data --stdio 2>/dev/null | symbols)"
same "perf script" "program 100 instructions:u" "$(fields comm,period,event | tr -d ':' | awk '{ print $1, $2, $3 }' |
	sed 's/instructionsu/instructions:u/' | sort -u)"
same "perf annotate" 6 "$(perf annotate -i perf.data --stdio -s g 2>/dev/null | grep -c '16.67.*:')"

# --- the same samples as softpmu record, with what belongs to them ---

# as_ours MODEL EVENT FIELDS OPTION...
as_ours() {
	local model=$1 event=$2 list=$3
	shift 3
	records "$model $event" "$model" -e "$event" -c 101 "$@" "$BUILT/program"
	"$SOFTPMU" record -M "$model" -e "$event" -c 101 "$@" -o ours.data -- "$BUILT/program" >/dev/null 2>&1
	fields "$list" >perfs
	fields "$list" ours.data >ours
	same "$model $event: samples" 1 "$(($(wc -l <ours) > 100))"
	same_file "$model $event: $list" ours perfs
}
for model in skylake tigerlake sapphirerapids; do
	for event in instructions:u instructions:upp instructions:uppp; do
		as_ours "$model" "$event" ip,brstack -b
	done
done
as_ours nehalem branches:upp ip,brstack -b
as_ours nehalem instructions:u ip
as_ours core2 instructions:upp ip
as_ours pentium-iii instructions:u ip
as_ours netburst instructions:u ip
# Five stores in a turn, one of them to `word`.  The others are on the stack, which is elsewhere in each run.
records "addresses" skylake -e mem_inst_retired.all_stores:upp -c 101 -d "$BUILT/program"
"$SOFTPMU" record -e mem_inst_retired.all_stores:upp -c 101 -d -o ours.data -- "$BUILT/program" >/dev/null 2>&1
fields ip,addr ours.data | awk '{ print $2, length($1) < 8 ? $1 : "stack" }' >ours
fields ip,addr | awk '{ print $2, length($1) < 8 ? $1 : "stack" }' >perfs
same_file "addresses" ours perfs
same "of the word" 1 "$(grep -v stack perfs | sort -u | wc -l)"
same "all" 49 "$(wc -l <perfs)"

# --- call chains: 3 places of g have the frames of g and f ---

records "-g" skylake -e instructions:u -c 100 -g "$BUILT/program"
fields ip,sym | awk 'BEGIN { RS = "" } { print $2, $4, $6 }' | sort | uniq -c | awk '{ $1 = $1 } 1' >chains
same "chains" "30 g f _start" "$(grep 'g f' chains)"
same "of g without its own frame" "30 g _start" "$(grep 'g _start' chains)"
records "by last branches" skylake -e instructions:u -c 100 --call-graph lbr "$BUILT/program"
fields ip,sym | awk 'BEGIN { RS = "" } { print $2, $4, $6 }' | sort | uniq -c | awk '{ $1 = $1 } 1' >chains
same "chains by last branches" "60 g f _start" "$(grep 'g f' chains)"

# --- rates, threads, other processes ---

records "-F" skylake -e instructions:u -F 10000 "$BUILT/perf_tasks" inheritance
same "samples at a rate" 1 "$(($(fields ip | wc -l) > 20))"
# 9 * 10^7 branches in a thread, another, and children, which each lose less than a period.
records "threads and children" skylake -e branches:u -c 100000 "$BUILT/perf_tasks" inheritance
same "of all" 90 "$((($(fields ip | wc -l) + 8) / 10))"
records "one thread" skylake -i -e branches:u -c 100000 "$BUILT/perf_tasks" inheritance
same "of one" 40 "$((($(fields ip | wc -l) + 5) / 10))"
records "-a" skylake -a -e instructions:u -c 100 "$BUILT/program"
# Each task has a counter of its own, so the program has its 310 samples whatever else runs.  perf reads the head of a
# ring twice (perf_mmap__push()).  It writes records twice that arrive between the two: those have one time.
same "of the whole run" 310 "$(fields comm,tid,time,ip | awk '/^ *program/' | sort -u | wc -l)"
records "--per-thread" skylake --per-thread -e instructions:u -c 100 "$BUILT/program"
same "--per-thread" 310 "$(fields ip | wc -l)"
records "two events" skylake -e '{instructions:u,branches:u}:S' -c 100 -i "$BUILT/program"
same "a group" "310 310" "$(fields event | sort | uniq -c | awk '{ print $1 }' | xargs)"
run said "$SOFTPMU" run -- sh -c "'$BUILT/perf_tasks' endless & perf record -e instructions:u -c 100000 -o perf.data \
	-p \$! sleep 0.5; kill \$!"
same "-p" 1 "$(($(fields ip | wc -l) > 10))"
# perf finds the code of a process that it has not started in its /proc/PID/maps.
same "-p: symbols" 0 "$(fields ip,sym | grep -c unknown)"
# The process ends while perf waits, once there are samples.
rm -f perf.data
run said "$SOFTPMU" run -- sh -c "'$BUILT/perf_tasks' endless & program=\$!; perf record -e instructions:u -c 100000 \
	-o perf.data -p \$program & for i in \$(seq 60); do
		sleep 0.5; [ \$(stat -c %s perf.data || echo 0) -gt 20000 ] && break; done; kill \$program; wait \$!"
same "-p until the end" 1 "$(($(fields ip | wc -l) > 10))"
# Nothing supplies cycles, so perf samples a clock: each period is the time that has passed.  Time is in the loops.
run said "$SOFTPMU" run -- perf record -o perf.data "$BUILT/perf_tasks" inheritance
same "without an event: cpu-clock" 1 "$(perf script -F event,ip,sym -i perf.data 2>/dev/null |
	awk '/cpu-clock/ { n++; loops += /spin|inheritance|loop/ } END { print(n > 20 && loops > n / 2) }')"
run said "$SOFTPMU" run -- perf record -e task-clock:u -c 1000000 -o perf.data "$BUILT/perf_tasks" inheritance
same "each millisecond of a clock" 1 "$(($(fields ip | wc -l) > 20))"
run said "$SOFTPMU" run --machine -- perf record -e cycles:u -c 1000 -o perf.data "$BUILT/program"
same "clocks of a model are not sampled" cpu-clock:u "$(fields event | tr -d ' ' | sed 's/:*$//; s/H$//' | sort -u)"
run said "$SOFTPMU" run -- perf record -e instructions:u -c 100 -k CLOCK_REALTIME -o perf.data "$BUILT/program"
same "a clock that no interrupt can read" 1 "$((status != 0))"
run said "$SOFTPMU" run -- perf stat -x, -o counts -a -e instructions:u,branches:u "$BUILT/program"
same "perf stat -a" 1 "$(awk -F, '$3 ~ /instr/ && $1 > 31004' counts | wc -l)"
finish
