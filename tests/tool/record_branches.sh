#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# record_branches.sh: what record's -b, -j, --call-graph lbr and intel_bts// ask of the unit (Vol. 3B 17.4.8,
# 17.7.2, 17.4.9) and write to the file.  A player takes the engine's place.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/player.bash"
cd "$SCRATCH" || exit 1

hot=$((0x401000)) # a branch of each kind, 16 bytes apart
cat >kinds.S <<'END'
	.globl kinds
	.type kinds, @function
kinds:	jz kinds
	.balign 16
	jmp kinds
	.balign 16
	jmp *%rax
	.balign 16
	call kinds
	.balign 16
	call *8(%rax)
	.balign 16
	ret
	.balign 16
	syscall
	.balign 16
	nop
	.size kinds, . - kinds
END
"$CC" -nostdlib -static -no-pie -Wl,-e,kinds -o kinds kinds.S || stop "build of kinds" "$CC failed"
hot=$(address kinds kinds)
branches=''
for i in {0..7}; do
	branches+=" $((hot + 16 * i)):$hot:$((i % 2 + 1))"
done
{
	echo "request"
	echo "comm kinds"
	play_map "$SCRATCH/kinds" 0
	echo "sample 0 $((hot + 1)) 1000$branches"
	echo "sample 0 $((hot + 1)) 1000"
	echo "exit 0"
} >kinds.txt

# filtered NAME LIST SELECT KINDS: MSR_LBR_SELECT is SELECT, and of the eight branches those of KINDS are left.
filtered() {
	play kinds.txt record -q -o "$1.data" -j "$2"
	same "$2: status" 0 "$status"
	same "$2: MSR_LBR_SELECT" "model skylake events 1 want 1 lbr_select $3" "$out"
	same "$2: branches" "$4" \
		"$(perf script -i "$1.data" -F brstack 2>/dev/null | grep -oE '0x[0-9a-f]+/0x' | while IFS=/ read -r from _; do
			echo -n "$(((from - hot) / 16))"
		done)"
}
# Bits: 0 ring 0, 2 Jcc, 3 relative call, 4 indirect call, 5 return, 6 indirect jump, 7 relative jump, 8 far,
# 9 call stack; a set bit suppresses these branches.
filtered any any 0x1 01234567
filtered calls any_call,u 0xe5 346
filtered returns any_ret 0xdd 5
filtered indirect ind_call 0x1ed 01234567
filtered jumps ind_jmp 0x1bd 01234567
filtered conditional cond 0x1f9 01234567
filtered direct call 0x1f5 01234567
filtered both any_call,any_ret 0xc5 3456
filtered kernel any,u,k 0 01234567
filtered stack stack 0x3c5 01234567
play kinds.txt record -q -o b.data -b
same "-b is any" "model skylake events 1 want 1 lbr_select 0x1" "$out"
has "perf knows what was asked for" "$(perf evlist -v -i both.data 2>/dev/null)" "branch_sample_type: USER|ANY_CALL|ANY_RETURN"

play kinds.txt record -q -o types.data -j any,save_type
same "types" "COND UNCOND IND CALL IND_CALL RET SYSCALL -" \
	"$(perf script -i types.data -F brstack 2>/dev/null | head -n 1 | tr ' ' '\n' | grep 0x | awk -F/ '{ print $7 ? $7 : "-" }' | xargs)"
play kinds.txt record -q -o bare.data -j any,no_flags
same "no_flags" 8 "$(perf script -i bare.data -F brstack 2>/dev/null | grep -oE '/-/-/-/0' | wc -l)"

# perf makes call chains of the branches.
play kinds.txt record -q -o chain.data --call-graph lbr
same "call stack: MSR_LBR_SELECT" "model skylake events 1 want 1 lbr_select 0x3c5" "$out"
same "chain of callers" 9 "$(perf script -i chain.data -F ip,sym 2>/dev/null | awk '/kinds/ { n++ } /^$/ && n { print n; exit }')"

# A trace and samples in one file: each has its own event.
{
	echo "request"
	echo "comm kinds"
	play_map "$SCRATCH/kinds" 0
	echo "sample 0 $((hot + 1)) 1000"
	echo "repeat 300000 $hot:$hot $((hot + 48)):$hot"
	echo "sample 1 $((hot + 2)) 1000"
	echo "trace $((hot + 16)):$hot"
	echo "exit 0"
} >trace.txt
play trace.txt record -o trace.data -e instructions:upp,intel_bts//u,branches:upp
same "trace: status" 0 "$status"
same "trace: request" "model skylake events 2 want 2 lbr_select 0" "$out"
has "trace: summary" "$err" "(2 samples, 300001 branches)"
perf script -i trace.data --itrace=be -F event,ip,addr >decoded 2>err
same "perf reads it quietly" "" "$(<err)"
same "perf decodes every branch" 300001 "$(grep -c 'branches:u.*=>' decoded)"
same "samples keep their events" "instructions:upp branches:upp" "$(awk -F: '/upp:/ { print $1 ":" $2 }' decoded | xargs)"
perf script -i trace.data --itrace=be -F ip,addr 2>/dev/null | grep '=>' | tail -n 1 | xargs >last
same "the last branch" "$(printf '%x => %x' $((hot + 16)) "$hot")" "$(<last)"
play trace.txt record -q -o only.data -e intel_bts//
same "a trace alone" "model skylake events 0 want 2 lbr_select 0" "$out"
run stat -x, -e intel_bts//u -- true
has "a trace is not counted" "$err" "<not supported>"

# The tool does not trust what a program that runs wild writes into the shared memory.
for claim in "1 0 0 0" "0 1 0 0" "0 128 0 0" "0 0 8 0" "0 0 65536 0" "0 536870912 0 0" "0 0 0 8" \
	"0 0 4294967288 8" "0 4294967295 4294967295 4294967295"; do
	printf 'comm kinds\nbad-sample %s\nexit 0\n' "$claim" >bad.txt
	play bad.txt record -q -g -o bad.data
	same "a sample with more than it has, $claim: status" 125 "$status"
	has "a sample with more than it has, $claim" "$err" "overwrote the memory shared with softpmu"
done
rm -f full.data
mkdir full && if mount -t tmpfs -o size=1m none full 2>/dev/null; then
	play trace.txt record -o full/data -e intel_bts//u
	same "a full disk: status" 125 "$status"
	has "a full disk is said" "$err" "kept 0 samples"
	perf script -i full/data --itrace=be -F ip >/dev/null 2>err
	same "what was kept can be read" "" "$(grep -v 'no samples\|zero-sized' err)"
	umount full
else
	not_run "a full disk" "nothing can be mounted here"
fi

# --- wrong usage
refused() {
	run record -o refused.data "${@:3}" true
	refuses "${*:3}" "$1" "$2"
}
refused 129 "unknown branch filter 'foo'" -j foo
refused 129 "unknown branch filter ''" -j any,
refused 129 "no transaction runs here" -j in_tx
refused 129 "no transaction runs here" -j abort_tx
refused 129 "is not kept" -j hw_index
refused 125 "no kernel code runs here" -j any,k
refused 125 "cannot be combined with another filter" -j stack,cond
refused 129 "--call-graph lbr cannot be combined with branches" -b --call-graph lbr
refused 129 "--call-graph takes dwarf, dwarf,BYTES, fp or lbr, not 'frames'" --call-graph frames
refused 125 "only one branch trace can be recorded" -e intel_bts//u,intel_bts//u
refused 125 "no kernel code runs here" -e intel_bts//k
refused 129 "a trace takes no letter p" -e intel_bts//upp
finish
