#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# commands.sh: messages for what newcomers type: misspelt commands, and commands, options and events of perf
# that softpmu does not have.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1

# answered COMMAND PART: the command is refused with a message that contains PART.
answered() {
	run "$1"
	refuses "$1" 129 "$2"
}
answered sata "unknown command 'sata'; did you mean 'stat'?"
answered stats "did you mean 'stat'?"
answered repotr "did you mean 'report'?"
answered anotate "did you mean 'annotate'?"
answered LIST "did you mean 'list'?"
answered frobnicate "unknown command 'frobnicate' (see softpmu --help)"
answered x "unknown command 'x' (see softpmu --help)"
answered top "softpmu record, then softpmu report"
answered mem "then perf mem report"
answered c2c "then perf c2c report"
answered kvm "softpmu vm"
answered /bin/true "'/bin/true' is a program; put a command before it, as in 'softpmu stat -- /bin/true'"
for command in stat record trace; do
	for option in "-p 1" "-a" "--pid=1" "-C 0"; do
		# shellcheck disable=SC2086 # its value is a word of its own
		run $command $option true
		refuses "$command $option" 129 "softpmu cannot observe what runs already"
	done
done
run report perf.data
refuses "report FILE" 129 "unexpected argument 'perf.data'; name the file with -i"
for output in '' nosuch/x . "$(printf '%300s' '' | tr ' ' x)"; do
	for command in stat record; do
		run $command -e instructions:u -o "$output" -- touch has-run
		refuses "$command -o '$output'" 125 "cannot write $output: "
	done
done
same "nothing has run" no "$([[ -e has-run ]] && echo yes || echo no)"
timeout "$LIMIT" "$SOFTPMU" stat -e instructions:u true 2>/dev/full
same "counts that cannot be written" 125 $?
for command in "" stat record run trace report annotate script diff export list models explain cache; do
	# shellcheck disable=SC2086 # no word, or one
	timeout "$LIMIT" "$SOFTPMU" $command --help >/dev/full 2>"$SCRATCH/err"
	same "$command --help that cannot be written" "1 1" "$? $(grep -c 'cannot write the output' "$SCRATCH/err")"
done
answered --frob "unknown option '--frob'"

# The commands that the messages suggest work.
run record -q --machine -d -W -e cpu/mem-loads,ldlat=30/upp,cpu/mem-stores/upp -c 50 -- ls /
succeeds "loads and stores"
same "perf mem report shows them" yes "$(perf mem report --stdio 2>/dev/null | grep -q 'RAM hit.*ld-linux' && echo yes)"
same "perf c2c report reads them" yes "$(perf c2c report --stdio 2>/dev/null | grep -Eq 'Load Operations +: +[1-9]' && echo yes)"

# event NAME PART: stat and record refuse the event with a message that contains PART.
event() {
	run stat -e "$1" -- true
	refuses "stat -e $1" 129 "$2"
	run record -e "instructions:u,$1" -- true
	refuses "record -e $1" 129 "$2"
}
event intel_pt// "there is no unit 'intel_pt': Processor Trace is not modelled; intel_bts// traces every taken branch"
event intel_pt/cyc/u "Processor Trace is not modelled"
event uncore_imc_0/cas_count_read/ "there is no unit 'uncore_imc_0': "
event cstate_core/c3-residency/ "how the processor sleeps"
event power/energy-pkg/ "energy"
event msr/tsc/ "time"
event cpu_atom/cycles/ "whose unit is cpu"
event ibs_op// "AMD's"
event software/task-clock/ "perf counts"
event nosuch/x/ "there is no unit 'nosuch': there are cpu and intel_bts"
event cpu// "between the slashes"
event alignment-faults "event 'alignment-faults' is the kernel's"
event page-faults:u "event 'page-faults' is the kernel's"
for name in task-clock page-faults; do # stat measures them: stat.sh
	run record -e "instructions:u,$name" -- true
	refuses "record -e $name" 129 "event '$name' is the kernel's"
done
event LLC-prefetches "is not in this model's table"
event mem:0x1000:rw "is a breakpoint"
event instructionz "similar: "
finish
