#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# xen.sh: the Xen hypervisor of Debian's package with its NMI watchdog. The watchdog counts clocks by an architectural
# event (Vol. 3B 18.2.1), on NetBurst by IQ_CCCR0 and a threshold of 15 that is never exceeded
# (18.15.6.2, 18.15.6.3). Each overflow is an NMI through the local APIC (Vol. 3A 10.5.1). Xen itself says
# whether NMIs came, and how many when a key is pressed on its console.
#
# Its watchdog needs counters at the rate of the time-stamp counter. -icount makes this rate one for each instruction.
# Linux also needs it: the number of its own interrupts in a count is then the same on a slow machine.
#
# Then Linux, as Xen's first domain, counts and samples by Xen's virtual unit. RDMSR and WRMSR trap to Xen, which
# delivers the interrupts. A paravirtual kernel runs in ring 3 like its programs, so it has a share in what
# is counted there.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../lib.sh"
QEMU=${QEMU:-$B/softpmu-qemu-system-x86_64}
[[ -x $QEMU ]] || stop "QEMU" "there is no $QEMU"
SECONDS_MAX=${GUEST_SECONDS:-900}

# shellcheck disable=SC2317 # called by expect
fetch_xen() (
	# shellcheck source=tools/softpmu/vm/vm_packages.sh
	. "$ROOT/tools/softpmu/vm/vm_packages.sh"
	lists amd64 && fetch xen amd64 download xen-hypervisor-4.17-amd64 &&
		gzip -dc "$cache/xen/boot/xen-4.17-amd64.gz" >"$SCRATCH/xen"
)
# The kernel for cloud computers cannot be a first domain.
# shellcheck disable=SC2317 # called by expect
fetch_linux() (
	# shellcheck source=tools/softpmu/vm/vm_packages.sh
	. "$ROOT/tools/softpmu/vm/vm_packages.sh"
	lists amd64 && fetch_kernel amd64 linux-image-amd64 && rm -rf "${kernel:?}/lib" &&
		cp "$kernel"/boot/vmlinuz-* "$SCRATCH/vmlinuz"
)
expect "package" fetch_xen
expect "kernel" fetch_linux
expect "image" "$ROOT/tests/guest/image.sh" "$SCRATCH/image" amd64
expect "first domain" "$CC" -nostdlib -static -Wl,--build-id=none,-Ttext-segment=0xffffffff80100000 \
	-o "$SCRATCH/domain" "$ROOT/tests/guest/xen_domain.S"

# until_said PATTERN: waits for the pattern while the guest runs.
until_said() {
	local i
	for ((i = 0; i < 4 * SECONDS_MAX; i++)); do
		! grep -q "$1" "$SCRATCH/said" || return 0
		kill -0 "$guest" 2>/dev/null || return 1
		sleep 0.25
	done
	return 1
}

# watchdog NAME CPU
watchdog() {
	local name=$1 cpu=$2 guest nmis
	rm -f "$SCRATCH/keys"
	mkfifo "$SCRATCH/keys"
	: >"$SCRATCH/said"
	"$QEMU" -M q35 -m 256 -nodefaults -display none -no-reboot -serial stdio -cpu "$cpu" \
		-icount shift=0,sleep=off -kernel "$SCRATCH/xen" -initrd "$SCRATCH/domain" \
		-append "console=com1 com1=115200,8n1 conswitch=ax watchdog noreboot" \
		<"$SCRATCH/keys" >"$SCRATCH/said" 2>"$SCRATCH/complaint" &
	guest=$!
	exec 7>"$SCRATCH/keys"
	until_said 'to switch input' && printf n >&7 && until_said 'NMI neither'
	kill "$guest" 2>/dev/null
	wait "$guest"
	exec 7>&-
	same "$name: Xen's watchdog" ok \
		"$(tr -d '\r' <"$SCRATCH/said" | sed -n 's/.*Testing NMI watchdog on all CPUs://p')"
	nmis=$(tr -d '\r' <"$SCRATCH/said" | sed -n 's/^(XEN) *0\t *//p')
	if ((${nmis:-0} >= 2)); then # so many it waits for
		pass "$name: NMIs"
	else
		fail "$name: NMIs" "Xen counted '$nmis'"
		tail -n 5 "$SCRATCH/said" "$SCRATCH/complaint"
	fi
}

# of NAME: prints the value of a result.
of() { sed -n "s/^.*RESULT $1: //p" "$SCRATCH/lines" | sed 's/ *$//'; }

# within NAME LEAST MOST VALUE
within() {
	if [[ $4 =~ ^[0-9]+$ && $4 -ge $2 && $4 -le $3 ]]; then
		pass "$1"
	else
		fail "$1" "expected $2 to $3, got '$4'"
	fi
}

# What known.S retires.
LOOPS=1000000 PAIRS=1000 PERIOD=10007
INSNS=$((2 * LOOPS + 5 * PAIRS + 9))
BRANCHES=$((LOOPS + 3 * PAIRS + 1))

# virtual_unit NAME CPU
virtual_unit() {
	local name=$1 cpu=$2 n branches
	timeout "$SECONDS_MAX" "$QEMU" -M q35 -m 1024 -nodefaults -display none -no-reboot -cpu "$cpu" \
		-icount shift=0,sleep=off -serial "file:$SCRATCH/said" -kernel "$SCRATCH/xen" -initrd \
		"$SCRATCH/vmlinuz console=hvc0 loglevel=7 panic=-1 job=domain,$SCRATCH/image/initrd" \
		-append "console=com1 com1=115200,8n1 vpmu=on noreboot dom0_mem=640M spec-ctrl=no xpti=off" \
		</dev/null 2>"$SCRATCH/complaint" ||
		tail -n 3 "$SCRATCH/complaint"
	tr -d '\r' <"$SCRATCH/said" >"$SCRATCH/lines"
	same "$name: driver" "Nehalem events, Intel PMU driver." \
		"$(sed -n 's/.*Performance Events: //p' "$SCRATCH/lines")"
	same "$name: watchdog of Linux" 1 "$(grep -c 'NMI watchdog: Enabled' "$SCRATCH/lines")"
	read -r n branches <<<"$(of counts)"
	within "$name: instructions" $INSNS $((2 * INSNS)) "$n"
	within "$name: branches" $BRANCHES $((2 * BRANCHES)) "$branches"
	n=$(of sampled)
	within "$name: samples" $((INSNS / PERIOD)) $((2 * INSNS / PERIOD)) "${n%% *}"
	# A period begins in the kernel, and includes its return from the interrupt.
	within "$name: samples of the loop" $((2 * LOOPS / PERIOD - 10)) $((2 * LOOPS / PERIOD + 50)) \
		"$(grep -o '[a-z_]*+0x[05]:[0-9]*' <<<"$n" | awk -F: '{ n += $2 } END { print n + 0 }')"
	same "$name: no complaint of the kernel" "" "$(of complaint)"
	same "$name: the guest ends" domain "$(of end)"
}

watchdog "Core 2" core2duo,pmu=on
watchdog "Skylake" Skylake-Server,pmu=on
watchdog "NetBurst" kvm64,pmu=on,pmu-model=prescott
virtual_unit "virtual unit" Nehalem,pmu=on
finish
