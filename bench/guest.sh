#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# guest.sh: what the unit costs a guest of QEMU.
#
# A stock build and ours take turns, TURNS times; each boots the same guest, which runs a few
# programs: plain, and with ours also counted (perf stat -e instructions) and sampled (perf
# record -c 1000003).  A figure is the least of its times by the guest's clock, over the
# stock build's least.  STOCK and QEMU are the two commands.
set -euo pipefail
here=$(realpath "$(dirname "$0")")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
turns=${TURNS:-5}
cpu=${BENCH_CPU:-Skylake-Server}

"$here/../tests/guest/image.sh" "$scratch" amd64

# turn NAME QEMU OPTION WORDS: one boot's times are added to the list of NAME.
turn() {
	timeout 1200 "$2" -M q35 -m 1024 -nodefaults -display none -no-reboot -serial stdio -cpu "$cpu$3" \
		-kernel "$scratch/vmlinuz" -initrd "$scratch/initrd" \
		-append "console=ttyS0 quiet panic=-1 job=bench watchdog=0 $4" </dev/null 2>/dev/null |
		tr -d '\r' | sed -n "s/^.*RESULT bench: /$1 /p" >>"$scratch/times"
}

for ((i = 1; i <= turns; i++)); do
	turn stock "$STOCK" "" "plain=yes"
	turn unit "$QEMU" ",pmu=on" ""
	echo "turn $i of $turns" >&2
done
awk -v turns="$turns" '
	{ key = $1 "-" $2; program[$3]; n[key, $3]++ }
	!((key, $3) in least) || $4 < least[key, $3] { least[key, $3] = $4 }
	END {
		split("stock-plain unit-plain unit-counted unit-sampled", column, " ")
		printf "%-8s %10s %10s %10s %10s\n", "program", "stock", "idle", "counting", "sampling"
		for (p in program) {
			printf "%-8s %8.2f s", p, least["stock-plain", p] / 100
			for (c = 2; c <= 4; c++) {
				if (n[column[c], p] != turns || n["stock-plain", p] != turns) bad = 1
				printf " %9.3fx", least[column[c], p] / least["stock-plain", p]
			}
			print ""
		}
		if (bad || !length(program)) { print "some runs are missing"; exit 1 }
	}' "$scratch/times"
