#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# branch-tasks.sh: branch traces and last branch records (Vol. 3B 17.4.8, 17.4.9) of threads, of
# children and of programs that they execute: all branches, each in the thread that took it.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
compile branch-tasks -pthread
program=$BUILT/branch-tasks
cd "$SCRATCH" || exit 1

# --- trace
run tree "$SOFTPMU" trace -o tree -F work -- "$program"
same "tree: status" 0 "$status"
# The trace names a task above its lines, each time the reader changes from one task to another.
awk '/^# .*, (thread [0-9]+ of )?process [0-9]+$/ { task = / thread / ? "thread " $(NF - 3) : "process " $NF; next }
	/^#/ { next }
	{ sub(/^ *[0-9]+\.[0-9]+ +/, ""); print task ": " $0 }' tree >lines
same "tree: the threads" 3 "$(grep -o '^thread [0-9]*' lines | sort -u | grep -c '')"
# Tasks: the first thread, vfork's child, the other child with what it executes, three threads.
same "tree: calls of leaf by task" "15 20 107 1000 1000 1000" \
	"$(sed -n 's/^\(.*\): leaf  (\([0-9]*\) times)$/\1 \2/p' lines | awk '{ n[$1 $2] += $3 } END { for (t in n) print n[t] }' | sort -n | xargs)"
same "tree: who calls it" "leaf work" "$(sed 's/^.*: //; s/ .*//' lines | sort -u | xargs)"
run summary "$SOFTPMU" trace --summary -o summary -- "$program"
same "summary: all calls" "3142 3142 leaf" "$(awk '$3 == "leaf" { print $1, $2, $3 }' summary)"
# A call and a taken branch back for each turn, except the last branch of each of the eight loops.
same "summary: branches of what calls it" yes "$(awk '$3 == "work" && $2 >= 2 * 3142 - 8 && $2 <= 2 * 3142 + 16 { print "yes" }' summary)"

# The trace has everything that is counted: in a program of one thread, a child and an executed program.
cat >script.sh <<'S'
for i in 1 2 3; do echo $i; done | sort -r
(exit 3) || echo "$?"
exec ls /
S
run counted "$SOFTPMU" stat --deterministic -j -o json -e br_inst_retired.near_taken:u -- sh script.sh
run traced "$SOFTPMU" trace --deterministic --summary -o summary -- sh script.sh
same_file "a shell: output" counted.out traced.out
count=$(count_of json 1) traced=$(sed -n 's/^# \([0-9]*\) taken branches.*/\1/p' summary)
# Only process numbers differ between two runs, and the code that waits for children.
if [[ $count =~ ^[1-9][0-9]*$ && -n $traced ]] && ((traced > count - 300 && traced < count + 300 && count > 30000)); then
	pass "a shell: $count branches, $traced in the trace"
else
	fail "a shell" "$count branches counted, $traced traced"
fi

# What was counted is known to the tool now and then, so a program that is killed leaves most of it.
run killed "$SOFTPMU" trace --summary -o summary -- timeout -s KILL 2 sh -c 'while :; do :; done'
traced=$(sed -n 's/^# \([0-9]*\) taken branches.*/\1/p' summary)
if [[ $traced =~ ^[0-9]+$ ]] && ((traced > 1000000)); then
	pass "a program that is killed: $traced branches"
else
	fail "a program that is killed" "$traced branches, $(tail -n 1 killed.err)"
fi

# A summary needs no branch trace store, which the Pentium does not have.
run pentium "$SOFTPMU" trace --deterministic --summary -M pentium -o summary -- "$program" seven
same "Pentium: a summary" "0 7" "$status $(awk '$3 == "leaf" { print $1 }' summary)"
run pentium "$SOFTPMU" trace -M pentium -- "$program" seven
same "Pentium: a trace" "125 softpmu: pentium has no branch trace store; --summary does without it" "$status $(<pentium.err)"

# --- very many threads and processes, one after the other; and more at a time than there are buffers
run many "$SOFTPMU" trace --summary -o summary -- "$program" 40
same "40 threads at a time" "0 40" "$status $(awk '$3 == "leaf" { print $1 }' summary)"
run many "$SOFTPMU" trace --summary -o summary -- "$program" deep 40
same "40 processes at a time" "0 40" "$status $(awk '$3 == "leaf" { print $1 }' summary)"
# shellcheck disable=SC2016
run many "$SOFTPMU" trace --summary -o summary -- sh -c 'for i in $(seq 100); do "$0" seven; done' "$program"
same "100 processes, one after the other" "0 700" "$status $(awk '$3 == "leaf" { print $1 }' summary)"
run many "$SOFTPMU" trace --summary -o summary -- "$program" 120
same "120 threads at a time: status" 125 "$status"
if grep -q "more threads and processes at a time than a branch trace has buffers" many.err; then
	pass "120 threads at a time: said"
else
	fail "120 threads at a time" "$(tail -n 1 many.err)"
fi

# --- perf.data
if have perf; then
	run record "$SOFTPMU" record -q -e intel_bts//u -o data -- "$program"
	same "record: status" 0 "$status"
	perf script -i data --itrace=b -F tid,ip,sym,addr 2>script.err >taken
	same "perf: no warning" "" "$(head -n 1 script.err)"
	# The first thread, vfork's child, the other child with what it executes, three threads.
	same "perf: branches from leaf by task" "15 20 107 1000 1000 1000" \
		"$(awk '$3 == "leaf" && $4 == "=>" { n[$1]++ } END { for (t in n) print n[t] }' taken | sort -n | xargs)"
	perf script -i data --itrace=i0 --show-mmap-events 2>/dev/null |
		sed -n 's|.*PERF_RECORD_MMAP2 \([0-9]*\)/\([0-9]*\): .*//anon$|\1 \2|p' >maps
	same "mappings that threads make are the process's" "3 1 3" \
		"$(grep -c '' maps) $(cut -d' ' -f1 maps | sort -u | grep -c '') $(awk '$1 != $2' maps | grep -c '')"
	run branches "$SOFTPMU" record -q -b -c 101 -e instructions:upp -o data -- "$program"
	same "last branches: status" 0 "$status"
	found=$(perf script -i data -F tid,brstacksym 2>/dev/null | grep -c 'leaf+[^ ]*/work+')
	same "last branches: in more than a hundred samples leaf returns" yes "$( ((found > 100)) && echo yes || echo "$found")"
	run report "$SOFTPMU" report -b -i data
	same "last branches: of the code of their processes" "0 0" "$status $(grep -c '\[unknown\]' report.out)"
else
	not_run "perf.data" "perf is not installed"
fi
finish
