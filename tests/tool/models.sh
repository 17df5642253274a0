#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# models.sh: `softpmu models`: the available models, and what is done of each.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

run models
succeeds "models"
# Skylake: version 4, 4 general counters with Hyper-Threading and 8 without, 3 fixed, 48 bits, PEBS
# format 3 (Vol. 3B 18.13).
has_line "skylake" "$out" 'skylake +6th generation Core.* 4 +4/8 +3 +48 +3  Vol\. 3B 18\.13'
# NetBurst: 18 counters for all threads of a core, 40 bits (18.15.2).
has_line "a family before version 1" "$out" 'netburst +Pentium 4.* none +18 +0 +40 +0  Vol\. 3B 18\.15'
for family in pentium pentium-mmx pentium-pro pentium-ii pentium-iii pentium-m netburst prescott \
	cedar-mill xeon-7100 xeon-mp-8m-l3 core core2 xeon-7400 bonnell silvermont airmont knightslanding goldmont goldmont-plus nehalem \
	westmere sandybridge ivybridge haswell broadwell icelake tigerlake alderlake sapphirerapids graniterapids lunarlake alderlake-e sierraforest; do
	has_line "$family is listed" "$out" "$family +.*"
done
same "no name twice" "" "$(awk '{ print $1 }' <<<"$out" | sort | uniq -d)"
same "no family is absent" "" "$(grep ' absent ' <<<"$out")"
# Every model of the first column can be used.
while read -r name; do
	run list -M "$name"
	same "$name can be used" 0 "$status"
done < <(awk 'NR > 1 { print $1 }' <<<"$out")

run models -v skylake
succeeds "verbose"
same "only the model that was asked for" "skylake" "$(awk 'NR > 1 && /^[a-z]/ { print $1 }' <<<"$out")"
has_line "facility that is done" "$out" '    PEBS +Vol\. 3B 18\.13\.1 +done'
has_line "facility that is absent" "$out" '    uncore counters +Vol\. 3C 35\.15 +absent'
same "every facility has a state" "" "$(awk '/^    / && !/ (done|absent|partial: .*)$/' <<<"$out")"

# 18.4.4: where the processors differ from the manual; each erratum has a state.
run models -v core2
succeeds "verbose, with errata"
has_line "erratum that can be switched on" "$out" '    erratum pebs-late-pmi +AJ68 +switched +.+'
has_line "erratum that is not done" "$out" '    erratum pebs-any-level +AJ67 +absent +.+'
run models -v westmere
has_line "erratum that CPUID shows always" "$out" '    erratum cpuid-clocks +- +always +.+'

run models z80
refuses "unknown model" 1 "unknown model 'z80'"
run models -x
refuses "unknown option" 129 "-x"
finish
