#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# profile_gate.sh: `softpmu profile --baseline` finds a planted regression and names its function.
# shellcheck source-path=SCRIPTDIR
# shellcheck disable=SC2154
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1

# build WORK: makes ./bench, whose function `parse` does so many rounds; `print` stays the same.
build() {
	cat >bench.c <<END
#include <stdlib.h>
static volatile unsigned long sum;
__attribute__((noinline)) void parse(int rounds) { while (rounds--) sum += 3; }
__attribute__((noinline)) void print(void) { for (int i = 0; i < 5000; i++) sum ^= i; }
int main(int argc, char **argv)
{
	parse($1);
	print();
	return argc > 1 ? atoi(argv[1]) : 0;
}
END
	"${CC:-gcc}" -O1 -static -o bench bench.c || stop "building" bench.c
}
# gate OPTION...: compares ./bench with the baseline.
gate() { run gate "$SOFTPMU" profile --deterministic -o now.data --baseline base.data "$@" -- ./bench; }

build 10000
run base "$SOFTPMU" profile -q --deterministic -o base.data -- ./bench
same "baseline" 0 "$status"
gate
same "no change" 0 "$status"
same "no change is said" 1 "$(grep -c 'all counts are within the threshold of base.data' gate.err)"
gate -q
same "no change, quiet" "0 0" "$status $(wc -c <gate.err)"

# 100 rounds more, of a load, an addition, a store, a subtraction and a branch or so.
build 10100
gate -q
same "a regression" 121 "$status"
same "the threshold" 1 "$(grep -c '^ Baseline base.data, threshold 0 %:' gate.err)"
before=$("$SOFTPMU" stat --deterministic -x, -e branches:u -- ./bench 2>&1 | cut -d, -f1)
same "its function" "+100 parse" "$(awk '/^# Event/ { event = $3 } event ~ /branches/ && /parse/ { print $3, $NF }' gate.err)"
same "no other function" "" "$(awk '/\[[.]\]/ && !/parse/' gate.err)"
same "the sums" yes "$(grep -q "^# Event 'branches:u': $((before - 100)) before, $before after" gate.err && echo yes)"
gate -q --threshold 5
same "within five percent" 0 "$status"
gate -q -e branches:u
same "one event" "121 1" "$status $(grep -c '^# Event' gate.err)"

# Less is no regression for a threshold upwards.
build 9000
gate -q --threshold +0.1
same "fewer, upwards only" 0 "$status"
gate -q --threshold 0.1
same "fewer" 121 "$status"

# The gate never hides a program that fails.
run base "$SOFTPMU" profile -q --deterministic -o three.data -- ./bench 3
build 20000
run gate "$SOFTPMU" profile -q --deterministic -o now.data --baseline three.data -- ./bench 3
same "a program that fails" "3 0" "$status $(grep -c Baseline gate.err)"
mkdir -p elsewhere && cp bench elsewhere/
run gate "$SOFTPMU" profile -q --deterministic -o now.data --baseline base.data -- elsewhere/bench
same "a program in another folder" 121 "$status"

# refused WHAT STATUS PART OPTION...: nothing runs, and the message contains PART.
refused() {
	local what=$1 expected=$2 part=$3
	shift 3
	rm -f now.data
	run refused "$SOFTPMU" profile "$@" -- ./bench
	same "$what: status" "$expected" "$status"
	same "$what: said" 1 "$(grep -c -F -e "$part" refused.err)"
	same "$what: nothing has run" no "$([[ -e now.data ]] && echo yes || echo no)"
}
run record "$SOFTPMU" record -q -o perf.data -- ./bench
refused "a perf.data" 125 "perf.data: a baseline is a file of softpmu profile" --baseline perf.data -o now.data
refused "no such file" 125 "nosuch.data" --baseline nosuch.data -o now.data
refused "the same file" 125 "would overwrite the baseline base.data" --baseline base.data -o ./base.data
refused "another model" 125 "its counts are of the model 'skylake', not of haswell" --baseline base.data -M haswell -o now.data
refused "other arguments" 125 "its counts are of the program './bench 3', not of './bench'" --baseline three.data -o now.data
refused "another event" 125 "base.data: has no count of 'br_inst_retired.near_call:u'" \
	--baseline base.data -e br_inst_retired.near_call:u -o now.data
refused "a threshold alone" 129 "--threshold needs --baseline" --threshold 1
refused "a threshold that is no number" 129 "--threshold needs a number of percent, not 'x'" --baseline base.data --threshold x

# Each model has events of its own without -e.
build 10
for model in $("$SOFTPMU" models | awk 'NR > 1 { print $1 }'); do
	run models "$SOFTPMU" profile -M "$model" -o model.data -- ./bench
	same "$model" "0 1" "$status $(grep -c '[0-9] instructions:u' models.err)"
done
finish
