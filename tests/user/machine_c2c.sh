#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# machine_c2c.sh: threads share the last level of a modelled machine. `perf c2c report` finds the
# line and the words of a program with false sharing (sharing.c).
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
have perf || stop "perf" "is not installed"
compile sharing -O1 -g -pthread -fno-pie -no-pie
cd "$SCRATCH" || exit 1

# counted EVENT PROGRAM ARGUMENT
counted() {
	"$SOFTPMU" stat --machine=skylake -x , -e "$1" -o counts -- "$2" "$3" >/dev/null 2>said || cat said
	sed -n 's/^\([0-9]*\),.*/\1/p' counts
}

# Program and libraries miss a few thousand times besides.
misses=$(counted mem_load_retired.l3_miss "$BUILT/sharing" last)
expect "lines that two threads load come from memory once: $misses" test "$misses" -ge 19900 -a "$misses" -le 30000

# With this period the threads run instruction by instruction, in turn. Every third load that is slow makes a
# record. PEBS has its data address and its source.
run record "$SOFTPMU" record -q --machine -M skylake -d -W -e cpu/mem-loads,ldlat=30/upp -c 2 -o perf.data -- \
	"$BUILT/sharing" false
perf c2c report -i perf.data --stdio >report 2>/dev/null
line=$(nm "$BUILT/sharing" | sed -n 's/^0*\([0-9a-f]*\) . shared$/0x\1/p')
expect "perf c2c finds the line $line" grep -qE "^ +[0-9]+ +$line +" report

# found SYMBOL OFFSET: the number of HITMs of a function at an offset of the line
found() {
	awk -v line="$line" -v symbol="$1" -v offset="$2" '/Distribution Pareto/ { pareto = 1 }
		pareto && NF == 7 { mine = $7 == line }
		mine && $6 == offset { for (i = 7; i < NF; i++) if ($i == "[.]" && $(i + 1) == symbol) n += $(i - 2) }
		END { print n + 0 }' report
}
for place in change_first:0x0 change_last:0x38; do
	n=$(found "${place%:*}" "${place#*:}")
	expect "perf c2c finds ${place%:*} at ${place#*:}: $n times" test "$n" -ge 50 -a "$n" -le 400
done
finish
