#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# random.sh: random programs (random-program.c) end with the registers, flags and memory of a
# native run, and with the counts of the single-stepper. They are sampled at a random period.
# Every record is where the arming rule puts it, with the registers after the instruction.
#
# Periods start at 2: perf takes branches with a period of 1 for BTS and prints no registers.
# RANDOM_PROGRAMS is the number of programs, RANDOM_SEED the first seed. If a program exceeds the
# single-stepper's limit, only its results are compared.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
compile singlestep -lZydis
compile precise
compile random-program
first=${RANDOM_SEED:-1}
programs=${RANDOM_PROGRAMS:-25}
patience=150000

keys=() options=()
declare -A event
while read -r key name; do
	keys+=("$key") options+=(-e "$name") event[$key]=$name
done < <("$BUILT/singlestep" -l)

# Prints what is wrong with one program.
differences() {
	local seed=$1 at=$SCRATCH/$1 native n=0 key soft step period how
	run "$at.native" "$at.program"
	native=$status
	run "$at.soft" "$SOFTPMU" stat -j -o "$at.json" "${options[@]}" -- "$at.program"
	((status == native)) || echo "status $status, natively $native: $(tail -n 1 "$at.soft.err")"
	cmp "$at.native.out" "$at.soft.out" 2>&1
	soft=$(count_of "$at.json" 1)
	[[ $soft =~ ^[0-9]+$ ]] || echo "no count"
	((soft < patience)) || return
	compared=$((compared + 1))
	run "$at.step" "$BUILT/singlestep" -t "$at.trace" -r "$at.trace.registers" -o "$at.counts" -- "$at.program"
	for key in "${keys[@]}"; do
		n=$((n + 1))
		step=$(sed -n "s/^$key=//p" "$at.counts")
		soft=$(count_of "$at.json" $n)
		[[ $step == "$soft" ]] || echo "$key: softpmu $soft, single-step $step"
	done
	for key in instructions branches taken stores; do
		period=$((2 + (seed * 7919 + n++ * 31) % 97))
		run "$at.record" "$SOFTPMU" record --intr-regs -e "${event[$key]}pp" -c $period -o "$at.data" -- "$at.program"
		cmp "$at.native.out" "$at.record.out" 2>&1
		perf script -i "$at.data" -F ip,iregs >"$at.script" 2>/dev/null
		how=$("$BUILT/precise" "$at.trace" "$key" $period registers <"$at.script") ||
			echo "record -c $period of $key: $how"
	done
}

compared=0
for ((seed = first; seed < first + programs; seed++)); do
	"$BUILT/random-program" "$seed" >"$SCRATCH/$seed.S"
	if ! "$ASSEMBLER" -nostdlib -static -no-pie -o "$SCRATCH/$seed.program" "$SCRATCH/$seed.S" 2>"$SCRATCH/$seed.log"; then
		fail "seed $seed" "does not build: $(grep -m 1 Error "$SCRATCH/$seed.log")"
		continue
	fi
	differences "$seed" >"$SCRATCH/said"
	if [[ -s $SCRATCH/said ]]; then
		fail "seed $seed" $'\n'"$(head -n 12 "$SCRATCH/said")"
	else
		pass "seed $seed: $(count_of "$SCRATCH/$seed.json" 1) instructions"
	fi
	rm -f "$SCRATCH/$seed".*
done
same "at least half were single-stepped" yes "$( ((compared * 2 >= programs)) && echo yes)"
finish
