#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# xen.sh: the Xen hypervisor of Debian's package with its NMI watchdog: the clocks of an architectural event
# (Vol. 3B 18.2.1), on NetBurst by IQ_CCCR0 and a threshold of 15 that is not exceeded
# (18.15.6.2, 18.15.6.3), each overflow an NMI through the local APIC (Vol. 3A 10.5.1).  Xen itself says
# whether NMIs came, and on a key of its console how many.
#
# Its watchdog wants counters at the pace of the time-stamp counter: -icount makes it one for each instruction.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../lib.sh"
QEMU=${QEMU:-$B/softpmu-qemu-system-x86_64}
[[ -x $QEMU ]] || stop "QEMU" "there is no $QEMU"
SECONDS_MAX=${GUEST_SECONDS:-900}

# shellcheck disable=SC2317 # called by expect
fetch_xen() (
	# shellcheck source=tools/softpmu/vm_packages.sh
	. "$ROOT/tools/softpmu/vm_packages.sh"
	lists amd64 && fetch xen amd64 download xen-hypervisor-4.17-amd64 &&
		gzip -dc "$cache/xen/boot/xen-4.17-amd64.gz" >"$SCRATCH/xen"
)
expect "package" fetch_xen
expect "first domain" "$CC" -nostdlib -static -Wl,--build-id=none,-Ttext-segment=0xffffffff80100000 \
	-o "$SCRATCH/domain" "$ROOT/tests/guest/xen_domain.S"

# until_said PATTERN: while the guest runs.
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

watchdog "Core 2" core2duo,pmu=on
watchdog "Skylake" Skylake-Server,pmu=on
watchdog "NetBurst" kvm64,pmu=on,pmu-model=prescott
finish
