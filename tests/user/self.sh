#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# self.sh: a program that measures itself (self.c). RDPMC reads the counters of the thread's own
# unit, exactly, and raises #GP or #UD where the unit has no such counter (Vol. 2B,
# RDPMC; 18.2.2). CPUID shows the model's unit (18.2.1, leaf 0AH); everything else is
# the machine's.
# shellcheck source-path=SCRIPTDIR
# shellcheck disable=SC2154
. "$(dirname "$0")/lib.sh"
compile self -pthread
FIXED0=0x40000000
KNOWN="5 2003 5" # RDPMC, MOV and three NOPs; with a loop of 2000; with CPUID between two MOVs
cd "$SCRATCH" || exit 1

# says NAME WANT OPTIONS... -- ARGUMENT...: the program prints WANT under stat.
says() {
	local name=$1 want=$2 options=()
	shift 2
	while [[ $1 != -- ]]; do
		options+=("$1")
		shift
	done
	shift
	run "$SCRATCH/said" "$SOFTPMU" stat -o "$SCRATCH/stat" "${options[@]}" -- "$BUILT/self" "$@"
	same "$name" "$want" "$(tr '\n' ';' <"$SCRATCH/said.out" | sed 's/;$//')"
	same "$name: status" 0 "$status"
}
says "fixed counter 0" "$KNOWN" -e instructions:u -- counts $FIXED0
says "beside other events" "$KNOWN" -e branches:u,instructions:u,mem_inst_retired.all_loads:u -- counts $FIXED0
says "two threads and a child" "$KNOWN;$KNOWN;$KNOWN" -e instructions:u -- threads $FIXED0
says "a counter that is not used" "0 0 0" -e instructions:u -- counts 0
for pair in core2:$FIXED0 nehalem:$FIXED0 silvermont:$FIXED0 tigerlake:$FIXED0 pentium-iii:0 pentium-mmx:0; do
	says "${pair%:*}" "$KNOWN" -M "${pair%:*}" -e instructions:u -- counts "${pair#*:}"
done
# An event of branches is in a general counter; the driver chooses which.
for ((n = 0; n < 8; n++)); do
	"$SOFTPMU" stat -o "$SCRATCH/stat" -e branches:u -- "$BUILT/self" counts $n
done >"$SCRATCH/branches"
same "branches, in one of the general counters" "1 0 1000 0" "$(grep -v '^0 0 0$' "$SCRATCH/branches" | sort | uniq -c | tr -s ' ' | sed 's/^ //')"

says "no such counter" "SEGV at RDPMC, address 0" -e instructions:u -- fault 99
says "no such fixed counter" "SEGV at RDPMC, address 0" -e instructions:u -- fault 0x40000003
says "no RDPMC" "ILL at RDPMC, address of RDPMC" -M pentium -e instructions:u -- fault 0
run "$SCRATCH/said" "$SOFTPMU" stat -o "$SCRATCH/stat" -e instructions:u -- "$BUILT/self" die 99
same "no handler" $((128 + 11)) "$status"

# Leaf 0AH: version, counters, widths, events; fixed counters (18.2.1 to 18.2.5).
says "Skylake's leaf 0AH" "07300804 00000000 00000000 00000603" -e instructions:u -- cpuid 10
says "Nehalem's leaf 0AH" "07300403 00000040 00000000 00000603" -M nehalem -e instructions:u -- cpuid 10
says "Sapphire Rapids' leaf 1CH" "4000000b 00000007 00000007 00000000" -M sapphirerapids -e instructions:u -- cpuid 28
says "no leaf 1CH" "00000000 00000000 00000000 00000000" -e instructions:u -- cpuid 28
says "before architectural monitoring" "00000000 00000000 00000000 00000000" -M pentium-iii -e instructions:u -- cpuid 10
# In leaf 01H the debug store and its facilities (EDX[21], ECX[2], [4], [15]) are the model's. The rest is
# the machine's, except the number of the processor (EBX[31:24]).
outside() {
	local a b c d
	read -r a b c d <"$1"
	printf '%s %x %x %x' "$a" $((16#$b & 0xffffff)) $((16#$c & ~0x8014)) $((16#$d & ~0x200000))
}
"$BUILT/self" cpuid 1 >"$SCRATCH/native"
for model in skylake pentium-iii; do
	"$SOFTPMU" stat -M $model -o "$SCRATCH/stat" -e instructions:u -- "$BUILT/self" cpuid 1 >"$SCRATCH/$model"
done
same "leaf 01H is the machine's" "$(outside "$SCRATCH/native")" "$(outside "$SCRATCH/skylake")"
bits() {
	local a b c d
	read -r a b c d <"$SCRATCH/$1"
	: "$a$b"
	printf '%x %x' $((16#$c & 0x8014)) $((16#$d & 0x200000))
}
same "Skylake's debug store" "8014 200000" "$(bits skylake)"
same "Pentium III has none" "0 0" "$(bits pentium-iii)"
for leaf in 0 0x80000002; do
	"$BUILT/self" cpuid $leaf >"$SCRATCH/native"
	says "leaf $leaf is the machine's" "$(<"$SCRATCH/native")" -e instructions:u -- cpuid $leaf
done
finish
