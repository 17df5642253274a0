#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# explain.sh: `softpmu explain` draws values field by field and names the event, #GP and CPUID.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

# 5300C0H: EN (22), INT (20), OS (17), USR (16), unit mask 00H, event select C0H (Vol. 3B 18.2.1.1).
run explain IA32_PERFEVTSEL0=0x5300c0
succeeds "event select"
has_line "heading" "$out" 'IA32_PERFEVTSEL0 \(MSR 186H\) = 0x00000000005300c0'
while read -r bits name value; do
	has_line "field $name" "$out" " $bits +$name +$value  .*"
done <<'EOF'
31:24 CMASK 00H
23 INV 0
22 EN 1
21 ANY 0
20 INT 1
19 PC 0
18 E 0
17 OS 1
16 USR 1
15:8 UMASK 00H
7:0 EVENT_SELECT C0H
EOF
has "the event's name" "$out" "Event r00c0 is INST_RETIRED.ANY_P: "
has "its fidelity" "$out" "is exact."
has "where it counts" "$out" "It counts at every CPL, enabled; an overflow interrupts."
has_line "a write completes" "$out" 'WRMSR completes\.'
has_line "ruler, boxes in ASCII" "$out" '\+-+(\+-+)*\+'

# The boxes have every field, the highest bit first.
boxes=$(grep -A 1 '^+' <<<"$out" | grep '^| .*[A-Za-z]' | tr -d '\n' | tr -s ' |' ' ')
same "boxes in order" " reserved IN_TX CMASK INV EN ANY INT PC E OS USR UMASK EVENT_SELECT " "$boxes"
same "no line is wider than 80 columns in the drawing" "" "$(grep -E '^[+|].{80}' <<<"$out")"
same "no blanks at the ends of lines" "" "$(grep -n ' $' <<<"$out")"
drawing=$out

LC_ALL=C.UTF-8 run explain IA32_PERFEVTSEL0=0x5300c0
has "boxes in Unicode" "$out" "┌──"
same "Unicode and ASCII draw the same" "$drawing" "$(LC_ALL=C.UTF-8 sed 'y/┌┬┐└┴┘─│/++++++-|/' <<<"$out")"
LC_ALL=C.UTF-8 run explain --ascii IA32_PERFEVTSEL0=0x5300c0
same "--ascii" "$drawing" "$out"

# Different spellings of registers and numbers.
for way in 0x186=0x5300c0 186H=5300C0H 390=5439680 perfevtsel0=0X5300C0 ia32_perfevtsel0=5300c0h; do
	run explain "$way"
	same "as $way" "$drawing" "$out"
done

# Before architectural performance monitoring (18.22.1, 18.23.1, 18.15.1, 18.15.3).
run explain -M pentium-iii PerfEvtSel1=0x1100c4
has "P6: the event" "$out" "Event r00c4 is BR_INST_RETIRED: "
has "P6: one EN bit" "$out" "It counts at CPL 1, 2 and 3, enabled by EN of the first; an overflow interrupts."
run explain -M pentium CESR=0x3920096
has "Pentium: counter 0" "$out" "Event r0016 is INSTRUCTIONS_EXECUTED: "
has "Pentium: its rings" "$out" "It counts at CPL 3; the pin is asserted at each count."
has "Pentium: counter 1" "$out" "Event r0012 is BRANCHES: "
has "Pentium: clocks" "$out" "It counts clocks in which it happens, at CPL 3; the pin is asserted at an overflow."
run explain -M pentium CESR=0x16
has "Pentium: off" "$out" "Counter 0 is off."
run explain -M netburst MSR_TBPU_ESCR1=0x0800040c
has "NetBurst: the event" "$out" "Event r00021204 is retired_branch_type.CONDITIONAL: "
has "NetBurst: its threads" "$out" "It selects thread 0 at CPL 0, thread 0 at CPL 1, 2 and 3."
run explain -M netburst MSR_FIRM_ESCR0=0x19000034
has "NetBurst: a tag" "$out" "It tags with value 1 what it selects."
run explain -M netburst MSR_CRU_ESCR3=0x0c001e04
has "NetBurst: a sum of bits" "$out" "Event r000f3506 is branch_retired.MMNP.MMNM.MMTP.MMTM: "
run explain -M netburst MSR_MS_CCCR2=0x044f5000
has "NetBurst: CCCR" "$out" "Counter 6 is enabled, and connected with MSR_TBPU_ESCR1."
has "NetBurst: threshold" "$out" "It counts clocks with at most 4 occurrences."
has "NetBurst: interrupt" "$out" "An overflow interrupts thread 0."
run explain -M prescott MSR_IQ_CCCR0=0x0
has "NetBurst: an ESCR that model 3 lacks" "$out" "Counter 12 is not enabled, and connected with no ESCR."

# Other event selects.
run explain IA32_PERFEVTSEL1=0x4120c4
has "taken branches" "$out" "Event r20c4 is BR_INST_RETIRED.NEAR_TAKEN: "
has "CPL 3 only" "$out" "It counts at CPL 1, 2 and 3, enabled; an overflow does not interrupt."
run explain IA32_PERFEVTSEL0=0x4100c5
has "mispredictions are absent" "$out" "is absent: "
run explain IA32_PERFEVTSEL0=0x4108c8
has "an event of libpfm4" "$out" "Event r08c8 is HLE_RETIRED.ABORTED_MEM, by libpfm4."
run explain IA32_PERFEVTSEL0=0x41ffff
has "no such event" "$out" "neither the model nor libpfm4 knows"
run explain IA32_PERFEVTSEL0=0x24500c0
has "threshold and edge" "$out" "clocks with at least 2 occurrences, at rising edges"
run explain IA32_PERFEVTSEL0=0x4200c0
has "kernel only" "$out" "no kernel code runs here"

# Reserved bits, sign extension, status registers, fixed counters.
run explain IA32_PERFEVTSEL0=0x80000000005300c0
succeeds "reserved bits"
has_line "reserved field is flagged" "$out" ' 63:33 +reserved .*must be 0: writing this raises #GP\(0\)'
has_line "the write faults" "$out" 'WRMSR raises #GP\(0\): reserved bits are set \(0x8000000000000000\)\.'
run explain IA32_PMC0=0x80000000
has "a legacy counter write extends bit 31" "$out" "RDMSR then reads 0xffff80000000."
run explain IA32_PERF_GLOBAL_CTRL=0x70000000f
has_line "global control" "$out" 'WRMSR completes\.'
run explain IA32_FIXED_CTR_CTRL=0x0b
has "fixed counter 0" "$out" "Fixed counter 0 (INST_RETIRED.ANY) counts at every CPL; an overflow interrupts."
has "fixed counter 1" "$out" "Fixed counter 1 (CPU_CLK_UNHALTED.THREAD) is disabled."
run explain IA32_PERF_GLOBAL_STATUS
has "value after reset" "$out" "= 0x0000000000000000 after reset"
has_not "nothing is written" "$out" "WRMSR"

# Every register of the list can be drawn, and its fields cover bits 63 to 0 exactly once.
run explain
succeeds "list of registers"
registers=$(awk '$1 ~ /^[0-9A-F]+H$/ { print $2 }' <<<"$out")
(($(wc -l <<<"$registers") > 20)) || fail "list of registers" "too short: $registers"
for register in $registers; do
	run explain "$register"
	covered=$(awk '/^ bits/ { on = 1; next } /^$/ { on = 0 } on { print $1 }' <<<"$out" |
		awk -F: '{ if ($1 != next_bit - 1 && NR > 1) print "gap at", $1
			next_bit = NF == 2 ? $2 : $1
			if (NR == 1 && $1 != 63) print "begins at", $1 }
			END { if (next_bit != 0) print "ends at", next_bit }')
	same "fields of $register" "" "$covered"
done

# Two registers in one call, the second one unknown.
run explain IA32_PERFEVTSEL0=0x5300c0 IA32_PERFEVTSEL1=0x5300c0
same "two registers" 2 "$(grep -c '^IA32_PERFEVTSEL[01] ' <<<"$out")"

# CPUID as real processors report it: 07300404H with Hyper-Threading, 07300804H without.
run explain cpuid 0AH
succeeds "leaf 0AH"
has_line "EAX" "$out" 'CPUID\.0AH:EAX = 0x07300404'
has_line "version" "$out" ' 7:0 +VERSION +04H .*'
has_line "counters" "$out" ' 15:8 +COUNTERS +04H .*'
has_line "width" "$out" ' 23:16 +WIDTH +30H .*'
has_line "EBX" "$out" 'CPUID\.0AH:EBX = 0x00000000'
has_line "EDX" "$out" 'CPUID\.0AH:EDX = 0x00000603'
has_line "fixed counters" "$out" ' 4:0 +FIXED +03H .*'
has_not "only the leaf" "$out" "CPUID.01H"
run explain -t 1 cpuid 10
has_line "one thread" "$out" 'CPUID\.0AH:EAX = 0x07300804'
run explain cpuid
# DTES64 (2), DS-CPL (4), PDCM (15); DS (21).
has_line "leaf 01H: ECX" "$out" 'CPUID\.01H:ECX = 0x00008014 .*'
has_line "leaf 01H: EDX" "$out" 'CPUID\.01H:EDX = 0x00200000 .*'
has_line "both leaves" "$out" 'CPUID\.0AH:EAX = .*'

# Wrong usage.
run explain IA32_PERFEVTSEL00
refuses "unknown register" 1 "did you mean IA32_PERFEVTSEL0?"
run explain 0xffff=1
refuses "unknown MSR" 1 "skylake has no register '0xffff'"
run explain IA32_PERFEVTSEL0=
refuses "no number" 1 "'' is not a 64-bit number"
run explain IA32_PERFEVTSEL0=0x10000000000000000
refuses "65 bits" 1 "is not a 64-bit number"
run explain IA32_PERFEVTSEL0=18446744073709551616
refuses "2^64" 1 "is not a 64-bit number"
run explain IA32_PERFEVTSEL0=53x0
refuses "garbage" 1 "is not a 64-bit number"
run explain cpuid 7
has "nothing of the unit in leaf 07H" "$out" "CPUID.07H:EDX: the unit of this model reports nothing here"
run explain cpuid 7 -M lunarlake
has "one of several kinds of cores" "$out" " 15     HYBRID        1  1: the part has several kinds of cores"
run explain cpuid 23H -M lunarlake
for register in "H:EAX = 0x0000000b" "H:EBX = 0x00000003" "H.1:EAX = 0x000003ff" "H.1:EBX = 0x0000000f" "H.3:EAX = "; do
	has "leaf 23H of Lunar Lake" "$out" "CPUID.23$register"
done
run explain cpuid 6
refuses "a leaf of others" 1 "leaf 06H"
run explain cpuid seven
refuses "no leaf" 1 "'seven' is not a CPUID leaf"
run explain cpuid 1 2
refuses "two leaves" 129 "one leaf"
run explain -M z80
refuses "unknown model" 1 "unknown model 'z80'"
run explain -t 3
refuses "three threads" 129 "--threads is 1 or 2"
run explain --frobnicate
refuses "unknown option" 129 "--frobnicate"
finish
