#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# hot.sh: code that runs long enough to be translated once more, along the way that it takes, and
# then takes another.  What retires is what the program's own counts say (Vol. 3B 20.3.1.1),
# whichever way was expected, and a sample comes each period.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

"${ASSEMBLER:-gcc}" -nostdlib -static -no-pie -o "$BUILT/hot" "$ROOT/tests/user/hot-program.S" ||
	stop "hot-program" "does not build"
rounds=2097152
# CF was there behind the call, the word's second target was taken, the return went elsewhere.
places="1048576 1048576 1048576"

# counted EVENT ROUND OTHERS [OPTION...]: ROUND for each round, OTHERS beside.
counted() {
	run "$SCRATCH/hot" "$SOFTPMU" stat -x, -e "$1" -o "$SCRATCH/hot.stat" "${@:4}" -- "$BUILT/hot"
	same "places passed while counting $1" "$places" "$(od -An -t u8 -w24 "$SCRATCH/hot.out" | xargs)"
	same "$1" $((rounds * $2 + $3)) "$(grep -v '^#' "$SCRATCH/hot.stat" | sed -n '/./{s/,.*//p;q;}')"
}
# Each place is one instruction more; a return to elsewhere two more and the NOP less.  32 changes of
# the word; 4 instructions before the loop and 11 behind it.
others=$((3 * 1048576 + 32 * 3 + 4 + 11))
counted instructions:u 17 $others
counted branches:u 10 2
counted BR_INST_RETIRED.NEAR_RETURN:u 2 0
counted BR_INST_RETIRED.NEAR_CALL:u 2 0
# Not taken: half the JNC and half the JZ, 32 times the JNZ behind TEST, JNE each time, the last JNZ.
counted BR_INST_RETIRED.NOT_TAKEN:u 2 $((32 + 1))
counted MEM_INST_RETIRED.ALL_LOADS:u 3 $((1048576 + 32 * 2))
# Two that only the outcome decides: where room for one is short the other is charged on the way out.
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
finish
