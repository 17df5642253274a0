#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# legacy.sh: a guest without an operating system (legacy.c) programs the units before architectural performance
# monitoring: RDMSR, WRMSR, RDPMC, counts by ring, and the interrupt as a fixed vector, NMI and SMI
# (Vol. 3A 10.5.1, 10.6.1; Vol. 3B 18.15, 18.22, 18.23).
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../lib.sh"
export SOFTPMU_QEMU=${QEMU:-$B/softpmu-qemu-system-x86_64}
[[ -x $SOFTPMU_QEMU ]] || stop "QEMU" "there is no $SOFTPMU_QEMU"

image=$SCRATCH/legacy
expect "build" "$ROOT/tests/guest/legacy_image.sh" "$image" legacy.c

LOOPS=500000 OVERFLOWS=100
# said NAME WORDS OPTION...: compares what the guest prints with what it must print.
said() {
	local name=$1 family=$2 rdpmc=$3
	shift 3
	timeout 300 "$SOFTPMU" vm "$@" --kernel "$image.bin" --initrd none </dev/null >"$SCRATCH/said" 2>&1
	same "$name" "$(
		echo "$family"
		echo "RDMSR: $((2 * LOOPS)) $LOOPS"
		echo "of the other rings: 0 0"
		if $rdpmc; then echo "RDPMC: $((2 * LOOPS + 2)) $LOOPS"; else echo "no RDPMC"; fi
		echo "sent to itself: 100 100"
		if [[ $family != Pentium ]]; then
			echo "interrupts: $OVERFLOWS 0"
			echo "NMIs: $OVERFLOWS 0"
			echo "SMIs: 0 1" # and is not armed again
		fi
		echo "done"
	)" "$(tr -d '\r' <"$SCRATCH/said")"
}

said "-cpu pentium" Pentium true --cpu pentium,pmu=on # has MMX
said "-cpu pentium2" P6 true --cpu pentium2,pmu=on
said "-cpu pentium3" P6 true --cpu pentium3,pmu=on
said "pentium" Pentium false -M pentium
said "pentium-mmx" Pentium true -M pentium-mmx
for model in pentium-pro pentium-ii pentium-iii pentium-m; do said $model P6 true -M $model; done
for model in netburst prescott prescott-2m cedar-mill xeon-7100 xeon-mp-8m-l3; do
	said $model NetBurst true -M $model
done
finish
