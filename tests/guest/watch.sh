#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# watch.sh: a guest without a system whose instructions hit a data breakpoint and fault (watch.c).
# An instruction that faults raises no debug exception. If it completes, it raises one (Vol. 3B
# 17.3.1.2). The unit makes no difference.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../lib.sh"
QEMU=${QEMU:-$B/softpmu-qemu-system-x86_64}
[[ -x $QEMU ]] || stop "QEMU" "there is no $QEMU"

image=$SCRATCH/watch
expect "build" "$ROOT/tests/guest/legacy_image.sh" "$image" watch.c

# Each case: faults and debug exceptions; DR6 when the fault was raised, and of the debug exception; where that came.
expected="a read: 0 1
  0000 0001 after
a read and a page fault: 1 0
  0000 0000
a step after it: 0 1
  0000 4000 after
a read and a page fault, again without it: 1 1
  0000 0001 after
a read for a division: 0 1
  0000 0001 after
a read for a division by 0: 1 0
  0000 0000
a step after it: 0 1
  0000 4000 after
done"

# The guest halts when it is done.
for cpu in max Skylake-Client,pmu=on; do
	: >"$SCRATCH/said"
	timeout 300 "$QEMU" -M q35 -m 64 -nodefaults -display none -serial "file:$SCRATCH/said" \
		-kernel "$image.bin" -cpu "$cpu" 2>"$SCRATCH/warnings" &
	qemu=$!
	for ((tries = 0; tries < 600; tries++)); do
		grep -q '^done' "$SCRATCH/said" && break
		sleep 0.1
	done
	kill "$qemu"
	wait "$qemu" 2>/dev/null
	same "-cpu $cpu" "$expected" "$(tr -d '\r' <"$SCRATCH/said")"
done
finish
