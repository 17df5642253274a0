#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# machine_record.sh: record --machine samples events that a model counts at the instructions that cause them.  With
# cachegrind's machine these are the instructions that callgrind names, whose simulators are cachegrind's.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
have perf || stop "perf" "is not installed"
subjects=(walk chase splits forms calls)
for subject in "${subjects[@]}"; do
	compile machine-program -O1 -static -nostdlib -fno-pie -fno-stack-protector -fcf-protection=none \
		-fno-builtin -mno-avx -Wno-unused-function -DSUBJECT="$subject"
	mv "$BUILT/machine-program" "$BUILT/$subject"
done
cd "$SCRATCH" || exit 1

# recorded EVENT PERIOD FIELDS PROGRAM OPTIONS...: the fields of each sample
recorded() {
	run record "$SOFTPMU" record -q -d --machine=cachegrind -e "$1" -c "$2" "${@:5}" -o perf.data -- "$BUILT/$4"
	perf script -i perf.data -F "$3" 2>/dev/null | awk '{ $1 = $1; print }'
}

# each ADDRESSES: how often each of them occurs
each() {
	sort "$1" | uniq -c | awk '{ print $2, $1 }'
}

# Callgrind's events, by number: Ir 1, Dr, Dw, I1mr, D1mr 5, D1mw, ILmr, DLmr, DLmw, Bc, Bcm 11, Bi, Bim 13.
# theirs A B: the sum of two events for each instruction.  The line after calls= is about the function that is called.
theirs() {
	awk -v a="$1" -v b="$2" '/^calls=/ { skip = 1; next }
		/^0x/ { if (!skip) n[$1] += $(a + 2) + (b ? $(b + 2) : 0); skip = 0 }
		END { for (at in n) if (n[at]) print substr(at, 3), n[at] }' callgrind.out | sort
}

# Goldmont's first counter makes a record for each occurrence, at a period of 1.
all_of() {
	recorded "$1:uppp" 1 "$2" "$3" -M goldmont-plus
}
L1_MISS=mem_load_uops_retired.l1_miss MISPREDICTED=br_misp_retired.all_branches
if have valgrind; then
	for subject in "${subjects[@]}"; do
		valgrind --tool=callgrind --dump-instr=yes --cache-sim=yes --branch-sim=yes --I1=32768,8,64 --D1=32768,8,64 \
			--LL=8388608,16,64 --compress-pos=no --compress-strings=no --callgrind-out-file=callgrind.out \
			"$BUILT/$subject" >callgrind.log 2>&1 || stop "callgrind" "$(tail -n 1 callgrind.log)"
		theirs 5 0 >expected
		all_of $L1_MISS ip "$subject" >ips
		each ips >ours
		same_file "$subject: the loads that miss, $(wc -l <ips) times" expected ours
		# Locked and repeated instructions have branches of their own for callgrind.
		[[ $subject != forms ]] || continue
		theirs 11 13 >expected
		all_of $MISPREDICTED ip "$subject" >ips
		each ips >ours
		same_file "$subject: the branches that are mispredicted, $(wc -l <ips) times" expected ours
	done
else
	not_run "as callgrind" "valgrind is not installed"
fi

# With a period of N the samples are every N + 1st of all (the overflow arms PEBS), with their data addresses.
# spaced SUBJECT EVENT EVENT-OF-GOLDMONT PERIOD...
spaced() {
	local period
	all_of "$3" ip,addr "$1" >all
	for period in "${@:4}"; do
		recorded "$2:upp" "$period" ip,addr "$1" >ours
		awk -v n=$((period + 1)) 'NR % n == 0' all >expected
		same_file "$1: $2 -c $period, $(wc -l <expected) samples" expected ours
		[[ -s expected ]] || fail "$1: $2 -c $period" "no samples"
	done
}
spaced chase mem_load_retired.l1_miss $L1_MISS 100 1009
spaced splits mem_load_retired.l1_miss $L1_MISS 7 1009
spaced forms mem_load_retired.l1_miss $L1_MISS 7 1009
spaced calls br_misp_retired.all_branches_pebs $MISPREDICTED 7 1009

# A sample that is not precise is at the instruction after the occurrence.
recorded cache-misses:u 7 ip chase >all
recorded cache-misses:u 700 ip chase >ours
awk 'NR % 100 == 0' all >expected
same_file "cache-misses, not precise: $(wc -l <expected) samples" expected ours

# Last branch records have the predictor's verdict.  In `calls` the indirect calls are mispredicted or not; all others
# that the filter lets through are direct.
# verdicts OPTIONS...: how many branches are mispredicted (M), predicted (P), or neither
verdicts() {
	run record "$SOFTPMU" record -q -e br_inst_retired.near_taken:upp -c 31 "$@" -o perf.data -- "$BUILT/calls"
	perf script -i perf.data -F brstack | tr ' ' '\n' | awk -F/ '/0x/ { n[$3]++ } END { print n["M"] + 0, n["P"] + 0, n["-"] + 0 }'
}
read -r missed predicted neither < <(verdicts -b --machine=cachegrind)
same "with the model each branch has a verdict" 0 "$neither"
# The period and the number of records are equal: each branch is in the file once, but for the end.
counted=$("$SOFTPMU" stat --machine=cachegrind -x, -e branch-misses:u "$BUILT/calls" 2>&1 | cut -d, -f1)
echo "missed $missed of $counted, predicted $predicted" >said
expect "mispredicted branches are in the records: $(<said)" test "$missed" -gt $((counted / 2)) -a "$missed" -le "$counted"
same "without the model none has one" "0 0" "$(verdicts -b | cut -d' ' -f1,2)"
same "nor on a family whose records have no such bit" "0 0" "$(verdicts -b -M core2 --machine=cachegrind -e branches | cut -d' ' -f1,2)"

# Branches of bulk code and of precise steps get the same verdicts: those of samples at other places agree.
verdict_at() { # of each branch, in order of time: a period that divides the other one
	run record "$SOFTPMU" record -q -b --machine=cachegrind -e br_inst_retired.near_taken:upp -c "$1" -o perf.data -- "$BUILT/calls"
	perf script -i perf.data -F brstack
}
verdict_at 4 >often
verdict_at 499 >seldom # each 500th record of taken branches is each 100th of the other
awk 'NR % 100 == 0' often >expected
same_file "verdicts of bulk code, $(wc -l <seldom) samples" expected seldom

# A machine that options change.
recorded cache-misses:u 7 ip chase --cache LLC=64K,16 --set walk_reads=on --set prefetch.streamer=on >all
recorded cache-misses:u 700 ip chase --cache LLC=64K,16 --set walk_reads=on --set prefetch.streamer=on >ours
awk 'NR % 100 == 0' all >expected
same_file "with --cache and --set: $(wc -l <expected) samples" expected ours
expect "not those of the plain machine" test "$(wc -l <all)" -ne "$(recorded cache-misses:u 7 ip chase | wc -l)"

run clocks "$SOFTPMU" record --machine -e cycles:u true
same "clocks cannot be sampled" "only stat and profile count these clocks; those of --static-clocks can be sampled" "$(grep -o 'only stat and.*sampled' clocks.err)"
run absent "$SOFTPMU" record -e cache-misses:u true
same "without --machine: why it is absent" 1 "$(grep -c 'with --machine' absent.err)"
run wrong "$SOFTPMU" record --machine=nothing true
same "an unknown machine" "129 1" "$status $(grep -c "no machine 'nothing'; there are: cachegrind, " wrong.err)"
finish
