#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# guest.sh [CPU... | others | machine | perf-test]: unmodified Linux on QEMU with the unit inside, for each
# family of families.list. It checks the driver's boot line, the NMI watchdog and exact counts
# (Vol. 3B 18.2). It checks where samples and PEBS records are (18.4.4, 18.8.1.1), last branch
# records (17.4.8) and the branch trace store (17.4.9).
. "$(dirname "$0")/../lib.sh"
here=$ROOT/tests/guest
QEMU=${QEMU:-$B/softpmu-qemu-system-x86_64}

# What known.S retires.
LOOPS=1000000 PAIRS=1000
INSNS=$((2 * LOOPS + 5 * PAIRS + 9))
BRANCHES=$((LOOPS + 3 * PAIRS + 1))
TAKEN_SHORT=$((20000 - 1 + 3 * PAIRS - 1)) # that stay in the program, of known-short
# What faults.S retires: 22 and 11 instructions once, 5 and 2 for each of 2 faults and 8 more for each
# turn, and the same for each of 5 single-steps.
FAULT_INSNS=$((22 + 11 + 1000 * 18 + 5 * 5))
FAULT_BRANCHES=$((3 + 1 + 1000 * 5 + 5 * 2))
# What memory.S loads and stores, and how often the first access of a turn is every 1013th.
LOADS=70002 STORES=50001
LOADS_FIRST=10 STORES_FIRST=10
# What splits.S loads and stores across cache lines.
LOAD_SPLITS=4004 STORE_SPLITS=3005
# The same of elements.S.
ELEMENT_LOAD_SPLITS=8000 ELEMENT_STORE_SPLITS=2000
PERIOD=10007

# A guest has failed when its console has been silent for this many seconds. Each step of init.sh prints
# something, and one takes a quarter of a minute on an idle machine.
SILENCE=${GUEST_SECONDS:-900}

# watch PROCESS LOG: waits until the process ends, or ends it.
watch() {
	local size=-1 now since=$SECONDS
	while kill -0 "$1" 2>/dev/null; do
		now=$(stat -c %s "$2" 2>/dev/null)
		[[ $now == "$size" ]] || since=$SECONDS size=$now
		((SECONDS - since < SILENCE)) || kill "$1"
		sleep 0.5
	done
}

# boot LOG IMAGE CPU WORDS OPTION...
boot() {
	local log=$1 image=$SCRATCH/$2 cpu=$3 words=$4
	shift 4
	"$QEMU" -M q35 -m 1024 -nodefaults -display none -no-reboot -serial "file:$log" -cpu "$cpu" \
		-kernel "$image/vmlinuz" -initrd "$image/initrd" \
		-append "console=ttyS0 loglevel=7 panic=-1 $SLOW_MACHINE nmi_watchdog=1 nopti $words" "$@" \
		</dev/null >"$log.said" 2>&1 &
	watch $! "$log"
	wait $! || cat "$log.said" >>"$log"
	sed -i 's/\r//g' "$log"
}

# later NAME IMAGE CPU WORDS OPTION...: starts a guest whose log is checked when all have ended. Several run
# at a time.
later() {
	local name=$1
	shift
	while (($(jobs -pr | wc -l) >= JOBS)); do wait -n; done
	{
		local start=$SECONDS
		boot "$SCRATCH/$name.log" "$@"
		echo "$name: $((SECONDS - start)) s"
	} &
}

# of NAME: prints the value of a result.
of() { sed -n "s/^.*RESULT $1: //p" "$log" | head -n 1 | sed 's/ *$//'; }

# ended NAME JOB: checks the end of a job, and shows why it ended early.
ended() {
	same "$1: the guest ends" "$2" "$(of end)"
	[[ $(of end) == "$2" ]] || tail -n 5 "$log"
	same "$1: no complaint of the kernel" "" "$(of complaint)"
}

# within NAME LEAST MOST VALUE
within() {
	if [[ $4 =~ ^[0-9]+$ && $4 -ge $2 && $4 -le $3 ]]; then
		pass "$1"
	else
		fail "$1" "expected $2 to $3, got '$4'"
	fi
}

# right NAME RESULT TIMES: this many tries for a result (init.sh, until_right) were right; otherwise their output
# is shown.
right() {
	same "$1" "$3" "$(of "right-$2")"
	[[ $(of "right-$2") == "$3" ]] || grep -B 50 "RESULT right-$2: " "$log"
}

# The few samples that the kernel's own interrupts delay change the number a little.
sampled() {
	local name=$1 events=$2 value=$3
	within "$name: samples" $((events / PERIOD - 1)) $((events / PERIOD + 1)) "${value%% *}"
}

# Reads one line of families.list: sets cpu, driver, event, level and features.
split() {
	local word words=()
	IFS='|' read -ra words <<<"$1"
	for word in 0 1 2 3 4; do
		words[word]=${words[word]-}
		words[word]=${words[word]#"${words[word]%%[! ]*}"}
		words[word]=${words[word]%"${words[word]##*[! ]}"}
	done
	cpu=${words[0]} driver=${words[1]} event=${words[2]} level=${words[3]} features=" ${words[4]} "
}

boot_family() {
	local image=amd64 words word
	split "$1"
	words="job=family precise=$event"
	# Without fixed counters the watchdog takes one of two counters.
	[[ $features != *" i386 "* ]] || image=i386 words+=" watchdog=0"
	[[ $features != *" backports "* ]] || image=backports
	[[ $features != *" graph "* ]] || words+=" graph=yes"
	[[ $features != *" pdist "* ]] || words+=" pdist=yes"
	for word in $features; do [[ $word != *=* ]] || words+=" $word"; done
	later "$cpu" $image "$cpu,pmu=on" "$words"
}

# 17.4.7 to 17.9, 18.8.1.1, 18.13.1: records.
check_records() {
	local n average share
	if [[ -n $event ]]; then
		sampled "$cpu: PEBS" "$((LOOPS + PAIRS))" "$(of precise)"
		within "$cpu: PEBS: at loop_branch" $((LOOPS / PERIOD - 2)) 101 \
			"$(of precise | grep -o ' loop_branch+0x0:[0-9]*' | cut -d: -f2)"
		read -r n average share <<<"$(of branches)"
		sampled "$cpu: branch records" "$BRANCHES" "$n"
		within "$cpu: branch records: of the loop, percent" 97 100 "$share"
		within "$cpu: branch records: in each sample" 4 32 "$average"
	fi
	if [[ $features == *" graph "* ]]; then
		read -r n share <<<"$(of graph)"
		sampled "$cpu: call graph" "$LOOPS" "$n"
		within "$cpu: call graph: three calls deep" $((n - 1)) "$n" "$share"
	fi
	[[ $features == *" i386 "* ]] || same "$cpu: branch trace" "$TAKEN_SHORT" "$(of trace)"
}

# 18.8.1.2, 18.9.4.3, 18.11.3: loads, stores, and their addresses.
check_memory() {
	local word loads='' stores='' dla='' refs='' n right
	for word in $features; do
		[[ $word != *=* ]] || local "${word?}"
	done
	[[ -z $refs ]] || same "$cpu: references to memory" $((LOADS + STORES)) "$(of memory)"
	[[ -n $loads ]] || return 0
	same "$cpu: loads and stores" "$LOADS $STORES" "$(of memory)"
	[[ -n $dla ]] || return 0
	same "$cpu: addresses of stores" "$((STORES / 1013)) $STORES_FIRST $STORES_FIRST" \
		"$(of "addresses-$dla")"
	read -r n right <<<"$(of mem)"
	within "$cpu: perf mem: stores" 10 1000 "$n" # the kernel shifts them: it is sampled, too
	same "$cpu: perf mem: addresses" "$n" "$right"
	[[ $dla == "$stores" ]] || return 0
	same "$cpu: addresses of loads" "$((LOADS / 1013)) $LOADS_FIRST $LOADS_FIRST" \
		"$(of "addresses-$loads")"
}

# More pairs of events than counters: each pair counts for a part of the time, and perf scales it. The
# error of this estimate depends on the machine. But both events of a pair count together, and the
# same number of pairs counts at any time. So the sum of all counts without the scaling, divided by
# the sum of the shares, does not depend on the machine.
check_multiplexed() {
	local i=0 branches percent instructions part counted=0 shares=0
	while IFS=': ' read -r branches percent instructions _; do
		i=$((i + 1))
		percent=$((10#${percent/./}))
		part=$((branches * percent / 10000))
		within "$cpu: multiplexed, pair $i: percent of the time, by a hundred" 1 9999 $percent
		within "$cpu: multiplexed, pair $i: branches in its part" 1 100100000 $part
		within "$cpu: multiplexed, pair $i: instructions to a thousand branches" 1998 2002 \
			$((instructions * 1000 / (branches + !branches)))
		counted=$((counted + part)) shares=$((shares + percent))
	done < <(of multiplexed | xargs -n 2)
	same "$cpu: multiplexed: pairs" 6 $i
	within "$cpu: multiplexed: branches" 98000000 102000000 \
		$((counted * 10000 / (shares + !shares)))
}

# The parts of the driver's line. Their order differs between kernels.
parts() {
	local part words
	IFS=',' read -ra words <<<"${1%.}"
	for part in "${words[@]}"; do echo $part; done | sort | paste -s -d,
}

check_family() {
	local cpu driver event level features share n
	split "$1"
	log=$SCRATCH/$cpu.log
	ended "$cpu" family
	same "$cpu: driver" "$(parts "$driver")" \
		"$(parts "$(sed -n 's/^.*Performance Events: //p' "$log" | head -n 1)")"
	same "$cpu: watchdog" 1 "$(grep -c 'NMI watchdog: Enabled' "$log")"
	same "$cpu: counts" "$INSNS $BRANCHES" "$(of counts)"
	same "$cpu: counts again" "$INSNS $BRANCHES" "$(of again)"
	same "$cpu: counts of faults, single-steps and changing code" \
		"$FAULT_INSNS $FAULT_BRANCHES" "$(of faults)"
	same "$cpu: modelled clocks" "$INSNS" "$(of cycles)"
	sampled "$cpu: sampling" "$INSNS" "$(of sampled)"
	same "$cpu: most precise level" "$level" "$(of level)"
	if [[ $features == *" instructions "* ]]; then
		sampled "$cpu: instructions, most precise" "$INSNS" "$(of ppp)"
	fi
	sampled "$cpu: precise clocks" "$INSNS" "$(of clocks)"
	# With the kernel's own share, which depends on the machine: its timer interrupts, and, if no bit
	# stops all counters, the interrupt's handler itself.
	read -r n share <<<"$(of default)"
	within "$cpu: perf record as it comes: samples" $((INSNS / PERIOD - 1)) 5000 "$n"
	within "$cpu: perf record as it comes: samples of the loop" $((LOOPS / PERIOD)) \
		$((4 * LOOPS / PERIOD)) "$share"
	check_multiplexed
	check_memory
	check_records
}

# What instructions load, store and lock (18.8.1.1; docs/exactness.md) is the same as without a guest:
# programs of tests/user/known with the counts in their header comments.
check_memory_by_instruction() {
	local file program key expected
	for file in "$SCRATCH"/amd64/root/known/*; do
		program=$(basename "$file") expected=
		for key in instructions loads stores locks; do
			expected+=" $(sed -n "s/^ [*] expect:.* $key=\([0-9]*\).*/\1/p" \
				"$ROOT/tests/user/known/$program.S" | grep . || echo 0)"
		done
		same "memory by instruction: $program" "${expected# }" "$(of "known-$program")"
	done
}

# Two processors, each with its own unit.
check_processors() {
	local first second
	log=$SCRATCH/smp.log
	ended "two processors" smp
	same "two processors: counts on the first" "$INSNS $BRANCHES" "$(of first)"
	same "two processors: counts on the second" "$INSNS $BRANCHES" "$(of second)"
	read -r first second <<<"$(of processors)"
	within "two processors: the one that ran the program" "$INSNS" $((2 * INSNS)) "$second"
	within "two processors: the other" 0 $((INSNS / 2)) "$first"
	right "two processors: one that is counted is interrupted" remote 1
	same "two processors: and goes on" 1 "$(of runs)"
	check_memory_by_instruction
	same "loads and stores that cross a line" "$LOAD_SPLITS $STORE_SPLITS" "$(of splits)"
	same "elements that cross a line" "$ELEMENT_LOAD_SPLITS $ELEMENT_STORE_SPLITS" "$(of elements)"
}

# Two threads of a core: their own counters, and AnyThread (18.2.3).
check_threads() {
	local any own
	log=$SCRATCH/threads.log
	ended "two threads" threads
	same "two threads: counters of each" 4 "$(sed -n 's/.*generic registers: *//p' "$log")"
	same "two threads: counts on the first" "$INSNS $BRANCHES" "$(of first)"
	same "two threads: counts on the second" "$INSNS $BRANCHES" "$(of second)"
	# The program, and what ran on the second thread besides, such as taskset before it.
	read -r any own <<<"$(of any)"
	within "two threads: the first counts the second" "$INSNS" $((INSNS + 100000)) $((any - own))
}

# Programs of Debian's packages that write the registers directly, or use the kernel.
check_tools() {
	local what n b rate all
	log=$SCRATCH/tools.log
	ended "tools" tools
	for what in msr-tools likwid; do
		read -r n b rate <<<"$(of $what)"
		within "tools: $what: instructions" 200005009 202000000 "$n"
		within "tools: $what: branches" 100003001 101000000 "$b"
	done
	same "tools: likwid: branch rate" 0.5000 "$rate"
	log=$SCRATCH/more-tools.log
	ended "more tools" more-tools
	# PAPI counts a part of the run, perf all of it: PAPI measures the clock first.
	read -r n b <<<"$(of papi)"
	read -r all rate <<<"$(of papi-by-perf)"
	within "tools: PAPI: instructions" $((${all:-0} / 4)) "${all:-0}" "$n"
	within "tools: PAPI: branches" $((${rate:-0} / 4)) "${rate:-0}" "$b"
	read -r n b <<<"$(of pcm)"
	within "tools: pcm: millions of instructions" 200 206 "$n"
	within "tools: pcm: millions of branches" 100 103 "$b"
}

# NetBurst (18.15; two threads: 18.16) with a driver that is right only sometimes (init.sh). A count that is
# right by chance would not be right to the last digit.
check_netburst() {
	local mask
	log=$SCRATCH/$1.log
	ended "$1" netburst
	same "$1: driver" "$(parts "Netburst events, Netburst P4/Xeon PMU driver.")" \
		"$(parts "$(sed -n 's/^.*Performance Events: //p' "$log" | head -n 1)")"
	same "$1: watchdog" 1 "$(grep -c 'NMI watchdog: Enabled' "$log")"
	for mask in $2; do
		right "$1: right counts on $mask" "counts-$mask" 3
		right "$1: right samples on $mask" "sampled-$mask" 1
	done
	right "$1: samples beside the watchdog" clocks 1 # by another event (18.17.2)
	right "$1: right clocks" cycles 1
}

boot_perf_test() { later "perf-test-$1" amd64 Skylake-Server,pmu=on "job=perf-test tests=$1"; }

# Perf's own tests. All pass except those in perf_test.list, which gives the reasons.
check_perf_test() {
	local least=$2
	log=$SCRATCH/perf-test-$1.log
	ended "perf test" perf-test
	sed -n 's/^.*RESULT perf-test: [0-9.]*: *//p' "$log" | sed 's/ *: */: /' >"$SCRATCH/verdicts"
	within "perf test: passed" "$least" 200 "$(grep -c ': Ok$' "$SCRATCH/verdicts")"
	same "perf test: not passed without a known reason" "" \
		"$(grep -E ': (FAILED|Skip)' "$SCRATCH/verdicts" |
			grep -vxFf <(sed -n 's/ *|.*//p' "$here/perf_test.list"))"
}

# Steps from taken branch to taken branch (17.4.3), and steps that hit data breakpoints (17.2.3).
check_steps() {
	log=$SCRATCH/steps.log
	ended "steps" steps
	same "steps: one for each taken branch" "$TAKEN_SHORT" "$(of stops)"
	same "steps: one exception for all that an instruction hits" "4001 4003 4000 4002" "$(of traps)"
}

# near VALUE EXPECTED NAME: the program's start, and the kernel, which interrupts it, add a little.
near() { within "machine: $3" $(($2 * 97 / 100)) $(($2 * 103 / 100 + 6000)) "$1"; }

# What a model of the machine counts for caches.c: loads, loads that miss the first level, loads
# that leave the core, and loads that no cache has. Also mispredictions, and hits of the second and
# last level.
check_machine() {
	local phase all first off memory missed second last n right
	log=$SCRATCH/machine.log
	ended "machine" machine
	same "machine: perf stat -d counts all" "$(printf '%s=counted\n' cycles instructions branches \
		branch-misses L1-dcache-loads L1-dcache-load-misses LLC-loads LLC-load-misses | paste -s -d' ')" \
		"$(of default)"
	while read -r phase all first off memory missed second last; do
		local counts
		read -ra counts <<<"$(of "cache-$phase")"
		near "${counts[0]-}" "$all" "$phase: loads"
		near "${counts[1]-}" "$first" "$phase: misses of the first level"
		near "${counts[2]-}" "$off" "$phase: loads that leave the core"
		near "${counts[3]-}" "$memory" "$phase: loads from memory"
		near "${counts[4]-}" "$missed" "$phase: mispredictions"
		near "${counts[5]-}" "$second" "$phase: hits of the second level"
		near "${counts[6]-}" "$last" "$phase: hits of the last level"
	done <<-END
		near 400000 0 0 0 0 0 0
		second 400000 400000 0 0 0 400000 0
		last 400000 400000 400000 0 0 0 400000
		memory 400000 400000 400000 400000 0 0 0
		alias 400000 0 0 0 0 0 0
		random 0 0 0 0 200000 0 0
		turns 0 0 0 0 0 0 0
	END
	same "machine: elements that cross a line" "$ELEMENT_LOAD_SPLITS $ELEMENT_STORE_SPLITS" "$(of elements)"
	read -r n right <<<"$(of precise)"
	within "machine: precise samples of misses" 78 82 "$n"
	within "machine: precise samples are at the load" $((${n:-0} - 2)) "${n:-0}" "${right##*:}"
	within "machine: samples of cache misses" 76 84 "$(of late | cut -d' ' -f1)"
	read -r n right <<<"$(of sources)"
	within "machine: perf mem: loads" 90 105 "$n"
	within "machine: perf mem: from the last level" $((${n:-0} - 5)) "${n:-0}" "$right"
	read -r n right <<<"$(of mispredicted)"
	within "machine: branch records: mispredictions of a random branch, percent" 45 55 "$n"
	within "machine: branch records: another branch is predicted" 1 9 "$right"
}

JOBS=${GUEST_JOBS:-$(nproc)}
mapfile -t families < <(grep -v '^#' "$here/families.list")
chosen=()
for family in "${families[@]}"; do
	[[ $# -eq 0 || " $* " == *" ${family%% *} "* ]] && chosen+=("$family")
done
images=(amd64 i386)
[[ "${chosen[*]-}" != *" backports "* ]] || images+=(backports)
for arch in "${images[@]}"; do
	"$here/image.sh" "$SCRATCH/$arch" "$arch" || stop "image" "$arch"
done
"$here/tools.sh" "$SCRATCH/tools" || stop "image" "tools"
cp "$SCRATCH/amd64/vmlinuz" "$SCRATCH/tools/"
cat "$SCRATCH/amd64/initrd" "$SCRATCH/tools/tools" >"$SCRATCH/tools/initrd"
others=false
[[ $# -ne 0 && " $* " != *" others "* ]] || others=true

for family in ${chosen[@]+"${chosen[@]}"}; do boot_family "$family"; done
if $others; then
	later smp amd64 Skylake-Server,pmu=on job=smp -smp 2
	later threads amd64 Skylake-Server,pmu=on job=threads -smp 2,threads=2 -accel tcg,thread=single
	later tools tools Denverton,pmu=on "job=tools watchdog=0"
	later more-tools tools Skylake-Server,pmu=on "job=more-tools watchdog=0"
	netburst="job=netburst right=$((2 * 20000 + 5 * PAIRS + 9)),$((20000 + 3 * PAIRS))"
	later netburst i386 kvm32,pmu=on,pmu-model=netburst "$netburst masks=2" -smp 2
	later prescott amd64 kvm64,pmu=on,pmu-model=prescott "$netburst masks=2" -smp 2
	later prescott-threads amd64 kvm64,pmu=on,pmu-model=prescott "$netburst masks=4,8" \
		-smp 4,sockets=2,threads=2 -accel tcg,thread=single
	boot_perf_test pmu
	later steps amd64 Skylake-Server,pmu=on job=steps
fi
[[ $others == false && " $* " != *" machine "* ]] ||
	later machine amd64 Skylake-Server,pmu=on,pmu-machine=on job=machine
[[ " $* " != *" perf-test "* ]] || boot_perf_test all
wait
for family in ${chosen[@]+"${chosen[@]}"}; do check_family "$family"; done
if $others; then
	check_processors
	check_threads
	check_netburst netburst 2
	check_netburst prescott 2
	check_netburst prescott-threads "4 8"
	check_steps
	check_tools
	check_perf_test pmu 15
fi
[[ $others == false && " $* " != *" machine "* ]] || check_machine
[[ " $* " != *" perf-test "* ]] || check_perf_test all 60
finish
