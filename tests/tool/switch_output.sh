#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# switch_output.sh: `record --switch-output`: a new file by size, time and signal. Each file is complete: perf reads it, with
# the processes and mappings from before, and together they have the samples of one file.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1
head -c 400000 "$(command -v bash)" >input
command -v perf >/dev/null || stop "perf" "it is not installed"

# files NAME: the files of a run, the oldest first
files() { printf '%s\n' "$1".20* | sort; }
# samples FILE...: the samples as perf reads them
samples() {
	local file
	for file; do perf script -i "$file" -F comm,ip,dso 2>/dev/null; done
}

# A program that starts others, one after the other.
printf 'input\n%.0s' 1 2 3 >names
job=(xargs -n 1 -a names md5sum)
run record -q --deterministic -c 1009 -e instructions:u -o one -- "${job[@]}"
succeeds "one file"
samples one >one.samples
run record --deterministic -c 1009 -e instructions:u -o size --switch-output=100K -- "${job[@]}"
same "by size: status" 0 "$status"
mapfile -t made < <(files size)
expect "several files (${#made[@]})" test "${#made[@]}" -ge 4
samples "${made[@]}" >size.samples
# A process and the one that it has just started run at the same time, so the order of their samples varies.
same_file "by size: the same samples, commands and files" <(sort one.samples) <(sort size.samples)
same "by size: no file without a time" "" "$(ls size 2>/dev/null)"
has_line "by size: a line for each file" "$err" "\[ softpmu record: Dump ${made[1]} \]"
has_line "by size: the sum" "$err" "\[ softpmu record: Captured and wrote [0-9.]+ MB size\.<timestamp> \($(wc -l <one.samples) samples\) \]"
for file in "${made[@]}"; do
	expect "by size: $file is about as large" test "$(stat -c %s "$file")" -le 120000
done

# What each file begins with does not count.
run record -q --deterministic -c 100003 -e instructions:u -o tiny --switch-output=2K -- "${job[@]}"
succeeds "a size below that"
expect "a size below that: $(files tiny | wc -l) files" test "$(files tiny | wc -l)" -le 8

# The last files are kept, in order.
run record -q --deterministic -c 1009 -e instructions:u -o few --switch-output=50K --switch-max-files 3 -- "${job[@]}"
succeeds "three files"
mapfile -t made < <(files few)
same "three files: as many" 3 "${#made[@]}"
samples "${made[@]}" >few.samples
same_file "three files: the last samples" <(tail -n "$(wc -l <few.samples)" one.samples) few.samples
same "three files: -q" "" "$err"

# Compressed files, call chains and traces.
run record -q --deterministic -c 1009 -e instructions:u -g -z -o packed --switch-output=100K -- "${job[@]}"
succeeds "compressed"
mapfile -t made < <(files packed)
expect "compressed: several files (${#made[@]})" test "${#made[@]}" -ge 2
# Without its chain, a sample begins and ends with an empty line.
same "compressed: each sample" "$(wc -l <one.samples)" \
	"$(for file in "${made[@]}"; do perf script -i "$file" -F ip 2>/dev/null; done | awk 'NF && !before { n++ } { before = NF } END { print n }')"
run record -q --deterministic -e intel_bts//u -o traced --switch-output=1M -- sh -c 'gzip -c input >zipped'
succeeds "a trace"
mapfile -t made < <(files traced)
run record -q --deterministic -e intel_bts//u -o trace -- sh -c 'gzip -c input >zipped'
expect "a trace: several files (${#made[@]})" test "${#made[@]}" -ge 2
same "a trace: each branch" "$(perf script -i trace --itrace=b -F ip 2>/dev/null | wc -l)" \
	"$(for file in "${made[@]}"; do perf script -i "$file" --itrace=b -F ip 2>/dev/null; done | wc -l)"

# By time, and by signal.
run record -q -c 10007 -e instructions:u -o time --switch-output=1s -- timeout 3.5 sh -c 'while :; do :; done'
same "by time: the program's status" 124 "$status"
mapfile -t made < <(files time)
expect "by time: ${#made[@]} files" test "${#made[@]}" -ge 3 -a "${#made[@]}" -le 5
expect "by time: each has samples" test "$(for file in "${made[@]}"; do samples "$file" | grep -c .; done | grep -c '^[1-9]')" -ge 3
"$SOFTPMU" record -q -c 10007 -e instructions:u -o signal --switch-output -- timeout 20 sh -c 'while [ ! -e stop ]; do :; done' &
recorder=$!
for n in 1 2; do
	sleep 1
	kill -USR2 "$recorder"
	for ((i = 0; i < 100; i++)); do
		(($(files signal | grep -c '\.20[0-9]*$') < n)) || break
		sleep .1
	done
	same "by signal: $n files" "$n" "$(files signal | grep -c '\.20[0-9]*$')"
done
: >stop
wait "$recorder"
same "by signal: status" 0 $?
mapfile -t made < <(files signal)
same "by signal: the last file" 3 "${#made[@]}"
same "by signal: the mappings of the first file are in the last one" 1 \
	"$(samples "${made[2]}" | awk '$1 == "sh" && $3 ~ /dash|bash|sh/ { n = 1 } END { print n + 0 }')"

# What is refused, and a folder that takes no file.
for mode in 5 5X K 0K "" 99999999999999999999G; do
	run record --switch-output="$mode" -- true
	refuses "--switch-output='$mode'" 129 "takes signal, a size"
done
run record --switch-max-files x --switch-output=1M -- true
refuses "--switch-max-files x" 129 "takes a number of files"
run record --switch-output -o - -- true
refuses "--switch-output -o -" 129 "needs files"
mkdir folder
run record --deterministic -q -c 1009 -e instructions:u -o folder/x --switch-output=100K -- sh -c 'gzip -c input >zipped; rm -r folder; gzip -c input >zipped'
refuses "the folder is removed" 125 "cannot rename folder/x"
finish
