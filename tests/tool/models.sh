#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# models.sh: `softpmu models`: what can be built, what is done, what is not there yet.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

run models
succeeds "models"
# Skylake: version 4, 4 general counters with Hyper-Threading and 8 without, 3 fixed, 48 bits, PEBS
# format 3 (Vol. 3B 18.13).
has_line "skylake" "$out" 'skylake +6th generation Core.* 4 +4/8 +3 +48 +3  Vol\. 3B 18\.13'
has_line "a family that is not there" "$out" 'netburst +Pentium 4.* absent +- .*Vol\. 3B 18\.15.*'
for family in pentium p6 pentium-m core core2 bonnell silvermont airmont goldmont goldmont-plus nehalem \
	westmere sandybridge ivybridge haswell broadwell icelake tigerlake; do
	has_line "$family is listed" "$out" "$family +.*"
done
same "no name twice" "" "$(awk '{ print $1 }' <<<"$out" | sort | uniq -d)"
# Every model of the first column can be used, every absent family cannot.
while read -r name absent; do
	run explain -M "$name" IA32_PERFEVTSEL0
	if [[ $absent == yes ]]; then
		same "$name cannot be used" 1 "$status"
	else
		same "$name can be used" 0 "$status"
	fi
done < <(awk 'NR > 1 { print $1, / absent / ? "yes" : "no" }' <<<"$out")

run models -v skylake
succeeds "verbose"
same "only the model that was asked for" "skylake" "$(awk 'NR > 1 && /^[a-z]/ { print $1 }' <<<"$out")"
has_line "facility that is done" "$out" '    PEBS +Vol\. 3B 18\.13\.1 +done'
has_line "facility that is absent" "$out" '    uncore counters +Vol\. 3B .* absent'
same "every facility has a state" "" "$(awk '/^    / && !/ (done|absent|partial: .*)$/' <<<"$out")"

# 18.4.4: what the parts do other than the manual says; each with a state.
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
