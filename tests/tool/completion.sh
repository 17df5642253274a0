#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# completion.sh: what bash offers after the beginning of a command line.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
# shellcheck source=tools/completion/softpmu.bash
. "$ROOT/tools/completion/softpmu.bash"
compopt() { :; } # there is no completion under way
cd "$SCRATCH" || exit 1

# offers WORD...: prints what is offered for the last word, one on each line.
offers() {
	COMP_WORDS=(softpmu "$@")
	COMP_CWORD=$#
	COMPREPLY=()
	local previous=softpmu
	(($# > 1)) && previous=${*: -2:1}
	_softpmu "$SOFTPMU" "${*: -1}" "$previous"
	echo "${COMPREPLY[*]-}"
}

complete -p softpmu >"$SCRATCH/out" 2>&1
has "registered" "$(<"$SCRATCH/out")" "-F _softpmu softpmu"
same "commands" "report" "$(offers rep)"
same "all commands" "stat record run profile bench trace report annotate script diff export list models explain cache vm help --help --version" "$(offers '')"
same "models" "skylake skylake-server" "$(offers stat -M sky)"
same "an older family" "netburst" "$(offers stat -M netb)"
same "models for --model" "skylake skylake-server" "$(offers list --model sky)"
same "models for --model=" "skylake skylake-server" "$(offers list --model = sky)"
same "models of models" "coffeelake" "$(offers models coff)"
same "options" "--percent-limit" "$(offers report --percent-)"
same "options of annotate" "--intel --input" "$(offers annotate --in | tr ' ' '\n' | sort -r | xargs)"
same "registers" "IA32_PERF_GLOBAL_CTRL" "$(offers explain ia32_perf_global_c)"
same "cpuid" "cpuid" "$(offers explain cp)"
same "formats" "callgrind cachegrind chrome" "$(offers export --to c)"
same "sort keys" "srcline srcline_from srcline_to" "$(offers report -s src | tr ' ' '\n' | sort | xargs)"
same "threads" "1 2" "$(offers explain -t '')"
same "events" "BR_INST_RETIRED.NEAR_CALL BR_INST_RETIRED.NEAR_RETURN BR_INST_RETIRED.NEAR_TAKEN" \
	"$(offers stat -e br_inst_retired.near | tr ' ' '\n' | sort | xargs)"
same "second event of a list" "cycles,BR_INST_RETIRED.NEAR_CALL" "$(offers record -e cycles,br_inst_retired.near_c)"
same "absent events are not offered" "" "$(offers stat -e branch-m)"
has "512-bit events of the server" "$(offers stat -M skylake-server -e fp_arith_inst_retired.512)" "512B_PACKED_DOUBLE"
same "branch filters" "any any_call any_ret" "$(offers record -j any)"
same "stat's -j takes nothing" "true" "$(offers stat -j tru | tr ' ' '\n' | grep -x true | sort -u)"
same "stat's -I takes a number" "true" "$(offers stat -I 100 tru | tr ' ' '\n' | grep -x true | sort -u)"
same "modes of trace" "--summary" "$(offers trace --su)"
same "options of vm" "--kernel" "$(offers vm --ker)"
same "models of vm" "skylake skylake-server" "$(offers vm -M sky)"
same "folders of vm" "shared" "$(mkdir shared && touch shared-not && offers vm --share sh)"
same "files" "perf.data" "$(touch perf.data other && offers report -i perf)"
same "program" "true" "$(offers stat -e instructions tru | tr ' ' '\n' | grep -x true | sort -u)"
same "the program's arguments are files" "perf.data" "$(offers record -c 1000 -- cat perf)"
same "not our options after the program" "" "$(offers stat true --mod)"
finish
