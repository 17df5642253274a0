#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# run.sh LOG-FOLDER TEST...: run test programs and add up their counts.
#
# A test is a program or a bash script (*.sh) whose last line is
# "N passed, N failed" and whose status is 0 if none failed. A test that
# fails without counting a failure, ends without this line, counts nothing, or
# runs longer than TEST_TIMEOUT seconds counts as one failure. JOBS tests run
# at a time. The end repeats what failed, and prints the sum. A run without
# tests is a failure.
set -u
logs=$1
shift
jobs=${JOBS:-$(nproc)}
limit=${TEST_TIMEOUT:-600}
mkdir -p "$logs"

# Prints the name of "tests/tool/stat.sh" or "build/tests/unit/counters", relative to tests/.
name_of() {
	local name=${1##*tests/}
	echo "${name%.sh}"
}

log_of() {
	local name
	name=$(name_of "$1")
	echo "$logs/${name//\//-}.log"
}

run_one() {
	local test=$1 log=$2 start=$EPOCHREALTIME status
	local command=("$test")
	[[ $test == *.sh ]] && command=(bash "$test")
	timeout --kill-after=10 "$limit" "${command[@]}" >"$log" 2>&1 </dev/null
	status=$?
	echo "$status $(((${EPOCHREALTIME/./} - ${start/./}) / 1000))" >"$log.status"
}

# Sets passed, failed and why (empty: no failure) of one finished test.
judge() {
	local log=$1 status=$2 last
	last=$(tail -n 1 "$log")
	passed=0 failed=0 why=
	if [[ $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
		passed=$((10#${BASH_REMATCH[1]})) failed=$((10#${BASH_REMATCH[2]}))
		if ((failed)); then
			why="$failed failed"
		elif ((status == 0 && passed == 0)); then
			why="ran nothing" failed=1
		fi
	else
		why="no closing counts" failed=1
	fi
	if ((status == 124 || status == 137)); then
		why="stopped after $limit s"
		((failed)) || failed=1
	elif ((status != 0)); then
		((failed)) || failed=1
		why="${why:-no failure counted}, status $status"
	fi
}

all_passed=0 all_failed=0 failures=()
report() {
	local test=$1 log status milliseconds
	log=$(log_of "$test")
	read -r status milliseconds <"$log.status"
	judge "$log" "$status"
	printf '%-34s %6d passed %4d failed %7d.%d s%s\n' "$(name_of "$test")" "$passed" "$failed" \
		$((milliseconds / 1000)) $((milliseconds % 1000 / 100)) "${why:+  FAILED: $why}"
	if [[ -n $why ]]; then
		tail -n 60 "$log" | sed 's/^/    | /'
		failures+=("$(name_of "$test"): $why" "$(grep -m 5 -i 'failed: ' "$log" | cut -c 1-400 | sed 's/^/    /')")
	fi
	all_passed=$((all_passed + passed)) all_failed=$((all_failed + failed))
}

for test in "$@"; do
	rm -f "$(log_of "$test")" "$(log_of "$test").status"
done
next=0 # the first test that is not reported yet: results appear in order
tests=("$@")
report_finished() {
	while ((next < ${#tests[@]})) && [[ -s $(log_of "${tests[next]}").status ]]; do
		report "${tests[next]}"
		((++next))
	done
}
for test in "$@"; do
	while (($(jobs -rp | wc -l) >= jobs)); do
		wait -n
		report_finished
	done
	run_one "$test" "$(log_of "$test")" &
done
while (($(jobs -rp | wc -l))); do
	wait -n
	report_finished
done
wait
report_finished

((next == $#)) || all_failed=$((all_failed + $# - next))
(($#)) || echo "no tests to run"
((${#failures[@]} == 0)) || printf '%s\n' "" "What failed:" "${failures[@]}"
echo "$all_passed passed, $all_failed failed"
((all_failed == 0 && all_passed > 0))
