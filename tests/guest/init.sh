#!/bin/sh
# SPDX-License-Identifier: MIT
# shellcheck shell=dash
# init.sh: the guest's first process.  Runs the job that the kernel's command line names and
# prints results as lines "RESULT name: value" between the console's own.
export PATH=/bin:/usr/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
mount -t tmpfs tmp /tmp
cd /tmp || exit
echo 0 >/proc/sys/kernel/kptr_restrict
echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent
echo 100000 >/proc/sys/kernel/perf_event_max_sample_rate

name=
for word in $(cat /proc/cmdline); do
	case $word in
	job=*) job=${word#job=} ;;
	precise=*) precise=${word#precise=} ;;
	esac
done

result() { echo "RESULT $1: $2"; }

# "2005009 1003001": the counts of a perf stat, in order.
counts() {
	perf stat -x ' ' -o stat "$@" >/dev/null 2>&1
	result "$name" "$(grep '^[0-9]' stat | cut -d' ' -f1 | tr '\n' ' ')"
}

# On one processor.
counts_on() {
	local mask=$1
	shift
	taskset "$mask" perf stat -x ' ' -o stat "$@" >/dev/null 2>&1
	result "$name" "$(grep '^[0-9]' stat | cut -d' ' -f1 | tr '\n' ' ')"
}

# "100 loop_branch+0x0:99 ...": samples, and the places where there are most of them.
samples() {
	perf record -o data "$@" >log 2>&1 || cat log
	perf script -i data -F ip,sym,symoff 2>/dev/null | awk 'NF { n++; at[$2]++ }
		END { printf "%d", n; for (p in at) if (at[p] * 10 > n) printf " %s:%d", p, at[p] }' >out
	result "$name" "$(cat out)"
}

counting() {
	name=counts counts -e instructions:u,branches:u known
	name=again counts -e instructions:u,branches:u known
	name=faults counts -e instructions:u,branches:u faults
	name=cycles counts -e cycles:u known
}

sampling() {
	name=sampled samples -c 10007 -e instructions:u known
	[ -z "$precise" ] || name=precise samples -c 10007 -e "cpu/$precise/upp" known
}

branch_records() {
	perf record -o data -b -c 10007 -e branches:u known >log 2>&1 || cat log
	perf script -i data -F brstacksym 2>/dev/null | awk 'NF { n++; all += NF
		for (i = 1; i <= NF; i++) if ($i ~ /^loop_branch\+0x0\/_start\+0x5\//) loop++ }
		END { printf "%d %d %d", n, n ? all / n : 0, loop * 100 / all }' >out
	result branches "$(cat out)"
}

branch_trace() {
	perf record -o data --per-thread -m 128,32M -e intel_bts//u known-short >log 2>&1 || cat log
	perf script -i data --itrace=b -F ip,addr 2>/dev/null | grep -vc ffffffff >out
	result trace "$(cat out)"
}

case $job in
family)
	counting
	sampling
	[ -z "$precise" ] || branch_records
	[ ! -d /sys/bus/event_source/devices/intel_bts ] || branch_trace
	;;
smp) # one program on each processor at a time, counted by program and by processor
	taskset 1 perf stat -x ' ' -o first -e instructions:u,branches:u known &
	name=second counts_on 2 -e instructions:u,branches:u known
	wait
	result first "$(grep '^[0-9]' first | cut -d' ' -f1 | tr '\n' ' ')"
	perf stat -x ' ' -o stat -a -A -e instructions:u taskset 2 known
	result processors "$(grep '^CPU' stat | cut -d' ' -f2 | tr '\n' ' ')"
	;;
steps)
	result stops "$(blocks known-short)"
	;;
pause) # a snapshot is taken in the middle of it
	result ready yes
	name=counts counts -e instructions:u,branches:u known-long
	;;
esac
dmesg | grep -E 'WARNING: CPU|unchecked MSR|BUG:' | while read -r line; do result complaint "$line"; done
result end "$job"
poweroff -f
