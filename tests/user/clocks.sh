#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# clocks.sh: cycles and ref-cycles under stat --machine, which a model of time counts (docs/machine.md), for
# loops whose clocks follow by hand (machine-clocks.c).
# shellcheck source-path=SCRIPTDIR
# shellcheck disable=SC2154
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1

# counts EVENTS COMMAND...: what stat counts, one after the other
counts() {
	run counted "$SOFTPMU" stat -M skylake --machine="$1" -x, -o counts -e "$2" -- "${@:3}"
	sed '/^#/d; /^$/d; s/,.*//' counts | tr '\n' ' ' | sed 's/ $//'
}

build_loops
while read -r subject expected said; do
	expect "$subject: $said clocks for 10000 turns, not $expected" \
		test "$said" -gt $((expected - expected / 100)) -a "$said" -lt $((expected + expected / 100))
done < <(clocks_of_loops counts skylake cycles:u)
build_loop REPEAT 1000
expect "repeated strings take time" test "$(counts skylake cycles:u "$BUILT/REPEAT-1000")" -gt 10000

# Reference clocks are the same, and what code counts does not change.
read -r cycles reference insns <<<"$(counts skylake cycles:u,ref-cycles:u,instructions:u "$BUILT/CHAIN-1000")"
same "reference clocks" "$cycles" "$reference"
run plain "$SOFTPMU" stat -x, -o plain -e instructions:u -- "$BUILT/CHAIN-1000"
same "instructions" "$(sed '/^#/d; /^$/d; s/,.*//' plain)" "$insns"
for run in 1 2 3; do
	same "run $run: the same clocks" "$cycles" "$(counts skylake cycles:u "$BUILT/CHAIN-1000")"
done

# Without a machine, on a machine without a core, and with a threshold there are none.
run plain "$SOFTPMU" stat -x, -o plain -e cycles:u -- "$BUILT/CHAIN-1000"
expect "absent without a machine" grep -q '^<not supported>,.*cycles' plain
same "absent on cachegrind's machine" "<not supported>" "$(counts cachegrind cycles:u "$BUILT/CHAIN-1000")"
same "absent with a threshold" "<not supported>" "$(counts skylake cpu_clk_unhalted.thread_p:c=2:u "$BUILT/CHAIN-1000")"
run text "$SOFTPMU" stat -M skylake --machine -o text -e cycles:u,instructions:u -- "$BUILT/CHAIN-1000"
expect "instructions per cycle" grep -qE 'instructions:u.*# +0\.[0-9]+ +insn per cycle' text

# Misses are shown as shares of what could miss, as perf shows them.
run text "$SOFTPMU" stat -M skylake --machine -o text -e branches:u,branch-misses:u,cache-references:u,cache-misses:u -- seq 2000
shares() { # "share in the text, share of the counts" of events 1 and 2
	awk -v of="$1" -v whole="$2" '{ n = $1; gsub(",", "", n) }
		$2 == of { part = n; shown = $5 } $2 == whole { all = n }
		END { printf "%s %.3f", shown, 100 * part / all }' text
}
for pair in "branch-misses:u branches:u" "cache-misses:u cache-references:u"; do
	read -r shown counted <<<"$(shares ${pair% *} ${pair#* })"
	same "share of ${pair% *}" "$counted" "$shown"
done
expect "what the shares are of" test "$(grep -cE '% of all (branches|cache refs)' text)" = 2
finish
