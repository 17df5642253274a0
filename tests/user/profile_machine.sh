#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# profile_machine.sh: exact profiles of clocks, cache misses and mispredicted branches by a model of the machine. Their
# sums are what stat counts, and they belong to the instructions that cause them.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
events=cycles:u,instructions:u,branch-misses:u,L1-dcache-load-misses:u,cache-misses:u,br_inst_retired.conditional:u
events+=,br_inst_retired.near_taken:u,mem_inst_retired.all_stores:u,uops_issued.any:u,cycle_activity.stalls_total:u
events+=,dtlb_load_misses.walk_completed:u,uops_dispatched_port.port_0:u,idq.mite_uops:u

# sums FILE: what all instructions of a profile cost, by event.
sums() { awk '/^event / { n++ } /^i / { for (e = 0; e < n; e++) s[e] += $(5 + e) } END { for (e = 0; e < n; e++) print s[e] }' "$1"; }

# as_stat NAME EVENTS COMMAND...: runs the same twice.
as_stat() {
	local name=$1 list=$2
	shift 2
	run "$SCRATCH/stat" "$SOFTPMU" stat --machine --deterministic -x, -o "$SCRATCH/counts" -e "$list" -- "$@"
	run "$SCRATCH/run" "$SOFTPMU" profile --machine --deterministic -q -o "$SCRATCH/as_stat.data" -e "$list" -- "$@"
	same_file "$name: output" "$SCRATCH/stat.out" "$SCRATCH/run.out"
	same "$name: messages" "" "$(<"$SCRATCH/run.err")"
	same "$name: counts" "$(grep '^[0-9]' "$SCRATCH/counts" | cut -d, -f1)" "$(sums "$SCRATCH/as_stat.data")"
}

seq 1 500 | awk '{ print $1 * 7919 % 503, "line", $1 }' >"$SCRATCH/text"
as_stat ls "$events" ls "$ROOT/src"
as_stat gzip "$events" gzip -c "$SCRATCH/text"
as_stat awk "$events" awk '{ s += $1; t = t $2 } END { print s, length(t) }' "$SCRATCH/text"
as_stat sort "$events" sort --parallel=1 "$SCRATCH/text"
as_stat env "$events" env true
as_stat "caches alone" L1-dcache-load-misses:u,instructions:u cksum "$SCRATCH/text"
as_stat "branches alone" branch-misses:u,branches:u cksum "$SCRATCH/text"
as_stat "latency of loads" cpu/event=0xcd,umask=1,ldlat=30/u cksum "$SCRATCH/text"
as_stat "the front end" cpu/event=0xc6,umask=1,frontend=0x13/u cksum "$SCRATCH/text"
as_stat "responses" cpu/event=0xb7,umask=1,offcore_rsp=0x10001/u cksum "$SCRATCH/text"

# --- which instructions ---------------------------------------------------------------------------------------------

"$CC" -O1 -g -no-pie -fcf-protection=none -o "$BUILT/profile-machine" "$ROOT/tests/user/profile-machine.c" ||
	stop "build of profile-machine" "the compiler failed"
list=cycles:u,instructions:u,branch-misses:u,L1-dcache-load-misses:u,cache-misses:u
run "$SCRATCH/places" "$SOFTPMU" profile --machine -q -o "$SCRATCH/places.data" -e $list -- "$BUILT/profile-machine"
same "places: status and messages" "0 " "$status $(<"$SCRATCH/places.err")"

# of SYMBOL EVENT [DISTANCE]: what the instruction there costs of an event, which is numbered from 1.
of() {
	local address
	address=$(nm "$BUILT/profile-machine" | awk -v s="$1" '$3 == s { sub(/^0+/, "", $1); print $1 }')
	address=$(printf %x $((16#$address + ${3:-0})))
	awk -v a="$address" -v e="$2" '/^object / && /profile-machine$/ { mine = n } /^object / { n++ }
		/^i / && $2 == mine && $3 == a { c += $(4 + e) } END { print c + 0 }' "$SCRATCH/places.data"
}
# Each of these loads is of a line that was never used, in a page of its own: no prefetcher helps.
same "each load of a new page misses both levels" "4096 4096" "$(of new_page 4) $(of new_page 5)"
same "what comes after it misses nothing" "0 0" "$(of after_page 4) $(of after_page 5)"
clocks=$(of new_page 1)
expect "they wait for memory ($clocks clocks)" test "$clocks" -gt $((4096 * 10))
# A chain of 4096 multiplications of 3 clocks.  It begins while older instructions have not retired.  One of the clocks can
# be that of DEC or JNZ, which retire after each of them.
clocks=$(($(of chain 1) + $(of chain 1 4) + $(of chain 1 7)))
expect "multiplications wait for each other ($clocks clocks)" test "$clocks" -ge 12200 -a "$clocks" -le 12400
# A random branch is mispredicted about half the time; its clocks are those of the refills.
misses=$(of guess 3)
expect "a random branch ($misses misses)" test "$misses" -ge 1600 -a "$misses" -le 2500
clocks=$(of guess 1)
expect "and its refills ($clocks clocks)" test "$clocks" -ge $((misses * 10)) -a "$clocks" -le $((misses * 30))
expect "a branch that is always taken is predicted" test "$(of always 3)" -le 3

# What a function costs with what it calls.
"$SOFTPMU" export --to callgrind -e L1-dcache-load-misses:u -i "$SCRATCH/places.data" "$SCRATCH/places.cg"
same "callers: main pays for pages()" 1 "$(awk '/^fn=/ { fn = substr($0, 4) } /^cfn=/ { cfn = substr($0, 5) }
	/^calls=/ { getline; if (fn == "main" && cfn == "pages" && $2 >= 4096 && $2 < 4200) n++ } END { print n + 0 }' "$SCRATCH/places.cg")"

# --- options --------------------------------------------------------------------------------------------------------

run "$SCRATCH/default" "$SOFTPMU" profile --machine -o "$SCRATCH/default.data" -- true
same "the events of a machine" "instructions branches mem_inst_retired.all_loads mem_inst_retired.all_stores cycles branch-misses L1-dcache-load-misses cache-misses" \
	"$(awk '/^event / { sub(/:u$/, "", $3); print $3 }' "$SCRATCH/default.data" | xargs)"
run "$SCRATCH/small" "$SOFTPMU" profile -q --cache L1D=4096,1 -e L1-dcache-load-misses:u -o "$SCRATCH/small.data" -- true
run "$SCRATCH/large" "$SOFTPMU" profile -q --cache L1D=65536,8 -e L1-dcache-load-misses:u -o "$SCRATCH/large.data" -- true
expect "a smaller cache has more misses" test "$(sums "$SCRATCH/small.data")" -gt "$(sums "$SCRATCH/large.data")"
run "$SCRATCH/toggle" "$SOFTPMU" profile --machine -q --toggle pages -e $list -o "$SCRATCH/toggle.data" -- "$BUILT/profile-machine"
same "--toggle: messages" "" "$(<"$SCRATCH/toggle.err")"
same "--toggle: misses" 1 "$(sums "$SCRATCH/toggle.data" | awk 'NR == 4 { print ($1 >= 4096 && $1 < 4200) }')"
same "--toggle: branch misses elsewhere" 1 "$(sums "$SCRATCH/toggle.data" | awk 'NR == 3 { print ($1 < 30) }')"
run "$SCRATCH/clocks" "$SOFTPMU" profile --static-clocks -o "$SCRATCH/none.data" -- true
same "--static-clocks: status" 129 "$status"
expect "--static-clocks: message" grep -q -- '--machine profiles clocks' "$SCRATCH/clocks.err"
run "$SCRATCH/threshold" "$SOFTPMU" profile --machine -o "$SCRATCH/none.data" -e cpu/event=0xc0,cmask=2/u -- true
same "a threshold: status" 125 "$status"
expect "a threshold: message" grep -q 'does not follow' "$SCRATCH/threshold.err"
same "no file" "" "$(ls "$SCRATCH/none.data" 2>/dev/null)"
finish
