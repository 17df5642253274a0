#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# regions.sh: regions that a program names (softpmu/client.h): their counts are exact, whatever the
# translator does around them.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
compile regions -pthread
program=$BUILT/regions
cd "$SCRATCH" || exit 1

# region FILE NAME [EVENT]: entries, iterations and count of a region in the output of stat -x'|'.
region() {
	awk -F'|' -v name="$2" -v event="${3:-instructions:u}" \
		'$1 == "region" && $2 == name && $6 == event { print $3, $4, $5 }' "$1"
}

run native "$program"
same "native: status" 0 "$status"
same "native: output" "registers are the same alone" "$(xargs <native.out)"

# check NAME OPTIONS...: the counts of all regions.
check() {
	local name=$1
	shift
	run counted "$SOFTPMU" stat -x'|' -o fields -e instructions:u,branches:u "$@" -- "$program"
	same "$name: status" 0 "$status"
	same "$name: output" "registers are the same with softpmu" "$(xargs <counted.out)"
	same "$name: a region in another" "2 0 3000" "$(region fields inner)"
	same "$name: its branches" "2 0 1500" "$(region fields inner branches:u)"
	# Two calls, with 2 requests and RET each.
	same "$name: the branches of the outer one" "1 0 1504" "$(region fields outer branches:u)"
	same "$name: iterations" "1 7" "$(region fields parts | cut -d' ' -f1,2)"
	same "$name: the second part is longer" "1 0 102 1 0 202" \
		"$(region fields parts:one branches:u | cut -d' ' -f1,2) $(($(region fields parts:one branches:u | cut -d' ' -f3) & -2)) $(
			region fields parts:two branches:u | cut -d' ' -f1,2) $(($(region fields parts:two branches:u | cut -d' ' -f3) & -2))"
	same "$name: a region that is started twice" "2 0 24" "$(region fields again branches:u)"
	same "$name: a long name" "1 0 6" "$(region fields "$(printf 'x%.0s' {1..63})")"
	same "$name: a mark alone" 1 "$(region fields alone | cut -d' ' -f1)"
	# The region that is not stopped ends with the one around it.
	same "$name: regions without a stop" "1 1" \
		"$(region fields forgotten | awk '{ print $1, ($3 < 100) }')"
	same "$name: an unknown name is no region" "" "$(region fields nothing)"
	for i in 1 2 3 4; do
		same "$name: thread $i" "100 0 $((i * 200000))" "$(region fields "thread $i")"
	done
	same "$name: all threads" "400 0 40000" "$(region fields threads)"
	same "$name: a child" "1 0 200000" "$(region fields child)"
	same "$name: the child continues a region" "1 1" \
		"$(region fields forked | awk '{ print $1, ($3 > 200000 && $3 < 220000) }')"
	same "$name: up to execve" "1 1" \
		"$(region fields "until exec" | awk '{ print $1, ($3 > 200000 && $3 < 220000) }')"
	same "$name: after execve" "1 0 14" "$(region fields "after exec")"
	same "$name: often" "30000 0 240000" "$(region fields often)"
}

check "cold" --no-cache
check "first run"
check "second run"
check "time is fixed" --deterministic=time
check "with a machine" --machine

# The sum of a program is the same with and without its requests being seen: nothing is counted twice.
"$SOFTPMU" stat -x'|' -o all -e instructions:u -- "$program" many >/dev/null 2>&1
same "300 regions: places" 256 "$(grep -c '^region' all)"
run many "$SOFTPMU" stat -e instructions:u -- "$program" many
same "300 regions: it says what is missing" 1 "$(grep -c '^ 44 entries of regions were not counted' many.err)"

run json "$SOFTPMU" stat -j -o json -e instructions:u -- "$program"
same "json: a line for each region" '"counter-value" : "240000.000000"' \
	"$(grep '"region" : "often", "entries" : 30000, "iterations" : 0,' json | grep -o '"counter-value" : "[^"]*"')"
expect "json: it is JSON" python3 -c 'import json, sys; [json.loads(l) for l in open(sys.argv[1])]' json
run text "$SOFTPMU" stat -e instructions:u,branches:u -- "$program"
same "text: a line for each region" "30,000 240,000 120,000 often" "$(grep ' often$' text.err | xargs)"
same "text: iterations" 1 "$(grep -c 'per iteration of parts (7 iterations)$' text.err)"
run runs "$SOFTPMU" stat -r 3 -x'|' -o fields -e instructions:u -- "$program"
same "-r: the mean" "30000.000000 0.000000 240000.000000" "$(region fields often)"
run alone "$SOFTPMU" stat -i -x'|' -o fields -e instructions:u -- "$program"
same "-i: no regions of children" "" "$(region fields child | grep -v '^0 0 0$')"
run baseline "$SOFTPMU" stat --baseline json -e instructions:u --threshold 20 -- "$program"
same "a baseline with regions is read" 0 "$status"

# --- functions of a program that names none: --region and --toggle

# functions WHICH OPTIONS...: the counts of --region.
functions() {
	local which=$1
	shift
	run functions "$SOFTPMU" stat -x'|' -o fields -e instructions:u,branches:u --region leaf --region tail \
		--region recursive --region main "$@" -- "$program" functions
	same "$which: status" 0 "$status"
	# 1000 times 2 * 100 + 1 instructions, 100 times 21 by tail(), and 21 before longjmp().
	same "$which: each call of a function" "1101 0 203121" "$(region fields leaf)"
	same "$which: a tail call is in the function" "100 0 2200" "$(region fields tail)"
	same "$which: recursion counts once" "200 0 980" "$(region fields recursive)"
	same "$which: a function that contains all" "1 1" \
		"$(region fields main | awk '{ print $1, ($3 > 206000 && $3 < 300000) }')"
}
functions "functions"
functions "functions, with a machine" --machine
functions "functions, with low headroom" -e mem_inst_retired.all_stores:u

run toggled "$SOFTPMU" stat -x'|' -o fields -e instructions:u,branches:u --toggle leaf -- "$program" functions
same "--toggle: only the function counts" "203121 102111" "$(awk -F'|' '/^[0-9]/ { print $1 }' fields | xargs)"
run toggled "$SOFTPMU" stat -x'|' -o fields -e instructions:u --toggle recursive --toggle tail -- "$program" functions
same "--toggle: of two functions" "3180" "$(awk -F'|' '/^[0-9]/ { print $1 }' fields | xargs)"
# Four threads call it; those that call another function do not count.
run toggled "$SOFTPMU" stat -x'|' -o fields -e instructions:u --toggle thread -- "$program"
same "--toggle: in threads" "4 100 0 800000" "$(region fields thread | cut -d' ' -f1) $(region fields "thread 4")"
same "--toggle: nothing else counts" "30000 0 0" "$(region fields often)"
same "--toggle: the sum is that of the function" "$(awk -F'|' '/^[0-9]/ { print $1 }' fields)" \
	"$(region fields thread | cut -d' ' -f3)"

run profiled "$SOFTPMU" profile -o profile.data --toggle leaf -- "$program" functions
same "profile --toggle: status" 0 "$status"
same "profile --toggle: the sum, as stat counts" "203121 instructions:u, 102111 branches:u" \
	"$(grep -o '[0-9]* instructions:u, [0-9]* branches:u' profiled.err)"
same "profile --toggle: no difference to the counter" 1 "$(grep -c '' profiled.err)"
"$SOFTPMU" report -i profile.data >shown 2>&1
same "profile --toggle: the function alone" "100.00% leaf" "$(awk '/%/ { print $1, $NF; exit }' shown)"
run recorded "$SOFTPMU" record -q -e instructions:u -c 1000 -o toggled.data --toggle leaf -- "$program" functions
same "record --toggle: samples of the function" "0 203" \
	"$status $("$SOFTPMU" report -i toggled.data 2>/dev/null | sed -n 's/^# Samples: \([0-9]*\) .*/\1/p')"

run unknown "$SOFTPMU" stat -e instructions:u --region 'nothing*' --region leaf -- "$program" functions
same "an unknown function: it says so" "0 1" \
	"$status $(grep -c "^softpmu: no function of the program matches 'nothing\*'" unknown.err)"
run refused "$SOFTPMU" stat --toggle leaf -D 10 -- "$program" functions
same "--toggle with -D is refused" 129 "$status"
finish
