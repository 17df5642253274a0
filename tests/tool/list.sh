#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# list.sh: `softpmu list`: groups, codes, fidelity, patterns and JSON.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

run list
succeeds "list"
for title in "perf's generic events:" "Events of the model's table:" "More events, known to libpfm4:"; do
	has_line "group" "$out" "$title"
done
has_line "generic name" "$out" '  instructions +r00c0 +exact +.*INST_RETIRED\.ANY_P'
has_line "generic name without a signal" "$out" '  branch-misses +r00c5 +absent .*'
has_line "event of caches that is exact" "$out" '  L1-dcache-loads +r81d0 +exact +precise +MEM_INST_RETIRED\.ALL_LOADS'
has_line "event of caches that a machine counts" "$out" '  LLC-loads +r01b7 +absent +- +OFFCORE_RESPONSE_0'
has_line "event of the model" "$out" '  BR_INST_RETIRED\.NEAR_TAKEN +r20c4 +exact +precise .*'
has_line "generic event whose precise code is another" "$out" '  branches +r00c4 +exact +r04c4 .*'
has_line "generic event that is precise itself" "$out" '  instructions +r00c0 +exact +precise .*'
has_line "generic event without" "$out" '  cycles +r003c +absent +- .*'
has_line "imprecise event" "$out" '  BR_INST_RETIRED\.ALL_BRANCHES +r00c4 +exact +- .*'
has_line "event that only libpfm4 knows" "$out" '  RESOURCE_STALLS\.ALL +r01a2 +absent .*'
has_line "event with a threshold" "$out" '  CYCLE_ACTIVITY\.CYCLES_L2_MISS +r10001a3 +absent .*'
same "one line for a name in both tables" 1 "$(grep -c '^  BR_INST_RETIRED\.NEAR_TAKEN ' <<<"$out")"
has_not "no escape sequence in a pipe" "$out" $'\e'

# In a group every code begins in the column of the heading.
misplaced=$(awk '/^  name / { at = index($0, "code"); next }
	/^  / && substr($0, at, 1) != "r" { print }' <<<"$out")
same "columns are aligned" "" "$misplaced"

# Patterns.
run list 'br_inst_retired.near*'
succeeds "glob"
same "glob" "BR_INST_RETIRED.NEAR_CALL BR_INST_RETIRED.NEAR_RETURN BR_INST_RETIRED.NEAR_TAKEN" \
	"$(awk '/^  BR/ { print $1 }' <<<"$out" | sort | xargs)"
run list BR_INST_RETIRED:NEAR_TAKEN
same "libpfm4's colon" "BR_INST_RETIRED.NEAR_TAKEN" "$(awk '/^  BR/ { print $1 }' <<<"$out")"
run list r20c4
has_line "by code" "$out" '  BR_INST_RETIRED\.NEAR_TAKEN .*'
run list instructions cycles
has_line "two patterns: first" "$out" '  instructions .*'
has_line "two patterns: second" "$out" '  ref-cycles .*'
run list NoSuchEvent
refuses "pattern without a match" 1 "softpmu: no event of skylake matches 'NoSuchEvent'"

# A generic name whose own code is not precise is shown with the code that is.
run list -j branches
has "precise code" "$out" '"code": "r00c4", "group": "generic", "fidelity": "exact", "precise": false, "precise-code": "r04c4"'

# In JSON every line is an object, and says the same as the table.
run list -j
succeeds "JSON"
python3 - "$SCRATCH/out" >"$SCRATCH/names" <<'EOF' || fail "JSON" "a line is no object with the keys"
import json, sys
for line in open(sys.argv[1]):
    event = json.loads(line)
    assert event["fidelity"] in ("exact", "modelled", "absent"), line
    assert event["group"] in ("generic", "model", "libpfm4"), line
    assert isinstance(event["precise"], bool) and event["code"][0] == "r", line
    assert (event["fidelity"] == "absent") == ("absent-because" in event), line
    assert event["description"], line
    print(event["name"], event["code"], event["fidelity"])
EOF
json=$(sort "$SCRATCH/names")
run list
table=$(awk '/^  name / || !/^  / { next } { print $1, $2, $3 }' <<<"$out" | sort)
same "JSON and table list the same events" "$table" "$json"
# libpfm4 4.13 has 437 names for this processor.
if (($(wc -l <<<"$json") > 440)); then
	pass "all events are there"
else
	fail "all events are there" "$(wc -l <<<"$json") events"
fi

# The codes of the generic events: before architectural performance monitoring they are the family's own.
# After each code is its column of precision: "precise", "-", or the code that precise samples use
# (18.4.4, 18.6.1.1, 18.7.1, 18.8.1.1, 18.9.4: the tables of precise events).
codes_of() {
	instructions="r00c0 +exact +-" branches="r00c4 +exact +-" cycles=r003c misses="r00c5 +absent +-"
	case $1 in
	pentium) instructions="r0016 +exact +-" branches="r0012 +modelled +-" cycles=- misses="- +absent +-" ;;
	pentium-mmx) instructions="r0016 +exact +-" branches="r0012 +modelled +-" cycles=r0030 misses="- +absent +-" ;;
	pentium-*) cycles=r0079 ;;
	netburst | prescott* | cedar-mill | xeon-7100 | xeon-mp*)
		instructions="r00013402 +exact +-" branches="r000f3506 +exact +-" cycles=r00010613
		misses="r00013403 +absent +-"
		;;
	core) ;;
	core2* | xeon-7400 | bonnell)
		instructions="r00c0 +exact +precise" misses="r00c5 +absent +precise"
		;;
	nehalem*) instructions="r00c0 +exact +precise" branches="r00c4 +exact +precise" ;;
	sandybridge* | ivybridge* | haswell* | broadwell*)
		instructions="r00c0 +exact +r01c0" branches="r00c4 +exact +r04c4" misses="r00c5 +absent +r04c5"
		;;
	skylake* | kabylake | coffeelake | cascadelake)
		instructions="r00c0 +exact +precise" branches="r00c4 +exact +r04c4" misses="r00c5 +absent +r04c5"
		;;
	*) instructions="r00c0 +exact +precise" branches="r00c4 +exact +precise" misses="r00c5 +absent +precise" ;;
	esac
}

# Every available family lists its table, in columns, and what else libpfm4 has for it.
models=$("$SOFTPMU" models | awk '$1 != "name" { print $1 }')
same "twenty families and more" yes "$( (($(wc -w <<<"$models") >= 20)) && echo yes)"
for model in $models; do
	run list -M "$model"
	same "$model: status" 0 "$status"
	# Only a 32-bit libpfm4 has tables of P6 to Core Duo. Debian 12's has none of Pentium, of the newest Atoms, of
	# Granite Rapids and of Lunar Lake.
	case $model in
	core | pentium-pro | pentium-ii | pentium-iii | pentium-m)
		has "$model: what is missing is said" "$err" "only the model's own events are listed"
		;;
	pentium* | alderlake-e | sierraforest | graniterapids | lunarlake)
		same "$model: standard error" "" "$err"
		has_not "$model: no events of libpfm4" "$out" "More events, known to libpfm4:"
		;;
	*)
		same "$model: standard error" "" "$err"
		has_line "$model: libpfm4's events" "$out" "More events, known to libpfm4:"
		;;
	esac
	codes_of "$model"
	has_line "$model: instructions" "$out" "  instructions +$instructions .*"
	has_line "$model: branches" "$out" "  branches +$branches .*"
	has_line "$model: branch misses" "$out" "  branch-misses +$misses .*"
	has_line "$model: cycles" "$out" "  cycles +$cycles +absent .*"
	same "$model: each name is listed once" "" "$(awk '/^  name/ || !/^  / { next } { print $1 }' <<<"$out" | sort | uniq -d)"
	same "$model: columns are aligned" "" "$(awk '/^  name / { at = index($0, "code"); next }
		/^  / && substr($0, at, 1) !~ /[r-]/ { print }' <<<"$out")"
done

# of MODEL EVENT: prints counters, counters on which it is precise, and fidelity, as in the manual's tables.
of() {
	"$SOFTPMU" list -M "$1" -j "$2" | python3 -c '
import json, sys
for line in sys.stdin:
    event = json.loads(line)
    if event["group"] == "model" and event["name"] == sys.argv[1]:
        print(event["counters"], event["precise-counters"], event["fidelity"])' "$2"
}
same "Pentium: both counters" "3 0 exact" "$(of pentium INSTRUCTIONS_EXECUTED)"
same "P6: counter 0 alone" "1 0 modelled" "$(of pentium-iii FLOPS)"
same "NetBurst: six counters" "258048 0 exact" "$(of netburst instr_retired.NBOGUSNTAG)"
same "NetBurst: PEBS on IQ_COUNTER4" "258048 196608 modelled" "$(of netburst memory_loads)"
same "NetBurst: nothing tags" "258048 196608 absent" "$(of netburst front_end_event.NBOGUS)"
same "NetBurst: what is bogus is not known" "258048 0 absent" "$(of netburst instr_retired.BOGUSNTAG)"
# Tables 19-31 to 19-33: NetBurst's metrics, each an event and what sets its tags.
run list -M netburst
for metric in memory_loads memory_stores packed_SP_retired packed_DP_retired scalar_SP_retired scalar_DP_retired \
	128_bit_MMX_retired 64_bit_MMX_retired X87_FP_retired X87_SIMD_memory_moves_retired \
	1stL_cache_load_miss_retired 2ndL_cache_load_miss_retired DTLB_load_miss_retired \
	DTLB_store_miss_retired DTLB_all_miss_retired Tagged_mispred_branch MOB_load_replay_retired \
	split_load_retired split_store_retired; do
	has_line "NetBurst's metric" "$out" "  $metric +r[0-9a-f]{8} .*"
done
same "Core 2: PEBS on PMC0" "3 1 exact" "$(of core2 INST_RETIRED.ANY_P)"
same "Core 2: at retirement on PMC0 alone" "1 1 absent" "$(of core2 MEM_LOAD_RETIRED.L2_MISS)"
same "Core: PMC1 alone" "2 0 absent" "$(of core FP_ASSIST)"
same "Bonnell: PEBS on PMC0" "3 1 exact" "$(of bonnell INST_RETIRED.ANY_P)"
same "Silvermont: branches on PMC0" "3 1 exact" "$(of silvermont BR_INST_RETIRED.TAKEN_JCC)"
same "Silvermont: instructions on PMC0" "3 1 exact" "$(of silvermont INST_RETIRED.ANY_P)"
same "Goldmont: PMC0" "15 1 modelled" "$(of goldmont MEM_UOPS_RETIRED.ALL_LOADS)"
same "Goldmont Plus: all four" "15 15 modelled" "$(of goldmont-plus MEM_UOPS_RETIRED.ALL_LOADS)"
same "Nehalem: loads are instructions" "15 15 exact" "$(of nehalem MEM_INST_RETIRED.LOADS)"
same "Nehalem: two counters" "3 0 modelled" "$(of nehalem L1D_CACHE_LD.MESI)"
same "Sandy Bridge: PREC_DIST" "2 2 exact" "$(of sandybridge INST_RETIRED.PREC_DIST)"
same "Sandy Bridge: load latency" "8 8 absent" "$(of sandybridge MEM_TRANS_RETIRED.LOAD_LATENCY)"
same "Ivy Bridge: misses outstanding" "4 0 absent" "$(of ivybridge L1D_PEND_MISS.PENDING)"
same "Haswell: micro-operations" "15 15 modelled" "$(of haswell MEM_UOPS_RETIRED.ALL_STORES)"
same "Ice Lake: eight counters" "255 255 exact" "$(of icelake BR_INST_RETIRED.COND)"
same "Ice Lake: a fixed counter" "0 0 exact" "$(of icelake INST_RETIRED.PREC_DIST)"
same "Tiger Lake: memory on four" "15 15 exact" "$(of tigerlake MEM_INST_RETIRED.ALL_LOADS)"
run list -M westmere nosuch_event
refuses "absent from that family" 1 "no event of westmere matches"

# Other models, and wrong usage.
run list -M skylake-server 'FP_ARITH_INST_RETIRED.512B_PACKED_DOUBLE'
has_line "the server has 512-bit events" "$out" '  FP_ARITH_INST_RETIRED\.512B_PACKED_DOUBLE +r40c7 +exact .*'
run list -M skylake 'FP_ARITH_INST_RETIRED.512B_PACKED_DOUBLE'
has_line "the client has none" "$out" '  FP_ARITH_INST_RETIRED\.512B_PACKED_DOUBLE +r40c7 +absent .*'
run list -M z80
refuses "unknown model" 1 "unknown model 'z80'"
run list --frobnicate
refuses "unknown option" 129 "--frobnicate"
run list -M
refuses "missing value" 129 "-M"
run list --help
succeeds "help"
has "help names the options" "$out" "--model"

# It is no error if the reader of a pipe ends, but it is one if the disk is full.
# shellcheck disable=SC2094
err=$(trap '' PIPE; { "$SOFTPMU" list; echo "status $?" >&2; } 2>&1 >/dev/full | head -n 2)
has "a full disk is reported" "$err" "cannot write the output: No space left on device"
has "a full disk is a failure" "$err" "status 1"
quiet=$( (trap '' PIPE; { sleep 0.2; "$SOFTPMU" list; } 2>&1 >&3 | cat) 3> >(exec true))
same "a closed pipe is not" "" "$quiet"
same "with a machine" "absent modelled" \
	"$(for option in "" --machine; do "$SOFTPMU" list $option -j cache-misses | sed 's/.*"fidelity": "\([a-z]*\)".*/\1/'; done | xargs)"
finish
