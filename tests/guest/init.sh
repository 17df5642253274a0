#!/bin/sh
# SPDX-License-Identifier: MIT
# shellcheck shell=dash
# init.sh: the guest's first process.  Runs the job that the kernel's command line names and
# prints results as lines "RESULT name: value" between the console's own.
export PATH=/bin:/usr/bin:/usr/sbin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
mount -t tmpfs tmp /tmp
cd /tmp || exit
echo 0 >/proc/sys/kernel/kptr_restrict
# The kernel lowers the rate when its handler seems slow, also in between. When told not to, it accepts no
# rate.
rate=/proc/sys/kernel/perf_event_max_sample_rate
for _ in 1 2 3 4 5; do
	echo 25 >/proc/sys/kernel/perf_cpu_time_max_percent
	echo 1000000 >$rate
	echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent
	[ "$(cat $rate)" != 1000000 ] || break
done

pmu=cpu
[ ! -d /sys/bus/event_source/devices/cpu_core ] || pmu=cpu_core # the driver of hybrid processors
period=1012 # an ordinary PEBS record is of the occurrence after the overflow
name=
for word in $(cat /proc/cmdline); do
	case $word in
	job=*) job=${word#job=} ;;
	precise=*) precise=${word#precise=} ;;
	graph=*) graph=${word#graph=} ;;
	pdist=*) period=1013 ;;
	loads=*) loads=${word#loads=} ;;
	stores=*) stores=${word#stores=} ;;
	dla=*) dla=${word#dla=} ;;
	refs=*) refs=${word#refs=} ;;
	watchdog=*) echo "${word#watchdog=}" >/proc/sys/kernel/nmi_watchdog ;;
	tests=*) tests=${word#tests=} ;;
	masks=*) masks=$(echo "${word#masks=}" | tr , ' ') ;;
	right=*) right=${word#right=} right="${right%,*} ${right#*,}" ;;
	esac
done

on= # what goes before perf

result() { echo "RESULT $1: $2"; }

# Prints "2005009 1003001": the counts of a perf stat, in order.
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

# Prints "100 loop_branch+0x0:99 ...": the number of samples, and the places with the most of them.
samples() {
	$on perf record -o data "$@" >log 2>&1 || cat log
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
	[ -z "$precise" ] || name=precise samples -c 10007 -e "$pmu/$precise/upp" known
}

branch_records() {
	perf record -o data -b -c 10007 -e branches:u known >log 2>&1 || cat log
	perf script -i data -F brstacksym 2>/dev/null | awk 'NF { n++; all += NF
		for (i = 1; i <= NF; i++) if ($i ~ /^loop_branch\+0x0\/_start\+0x5\//) loop++ }
		END { printf "%d %d %d", n, n ? all / n : 0, loop * 100 / all }' >out
	result branches "$(cat out)"
}

# Three calls deep, from the processor's record of calls only.
call_graph() {
	perf record -o data --call-graph lbr -c 10007 -e branches:u calls >log 2>&1 || cat log
	perf script -i data -F ip,sym 2>/dev/null | awk 'BEGIN { RS = "" }
		{ n++; chain = ""; for (i = 2; i <= NF; i += 2) chain = chain " " $i
		if (chain == " inner middle outer _start") deep++ }
		END { printf "%d %d", n, deep }' >out
	result graph "$(cat out)"
}

# Perf's default event: precise cycles. Linux may want last branch records for it, so all
# code is exact.
by_default() {
	name=clocks samples -c 10007 -e cycles:uP known
	perf record -o data -c 10007 known >log 2>&1 || cat log
	perf script -i data -F ip,sym 2>/dev/null |
		awk 'NF { n++; if ($2 == "_start" || $2 == "loop_branch") loop++ }
		END { printf "%d %d", n, loop }' >out
	result default "$(cat out)"
}

# The most precise form that the driver offers.
most_precise() {
	local level p=
	level=$(cat /sys/bus/event_source/devices/$pmu/caps/max_precise)
	result level "$level"
	while [ ${#p} -lt "$level" ]; do p=p$p; done
	name=ppp samples -c 10007 -e "instructions:u$p" known
}

# More pairs of events than counters: prints "count:percent" of each event. The host may take the processor from the
# guest in time with the turns, so that one pair never has it. Then the turns get another length.
multiplexed() {
	local set='{branches:u,r00c0:u}' turn
	for turn in 4 3 5 7 11; do
		echo $turn >/sys/bus/event_source/devices/cpu/perf_event_mux_interval_ms
		perf stat -x , -o stat -e $set,$set,$set,$set,$set,$set known-mid >/dev/null 2>&1
		grep '^[0-9]' stat | awk -F, '{ printf "%s:%s ", $1, $5 } $1 == 0 || $5 < 1 { few = 1 }
			END { exit few || NR < 12 }' >out && break
	done
	result multiplexed "$(cat out)"
}

# Prints "69 10 10": samples of an event whose record k is made by occurrence 1013 k; those of the first
# of EACH occurrences in a turn of memory.S; and how many of these have the address BASE minus 4
# for each previous turn. If the kernel switches tasks between an overflow and its record, all
# following records are one occurrence off. So wrong results are taken again, at most 20 times.
addresses() {
	local event=$1 each=$2 base=$3 tries=0
	until [ $tries -ge 20 ]; do
		tries=$((tries + 1))
		perf record -o data -d -c $period -e "$event:upp" memory >log 2>&1 || cat log
		perf script -i data -F addr,ip 2>/dev/null | awk -v each="$each" -v base="$base" 'NF {
			last = 1013 * ++n - 1
			if (last % each == 0) {
				first++
				right += $1 == sprintf("%x", base - 4 * int(last / each))
			} } END { print n + 0, first + 0, right + 0; exit !n || first != right }' >out && break
	done
	result "addresses-$event" "$(cat out)"
}

# The parts of `perf mem` that need no latency.
perf_mem() {
	perf mem record -t store -o data -c 113 memory >log 2>&1 || cat log
	perf script -i data -F addr,ip,sym 2>/dev/null |
		awk '$3 == "store_at" { n++; right += $1 ~ /^1001[0-9a-f]*$/ } END { print n + 0, right + 0 }' >out
	result mem "$(cat out)"
}

memory() {
	name=memory counts -e "$loads:u,$stores:u" memory
	[ -z "$dla" ] || addresses "$dla" 5 268540988
	[ "$dla" != "$stores" ] || addresses "$loads" 7 268475452
	[ -z "$dla" ] || perf_mem
}

# By instruction, on a Skylake.
memory_by_instruction() {
	local program
	for program in /known/*; do
		name=known-${program##*/} counts -e instructions:u,r81d0:u,r82d0:u,r21d0:u "$program"
	done
}

branch_trace() {
	perf record -o data --per-thread -m 128,32M -e intel_bts//u known-short >log 2>&1 || cat log
	perf script -i data --itrace=b -F ip,addr 2>/dev/null | grep -vc ffffffff >out
	result trace "$(cat out)"
}

# Software that writes the registers itself: prints "instructions branches" of known-mid and of its own
# code around it.
registers_by_hand() {
	wrmsr 0x38f 0
	wrmsr 0xc1 0
	wrmsr 0xc2 0
	wrmsr 0x186 0x4100c0
	wrmsr 0x187 0x4100c4
	wrmsr 0x38f 3
	known-mid
	wrmsr 0x38f 0
	result msr-tools "$(rdmsr -d 0xc1) $(rdmsr -d 0xc2)"
	wrmsr 0x186 0
	wrmsr 0x187 0
}

# The branch trace of no ring, so that there is no record; PEBS; and a counter.
recorders_on() {
	wrmsr 0x1d9 0x6c0
	wrmsr 0x3f1 1
	wrmsr 0x186 0x4100c0
}

# Prints how many the kernel has taken.
machine_checks() { awk '$1 == "MCE:" { print $2 }' /proc/interrupts; }

likwid() {
	likwid-perfctr -M 0 -C 0 -g BRANCH -O known-mid >log 2>&1
	result likwid "$(awk -F, '/^INSTR_RETIRED_ANY,/ { n = $3 } /^BR_INST_RETIRED_ALL/ { b = $3 }
		/^Branch rate/ { r = $2 } END { print n, b, r }' log)"
}

papi() {
	echo -1 >/proc/sys/kernel/perf_event_paranoid
	papi_command_line PAPI_TOT_INS PAPI_BR_INS >log 2>&1
	result papi "$(awk '/^PAPI_/ && $2 == ":" { printf "%s ", $3 }' log)"
	name=papi-by-perf counts -e instructions:u,branches:u papi_command_line PAPI_TOT_INS PAPI_BR_INS
}

# Prints millions. The kernel leaves event selects set, which pcm attributes to another user.
pcm() {
	for register in 186 187 188 189 18a 18b 18c 18d 38d; do wrmsr 0x$register 0; done
	PCM_NO_PERF=1 PCM_NO_AWS_WORKAROUND=1 pcm-core -e cpu/event=0xc0,umask=0x00,name=insns/ \
		-e cpu/event=0xc4,umask=0x00,name=branches/ -- known-mid >log 2>&1 </dev/null
	result pcm "$(awk '$1 == "0" && $10 == "M" { print $9, $11 }' log)"
}

# For bench/guest.py. It says how to run programs, and then names them one after the other. Pauses around
# each program, in which the processor halts, give bench/guest.py time to measure. Each program runs from fresh copies of
# its file, so its code is translated again, at another place.
bench() {
	local mode
	cat >work <<'END'
case $1 in
loop) [ -z "$2" ] || known-mid ;;
gzip) head -c 300000 input | gzip -c ;;
bzip2) head -c 60000 input | bzip2 -c ;;
awk) awk 'BEGIN { for (i = 0; i < 9000; i++) s = s % 1000 + length(i "x"); print s }' ;;
text) head -c 300000 input | strings | tr a-z b-za | sort | uniq -c | grep -v '[0-9]x' | wc ;;
sh) i=0; while [ $i -lt 1500 ]; do
	case $i in *7) set -- $i "${1#1}" ;; *) x=${x%?}$i ;; esac; i=$((i + 1)); done ;;
calls) dd if=/dev/zero of=/dev/null bs=512 count=4000 ;;
forks) i=0; while [ $i -lt 12 ]; do cat /dev/null; i=$((i + 1)); done ;;
files) find /proc/sys /dev; ls -lR /sys/kernel/irq /sys/kernel/mm ;;
perf) [ -z "$2" ] || $2 script -i saved ;;
esac >/dev/null 2>&1
END
	cat >timed <<'END'
while read -r program && [ "$program" != end ]; do
	rm -f busybox* perf-copy
	for i in 1 2 3 4; do cp /bin/busybox busybox$i; done
	cp /usr/bin/perf perf-copy
	echo "RESULT from: $program"
	sleep 0.1
	./busybox1 sh work "$program" ./perf-copy
	for i in 2 3 4; do ./busybox$i sh work "$program"; done
	sleep 0.1
	echo "RESULT to: $program"
	sleep 0.1
done
END
	result ready yes
	dd if="$(readlink -f /usr/bin/perf)" of=input bs=1M count=1 2>/dev/null
	perf record -o saved -e cpu-clock -c 1000000 sh work awk >log 2>&1
	while read -r mode; do
		: >log
		case $mode in
		plain) sh timed ;;
		counted) perf stat -a -o stat -e instructions sh timed ;;
		by-task) perf stat -o stat -e instructions sh timed ;;
		sampled) perf record -o data -e instructions -c 200003 sh timed 2>log ;;
		timed) perf record -o data -e cpu-clock -c 500000 sh timed 2>log ;;
		esac
		result samples "$(sed -n 's/.*(\([0-9]*\) samples).*/\1/p' log)"
	done
}

# until_right TIMES MOST PATTERN COMMAND...: repeats until TIMES results match, but at most MOST times.
until_right() {
	local times=$1 most=$2 pattern=$3 right=0 tries=0
	shift 3
	while [ $right -lt "$times" ] && [ $tries -lt "$most" ]; do
		"$@" | tee said
		tries=$((tries + 1))
		! grep -qE "$pattern" said || right=$((right + 1))
	done
	result "right-$name" $right
}

# NetBurst: Linux 6.1's driver writes each counter twice, the second time with the start value of the
# time before. So a count or a period is right if the previous one on that counter began with the same
# value and was not interrupted.
#   - `perf record` first tests the kernel's features with an event of clocks on the first processor. Beside
#     the watchdog, that event is on the counter that the samples need. So the test uses the other processors.
#   - On a slow machine the kernel's own processes would interrupt each time.
netburst() {
	local mask
	echo -1 >/proc/sys/kernel/sched_rt_runtime_us
	realtime || result complaint "no process of real time"
	for mask in $masks; do
		name=counts-$mask until_right 3 60 ": $right *$" \
			counts_on "$mask" -e instructions:u,branches:u known-short
		on="taskset $mask"
		name=sampled-$mask until_right 1 30 ': (199|20[01]) .*_start' \
			samples -c 10007 -e instructions:u known
	done
	# With the kernel's share, which grows with the time that the kernel takes.
	name=clocks until_right 1 30 ': ([2-9]|1[0-9])[0-9][0-9] .*_start' samples -c 10007 -e cycles known
	echo 0 >/proc/sys/kernel/nmi_watchdog
	name=cycles until_right 1 60 ": ${right% *} *$" counts_on "$mask" -e cycles:u known-short
}

# verdict LINE: prints the verdict of one test. Some tests depend on the clock, so it is that of the last of four runs.
verdict() {
	local line=$1 number=${1%%:*} tries=0
	while [ "${line%FAILED!}" != "$line" ] && [ $tries -lt 3 ]; do
		tries=$((tries + 1))
		perf test "${number%.*}" >again 2>&1 </dev/null
		line=$(grep "^ *$number:" again || echo "$line")
	done
	echo "$line"
}

# The results of perf's own tests: those that open events, or all except two that read its tables of
# metrics (10 and 68) and one that disassembles the kernel (26).
perf_test() {
	mount -t debugfs debugfs /sys/kernel/debug
	mount -t tracefs tracefs /sys/kernel/tracing
	case $tests in
	all) set -- -s 10,26,68 ;;
	*) set -- openat "mmap interface" "Parse event" PERF_RECORD_ Breakpoint Watchpoint \
		"Software clock" "dummy software" "sched_switch" "Event times" \
		"backward ring" "perf time" Sigtrap "bp modify" "x86 Sample" ;;
	esac
	perf test "$@" 2>&1 | while read -r line; do result perf-test "$(verdict "$line")"; done
}

case $job in
bench) bench ;;
perf-test) perf_test ;;
netburst) netburst ;;
family)
	counting
	sampling
	most_precise
	by_default
	multiplexed
	[ -z "$precise" ] || branch_records
	[ -z "$graph" ] || call_graph
	[ ! -d /sys/bus/event_source/devices/intel_bts ] || branch_trace
	[ -z "$loads" ] || memory
	[ -z "$refs" ] || name=memory counts -e "$refs:u" memory
	;;
smp) # one program on each processor at a time, counted by program and by processor
	taskset 1 perf stat -x ' ' -o first -e instructions:u,branches:u known &
	name=second counts_on 2 -e instructions:u,branches:u known
	wait
	result first "$(grep '^[0-9]' first | cut -d' ' -f1 | tr '\n' ' ')"
	perf stat -x ' ' -o stat -a -A -e instructions:u taskset 2 known
	result processors "$(grep '^CPU' stat | cut -d' ' -f2 | tr '\n' ' ')"
	memory_by_instruction
	name=splits counts -e r41d0:u,r42d0:u splits
	name=elements counts -e r41d0:u,r42d0:u elements
	# The program counts on the other processor and makes no system call. Perf reaches it by interrupts.
	taskset 2 endless &
	name=remote until_right 1 50 ': [1-9][0-9]* *$' counts_on 1 -e instructions:u -p $! sleep 0.2
	result runs "$(grep -c '^State:.R' /proc/$!/status)"
	kill $!
	;;
threads) # the same on two threads of a core; what one does is counted on the other
	taskset 1 perf stat -x ' ' -o first -e instructions:u,branches:u known &
	name=second counts_on 2 -e instructions:u,branches:u known
	wait
	result first "$(grep '^[0-9]' first | cut -d' ' -f1 | tr '\n' ' ')"
	name=any counts -C 0 -e cpu/event=0xc0,any=1/u,cpu/event=0xc0/u taskset 2 known
	;;
machine) # a model of the machine counts
	perf stat -x , -o stat -d known >/dev/null 2>&1
	result default "$(awk -F, '$3 ~ /^[a-zA-Z]/ { print $3 "=" ($1 ~ /^[1-9]/ ? "counted" : $1) }' stat |
		grep -E 'cycles|instructions|branch|LLC|L1' | tr '\n' ' ')"
	for phase in near second last memory alias random turns; do
		name=cache-$phase counts -e L1-dcache-loads:u,L1-dcache-load-misses:u,LLC-loads:u \
			-e LLC-load-misses:u,branch-misses:u,r02d1:u,r04d1:u caches $phase
	done
	name=elements counts -e r41d0:u,r42d0:u elements
	# Loads that miss, by PEBS and by interrupts, and their addresses.
	name=precise samples -d -c 4999 -e r08d1:upp caches second
	name=late samples -c 5000 -e cache-misses:u caches memory
	perf mem -t load record -o data -- -c 4000 caches last >log 2>&1 || cat log
	perf script -i data -F ip,sym,data_src 2>/dev/null | awk '$NF == "walk" { n++; if (/L3 hit/) last++ }
		END { printf "%d %d", n, last }' >out
	result sources "$(cat out)"
	perf record -o data -b -c 1009 -e branches:u caches random >log 2>&1 || cat log
	perf script -i data -F brstacksym 2>/dev/null | tr ' ' '\n' | awk -F/ '/^branch\+/ { n[$1]++
		if ($3 == "M") missed[$1]++ } END { for (b in n) if (n[b] > 1000) {
		share = missed[b] * 100 / n[b]; if (share > 10) many = share; else few++ }
		printf "%d %d", many, few }' >out
	result mispredicted "$(cat out)"
	;;
steps)
	result stops "$(blocks known-short)"
	result traps "$(traps)"
	;;
tools)
	insmod /lib/msr.ko
	registers_by_hand
	likwid
	;;
more-tools)
	insmod /lib/msr.ko
	papi
	pcm
	;;
machine-check) # one comes when it has said that the recorders are on
	insmod /lib/msr.ko
	recorders_on
	result armed "$(rdmsr 0x1d9) $(rdmsr 0x3f1)"
	n=0
	until [ "$(machine_checks)" != 0 ] || [ $n -ge 3000 ]; do
		sleep 0.1
		n=$((n + 1))
	done
	result after "$(machine_checks) $(rdmsr 0x1d9) $(rdmsr 0x3f1) $(rdmsr 0x186)"
	;;
domain) # of Xen
	name=counts counts -e instructions:u,branches:u known
	name=sampled samples -c 10007 -e instructions:u known
	;;
pause) # a snapshot is taken in the middle of it
	name=counts counts -e instructions:u,branches:u known-pause
	;;
pause-machine) # the same, of what the model of the machine counts
	name=counts counts -e L1-dcache-loads:u,L1-dcache-load-misses:u caches second 50
	;;
esac
dmesg | grep -E 'WARNING: CPU|unchecked MSR|BUG:' | while read -r line; do result complaint "$line"; done
result end "$job"
poweroff -f
