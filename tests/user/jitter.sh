#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# jitter.sh: record --jitter.  A loop of 1000 instructions is sampled every 1000 instructions.  With equal
# periods each sample is the same instruction.  With jitter the samples spread over the loop.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1

rounds=5000
cat >loop.S <<'END'
	.globl _start
_start:	mov $ROUNDS, %ecx
1:	.rept 998
	nop
	.endr
	dec %ecx
	jnz 1b
	mov $60, %eax
	xor %edi, %edi
	syscall
END
"$CC" -nostdlib -static -DROUNDS=$rounds -o loop loop.S || stop "building" loop.S
"$CC" -nostdlib -static -DROUNDS=200 -o short loop.S || stop "building" loop.S
program=loop
instructions=$((rounds * 1000 + 4))

# sampled OPTION...: records the loop; `samples` is a line for each sample: its period and its address.
sampled() {
	rm -f perf.data
	run record "$SOFTPMU" record "$@" -o perf.data -- ./$program
	same "record $*" 0 "$status"
	perf script -i perf.data -F ip,period >samples 2>perf.err || fail "perf script" "$(head -1 perf.err)"
}
places() { awk '{ print $2 }' samples | sort -u | wc -l; }
# among FIRST LAST VALUE: prints 1 if the value is among them.
among() { echo $(($1 <= $3 && $3 <= $2)); }

sampled -e instructions:u -c 1000
same "equal periods: one instruction of the loop" 1 "$(places)"

for event in instructions:u instructions:upp; do
	sampled --jitter -e $event -c 1000
	cp samples first
	same "$event: nearly all instructions of the loop" 1 "$(among 950 1001 "$(places)")"
	# 5 samples on average; 30 would be eleven standard deviations away.
	same "$event: no instruction has many samples" 1 \
		"$(among 5 30 "$(awk '{ print $2 }' samples | sort | uniq -c | sort -rn | awk 'NR == 1 { print $1 }')")"
	same "$event: periods are at most a quarter away" "1 1" \
		"$(awk '{ print $1 }' samples | sort -n | sed -n '1p;$p' | xargs | awk '{ print ($1 >= 750), ($2 <= 1250) }')"
	same "$event: many lengths" 1 "$(among 480 501 "$(awk '{ print $1 }' samples | sort -u | wc -l)")"
	# The last period has not ended.  With PEBS each record takes one occurrence more.
	sum=$(awk '{ sum += $1 } END { print sum }' samples) more=0
	[[ $event == *pp ]] && more=$(wc -l <samples)
	same "$event: the periods add up to the count" 1 "$(among $((instructions - 1252)) $instructions $((sum + more)))"
	sampled --jitter -e $event -c 1000
	same "$event: the same in each run" "" "$(diff first samples | head -3)"
done

# A rate that cannot be reached leads to the shortest period.  Without jitter nearly all have its length.
program=short
sampled -F 1000000000 -e instructions:u --no-jitter
most() { awk '{ n[$1]++ } END { for (p in n) if (n[p] > most) most = n[p]; print int(100 * most / NR) }' samples; }
same "-F with --no-jitter: one length" 1 "$(among 90 100 "$(most)")"
sampled -F 1000000000 -e instructions:u
same "-F: many lengths" 1 "$(among 0 50 "$(most)")"

# A varied period must fit the counter, too.
run long "$SOFTPMU" record --jitter -M pentium-iii -e branches:u -c 2G -- ./loop
same "a period that may get too long is refused" "129 1" \
	"$status $(grep -c 'does not fit a counter; at most 1717986916' long.err)"
finish
