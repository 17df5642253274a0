#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# perf_event.sh: libraries that use perf_event_open(2), in `softpmu run`: PAPI's utilities and libpfm4's examples.
# shellcheck source-path=SCRIPTDIR
# shellcheck disable=SC2154
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1
LIMIT=300

# says COMMAND...: what the command says in a run is in said.out
says() {
	run said "$SOFTPMU" run -- "$@"
	((status)) && fail "$1" "status $status: $(head -n 1 said.err)"
}
# line NAME PATTERN: a line of that matches
line() {
	if grep -qE "$2" said.out; then
		pass "$1"
	else
		fail "$1" "no line matches '$2'"
	fi
}
# between NAME LEAST MOST EVENT: a count of papi_command_line
between() {
	local count
	count=$(sed -n "s/^$4 :[[:space:]]*\([0-9]*\).*/\1/p" said.out)
	if [[ -n $count ]] && ((count >= $2 && count <= $3)); then
		pass "$1"
	else
		fail "$1" "'$count' is not from $2 to $3"
	fi
}

if have papi_command_line; then
	says papi_avail
	line "PAPI's processor" "^Vendor string and code +: GenuineIntel"
	line "PAPI's model" "^CPUID +: Family/Model/Stepping 6/94/3"
	line "PAPI reads by RDPMC" "^Fast counter read \(rdpmc\): yes"
	line "PAPI has instructions" "^PAPI_TOT_INS +0x[0-9a-f]+ +Yes"
	# It computes with 20 million turns of a loop of ten instructions, six of them loads.
	says papi_command_line PAPI_TOT_INS PAPI_BR_CN PAPI_BR_INS
	between "PAPI_TOT_INS" 200000000 202000000 PAPI_TOT_INS
	between "PAPI_BR_CN" 20000000 20200000 PAPI_BR_CN
	between "PAPI_BR_INS" 20000000 20200000 PAPI_BR_INS
	says papi_command_line skl::BR_INST_RETIRED:NEAR_TAKEN skl::MEM_INST_RETIRED:ALL_LOADS
	between "an event by its own name" 20000000 20200000 skl::BR_INST_RETIRED:NEAR_TAKEN
	between "loads" 120000000 120200000 skl::MEM_INST_RETIRED:ALL_LOADS
	run said "$SOFTPMU" run -- papi_command_line PAPI_TOT_CYC
	same "no cycles" 0 "$(grep -c '^PAPI_TOT_CYC :' said.out)"
	says papi_event_chooser PRESET PAPI_TOT_INS
	line "PAPI finds what goes with it" "^PAPI_BR_INS "
else
	not_run PAPI "papi-tools is not installed"
fi

example=/usr/share/doc/libpfm4-dev/examples/check_events.c
if [[ -f $example ]]; then
	mkdir perfmon
	echo '#include <err.h>' >perfmon/err.h
	expect "libpfm4's example" gcc -I. -o check_events "$example" -lpfm
	says ./check_events INST_RETIRED:ANY_P
	same "libpfm4 finds the model" 1 "$(sed -n '/^Detected/,$p' said.out | grep -c ', skl, ')"
	line "its code" "^Codes +: 0x[0-9a-f]*c0$"
	run said "$SOFTPMU" run -M nehalem -- ./check_events INST_RETIRED:ANY_P
	same "libpfm4 finds another" 1 "$(sed -n '/^Detected/,$p' said.out | grep -c ', nhm, ')"
else
	not_run "libpfm4's example" "it is not installed"
fi
finish
