#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# stat_intervals.sh: stat -I: when counts are shown, that they add up, and their form, which is perf's.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1

# 1 + 1000 * 2 + 5 instructions until the program waits in a system call; then 3 and the end.
cat >waits.S <<'END'
	.globl _start
_start:
	mov $1000, %ecx
1:	dec %ecx
	jnz 1b
	xor %eax, %eax
	xor %edi, %edi
	lea buffer(%rip), %rsi
	mov $1, %edx
	syscall
	mov $60, %eax
	xor %edi, %edi
	syscall
	.bss
buffer:	.byte 0
END
# A program that makes no system call, in a thread or in a child.
cat >spins.c <<'END'
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>
static void *spin(void *unused)
{
	(void)unused;
	for (;;)
		__asm__ volatile("");
}
int main(int count, char **argument)
{
	pthread_t thread;

	(void)argument;
	if (count > 1 && fork()) /* the parent waits, and the child ends with it */
		for (;;)
			pause();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pthread_create(&thread, NULL, spin, NULL);
	for (;;)
		pause();
}
END
"$CC" -nostdlib -static -o waits waits.S || stop "building" waits.S
"$CC" -O1 -o spins spins.c -lpthread || stop "building" spins.c

# sum: the sum of the counts of the event in -x's rows, which are on standard input.
sum() { awk -F, '{ total += $2 } END { print total + 0 }'; }
# until_counted FILE ROWS: waits until so many rows are there and something is counted; for a minute at most.
until_counted() {
	for _ in {1..600}; do
		[[ -s $1 && $(wc -l <"$1") -ge $2 && $(sum <"$1") -gt 0 ]] && return
		sleep 0.1
	done
	fail "$1: rows" "there are no counts: $(<"$1")"
}

# What runs before a system call is shown while the program is in it.
mkfifo input
"$SOFTPMU" stat -I 10 -x, -o rows -e instructions:u,cycles:u -- ./waits <input &
pid=$!
exec {writer}>input
until_counted rows 1
grep instructions rows >before
echo >&"$writer"
wait "$pid"
same "in a system call: status" 0 $?
exec {writer}>&-
same "in a system call: what was counted before it" 2006 "$(sum <before)"
same "the sum of all" 2009 "$(grep instructions rows | sum)"
same "times grow" "" "$(grep instructions rows | cut -d, -f1 | sort -nc 2>&1)"
same "what is absent has no number" "<not supported>" "$(grep cycles rows | cut -d, -f2 | sort -u)"

# A thread that runs is asked, and so is one of a child.
mkfifo control
for argument in "" child; do
	"$SOFTPMU" stat -I 20 --interval-count 3 --control fifo:control -x, -o "rows-$argument" -e instructions:u \
		-- ./spins ${argument:+"$argument"} 2>/dev/null &
	pid=$!
	until_counted "rows-$argument" 3
	cp "rows-$argument" before
	echo stop >control
	wait "$pid"
	same "running${argument:+ $argument}: status" 143 $?
	same "running${argument:+ $argument}: --interval-count" 3 "$(wc -l <"rows-$argument")"
	same "running${argument:+ $argument}: counted before the end" yes "$( (($(sum <before) > 10000)) && echo yes)"
done

# Processes and threads that end between two intervals are not counted twice.
# shellcheck disable=SC2016
many=(sh -c 'for i in 1 2 3 4 5 6 7 8 9; do ls /proc/self >/dev/null; (:); done; seq 1000 | sort -n --parallel=4 | tail -1')
run stat --deterministic -x, -o total -e instructions:u -- "${many[@]}"
run stat --deterministic -I 7 -x, -o rows -e instructions:u -- "${many[@]}"
same "output of the program" 1000 "$out"
total=$(cut -d, -f1 total)
same "children: the sum is that of a run without -I, but for a percent" yes \
	"$(awk -v a="$total" -v b="$(sum <rows)" 'BEGIN { d = a - b; print (d < 0 ? -d : d) <= a / 100 ? "yes" : a " " b }')"

# perf's forms, with the fidelity after the fields.
perf stat -I 100 -e page-faults sleep 0.3 2>perfs
perf stat -I 100 -x, -e page-faults sleep 0.3 2>perfs-fields
perf stat -I 100 -j -e page-faults sleep 0.3 2>perfs-json
run stat -I 1000 -e instructions:u -- ./waits </dev/null
# sketch: numbers become 0, so that forms can be compared.
sketch() { sed -E 's/[0-9]+(\.[0-9]+)?/0/g; s/ +/ /g'; }
same "heading" "$(head -1 perfs)" "$(head -1 <<<"$err")"
has_line "a row" "$err" " +0\.[0-9]{9}              2,009      instructions:u            exact   "
run stat -I 1000 -x, -e instructions:u -- ./waits </dev/null
same "fields" "$(awk -F, 'NR == 1 { print NF + 1 }' perfs-fields)" "$(awk -F, 'NR == 1 { print NF }' <<<"$err")"
has_line "-x" "$err" " +0\.[0-9]{9},2009,,instructions:u,[0-9]+,100\.00,,,exact"
run stat -I 1000 -j -e instructions:u -- ./waits </dev/null
same "the first keys of JSON" "$(grep -oE '^.*"unit"' perfs-json | sketch | head -1)" \
	"$(grep -oE '^.*"unit"' <<<"$err" | sketch)"
run stat -I 1000 -M IPC -x, -- ./waits </dev/null
has_line "a metric" "$err" " +0\.[0-9]{9},,,,,,[0-9.]+,.*tma_info_thread_ipc,modelled"

run stat -I 0 -- ./waits
refuses "an interval of 0" 129 "-I takes a number of milliseconds, not '0'"
run stat --interval-count 3 -- ./waits
refuses "--interval-count alone" 129 "--interval-count needs -I"
run stat -I 100 -r 2 -- ./waits
refuses "-r" 129 "-I cannot be combined with -r"
run stat -I 100 --write-baseline base -- ./waits
refuses "a baseline" 129 "-I and a baseline cannot be combined"
run stat -I 100 -e page-faults -- ./waits
refuses "the kernel's events" 129 "page-faults cannot be combined with --sweep, --per-thread or -I"
finish
