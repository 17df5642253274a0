#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# machine.sh: the machine that `softpmu stat` counts by: options and files that change it, what is said of wrong ones,
# --sweep, and `softpmu explain machine`.  tests/user/machine.sh tests the counts.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1

# A loop over 160 KB, three times, and the events that see it.
printf '%s\n' 'static char bytes[160 << 10];' 'int main(void) { for (int turn = 0; turn < 3; turn++)' \
	'for (unsigned i = 0; i < sizeof(bytes); i += 64) (void)*(volatile char *)(bytes + i);' 'return 0; }' >loop.c
"$CC" -O1 -static -o loop loop.c || exit 1
EVENTS=mem_load_retired.l1_miss,mem_load_retired.l2_miss,cache-misses

# counts OPTION...: the counts of the loop
counts() {
	run stat --deterministic -x, -e "$EVENTS" "$@" -- ./loop
	sed -n 's/^\([0-9]*\),.*/\1/p' <<<"$err"
}
# between NAME LOW HIGH NUMBER
between() {
	if ((${4:--1} >= $2 && $4 <= $3)); then
		pass "$1"
	else
		fail "$1" "$4 is not from $2 to $3"
	fi
}

# 2560 lines: three times through a first level of 512 lines; the second level of 4096 holds them.
mapfile -t plain < <(counts --machine=skylake)
between "misses of the first level" 7680 8900 "${plain[0]}"
between "misses of the second level" 2560 3800 "${plain[1]}"
mapfile -t large < <(counts --cache L1D=256K,8)
between "a first level that holds the loop" 2560 3400 "${large[0]}"
mapfile -t small < <(counts --cache L2=64K,4)
between "a second level that does not hold it" 7680 9200 "${small[1]}"
mapfile -t set < <(counts --set l2.size=64K --set l2.ways=4)
same "--set does the same as --cache" "${small[*]}" "${set[*]}"
mapfile -t long < <(counts --cache l1d=32K,8,256)
between "lines of 256 bytes: a quarter of the misses" 1920 2400 "${long[0]}"
mapfile -t ahead < <(counts --set prefetch.next_line=on)
between "the next line is fetched with each: half of the misses" 3840 4600 "${ahead[0]}"

mapfile -t stream < <(counts --set prefetch.streamer=on)
between "the streamer leaves three misses in each of 40 pages" 120 1100 "${stream[1]}"

mapfile -t walks < <(counts --set walk_reads=on --set dtlb0.entries=8 --set stlb0.entries=12 --set l1d.size=4K)
mapfile -t none < <(counts --set dtlb0.entries=8 --set stlb0.entries=12 --set l1d.size=4K)
if ((${walks[0]} > ${none[0]})); then
	pass "reads of page walks take lines of the first level"
else
	fail "reads of page walks take lines of the first level" "${walks[0]} misses, ${none[0]} without"
fi

# A file.
printf '%s\n' '# a machine with a small second level' 'base = skylake' '' 'l2.size = 64K # and not 256K' >small.machine
mapfile -t file < <(counts --machine-file small.machine)
same "a file" "${small[*]}" "${file[*]}"
mapfile -t both < <(counts --machine-file small.machine --set l2.size=256K)
same "an option changes a file's machine" "${plain[*]}" "${both[*]}"
while read -r name _; do
	run explain --ascii machine "$name"
	sed '1,/^# as a file/d' <<<"$out" >"$name.machine"
	has "$name: its name" "$out" "machine $name"
	same "$name: no line is wider than 80 columns" "" "$(grep -E '.{81}' <<<"$out")"
	run stat --machine-file "$name.machine" -x, -e instructions -- ./loop
	same "$name: what explain lists is a file" "0" "$status"
done < <("$SOFTPMU" explain machine all)
mapfile -t listed < <(counts --machine-file skylake.machine)
same "the listed file is the same machine" "${plain[*]}" "${listed[*]}"

# wrong NAME MESSAGE OPTION...: one line with this message
wrong() {
	run stat "${@:3}" -- ./loop
	same "$1: status" 129 "$status"
	same "$1: one line" 1 "$(wc -l <<<"$err")"
	has "$1" "$err" "$2"
}
wrong "an unknown key" "--set: no key 'l2.sise'; did you mean 'l2.size'?" --set l2.sise=1M
wrong "a key unlike all" "--set: no key 'perceptron'; softpmu explain machine lists the keys" --set perceptron=1
wrong "no value" "--set: a parameter is KEY=VALUE, such as l2.ways=8, not 'l2.ways'" --set l2.ways
wrong "not a size" "l2.size is a size such as 256K or 4M, at most 512M, not 'big'" --set l2.size=big
wrong "too large" "llc.size is a size such as 256K or 4M, at most 512M, not '1G'" --set llc.size=1G
wrong "not whole sets" "l2.size is a multiple of l2.ways times the line (4 * 64 = 256 bytes), not 1000" --set l2.size=1000
wrong "a line that is no power of two" "line is a power of two from 8 to 4096, not '48'" --set line=48
wrong "too many ways" "l2.ways is a number from 1 to 1024, not '5000'" --set l2.ways=5000
wrong "ways that a tree cannot have" "l1d.ways is 1, 2, 4, 8 or 16 with the policy plru, not 12" --cache L1D=48K,12
wrong "ways that MRU cannot have" "l2.ways is at most 32 with the policy mru, not 64" --cache L2=1M,64 --set l2.policy=mru
wrong "an unknown policy" "l2.policy is lru, fifo, plru, mru or a name such as QLRU_H11_M1_R0_U0, not 'random'" \
	--set l2.policy=random
wrong "an impossible QLRU" "not 'QLRU_H31_M1_R0_U0'" --set l2.policy=QLRU_H31_M1_R0_U0
wrong "an unknown predictor" "predictor.conditional is none, bimodal, gselect, gshare or tage, not 'magic'" \
	--set predictor.conditional=magic
wrong "a number out of range" "predictor.tables is a number from 0 to 12, not '13'" --set predictor.tables=13
wrong "a predictor that does not fit" "predictor: the predictor has more bits of history than its index" \
	--set predictor.conditional=gshare
wrong "a size of pages" "itlb0.pages is 4K, 2M, 1G or several, such as 4K+2M, not '8K'" --set itlb0.pages=8K
wrong "a TLB that is not whole sets" "stlb0.entries is a multiple of stlb0.ways (12), not 100" --set stlb0.entries=100
wrong "a paging-structure cache that is too large" "paging.pde is a number from 0 to 256, not '300'" --set paging.pde=300
wrong "not a switch" "write_back is off or on, not 'maybe'" --set write_back=maybe
wrong "an unknown level" "--cache: the levels are L1I, L1D, L2 and LLC, not 'L4'" --cache L4=1M,16
wrong "a cache without ways" "--cache: a cache is LEVEL=SIZE,WAYS[,LINE], such as L2=1M,16, not 'L2=1M'" --cache L2=1M
wrong "a cache with too much" "not 'L2=1M,16,64,3'" --cache L2=1M,16,64,3
wrong "a level that is not there" "the machine core2 has two levels of caches; the second is LLC" --machine=core2 --cache L2=1M,16
wrong "two machines" "--machine and --machine-file cannot be combined" --machine=skylake --machine-file small.machine
wrong "a sweep without values" "a sweep is KEY=FROM..TO or KEY=VALUE,VALUE..., not 'l2.size'" --sweep l2.size
wrong "a sweep backwards" "l2.size: a range is FROM..TO, such as 256K..4M, not '4M..1M'" --sweep l2.size=4M..1M
wrong "a sweep of words" "l2.policy has words as values: write them as l2.policy=A,B" --sweep l2.policy=lru..plru
wrong "a sweep of an unknown key" "--sweep: no key 'l2.weys'; did you mean 'l2.ways'?" --sweep l2.weys=1..8
wrong "a sweep with a wrong value" "--sweep: l2.size is a multiple of" --sweep l2.size=64K,100
wrong "a sweep in JSON" "--sweep cannot be combined with -j, -r or --per-thread" -j --sweep l2.size=64K,128K

# wrong_file NAME MESSAGE LINE...: the same for a file
wrong_file() {
	printf '%s\n' "${@:3}" >wrong.machine
	run stat --machine-file wrong.machine -- ./loop
	same "$1: one line" 1 "$(wc -l <<<"$err")"
	has "$1" "$err" "$2"
}
wrong_file "a line without =" "wrong.machine:2: a line is KEY = VALUE, not 'l2.size 1M'" "base = skylake" "l2.size 1M"
wrong_file "an unknown base" "wrong.machine:1: base: no machine 'lake'" "base = lake"
wrong_file "base too late" "wrong.machine:2: base must come before all other keys" "line = 64" "base = skylake"
wrong_file "an unknown key in a file" "wrong.machine:1: no key 'l9.size'" "l9.size = 1M"
wrong_file "a cache is missing" "wrong.machine: l1i.size is missing: a machine needs this cache" "l1d.size = 32K" "l1d.ways = 8"
wrong_file "ways are missing" "wrong.machine: l1i.ways is missing" "l1i.size = 32K"
run stat --machine-file nothing.machine -- ./loop
has "no such file" "$err" "cannot read nothing.machine: No such file or directory"
same "no such file: status" 125 "$status"

# A sweep: one row for each value, and the same counts as one by one.
run stat --deterministic --sweep l2.size=64K..256K -e "$EVENTS" -- ./loop
same "a sweep: status" 0 "$status"
table=$(awk 'NF == 4 && $1 ~ /K$/' <<<"$err" | tr -d ,)
same "a sweep: the values" "64K 128K 256K" "$(awk '{ printf "%s%s", s, $1; s = " " }' <<<"$table")"
same "a sweep: the counts of the first" "${small[*]}" "$(awk 'NR == 1 { print $2, $3, $4 }' <<<"$table")"
same "a sweep: the counts of the last" "${plain[*]}" "$(awk 'NR == 3 { print $2, $3, $4 }' <<<"$table")"
has "a sweep: a plot" "$err" "64K |################################################## "
run stat --sweep l1d.policy=lru,plru -x, -e mem_load_retired.l1_miss -- ./loop
same "fields: value and event" "lru,mem_load_retired.l1_miss:u plru,mem_load_retired.l1_miss:u" \
	"$(cut -d, -f1,3 <<<"$err" | tr '\n' ' ' | sed 's/ $//')"

# explain machine
run explain machine
has "explain: the model's machine" "$out" "machine skylake"
has "explain: its models" "$out" "models: skylake, kabylake"
has "explain: the source" "$out" "CPUID leaves 2 and 4 of 000506E3"
for part in "L1I: 32K, 8 ways, 64 sets" "L2: 256K, 4 ways, 1024 sets" "LLC: 8M, 16 ways, 8192 sets" "dtlb2: 4 entries" \
	"stlb0: 1536 entries, 12 ways, 4K+2M" "tage, 8 tables" "return stack: 16 entries" "prefetch.next_line: off"; do
	has "explain: $part" "$out" "$part"
done
run explain -M pm machine
has "explain: by a model" "$out" "machine pentium-m"
run explain machine hsw
has "explain: by an alias of a model" "$out" "machine haswell"
run explain machine nothing
same "explain: an unknown machine" "1 1" "$status $(grep -c "no machine 'nothing'; there are: cachegrind, " <<<"$err")"
finish
