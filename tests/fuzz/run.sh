#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# run.sh SECONDS FOLDER TARGET...: run each fuzz target for so many seconds.
#
# Inputs that reach something new are kept in FOLDER/corpus for the next run, a
# finding and its log in FOLDER/findings.  Prints the executions of each target;
# a finding, a target without executions, or no target at all is a failure.
set -u
seconds=$1 folder=$2
shift 2
failed=0 ran=0

for target in "$@"; do
	name=${target##*/}
	corpus=$folder/corpus/$name findings=$folder/findings/$name
	mkdir -p "$corpus" "$findings"
	log=$findings/log
	# A program of operations says most in few bytes: short ones first, ten times as many.
	length=1024 control=0
	[[ $name == fuzz_msr ]] && length=400 control=100
	"$target" -max_total_time="$seconds" -max_len=$length -len_control=$control -timeout=20 -rss_limit_mb=1024 \
		-print_final_stats=1 -artifact_prefix="$findings/" "$corpus" >"$log" 2>&1
	status=$?
	executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -n 1)
	printf '%-12s %10s executions' "$name" "${executions:-0}"
	ran=$((ran + 1))
	if ((status != 0)); then
		printf ', FINDING (%s)\n' "$log"
		tail -n 25 "$log"
		failed=$((failed + 1))
	elif ((${executions:-0} == 0)); then
		printf ', NOTHING RAN\n'
		failed=$((failed + 1))
	else
		printf '\n'
	fi
done
echo "$((ran - failed)) passed, $failed failed"
((ran > 0 && failed == 0))
