#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# consistency.sh: a count does not depend on which other events are counted, and sums agree.
#
# A dynamic program runs without an environment and without address space randomization, so that
# each run executes the same instructions. sort is given its memory size; otherwise it asks how much is free.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
compile singlestep -lZydis
alike=(env -i setarch -R)
"${alike[@]}" true 2>/dev/null || stop "setarch" "cannot switch randomization off"
declare -A event all
keys=()
while read -r key name; do
	keys+=("$key") event[$key]=$name
done < <("$BUILT/singlestep" -l)
program=(/usr/bin/sort --parallel=1 -S 1M /etc/services)
[[ -r /etc/services ]] || program=(/usr/bin/sort --parallel=1 -S 1M /etc/passwd)

# stat_of OPTIONS...: writes the output to $SCRATCH/json.
stat_of() {
	run "$SCRATCH/stat" "${alike[@]}" "$SOFTPMU" stat -j -o "$SCRATCH/json" "$@" -- "${program[@]}"
	((status == 0)) || stop "stat $*" "status $status: $(tail -n 1 "$SCRATCH/stat.err")"
}

options=()
for key in "${keys[@]}"; do
	options+=(-e "${event[$key]}")
done
stat_of "${options[@]}"
n=0
for key in "${keys[@]}"; do
	n=$((n + 1))
	all[$key]=$(count_of "$SCRATCH/json" $n)
	[[ ${all[$key]} =~ ^[0-9]+$ ]] || stop "$key" "is '${all[$key]}'"
done

# Sums that are equal by definition (Vol. 3B chapter 19).
same "branches = taken + not taken + far" "${all[branches]}" $((all[taken] + all[not_taken] + all[far]))
# Calls without a return: the entry, and calls of functions that end the program.
((all[call] >= all[ret] - 5 && all[call] - all[ret] < 50)) && match=yes || match="${all[call]} ${all[ret]}"
same "returns match calls, but for a few" yes "$match"
((all[instructions] > 100000 && all[cond] > all[not_taken] && all[loads] > all[locks])) && match=yes || match=${all[*]}
same "orders of magnitude" yes "$match"

# An event alone, repeated, in a list with commas, by raw code.
for key in "${keys[@]}"; do
	stat_of -e "${event[$key]}"
	same "$key alone" "${all[$key]}" "$(count_of "$SCRATCH/json" 1)"
done
stat_of -e instructions:u,branches:u
same "two with a comma" "${all[instructions]} ${all[branches]}" "$(count_of "$SCRATCH/json" 1) $(count_of "$SCRATCH/json" 2)"
stat_of -e instructions:u -e instructions:u -e instructions:u -e instructions:u -e instructions:u -e instructions:u
same "six times the same" "${all[instructions]}" "$(count_of "$SCRATCH/json" 6)"
for pair in r00c0:instructions r00c4:branches r01c4:cond r20c4:taken r10c4:not_taken r02c4:call r08c4:ret \
	r40c4:far r81d0:loads r82d0:stores r21d0:locks; do
	stat_of -e "${pair%:*}:u"
	same "raw ${pair%:*}" "${all[${pair#*:}]}" "$(count_of "$SCRATCH/json" 1)"
done

# The host does not see CPL 0, and says so instead of printing 0.
stat_of -e instructions:k
same "instructions:k" "<not supported>" "$(count_of "$SCRATCH/json" 1)"
stat_of -e instructions
same "instructions of all rings" "${all[instructions]}" "$(count_of "$SCRATCH/json" 1)"

# A sampled run executes the same instructions: the number of records follows from the count.
have perf || stop "perf" "is not installed"
for key in instructions branches loads stores taken; do
	for period in 10 1009; do
		run "$SCRATCH/record" "${alike[@]}" "$SOFTPMU" record -e "${event[$key]}pp" -c $period \
			-o "$SCRATCH/perf.data" -- "${program[@]}"
		records=$(perf script -i "$SCRATCH/perf.data" -F ip 2>/dev/null | grep -c '[0-9a-f]')
		same "records of $key, period $period" $((all[$key] / (period + 1))) "$records"
	done
done
finish
