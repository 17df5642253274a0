#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bare_metal.sh: examples/bare-metal on a processor of each model of 64 bits: what libsoftpmu's driver finds and
# records without an operating system. The program in ring 3 has 1 + 4 * 100000 + 1 instructions. When
# it is traced, it is a loop of 1000.
#
#	- PMI through the local vector table as a fixed vector and as NMI, masked by each delivery
#	  and unmasked by the service routine (Vol. 3A 10.5.1, Vol. 3B 17.4.9.5)
#	- overflow and PEBS at the exact instruction, counts of ring 3 alone (18.2.1.1, 18.4.4, 18.9.4.4)
#	- BTS of ring 3, with the interrupts and INT n that leave it (17.4.9)
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../lib.sh"
export SOFTPMU_QEMU=${QEMU:-$B/softpmu-qemu-system-x86_64}
[[ -x $SOFTPMU_QEMU ]] || stop "QEMU" "there is no $SOFTPMU_QEMU"
image=$B/bare-metal.bin

INSTRUCTIONS=$((1 + 4 * 100000 + 1)) PERIOD=10006
SAMPLES=$((INSTRUCTIONS / PERIOD)) RECORDS=$((INSTRUCTIONS / (PERIOD + 1)))
# 128 BTS records, 8 of them after the threshold. Each interrupt adds a branch of its own.
BTS_INTERRUPTS=$(((999 + 1) / 120))
BTS_BRANCHES=$((999 + 1 + BTS_INTERRUPTS))

# Prints what follows the first line.
expected() {
	local way
	for way in fixed NMI; do
		echo "sampling by $way: $INSTRUCTIONS instructions, $SAMPLES interrupts, $SAMPLES samples," \
			"$SAMPLES where they belong"
		echo "PEBS by $way: $INSTRUCTIONS instructions, $((RECORDS / 4)) interrupts," \
			"$RECORDS records, $RECORDS where they belong"
		echo "branch trace by $way: $BTS_INTERRUPTS interrupts, $BTS_BRANCHES branches, 999 of the loop"
	done
	echo "done"
}

# The driver needs architectural performance monitoring (version "none" is older), the image 64 bits.
models=$("$SOFTPMU" models | awk 'NR > 1 && !/ absent / && !/ none +[0-9]/ && $1 != "core" { print $1 }')
for model in $models; do
	timeout 300 "$SOFTPMU" vm -M "$model" --kernel "$image" --initrd none </dev/null 2>&1 |
		tr -d '\r' >"$SCRATCH/said"
	# Version, counters, fixed counters and PEBS format from the tool's list (8 of "4/8": one thread).
	read -r version counters fixed format <<<"$("$SOFTPMU" models "$model" | awk 'NR == 2' |
		grep -oE ' [0-9]+ +([0-9]+/)?[0-9]+ +[0-9]+ +[0-9]+ +[0-9]+ +Vol' | awk '{ print $1, $2, $3, $5 }')"
	same "$model: what is detected" "$model: version $version, ${counters#*/} counters, $fixed fixed ones,\
 PEBS format $format" "$(head -n 1 "$SCRATCH/said")"
	same "$model: what is recorded" "$(expected)" "$(sed 1d "$SCRATCH/said" | grep -v '^ ')"
done
finish
