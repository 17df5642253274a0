#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# machine_check.sh: a machine check, which QEMU's monitor causes, switches the branch trace and
# PEBS off (Vol. 3B 17.4.9) and does not change counters. The guest is Linux. Its handler continues
# after an uncorrected error whose action is optional (15.6.3). It is i386, because amd64's cloud kernel has no such handler.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../lib.sh"
here=$ROOT/tests/guest
QEMU=${QEMU:-$B/softpmu-qemu-system-x86_64}
[[ -x $QEMU ]] || stop "QEMU" "there is no $QEMU"
SECONDS_MAX=${GUEST_SECONDS:-600}

# of NAME: prints the value of a result.
of() { tr -d '\r' <"$SCRATCH/said" | sed -n "s/^.*RESULT $1: //p"; }

expect "image" "$here/image.sh" "$SCRATCH" i386
: >"$SCRATCH/said"
mkfifo "$SCRATCH/keys"
timeout "$SECONDS_MAX" "$QEMU" -M q35 -m 512 -nodefaults -display none -no-reboot -monitor stdio \
	-serial "file:$SCRATCH/said" -cpu Skylake-Server,pmu=on -kernel "$SCRATCH/vmlinuz" \
	-initrd "$SCRATCH/initrd" \
	-append "console=ttyS0 loglevel=7 panic=-1 $SLOW_MACHINE watchdog=0 job=machine-check" \
	<"$SCRATCH/keys" >"$SCRATCH/monitor" 2>&1 &
guest=$!
exec 7>"$SCRATCH/keys"
trap '' PIPE
while kill -0 "$guest" 2>/dev/null && [[ -z $(of armed) ]]; do sleep 0.2; done
# Bank 9: valid, uncorrected, enabled, signalled, action optional. The interrupted program may continue.
echo "mce 0 9 0xb100000000000000 0x5 0 0" >&7
wait "$guest"
exec 7>&-
same "before: IA32_DEBUGCTL and IA32_PEBS_ENABLE" "6c0 1" "$(of armed)"
same "after one: both, and IA32_PERFEVTSEL0" "1 600 0 4100c0" "$(of after)"
same "the guest ends" machine-check "$(of end)"
same "no complaint of the kernel" "" "$(of complaint)"
finish
