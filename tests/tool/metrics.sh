#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# metrics.sh: what stat counts by a machine without -e, -d, and the metrics of --topdown and -M.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1

# A chain of multiplications: three clocks for each, of which nothing is lost to memory.
cat >chain.S <<'END'
	.globl _start
_start:
	mov $20000, %ecx
	mov $3, %edx
1:	imul %rdx, %rax
	imul %rdx, %rax
	dec %ecx
	jnz 1b
	mov $60, %eax
	xor %edi, %edi
	syscall
END
"$CC" -nostdlib -static -o chain chain.S || stop "building" chain.S

# count EVENT: its number in the last run's text.
count() { awk -v event="$1" '$2 == event { gsub(",", "", $1); print $1 }' <<<"$err"; }
# metric NAME: the value of a metric in the last run's text.
metric() { awk -v name="$1" '{ for (i = 1; i < NF; i++) if ($i == name) print $1 }' <<<"$err"; }
# is NAME EXPRESSION: an arithmetic expression is true.
is() { expect "$1: $2" awk "BEGIN { exit !($2) }"; }

# Perf's default set, with its ratios.
run stat --machine -- ./chain
same "its order" "task-clock context-switches cpu-migrations page-faults cycles:u instructions:u branches:u branch-misses:u" \
	"$(sed -nE 's/^ +([0-9.,]+|<not supported>) (msec|    ) +?([a-z:-]+) .*(measured|modelled|exact|absent).*/\3/p' <<<"$err" |
		tr '\n' ' ' | sed 's/ $//')"
has_line "processor time" "$err" ' +[0-9.]+ msec task-clock +measured +# +[0-9.]+ CPUs utilized *'
has_line "migrations are not known" "$err" ' +<not supported> +cpu-migrations +absent *'
has_line "instructions per clock" "$err" '.* instructions:u +exact +# +0\.66[0-9] insn per cycle *'
has_line "share of misses" "$err" '.* branch-misses:u +modelled +# +[0-9.]+ % of all branches *'
run stat -- ./chain
has_not "only with a machine" "$err" task-clock

# More detail.
run stat -d -- ./chain
for event in L1-dcache-loads L1-dcache-load-misses LLC-loads LLC-load-misses cycles; do
	expect "-d: $event" test -n "$(count $event:u)"
done
has_not "-d: no TLB" "$err" dTLB
run stat -d -d -- seq 3000
for event in L1-icache-load-misses dTLB-loads dTLB-load-misses iTLB-loads iTLB-load-misses; do
	expect "-d -d: $event" test -n "$(count $event:u)"
done
has "share of misses" "$err" "% of all L1-dcache accesses"
has "share of the last level" "$err" "% of all LL-cache accesses"
for model in haswell sandybridge nehalem icelake; do
	run stat -M $model -d -d -- ./chain
	same "$model: all of -d -d" 13 "$(grep -cE ':u +(exact|modelled)' <<<"$err")"
done
run stat -d -e instructions -- ./chain
same "-d adds to -e" instructions:u "$(awk '/exact|modelled/ { print $2; exit }' <<<"$err")"
has "-d adds to -e" "$err" L1-dcache-loads:u

# Top-down: the parts are the whole, and follow from the counts.
for model in skylake haswell sandybridge icelake; do
	run stat -M $model --topdown -- ./chain
	front=$(metric tma_frontend_bound) bad=$(metric tma_bad_speculation)
	back=$(metric tma_backend_bound) retiring=$(metric tma_retiring)
	is "$model: the sum" "$front + $bad + $back + $retiring > 99.7 && $front + $bad + $back + $retiring < 100.3"
	is "$model: a chain is bound by the core" "$back > 80 && $bad < 2 && $front < 5"
	[[ $model == sandybridge ]] && continue # without STALLS_LDM_PENDING
	run stat -M $model -M TopdownL2 -- ./chain
	is "$model: not by memory" "$(metric tma_core_bound) > 80 && $(metric tma_memory_bound) < 3"
done
run stat -M IPC,tma_retiring,CPI -- seq 3000
clocks=$(count cycles:u) slots=$(count UOPS_RETIRED.RETIRE_SLOTS:u)
is "IPC" "($(count instructions:u) / $clocks - $(metric tma_info_thread_ipc)) ^ 2 < 0.000001"
is "CPI" "($clocks / $(count instructions:u) - $(metric tma_info_thread_cpi)) ^ 2 < 0.000001"
is "retiring" "(25 * $slots / $clocks - $(metric tma_retiring)) ^ 2 < 0.01"
run stat --metrics Retiring -j -- ./chain
has "JSON" "$err" '"metric-unit" : "%  tma_retiring", "fidelity" : "modelled"}'
run stat --metrics IPC -x, -- ./chain
has_line "fields" "$err" ',,,,,0\.66[0-9],tma_info_thread_ipc,modelled'

# Ice Lake counts slots itself, and in fixed counter 3.
run stat -M icelake --machine -e TOPDOWN.SLOTS,TOPDOWN.SLOTS_P,TOPDOWN.BACKEND_BOUND_SLOTS,cycles -- ./chain
same "five slots in a clock" "$(($(count cycles:u) * 5 / 100))" "$(($(count TOPDOWN.SLOTS:u) / 100))"
same "fixed and general counter" "$(count TOPDOWN.SLOTS:u)" "$(count TOPDOWN.SLOTS_P:u)"
is "most are the back end's" "$(count TOPDOWN.BACKEND_BOUND_SLOTS:u) > 0.8 * $(count TOPDOWN.SLOTS:u)"

# Each model has clocks, so a machine counts every architectural event.
for model in pentium-pro pentium-m netburst prescott core core2 bonnell silvermont goldmont nehalem westmere \
	ivybridge broadwell kabylake coffeelake cascadelake tigerlake alderlake sapphirerapids graniterapids lunarlake alderlake-e sierraforest; do
	run stat -M $model -M IPC -- ./chain
	is "$model: instructions per clock" "$(metric tma_info_thread_ipc) > 0.2 && $(metric tma_info_thread_ipc) < 2"
done
run stat -M nehalem -M tma_l3_bound -- ./chain
has_line "a metric that the model has no event for" "$err" ' +<not supported> +tma_l3_bound .*'

# The list, and what is refused.
run list metrics
succeeds "list metrics"
has_line "a metric" "$out" '  tma_retiring +Retiring +TopdownL1 .*'
run list TopdownL1
same "a group" 4 "$(grep -c TopdownL1 <<<"$out")"
run list -M skylake --machine -j CYCLE_ACTIVITY.STALLS_TOTAL
has "how it is computed" "$out" \
	'"computed": "Counts each clock in which no micro-operation starts, by a model."'
run list -M skylake --machine
read -r exact modelled <<<"$(sed -n "s/^[0-9]* codes: \([0-9]*\) exact, \([0-9]*\) modelled.*/\1 \2/p" <<<"$out")"
expect "most codes of Skylake have a count" test $((exact + modelled)) -gt 180
run stat -M nothing -- ./chain
refuses "neither a model nor a metric" 129 nothing
run stat --metrics IPC,nothing -- ./chain
refuses "an unknown metric" 129 "'nothing' is neither a metric nor a group of metrics; softpmu list metrics shows them"
run stat --topdown --per-thread -- ./chain
refuses "with threads" 129 "metrics cannot be combined with --sweep or --per-thread"
finish
