#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# static_clocks.sh: clocks of instructions that hit all caches (--static-clocks, docs/machine.md): counted and sampled,
# by stat, record, and programs that open events, for loops whose clocks follow by hand (machine-clocks.c).
# shellcheck source-path=SCRIPTDIR
# shellcheck disable=SC2154
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1
export XDG_CACHE_HOME=$SCRATCH/cache

# counts OPTIONS... -- COMMAND...: what stat counts, one after the other
counts() {
	run counted "$SOFTPMU" stat -M skylake --static-clocks -x, -o counts "$@"
	sed '/^#/d; /^$/d; s/,.*//' counts | tr '\n' ' ' | sed 's/ $//'
}

build_loops
while read -r subject expected said; do
	same "$subject: clocks for 10000 turns" "$expected" "$said"
done < <(clocks_of_loops counts -e cycles:u --)

# Other events do not change the clocks of a loop, nor does a translation that was saved or is not.
cycles=$(counts -e cycles:u -- "$BUILT/CHAIN-11000")
same "reference clocks are the same" "$cycles $cycles" "$(counts -e cycles:u,ref-cycles:u -- "$BUILT/CHAIN-11000")"
same "with other events" "$cycles" \
	"$(counts -e cycles:u,instructions:u,branches:u,mem_inst_retired.all_loads:u -- "$BUILT/CHAIN-11000" | cut -d' ' -f1)"
same "with events that the model counts" "$cycles" \
	"$(counts -e cycles:u,branch-misses:u,cache-misses:u -- "$BUILT/CHAIN-11000" | cut -d' ' -f1)"
same "with more events than a unit has counters" "$cycles" \
	"$(counts -e "$(printf 'cycles:u,instructions:u,branches:u,%.0s' {1..12})cycles:u" -- "$BUILT/CHAIN-11000" | cut -d' ' -f1)"
same "without saved translations" "$cycles" "$(counts --no-cache -e cycles:u -- "$BUILT/CHAIN-11000")"
run plain "$SOFTPMU" stat -M skylake -x, -o plain -e instructions:u -- "$BUILT/CHAIN-11000"
same "exact events stay exact" "$(sed '/^#/d; /^$/d; s/,.*//' plain)" \
	"$(counts -e instructions:u,cycles:u -- "$BUILT/CHAIN-11000" | cut -d' ' -f1)"

# Code that a run saved, real code with traces, counts the same in the next run.
head -c 200000 "$(command -v gcc)" >text
first=$(counts --deterministic -e cycles:u,instructions:u -- gzip -c text)
for again in 2 3; do
	same "run $again of gzip" "$first" "$(counts --deterministic -e cycles:u,instructions:u -- gzip -c text)"
done
saved=$("$SOFTPMU" cache list 2>&1)
same "the runs have a saved translation" gzip "$(grep -o 'gzip$' <<<"$saved" || echo "$saved")"
expect "another machine has other clocks" test "$(counts --machine=zen4 -e cycles:u -- "$BUILT/CHAIN-11000")" != "$cycles"

# Samples: exactly one at each period's last clock, in a loop and in real code.  So the counts agree with whole runs.
for subject in "$BUILT/CHAIN-11000" "gzip -c text"; do
	read -r all <<<"$(counts --deterministic -e cycles:u -- $subject)"
	for period in 97 1009 10007; do
		run recorded "$SOFTPMU" record -q -M skylake --static-clocks --deterministic -e cycles:u -c $period \
			-o samples.data -- $subject
		same "${subject##*/}: samples of each $period clocks" $((all / period)) \
			"$(perf script -i samples.data -F ip 2>/dev/null | wc -l)"
	done
done

# Where the clocks pass: at the multiplications, each of which waits for the one before.
run recorded "$SOFTPMU" record -q -M skylake --static-clocks -e cycles:u -c 97 -o samples.data -- "$BUILT/CHAIN-11000"
first_imul=$(objdump -d "$BUILT/CHAIN-11000" | awk '/imul/ { print $1; exit }')
near "samples at the multiplications and after them" 10 "$(perf script -i samples.data -F ip 2>/dev/null | wc -l)" \
	"$(perf script -i samples.data -F ip 2>/dev/null | grep -cE "$(printf '%x|' $((0x${first_imul%:})) $((0x${first_imul%:} + 4)) $((0x${first_imul%:} + 8)) $((0x${first_imul%:} + 11)))none")"
run recorded "$SOFTPMU" record -q -M skylake --static-clocks -e cycles:u,instructions:u -F 2000 -o rate.data -- gzip -c text
same "samples by rate" "cycles:u instructions:u" \
	"$(perf evlist -i rate.data 2>/dev/null | grep -v '^#' | sort | tr '\n' ' ' | sed 's/ $//')"

# Last branch records have the clocks since the branch before: those of each turn.  The oldest record of the run, and
# those of the first samples, have others.
while read -r subject clocks; do
	for event in cycles:u instructions:upp; do
		run recorded "$SOFTPMU" record -q -j any,cycles -M skylake --static-clocks -e $event -c 1009 -o branches.data -- \
			"$BUILT/$subject-11000"
		perf script -i branches.data -F brstack 2>/dev/null | tail -n +5 | tr ' ' '\n' |
			awk -F/ 'NF { print $6 }' | sort | uniq -c | sort -rn >clocks
		same "$subject, $event: clocks of branches" "$clocks" "$(awk 'NR == 1 { print $2 }' clocks)"
		expect "$subject, $event: hardly any others" \
			awk -v clocks="$clocks" '{ all += $1 } $2 != clocks { other += $1 } END { exit !(all > 300 && other * 100 < all) }' clocks
	done
done <<'END'
CHAIN 6
PORT 4
WIDTH 2
END
run recorded "$SOFTPMU" record -q -b -M skylake --static-clocks -e cycles:u -c 1009 -o branches.data -- "$BUILT/CHAIN-11000"
run recorded "$SOFTPMU" record -q -j cycles -M skylake --static-clocks -e cycles:u -c 1009 -o word.data -- "$BUILT/CHAIN-11000"
same "the word alone" 6 "$(perf script -i word.data -F brstack 2>/dev/null | tail -n 1 | cut -d/ -f6)"
same "none without cycles" 0 "$(perf script -i branches.data -F brstack 2>/dev/null | tr ' ' '\n' | awk -F/ 'NF { print $6 }' | sort -u)"
run recorded "$SOFTPMU" record -q -j any,cycles -M skylake --static-clocks -e cycles:u -c 10007 -o branches.data -- gzip -c text
expect "clocks of branches of gzip" test "$(perf script -i branches.data -F brstack 2>/dev/null | tr ' ' '\n' |
	awk -F/ "NF { all++; some += \$6 > 0 } END { print (some * 100 > all * 90) }")" = 1

# Thresholds look at static clocks: in each clock either something retires or nothing does.
read -r some none all <<<"$(counts -e inst_retired.any_p:c=1:u,inst_retired.any_p:c=1:i:u,cycles:u -- "$BUILT/CHAIN-11000")"
near "clocks with and without an instruction" 1 "$all" $((some + none))
expect "some have none" test "$none" -gt 30000 -a "$some" -gt 20000

# Without an event: record samples clocks, and stat counts what needs no model of misses.
run recorded "$SOFTPMU" record -q --static-clocks -o default.data -- gzip -c text
same "record's default event" cycles:u "$(perf evlist -i default.data 2>/dev/null | grep -v '^#' | head -n 1)"
run counted "$SOFTPMU" stat --static-clocks -x, -o counts -- "$BUILT/CHAIN-11000"
same "stat's default events" "cycles:u instructions:u branches:u" "$(grep -oE '(cycles|instructions|branches|[a-z]+-misses):u' counts | tr '\n' ' ' | sed 's/ $//')"

# Programs that open events: perf counts and samples clocks, too.
run counted "$SOFTPMU" run -M skylake --static-clocks -- perf stat -x, -o perf.txt -e cycles:u "$BUILT/CHAIN-11000"
near "perf stat" 10 "$cycles" "$(awk -F, '/cycles/ { print $1 }' perf.txt)"
run recorded "$SOFTPMU" run -M skylake --static-clocks -- perf record -q -e cycles:u -c 1009 -o perf.data "$BUILT/CHAIN-11000"
near "perf record" 20 "$((cycles / 1009))" "$(perf script -i perf.data -F ip,event 2>/dev/null | grep -c cycles)"
run recorded "$SOFTPMU" run -M skylake --static-clocks -- perf record -q -o perf.data "$BUILT/CHAIN-11000"
same "perf's own choice of an event" cycles:u "$(perf evlist -i perf.data 2>/dev/null | grep -v '^#' | head -n 1)"

# A program that opens its events late: what was saved for another core is not used.
cat >late.py <<'END'
import argparse, ctypes, json, os, struct
attr = struct.pack("<IIQQQQQ", 0, 112, 0, 0, 0, 0, 1 << 5 | 1 << 6) + bytes(112 - 48)
fd = ctypes.CDLL(None).syscall(298, ctypes.create_string_buffer(attr, 112), 0, -1, -1, 0)
sum(i * i for i in range(20000))
print(struct.unpack("<Q", os.read(fd, 8))[0])
END
late() { PYTHONHASHSEED=0 "$SOFTPMU" run --static-clocks "$@" -- /usr/bin/python3 late.py; }
alone=$(late --no-cache --machine=zen4)
late --machine=skylake >/dev/null
near "a late event on another core" 40 "$alone" "$(late --machine=zen4)"

# Processes, threads, signals and system calls.
run counted "$SOFTPMU" stat -M skylake --static-clocks -x, -o counts -e cycles:u -- \
	sh -c "$BUILT/CHAIN-11000; $BUILT/CHAIN-11000"
expect "both processes" test "$(sed '/^#/d; /^$/d; s/,.*//' counts)" -gt $((2 * cycles))
run counted "$SOFTPMU" stat -M skylake --static-clocks -x, -o counts -e cycles:u -- xz -T2 --block-size=50000 -c text
same "threads" 0 "$status"
expect "clocks of threads" test "$(sed '/^#/d; /^$/d; s/,.*//' counts)" -gt 10000000

# What cannot be is refused in one line.
run refused "$SOFTPMU" stat --static-clocks --machine=cachegrind -e cycles:u -- true
same "a machine without a core" 129 "$status"
expect "says so" grep -q 'the machine cachegrind has no clocks' refused.err
run refused "$SOFTPMU" record --machine -e cycles:u -o x.data -- true
same "clocks of a timeline cannot be sampled" 125 "$status"
same "nor can a threshold of clocks be counted" "<not supported>" \
	"$(counts -e cpu_clk_unhalted.thread_p:c=2:u -- "$BUILT/CHAIN-11000")"
run absent "$SOFTPMU" stat -M skylake --static-clocks -e uops_dispatched_port.port_0 -- true
expect "what follows from time" grep -q 'stat --machine counts it without --static-clocks' absent.err
run absent "$SOFTPMU" stat -M skylake --machine=zen4 -e uops_dispatched_port.port_0 -- true
expect "what follows from ports that are not known" grep -q "too little is known of this machine's core" absent.err
expect "list shows them" grep -qE '^ *cycles .*modelled' <("$SOFTPMU" list -M skylake --static-clocks cycles)
finish
