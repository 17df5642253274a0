#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# guest.sh [CPU... | others]: unmodified Linux on QEMU with the unit inside, family by family
# (families.list): its driver's boot line, the NMI watchdog, exact counts (Vol. 3B 18.2), samples
# and PEBS records where they belong (18.4.4, 18.8.1.1), last branch records (17.4.8) and
# branch trace store (17.4.9).
. "$(dirname "$0")/../lib.sh"
here=$ROOT/tests/guest
QEMU=${QEMU:-$B/softpmu-qemu-system-x86_64}

# What known.S retires.
LOOPS=1000000 PAIRS=1000
INSNS=$((2 * LOOPS + 5 * PAIRS + 9))
BRANCHES=$((LOOPS + 3 * PAIRS + 1))
TAKEN_SHORT=$((20000 - 1 + 3 * PAIRS - 1)) # that stay in the program, of known-short
# What faults.S retires: 22 and 11 instructions once, 5 and 2 of each of 2 faults and 8 more each time
# around, and as much for each of 5 single-steps.
FAULT_INSNS=$((22 + 11 + 1000 * 18 + 5 * 5))
FAULT_BRANCHES=$((3 + 1 + 1000 * 5 + 5 * 2))
PERIOD=10007

boot() {
	local log=$1 cpu=$2 words=$3
	shift 3
	timeout "${GUEST_SECONDS:-300}" "$QEMU" -M q35 -m 1024 -nodefaults -display none -no-reboot \
		-serial stdio -cpu "$cpu" -kernel "$SCRATCH/image/vmlinuz" -initrd "$SCRATCH/image/initrd" \
		-append "console=ttyS0 loglevel=7 panic=-1 nmi_watchdog=1 nopti $words" "$@" \
		</dev/null 2>&1 | tr -d '\r' >"$log"
}

# of NAME: the value of a result.
of() { sed -n "s/^.*RESULT $1: //p" "$log" | head -n 1 | sed 's/ *$//'; }

# A boot that stopped early shows why.
ended() {
	echo "$1: after $SECONDS s"
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

# The few samples that interrupts of the kernel's own delay move the number by a little.
sampled() {
	local name=$1 events=$2 value=$3
	within "$name: samples" $((events / PERIOD - 1)) $((events / PERIOD + 1)) "${value%% *}"
}

check_family() {
	local cpu=$1 options=$2 driver=$3 event=$4 place=$5 n average share
	log=$SCRATCH/$cpu.log
	boot "$log" "$cpu,pmu=on$options" "job=family precise=$event"
	ended "$cpu" family
	same "$cpu: driver" "$driver" "$(sed -n 's/^.*Performance Events: //p' "$log" | head -n 1)"
	same "$cpu: watchdog" 1 "$(grep -c 'NMI watchdog: Enabled' "$log")"
	same "$cpu: counts" "$INSNS $BRANCHES" "$(of counts)"
	same "$cpu: counts again" "$INSNS $BRANCHES" "$(of again)"
	same "$cpu: counts of faults, single-steps and changing code" "$FAULT_INSNS $FAULT_BRANCHES" \
		"$(of faults)"
	same "$cpu: modelled clocks" "$INSNS" "$(of cycles)"
	sampled "$cpu: sampling" "$INSNS" "$(of sampled)"
	same "$cpu: branch trace" "$TAKEN_SHORT" "$(of trace)"
	[[ -n $event ]] || return
	sampled "$cpu: PEBS" "$((LOOPS + PAIRS))" "$(of precise)"
	within "$cpu: PEBS: at $place" $((LOOPS / PERIOD - 2)) 101 \
		"$(of precise | grep -o " $place:[0-9]*" | cut -d: -f2)"
	read -r n average share <<<"$(of branches)"
	sampled "$cpu: branch records" "$BRANCHES" "$n"
	within "$cpu: branch records: of the loop, percent" 97 100 "$share"
	within "$cpu: branch records: in each sample" 4 32 "$average"
}

# Two processors, each with a unit of its own.
check_processors() {
	local first second
	log=$SCRATCH/smp.log
	boot "$log" Skylake-Server,pmu=on "job=smp" -smp 2
	ended "two processors" smp
	same "two processors: counts on the first" "$INSNS $BRANCHES" "$(of first)"
	same "two processors: counts on the second" "$INSNS $BRANCHES" "$(of second)"
	read -r first second <<<"$(of processors)"
	within "two processors: the one that ran the program" "$INSNS" $((2 * INSNS)) "$second"
	within "two processors: the other" 0 $((INSNS / 2)) "$first"
}

# Steps from taken branch to taken branch (17.4.3).
check_steps() {
	log=$SCRATCH/steps.log
	boot "$log" Skylake-Server,pmu=on "job=steps"
	ended "steps" steps
	same "steps: one for each taken branch" "$TAKEN_SHORT" "$(of stops)"
}

# The state goes to a file in the middle of a count, and another process goes on from it.
check_snapshot() {
	local loops=2000000000 before=$SCRATCH/before.log state=$SCRATCH/state i
	local machine=(-M q35 -m 256 -nodefaults -display none -no-reboot -cpu 'Skylake-Server,pmu=on'
		-kernel "$SCRATCH/image/vmlinuz" -initrd "$SCRATCH/image/initrd"
		-append "console=ttyS0 loglevel=7 panic=-1 nmi_watchdog=1 job=pause")
	# shellcheck disable=SC2094 # the emulator writes what is looked at meanwhile
	{
		for ((i = 0; i < 120; i++)); do
			grep -q 'RESULT ready' "$before" 2>/dev/null && break
			sleep 1
		done
		sleep 1.5
		echo "migrate file:$state"
		for ((i = 0; i < 60; i++)); do
			sleep 1
			echo "info migrate"
			grep -q 'Status: *completed' "$SCRATCH/monitor" && break
		done
		echo quit
	} | timeout 300 "$QEMU" "${machine[@]}" -serial "file:$before" -monitor stdio >"$SCRATCH/monitor" 2>&1
	same "snapshot: it is in mid-count" "" "$(log=$before of counts)"
	log=$SCRATCH/after.log
	timeout 300 "$QEMU" "${machine[@]}" -serial "file:$log" -incoming "file:$state" </dev/null \
		>"$SCRATCH/said" 2>&1 || cat "$SCRATCH/said"
	sed -i 's/\r//g' "$log"
	same "snapshot: counts" "$((2 * loops + 5 * PAIRS + 9)) $((loops + 3 * PAIRS + 1))" "$(of counts)"
	ended "snapshot" pause
}

"$here/image.sh" "$SCRATCH/image" || { fail "image"; finish; }
while IFS='|' read -r cpu options driver event place; do
	trimmed=()
	for word in "$cpu" "$options" "$driver" "$event" "$place"; do
		word="${word#"${word%%[! ]*}"}"
		trimmed+=("${word%"${word##*[! ]}"}")
	done
	[[ ${trimmed[0]} != \#* ]] || continue
	[[ $# -eq 0 || " $* " == *" ${trimmed[0]} "* ]] || continue
	check_family "${trimmed[@]}"
done <"$here/families.list"
if [[ $# -eq 0 || " $* " == *" others "* ]]; then
	check_processors
	check_steps
	check_snapshot
fi
finish
