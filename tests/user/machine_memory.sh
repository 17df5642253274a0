#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# machine_memory.sh: load latency, data source and data addresses of record --machine, as perf mem reads them
# (18.8.1.2, 18.9.4.2).
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
have perf || stop "perf" "is not installed"
for subject in chase splits; do
	compile machine-program -O1 -static -nostdlib -fno-pie -fno-stack-protector -fcf-protection=none \
		-fno-builtin -mno-avx -Wno-unused-function -DSUBJECT="$subject"
	mv "$BUILT/machine-program" "$BUILT/$subject"
done
cd "$SCRATCH" || exit 1

# counts EVENTS PROGRAM OPTIONS...: one after the other
counts() {
	run counted "$SOFTPMU" stat --machine -x, -e "$1" "${@:3}" -- "$BUILT/$2"
	cut -d, -f1 counted.err | tr '\n' ' '
}
# A load takes 4, 12, 42 or 230 clocks on this machine, so a threshold separates the levels.
read -r all misses_1 misses_2 misses_3 < <(counts \
	mem_load_retired.l1_hit:u,mem_load_retired.l1_miss:u,mem_load_retired.l2_miss:u,mem_load_retired.l3_miss:u chase)
all=$((all + misses_1))
for pair in 3:$all 4:$all 5:$misses_1 12:$misses_1 13:$misses_2 43:$misses_3 230:$misses_3 231:0; do
	same "loads of ${pair%:*} clocks" "${pair#*:} " "$(counts "cpu/mem-loads,ldlat=${pair%:*}/u" chase)"
done
same "Intel's name" "$misses_2 " "$(counts mem_trans_retired.load_latency_gt_32:u chase)"
same "Haswell's clocks" "$(counts mem_load_uops_retired.l2_miss:u chase -M haswell)" "$(counts cpu/mem-loads,ldlat=36/u chase -M haswell)"

# Each sample has the place that its clocks tell.
run record "$SOFTPMU" record -q -d -W --machine -e cpu/mem-loads,ldlat=3/upp -c 1 -o perf.data -- "$BUILT/chase"
perf script -i perf.data -F ip,addr,weight,data_src 2>/dev/null >samples
awk '{ weight = /L1 hit.SNP/ ? 4 : /L2 hit.SNP/ ? 12 : /L3 hit.SNP/ ? 42 : /RAM hit.SNP/ ? 230 : -1
	if ($0 !~ " " weight "( |$)" || $0 !~ /OP LOAD/) wrong++ } END { print NR, wrong + 0 }' samples >said
same "place and clocks agree" "$((all / 2)) 0" "$(<said)"
expect "several places: $(grep -oE 'LVL [A-Za-z0-9 ]+' samples | sort | uniq -c | tr '\n' ' ')" \
	test "$(grep -oE 'LVL [A-Za-z0-9 ]+' samples | sort -u | wc -l)" -ge 3
# Half of the loads, or every second one, are of p[32], which is in the line that was just used.
run record "$SOFTPMU" record -q -d -W --machine -e cpu/mem-loads,ldlat=200/upp -c 1 -o perf.data -- "$BUILT/chase"
same "a threshold leaves out the others" "$((misses_3 / 2)) 230" \
	"$(perf script -i perf.data -F weight 2>/dev/null | awk '{ n++; w[$1] } END { printf "%d", n; for (i in w) printf " %s", i }')"
has() {
	if grep -qE "$3" "$2"; then pass "$1"; else fail "$1" "no '$3' in: $(head -n 30 "$2")"; fi
}
run mem perf mem -i perf.data report --stdio
same "perf mem report" 0 "$status"
has "... names the place" mem.out 'RAM hit'
has "... the data" mem.out '\[\.\] big'
has "... and page walks" mem.out 'L2 miss'
run mem perf report -i perf.data --stdio --mem-mode --sort mem,symbol,symbol_daddr
has "perf report --mem-mode" mem.out 'RAM hit +\[\.\] (run|chase|_start).*\[\.\] big'

# Stores know whether they hit the first level.
run record "$SOFTPMU" record -q -d --machine -e cpu/mem-stores/upp -c 2 -o perf.data -- "$BUILT/splits"
perf script -i perf.data -F data_src 2>/dev/null | grep -oE 'OP [A-Z]+|L1 (hit|miss)' | sort | uniq -c | awk '{ print $2, $3, $4 }' | xargs >said
same "stores" "L1 hit L1 miss OP STORE" "$(<said)"
for event in mem_inst_retired.split_stores mem_inst_retired.stlb_miss_loads; do
	run record "$SOFTPMU" record -q --machine -e $event:upp -c 1 -o perf.data -- "$BUILT/splits"
	same "$event" "$(($(counts $event:u splits) / 2))" "$(perf script -i perf.data -F ip,addr | grep -c .)"
done

# perf sorts by the predictor's verdict.
run record "$SOFTPMU" record -q -b --machine -e branches:upp -c 101 -o perf.data -- "$BUILT/chase"
run mem perf report -i perf.data --stdio --sort mispredict,symbol_from
has "perf report --sort mispredict" mem.out '% +N +\[\.\]'

run wrong "$SOFTPMU" record -e cpu/mem-loads,ldlat=30/upp true
has "without --machine" wrong.err 'with --machine'
run wrong "$SOFTPMU" record --machine -e cpu/mem-loads,ldlat=30/upp,cpu/mem-loads,ldlat=60/upp true
same "two thresholds" "125 1" "$status $(grep -c 'needs another load latency' wrong.err)"
run wrong "$SOFTPMU" record --machine=cachegrind -e cpu/mem-loads,ldlat=30/upp true
has "a machine without latencies" wrong.err 'absent'
finish
