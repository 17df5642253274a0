#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# offcore.sh: off-core responses on a machine (18.9.5), for the tool's events and for programs that open events. They are
# compared with events of the same run that count the same requests: OFFCORE_REQUESTS (Intel's event list for Skylake). The
# values of cache events are those of Linux.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1
head -c 40000 "$(command -v bash)" >text

# Events that count the same by other means: data reads, reads for ownership, code reads, data reads from memory.
requests=offcore_requests.demand_data_rd:u,offcore_requests.demand_rfo:u,offcore_requests.demand_code_rd:u
requests+=,offcore_requests.l3_miss_demand_data_rd:u

# counts MODEL EVENTS: what stat counts, one after the other
counts() {
	run counted "$SOFTPMU" stat -M "$1" --machine=skylake -j -o counts -e "$2" -- gzip -c text
	sed -n 's/.*"counter-value" : "\([^"]*\)".*/\1/p' counts | cut -d. -f1 | tr '\n' ' '
}

value() { echo "cpu/event=0xb7,umask=1,offcore_rsp=$1/u"; }

read -r data own code memory any_data any_own any_code any_two <<<"$(counts skylake \
	"$requests,$(value 0x10001),$(value 0x10002),$(value 0x10004),$(value 0x10003)")"
expect "there are requests" test "$data" -gt 500 -a "$own" -gt 500 -a "$code" -gt 100 -a "$memory" -gt 100
same "data reads" "$data" "$any_data"
same "reads for ownership" "$own" "$any_own"
same "code reads" "$code" "$any_code"
same "two kinds of requests" $((data + own)) "$any_two"

# libpfm4's names; a register's other event.
read -r data own code memory any from_memory other <<<"$(counts skylake \
	"$requests,offcore_response_0:DMND_DATA_RD:ANY_RESPONSE,OFFCORE_RESPONSE_1:DMND_DATA_RD:L3_MISS:SNP_ANY:u,cpu/OFFCORE_RESPONSE_1,offcore_rsp=0x3ffc020001/u")"
same "a name: any response" "$data" "$any"
same "a name: memory" "$memory" "$from_memory"
same "a name with a value" "$memory" "$other"

# Intel's names (the values of its event lists for these models).
read -r data own code memory any any_own any_code from_memory <<<"$(counts skylake \
	"$requests,offcore_response.demand_data_rd.any_response,OFFCORE_RESPONSE.DEMAND_RFO.ANY_RESPONSE:u,offcore_response.demand_code_rd.any_response,offcore_response.demand_data_rd.l3_miss.any_snoop")"
same "Intel's names" "$data $own $code $memory" "$any $any_own $any_code $from_memory"
for entry in skylake:demand_rfo.l3_hit_m.snoop_hitm:0x1000040002 skylake-server:demand_code_rd.l3_miss.any_snoop:0x3fbc000004 \
	broadwell:demand_data_rd.l3_miss_local_dram.any_snoop:0x3f84000001 broadwell-server:demand_rfo.llc_hit.any_response:0x3f803c0002 \
	haswell:demand_code_rd.l3_miss.local_dram:0x100400004 haswell-server:demand_data_rd.llc_miss.local_dram:0x600400001; do
	IFS=: read -r model name config <<<"$entry"
	run recorded "$SOFTPMU" record -q -M "$model" --machine -e "offcore_response.$name" -c 1000 -o named.data -- true
	expect "$model: $name" grep -q "config1 }: $config," <(perf evlist -v -i named.data 2>/dev/null)
done
for name in demand_data_rd demand_data_rd.l3_hit demand_data_rd.l3_hit.any_response demand_data_rd.any_snoop.l3_hit \
	demand_data.any_response any_response l3_hit.any_snoop; do
	run refused "$SOFTPMU" stat -M skylake --machine -e "offcore_response.$name" -- true
	expect "no such name: $name" grep -q "unknown event 'offcore_response.$name'" refused.err
done
read -r any <<<"$(counts alderlake cpu/event=0x2a,umask=1,offcore_rsp=0x10001/u)"
expect "after Tiger Lake" test "$any" -gt 500

# Samples, and what perf reads in the file.
run recorded "$SOFTPMU" record -q -M skylake --machine -e "$(value 0x10001)" -c 100 -o x.data -- gzip -c text
near "samples" 50 $((data / 100)) "$(perf script -i x.data -F ip 2>/dev/null | grep -c .)"
expect "config1 of the file" grep -q 'config1 }: 0x10001' <(perf evlist -v -i x.data 2>/dev/null)

# What nothing makes is absent, and reserved bits are refused.
run absent "$SOFTPMU" stat -M skylake --machine -e offcore_response_0:OTHER:ANY_RESPONSE,offcore_response_0 -- true
same "absent: status" 0 "$status"
expect "other requests" grep -q 'OTHER.*(nothing here makes all of these off-core requests' absent.err
expect "no value" grep -q 'offcore_response_0:u (it needs the requests and responses that count: offcore_rsp=N)' absent.err
run refused "$SOFTPMU" stat -M skylake --machine -e "$(value 0x8000000000010001)" -- true
same "reserved bits: message" "softpmu: offcore_rsp has bits that are reserved on this model" "$(cat refused.err)"
run absent "$SOFTPMU" stat -M skylake -e "$(value 0x10001)" -- true
expect "without a machine" grep -q 'with --machine a model counts it' absent.err

# Programs of a run.
perf_counts() {
	run counted "$SOFTPMU" run -M skylake --machine -- perf stat -x, -o counts -e "$1" -- gzip -c text
	sed '/^#/d; /^$/d; s/,.*//' counts | tr '\n' ' '
}
cpu=/sys/bus/event_source/devices/cpu
same "perf's format" config1:0-63 "$("$SOFTPMU" run -M skylake --machine -- cat $cpu/format/offcore_rsp)"
run none "$SOFTPMU" run -M nehalem --machine -- cat $cpu/format/offcore_rsp
same "no format where nothing supplies it" 1 "$status"
read -r data own code memory any_data any_own any_two <<<"$(perf_counts "$requests,$(value 0x10001),$(value 0x10002),$(value 0x10003)")"
same "perf: data reads" "$data" "$any_data"
same "perf: reads for ownership" "$own" "$any_own"
same "perf: two kinds" $((data + own)) "$any_two"
read -r data own code memory loads misses stores <<<"$(perf_counts "$requests,LLC-loads:u,LLC-load-misses:u,LLC-stores:u")"
same "LLC-loads" "$data" "$loads"
same "LLC-load-misses" "$memory" "$misses"
same "LLC-stores" "$own" "$stores"

# Names that perf knows for a processor: all misses of the last level are answered by local memory.
while read -r model all local; do
	run counted "$SOFTPMU" run -M "$model" --machine -- perf stat -x, -o counts -e "$all:u,$local:u" -- gzip -c text
	read -r first second <<<"$(sed '/^#/d; /^$/d; s/,.*//' counts | tr '\n' ' ')"
	expect "$model: $all" test "$first" -gt 500
	same "$model: $local" "$first" "$second"
	[[ $all == ocr.* ]] || continue
	run counted "$SOFTPMU" stat -M "$model" --machine -x, -o counts -e "$all:u" -- gzip -c text
	near "$model: the tool's $all" 50 "$first" "$(sed '/^#/d; /^$/d; s/,.*//' counts)"
done <<'END'
haswell offcore_response.demand_data_rd.l3_miss.any_response offcore_response.demand_data_rd.l3_miss.local_dram
skylake-server offcore_response.demand_data_rd.l3_miss.any_snoop offcore_response.demand_data_rd.l3_miss_local_dram.snoop_miss_or_no_fwd
icelake ocr.demand_data_rd.l3_miss ocr.demand_data_rd.dram
icelake-server ocr.demand_data_rd.l3_miss ocr.demand_data_rd.local_dram
sapphirerapids ocr.demand_data_rd.l3_miss ocr.demand_data_rd.local_dram
END

# A group has the two registers.
read -r first second <<<"$(perf_counts "{$(value 0x10001),$(value 0x10002)}")"
expect "a group with two values" test "$first" -gt 500 -a "$second" -gt 500
same "a group with three" "<not counted> <not counted> <not supported> " \
	"$(perf_counts "{$(value 0x10001),$(value 0x10002),$(value 0x10003)}")"
same "what cannot be" "<not supported> <not supported> <not supported> " \
	"$(perf_counts "$(value 0x8000000000010001),$(value 0x18000),cpu/event=0xb7,umask=1/u")"
finish
