#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# windows.sh: stat --machine --sample-windows, whose model sees windows of the run (docs/machine.md).  Windows that leave
# nothing out count exactly what a run without windows counts.  Exact events stay exact, and steady programs have
# nearly the same rates in the windows as elsewhere.
# shellcheck source-path=SCRIPTDIR
# shellcheck disable=SC2154
. "$(dirname "$0")/lib.sh"
subjects=(walk chase splits strings forms calls conditions)
for subject in "${subjects[@]}"; do
	compile machine-program -O1 -static -nostdlib -fno-pie -fno-stack-protector -fcf-protection=none \
		-fno-builtin -mno-avx -Wno-unused-function -DSUBJECT="$subject"
	mv "$BUILT/machine-program" "$BUILT/$subject"
done
cd "$SCRATCH" || exit 1
EVENTS=branch-misses:u,mem_load_retired.l1_miss:u,cache-misses:u,mem_inst_retired.split_loads:u,cycles:u

# counts OPTIONS... -- COMMAND...: the counts, one after the other
counts() {
	run counted "$SOFTPMU" stat -M skylake --machine=skylake -x, -o counts "$@"
	sed '/^#/d; /^$/d; s/,.*//' counts | tr '\n' ' ' | sed 's/ $//'
}

# Windows one after the other, the last of which the program does not fill; and a window longer than the program.
for subject in "${subjects[@]}"; do
	all=$(counts -e "$EVENTS" -- "$BUILT/$subject")
	same "$subject: windows that leave nothing out" "$all" \
		"$(counts --sample-windows=1000,0,1000 -e "$EVENTS" -- "$BUILT/$subject")"
	same "$subject: one window" "$all" "$(counts --sample-windows=100M,0,200M -e "$EVENTS" -- "$BUILT/$subject")"
	same "$subject: exact events" \
		"$(counts -e instructions:u,branches:u,br_inst_retired.conditional:u -- "$BUILT/$subject")" \
		"$(counts --sample-windows=1000,2000,7001 -e "instructions:u,branches:u,br_inst_retired.conditional:u,$EVENTS" -- \
			"$BUILT/$subject" | cut -d' ' -f1-3)"
done

# 3.6 million instructions with a miss in each 18, and 800,000 clocks of a loop.
near "misses of a steady program" 20 "$(counts -e mem_load_retired.l1_miss:u -- "$BUILT/chase")" \
	"$(counts --sample-windows=2K,2K,10K -e mem_load_retired.l1_miss:u -- "$BUILT/chase")"
near "clocks of a steady program" 20 "$(counts -e cycles:u -- "$BUILT/conditions")" \
	"$(counts --sample-windows=2K,2K,10K -e cycles:u -- "$BUILT/conditions")"
near "mispredictions" 100 "$(counts -e branch-misses:u -- "$BUILT/calls")" \
	"$(counts --sample-windows=5K,5K,20K -e branch-misses:u -- "$BUILT/calls")"

# How accurate the counts are.  No part of the run is left to chance if windows leave nothing out.
run text "$SOFTPMU" stat -M skylake --machine --sample-windows=2K,2K,10K -e mem_load_retired.l1_miss:u,instructions:u -- "$BUILT/chase"
same "an interval of the event that the model counts" 1 "$(grep -c 'l1_miss.*( +- *[0-9.]*% )' text.err)"
same "no interval of an exact event" 0 "$(grep -c 'instructions.*( +-' text.err)"
run json "$SOFTPMU" stat -M skylake --machine --sample-windows=2K,2K,10K -j -e mem_load_retired.l1_miss:u -- "$BUILT/chase"
same "the interval in JSON" 1 "$(grep -c '"interval-percent" : [0-9]' json.err)"
run json "$SOFTPMU" stat -M skylake --machine --sample-windows=2K,0,2K -j -e mem_load_retired.l1_miss:u -- "$BUILT/chase"
same "an interval of nothing left out" 1 "$(grep -c '"interval-percent" : 0.00' json.err)"
run few "$SOFTPMU" stat -M skylake --machine --sample-windows=100K,0,1M -e mem_load_retired.l1_miss:u -- "$BUILT/chase"
same "no interval of few windows" 0 "$(grep -c '( +-' few.err)"

# Processes and threads are counted, and do what they do natively.
seq 20000 >numbers
as_natively() {
	local name=$1 native
	shift
	run native "$@"
	native=$status
	run soft "$SOFTPMU" stat --machine --sample-windows=1000,1000,5000 -o stat -e "instructions:u,$EVENTS" -- "$@"
	same "$name: status" "$native" "$status"
	same "$name: output" "$(<native.out)" "$(<soft.out)"
}
as_natively "a pipeline" bash -c 'sort -R numbers | sort -n | gzip | gzip -d | md5sum; (exit 3); echo $?'
as_natively "threads" bash -c "xz -T2 --block-size=16KiB -0 -c numbers | md5sum"
as_natively "signals" bash -c 'trap "n=\$((n + 1))" USR1; for i in {1..200}; do kill -USR1 $$; done; echo $n'
twice=$(counts --sample-windows=2K,2K,10K -e mem_load_retired.l1_miss:u -- sh -c "$BUILT/chase; $BUILT/chase")
near "two processes" 50 "$((2 * $(counts -e mem_load_retired.l1_miss:u -- "$BUILT/chase")))" "$twice"

# Counts repeat.
run first "$SOFTPMU" stat --deterministic --machine --sample-windows=2K,2K,20K -x, -o first -e "$EVENTS" -- sort --parallel=1 "$ROOT/README.md"
run again "$SOFTPMU" stat --deterministic --machine --sample-windows=2K,2K,20K -x, -o again -e "$EVENTS" -- sort --parallel=1 "$ROOT/README.md"
same "the same counts again" "$(grep , first | cut -d, -f1-3)" "$(grep , again | cut -d, -f1-3)"

# What is wrong with the option.
# says NAME TEXT OPTION...
says() {
	run wrong "$SOFTPMU" stat "${@:3}" true
	same "$1" "129 1" "$status $(grep -c -- "$2" wrong.err)"
}
says "without a machine" "--sample-windows needs --machine" --sample-windows
says "a short window" "a window has at least 1000 instructions" --machine --sample-windows=999
says "a short period" "a period is at least as long as" --machine --sample-windows=10K,20K,29K
says "no numbers" "up to 1G, not '10K,x'" --machine --sample-windows=10K,x
says "too many numbers" "up to 1G, not '1K,1K,5K,9'" --machine --sample-windows=1K,1K,5K,9
says "several runs" "cannot be combined with --sweep, -r" --machine --sample-windows -r 2
finish
