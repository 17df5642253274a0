#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# perfdata.sh: the writer and the reader of perf.data agree, also on damaged files, under sanitizers; Debian's
# perf reads a recorded file.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

"$CC" -std=gnu11 -O1 -g -Wall -Wextra -fsanitize=address,undefined -fno-sanitize-recover=all \
	-I"$ROOT/include" -I"$ROOT" -o "$SCRATCH/perfdata" "$ROOT/tests/tool/perfdata.c" \
	"$ROOT"/src/perfdata/*.c -ldw -lelf -lzstd || stop "building" "perfdata.c"
"$SCRATCH/perfdata" "$SCRATCH/made.data" >"$SCRATCH/log" 2>&1
same "round trip and damage: status" 0 $?
last=$(tail -n 1 "$SCRATCH/log")
if [[ $last =~ ^([0-9]+)\ passed,\ 0\ failed$ ]]; then
	passed=$((passed + BASH_REMATCH[1]))
else
	fail "round trip and damage" "$(tail -n 20 "$SCRATCH/log")"
fi

# perf_quiet NAME ARGUMENT...: perf succeeds without a warning; its output is in out.
perf_quiet() {
	local name=$1
	shift
	perf "$@" -i "$SCRATCH/perf.data" >"$SCRATCH/out" 2>"$SCRATCH/err" </dev/null
	same "$name: status" 0 $?
	same "$name: standard error" "" "$(<"$SCRATCH/err")"
	out=$(<"$SCRATCH/out")
}

cd "$SCRATCH" || exit 1
before=$(python3 -c 'import time; print(int(time.monotonic()))')
# shellcheck disable=SC2016
run record -o perf.data --intr-regs -c 1009 -e instructions:u,br_inst_retired.near_taken:upp,mem_inst_retired.all_loads:upp -- \
	sh -c 'i=0; while [ $i -lt 3000 ]; do i=$((i + 1)); done'
same "record: status" 0 "$status"
# The whole file, with what follows the records.
has "record: summary" "$err" "[ softpmu record: Captured and wrote $(stat -c %s perf.data | awk '{ printf "%.3f", $1 / 1e6 }') MB perf.data ("
same "record: the temporary file is gone" 1 "$(find . -maxdepth 1 -name 'perf.data*' | wc -l)"
samples=$(sed -n 's/.*(\([0-9]*\) samples).*/\1/p' <<<"$err")

perf_quiet "perf evlist" evlist -v
has "generic event" "$out" "instructions:u: size: 128, config: 0x1,"
has "Intel's event" "$out" "br_inst_retired.near_taken:upp: type: 4, size: 128, config: 0x20c4,"
has "precise level" "$out" "precise_ip: 2"
perf_quiet "perf report" report --stdio
has "perf report: command" "$out" " sh "
perf_quiet "perf script" script -F comm,tid,cpu,time,period,event,ip,sym,addr,iregs
same "perf script: all samples" "$samples" "$(grep -c ABI:2 <<<"$out")"
perf_quiet "perf report, raw" report -D
has "COMM" "$out" "PERF_RECORD_COMM exec: sh:"
has "MMAP2 with a build-id" "$out" "PERF_RECORD_MMAP2"
has_not "all records are known" "$out" "unhandled"
has "EXIT" "$out" "PERF_RECORD_EXIT"
perf_quiet "perf buildid-list" buildid-list
program=$(readlink -f "$(command -v sh)")
want=$(readelf -n "$program" | awk '/Build ID:/ { print $3 }')
has "build-id of the program" "$out" "$want $program"
has "build-id of the vDSO" "$out" "[vdso]"
perf_quiet "perf report, header" report --header-only
has "command line" "$out" "# cmdline : softpmu record -o perf.data"
has "cpu id" "$out" "# cpuid : GenuineIntel,6,"

# Times increase, and are those of the clock that the header names.
perf script -F time -i perf.data 2>/dev/null | tr -d ' :' >"$SCRATCH/times"
same "times are in order" "" "$(sort -n -c times 2>&1)"
now=$(python3 -c 'import time; print(int(time.monotonic()))')
first=$(head -n 1 times | cut -d. -f1)
same "times are of CLOCK_MONOTONIC" yes "$( ((first >= before && first <= now)) && echo yes || echo "$before $first $now")"

# An older file is renamed.
run record -q -o perf.data -c 100003 -- true
succeeds "record -q"
same "the older file is kept" yes "$([[ -s perf.data.old ]] && echo yes)"
# A device is written to, not replaced.
run record -q -o /dev/null -c 100003 -- true
succeeds "record to a device"
same "the device is still one" yes "$([[ -c /dev/null ]] && echo yes)"
finish
