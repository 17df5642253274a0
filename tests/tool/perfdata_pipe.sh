#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# perfdata_pipe.sh: samples through a pipe (record -o -, -i -) and compressed (record -z): perf reads what softpmu
# writes, and softpmu reads what perf writes.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
mkdir "$SCRATCH/run" && cd "$SCRATCH/run" || exit 1
cat >"$SCRATCH/work.c" <<'END'
#include <stdio.h>
static volatile unsigned long sum;
__attribute__((noinline)) static void inner(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		sum += i;
}
int main(void)
{
	puts("hello");
	inner(20000000);
	return 3;
}
END
"$CC" -O1 -o "$SCRATCH/work" "$SCRATCH/work.c" || stop "building" work.c
work=("$SCRATCH/work")

# hot NAME FILE [TENS]: both tools find the function in the file, with 90 % or more; or with these tens of percents.
hot() {
	local share=" +(${3:-9}[0-9]|100)\.[0-9]+% +work +work +\[\.\] inner"
	run report -i "$2"
	succeeds "$1: report"
	has_line "$1: report's function" "$out" "$share"
	run annotate -i "$2" inner
	succeeds "$1: annotate"
	out=$(perf report -i "$2" --no-branch-stack --stdio 2>"$SCRATCH/complaints")
	has_line "$1: perf's function" "$out" "$share *"
	same "$1: perf says nothing" "" "$(<"$SCRATCH/complaints")"
}

# A plain file, to compare with.
options=(--deterministic -c 10007 -e instructions:upp -e br_inst_retired.near_taken:upp -b --intr-regs=ax)
run record -q "${options[@]}" -o plain.data -- "${work[@]}"
same "plain: status" 3 "$status"
fields=comm,time,event,ip,sym,period,brstack,iregs
# samples FILE: all of them, with times that do not depend on the run.
samples() { perf script -i "$1" -F "${fields/time,/}" 2>/dev/null; }
samples plain.data >plain.txt
expect "plain: samples" test -s plain.txt

# A pipe, and what comes out of it kept as a file.
"$SOFTPMU" record "${options[@]}" -o - -- "${work[@]}" 2>err | cat >pipe.data
same "pipe: status" 3 "${PIPESTATUS[0]}"
has "pipe: the program writes to standard error" "$(<err)" hello
has_line "pipe: summary" "$(<err)" '\[ softpmu record: Captured and wrote [0-9.]+ MB - \([0-9]+ samples\) \]'
"$SOFTPMU" record -q "${options[@]}" -z -o - -- "${work[@]}" 2>err >packed-pipe.data
run record -q "${options[@]}" -z -o packed.data -- "${work[@]}"
same "-z: status" 3 "$status"
run record -q "${options[@]}" --compression-level=19 -o packed-more.data -- "${work[@]}"
same "--compression-level: status" 3 "$status"
for file in pipe packed-pipe packed packed-more; do
	hot "$file" $file.data
	same "$file: the same samples" "" "$(samples $file.data | cmp - plain.txt 2>&1)"
	"$SOFTPMU" report -i $file.data >report.txt 2>&1
	same "$file: the same report" "" "$("$SOFTPMU" report -i plain.data | cmp - report.txt 2>&1)"
	same "$file: names" "instructions:upp br_inst_retired.near_taken:upp" \
		"$(perf report -i $file.data --stdio 2>/dev/null | sed -n "s/^# Samples.* of event '\(.*\)'/\1/p" | xargs)"
done
same "-z: less than a third" yes "$( (($(stat -c %s packed.data) * 3 < $(stat -c %s plain.data))) && echo yes)"
has "-z: the header says so" "$(perf report -i packed.data --header-only 2>&1)" "# compressed : Zstd, level = 1, ratio = "
same "only these files" "err packed-more.data packed-pipe.data packed.data pipe.data plain.data plain.txt report.txt" "$(echo *)"

# Directly, and from named pipes and other files of standard input.
out=$("$SOFTPMU" record -q -c 10007 -o - -- "${work[@]}" 2>/dev/null | perf report -i - --stdio 2>&1)
has_line "perf report -i -" "$out" " +9[0-9.]+% +work +work +\[\.\] inner *"
out=$("$SOFTPMU" record -q -c 10007 -o - -- "${work[@]}" 2>/dev/null | "$SOFTPMU" report -i - 2>&1)
has_line "report -i -" "$out" " +9[0-9.]+% +work +work +\[\.\] inner"
out=$("$SOFTPMU" report -i - <packed.data 2>&1)
has_line "report -i - of a file" "$out" " +9[0-9.]+% +work +work +\[\.\] inner"
out=$("$SOFTPMU" report -i <(cat packed.data) 2>&1)
has_line "report of a named pipe" "$out" " +9[0-9.]+% +work +work +\[\.\] inner"
expect "a branch trace in a pipe: perf" grep -q 'branches:u.*_start' \
	<("$SOFTPMU" record -q -e intel_bts//u -o - -- true 2>/dev/null | perf script -i - --itrace=b 2>&1)

# The reader of the pipe ends early, when it has read some samples.
"$SOFTPMU" record -c 97 -o - -- "${work[@]}" 2>err | head -c 100000 >/dev/null
same "a closed pipe: the program's status" 3 "${PIPESTATUS[0]}"
has "a closed pipe: it is said" "$(<err)" "writing -: Broken pipe: kept "

# What perf itself writes. It samples by time, of which the start has more on a slow machine.
perf record -q -F 5000 -e cpu-clock:u -z -o perfs-packed.data -- "${work[@]}" >/dev/null 2>&1
perf record -q -F 5000 -e cpu-clock:u -o - -- "${work[@]}" >perfs-pipe.data 2>/dev/null
perf record -q -F 5000 -e cpu-clock:u -z -o - -- "${work[@]}" >perfs-packed-pipe.data 2>/dev/null
for file in perfs-packed perfs-pipe perfs-packed-pipe; do
	hot "$file" $file.data "[5-9]"
	same "$file: perf's sum" "$(grep -o 'Event count.*' <<<"$out")" \
		"$("$SOFTPMU" report -i $file.data | grep -o 'Event count.*')"
done

run record -z30x -- true
refuses "a level that is no number" 129 "-z takes a level, not '30x'"
printf 'PERFILE2\20\0\0\0\0\0\0\0' >empty.data
run report -i empty.data
refuses "a pipe without events" 1 "empty.data: the file names no event"
head -c $(($(stat -c %s packed-pipe.data) / 2)) packed-pipe.data >cut.data
run report -i cut.data
has_line "a pipe that was cut: the samples until then" "$out" " +9[0-9.]+% +work +work +\[\.\] inner"
has "a pipe that was cut: it is said" "$err" "cut.data: the file ends within a record"
finish
