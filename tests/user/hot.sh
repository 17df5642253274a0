#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# hot.sh: code that runs long enough to become a trace, and then takes another path than
# the trace. What retires is what the program's own counts say (Vol. 3B 20.3.1.1),
# whichever path was expected, and a sample comes each period.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

"${ASSEMBLER:-gcc}" -nostdlib -static -no-pie -o "$BUILT/hot" "$ROOT/tests/user/hot-program.S" ||
	stop "hot-program" "does not build"
rounds=2097152
# CF was set after the call, the word's second target was taken, the return went elsewhere.
places="1048576 1048576 1048576"

# counted EVENT ROUND OTHERS [OPTION...]: expects ROUND for each round, plus OTHERS.
counted() {
	run "$SCRATCH/hot" "$SOFTPMU" stat -x, -e "$1" -o "$SCRATCH/hot.stat" "${@:4}" -- "$BUILT/hot"
	same "places passed while counting $1" "$places" "$(od -An -t u8 -w24 "$SCRATCH/hot.out" | xargs)"
	same "$1" $((rounds * $2 + $3)) "$(grep -v '^#' "$SCRATCH/hot.stat" | sed -n '/./{s/,.*//p;q;}')"
}
# Each place is one more instruction. A return to elsewhere is two more, without the NOP. There are 32
# changes of the word, 4 instructions before the loop and 11 after it.
others=$((3 * 1048576 + 32 * 3 + 4 + 11))
counted instructions:u 17 $others
counted branches:u 10 2
counted BR_INST_RETIRED.NEAR_RETURN:u 2 0
counted BR_INST_RETIRED.NEAR_CALL:u 2 0
# Not taken: half the JNC and half the JZ, 32 times the JNZ after TEST, JNE each time, the last JNZ.
counted BR_INST_RETIRED.NOT_TAKEN:u 2 $((32 + 1))
counted MEM_INST_RETIRED.ALL_LOADS:u 3 $((1048576 + 32 * 2))
# Two events that depend on the outcome only: if headroom for one is low, the block charges it at its exit.
run "$SCRATCH/hot" "$SOFTPMU" stat -M icelake -x, -e BR_INST_RETIRED.NEAR_TAKEN:u -e BR_INST_RETIRED.COND_TAKEN:u \
	-o "$SCRATCH/hot.stat" -- "$BUILT/hot"
conditional=$((2 * 1048576 + rounds - 32 + rounds - 1))
same "two outcomes" "$((5 * rounds + conditional)) $conditional" \
	"$(sed '/^#/d; /^$/d; s/,.*//' "$SCRATCH/hot.stat" | xargs)"

for period in 997 100003; do
	run "$SCRATCH/rec" "$SOFTPMU" record -e instructions:u -c $period -o "$SCRATCH/perf.data" -- "$BUILT/hot"
	same "places passed while sampling" "$places" "$(od -An -t u8 -w24 "$SCRATCH/rec.out" | xargs)"
	got=$("$SOFTPMU" report -i "$SCRATCH/perf.data" -n 2>/dev/null | awk '/^ /{n += $2} END {print n}')
	same "samples each $period" $(((17 * rounds + others) / period)) "$got"
done

# A counter far from its overflow is not checked in each block, and one near it is. Samples of another event
# are the same while it is far, while it is near, and where it comes near on the way. Then everything is
# translated once more.
have perf || stop "perf" "is not installed"
far=$((1 << 43)) loads=$((3 * rounds + 1048576 + 32 * 2))
for period in $((4 * far)) $((far / 2)) $((far + 20000000)); do
	run "$SCRATCH/rec" "$SOFTPMU" record -v --no-cache -e "instructions/period=$period/u" \
		-e mem_inst_retired.all_loads/period=10007/upp -o "$SCRATCH/perf.data" -- "$BUILT/hot"
	same "places passed, period $period" "$places" "$(od -An -t u8 -w24 "$SCRATCH/rec.out" | xargs)"
	blocks=$(sed -n 's/.* \([0-9]*\) blocks.*/\1/p' "$SCRATCH/rec.err")
	run "$SCRATCH/script" perf script -i "$SCRATCH/perf.data" -F event,ip
	same "samples of loads, period $period" $((loads / 10007)) "$(wc -l <"$SCRATCH/script.out")"
	[[ -e $SCRATCH/first ]] || { cp "$SCRATCH/script.out" "$SCRATCH/first" && first=$blocks; }
	same_file "where they are, period $period" "$SCRATCH/first" "$SCRATCH/script.out"
done
# The last one began far from its overflow and came near.
if ((blocks > first)); then
	pass "checked from the middle on"
else
	fail "checked from the middle on" "$blocks blocks, far from an overflow $first"
fi
# Loops are checked even far from an overflow: they return to the engine, and become traces besides the program's 19 blocks.
run "$SCRATCH/hot" "$SOFTPMU" stat -v --no-cache -e instructions:u -- "$BUILT/hot"
blocks=$(sed -n 's/.* blocks: \([0-9]*\), bytes.*/\1/p' "$SCRATCH/hot.err")
if ((blocks > 19)); then
	pass "loops come back"
else
	fail "loops come back" "$blocks blocks"
fi
finish
