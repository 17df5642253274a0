#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# jit.sh: report and annotate name the functions that a program generates while it runs, from its perf map or
# its jitdump.  perf finds in the same file what it needs for them.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1
"$CC" -O1 -o jit "$ROOT/tests/tool/jit.c" || stop "building" jit.c

# shares TEXT: prints percent and name of each function of a report, the hottest first, without decimals and
# without the functions of the program's own file.
shares() {
	awk '$1 ~ /^[0-9.]+%$/ && $NF ~ /^(sixty|thirty|ten|later)$/ { printf "%.0f%% %s %s\n", $1, $3, $NF }' <<<"$1"
}

# profile MODE: records a run in perf.data; its process is in pid.
profile() {
	run record -q -e instructions:upp -c 10007 -o perf.data -- ./jit "$1"
	same "$1: status" 0 "$status"
	pid=$out
}

# --- a perf map has no times, so the last name of an address counts
profile map
run report
succeeds "map: report"
same "map: shares" "55% [JIT] later
30% [JIT] sixty
15% [JIT] thirty" "$(shares "$out")"
has "map: the file" "$out" "[JIT] tid $pid"
# perf has the same objects and names (for ten and later, which have the same address, it shows either).
perfs=$(perf report --stdio -i perf.data 2>/dev/null)
same "map: perf's shares" "$(shares "$perfs" | sed 's/ten/later/')" "$(shares "$out")"
run annotate sixty
has "map: annotate" "$out" "sixty in [JIT] tid $pid"
has "map: no instructions" "$out" "its instructions are in no file"
# A file of another user is not used.
if ((EUID == 0)); then
	chown 65534 "/tmp/perf-$pid.map"
	run report
	has "map of somebody else" "$err" "no functions of /tmp/perf-$pid.map: it belongs to another user"
	same "map of somebody else: no names" "" "$(shares "$out")"
else
	not_run "map of somebody else" "needs root"
fi
printf 'x\n1 2\n%s\n\n1000 0 empty\nffffffffffffffff ff over\n10 10 named\n' "$(head -c 3000 /dev/urandom | base64)" >wild
cat wild >"/tmp/perf-$pid.map" && chown $EUID "/tmp/perf-$pid.map"
run report
same "map of nonsense: status" 0 "$status"
rm -f "/tmp/perf-$pid.map"
run report
succeeds "map is gone"
same "map is gone: no names" "" "$(shares "$out")"

# --- a jitdump says what an address held at the time of the sample
profile dump
run report
succeeds "dump: report"
same "dump: shares" "50% [JIT] later
30% [JIT] sixty
15% [JIT] thirty
5% [JIT] ten" "$(shares "$out")"
run annotate later
has_line "dump: annotate, the loop's first" "$out" " +(49|50)\.[0-9]+ : +[0-9a-f]+: +dec +%ecx"
has_line "dump: annotate, the loop's second" "$out" " +(49|50)\.[0-9]+ : +[0-9a-f]+: +jne .*"
has_line "dump: annotate, before the loop" "$out" " +0\.[0-9]+ : +[0-9a-f]+: +mov +[$]0x2710,%ecx"
# perf makes a file of each function in it.
if perf inject --jit -i perf.data -o injected.data >inject.out 2>&1; then
	pass "dump: perf inject --jit"
	perfs=$(perf report --stdio -i injected.data 2>/dev/null | sed 's/jitted-[^ ]*/[JIT]/')
	ours=$("$SOFTPMU" report -i injected.data | sed 's/jitted-[^ ]*/[JIT]/')
	wanted="50% later 30% sixty 15% thirty 5% ten"
	same "dump: perf's shares" "$wanted" "$(shares "$perfs" | awk '{ print $1, $3 }' | xargs)"
	same "dump: of perf's files" "$wanted" "$(shares "$ours" | awk '{ print $1, $3 }' | xargs)"
else
	fail "dump: perf inject --jit" "$(head -n 3 inject.out)"
fi
# A truncated file, as a killed process leaves it, and a damaged one.
dump=jit-$pid.dump
cp "$dump" whole
size=$(stat -c %s whole)
head -c $((size - 5)) whole >"$dump"
run report
same "cut dump: the last function is missing" "55% ten 30% sixty 15% thirty" "$(shares "$out" | awk '{ print $1, $3 }' | xargs)"
for ((at = 0; at < size; at += 7)); do
	cp whole "$dump"
	printf '\xff' | dd of="$dump" bs=1 seek=$at conv=notrunc status=none
	run report
	((status == 0)) || break
done
same "damaged dumps: status" 0 "$status"
: >"$dump"
run report
has "empty dump" "$err" "no functions of "
cp "$SOFTPMU" "$dump"
run report
has "no dump" "$err" "it is not a jitdump of version 1"

# --- perf shows the source lines of a jitdump (JIT_CODE_DEBUG_INFO)
# (the place of a sample depends on all that ran before: sometimes one is before a loop)
profile lines
perf inject --jit -i perf.data -o injected.data >inject.out 2>&1 || fail "lines: perf inject --jit" "$(head -n 3 inject.out)"
# Shares in fortieths, so that no share is between two numbers.
same "lines: perf's" "10 made.jj:32 10 made.jj:33 6 made.jj:2 6 made.jj:3 3 made.jj:12 3 made.jj:13 1 made.jj:22 1 made.jj:23" \
	"$(timeout 60 perf report --stdio -s srcline -i injected.data 2>/dev/null |
		awk '/ made.jj:/ && $1 + 0 >= 1 { printf "%.0f %s\n", $1 / 2.5, $2 }' | sort -k1,1nr -k2,2V | xargs)"
run report
same "lines: report" "50% later 30% sixty 15% thirty 5% ten" "$(shares "$out" | awk '{ print $1, $3 }' | xargs)"

# --- neither a map nor a dump
profile none
run report
succeeds "nothing told"
same "nothing told: no names" "" "$(shares "$out")"
has "without both: the address is shown" "$out" "[.] 0x"
finish
