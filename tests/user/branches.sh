#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# branches.sh: the branch trace of a program equals the taken branches of an independent
# single-step (17.4.9). The last branch records at each sample are the newest of them
# after the filter (17.4.8, 17.7.2).
#
# It uses random programs (random-program.c) and programs whose branches are known by hand.
# RANDOM_PROGRAMS is the number of random programs, RANDOM_SEED the first seed.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
compile singlestep -lZydis
compile branches
compile random-program
first=${RANDOM_SEED:-1001}
programs=${RANDOM_PROGRAMS:-10}
patience=150000 # instructions, for the single-stepper
compared=0

# The filters of -j with the signals that they pass (by number in the list of signals.h: 1 taken
# conditional, 3 and 4 calls, 5 returns, 6 and 7 jumps). The models with their depth, whether
# their records name the next instruction (formats 0 and 1), and whether the overflow itself makes
# a record (18.9.4.4; 18.7.1.2 on Goldmont).
any=fa
filters=("any,u $any" "any_call,u 18" "any_ret,u 20" "cond,u 2" "ind_call,u 10" "ind_jmp,u 80")
models=("nehalem 16 1 0" "skylake 32 0 0" "goldmont 32 0 1" "haswell 16 0 1" "icelake 32 0 0")

# what NAME HOW...: runs branches and prints what is wrong.
what() {
	local said
	said=$("$BUILT/branches" "${@:2}") || echo "$1: ${said:-branches ended with $?}"
}

# Prints what is wrong with program $1.
differences() {
	local program=$1 at=$SCRATCH/one period=$((20 + $2 * 37 % 300)) filter model depth shift pdir
	run "$at.step" timeout -s KILL 60 "$BUILT/singlestep" -t "$at.trace" -o "$at.counts" -- "$program"
	run "$at.list" "$SOFTPMU" trace --list -o "$at.branches" -- "$program"
	cmp "$at.step.out" "$at.list.out" 2>&1
	what trace trace "$at.trace" <"$at.branches"
	for filter in "${filters[@]}"; do
		for model in "${models[@]}"; do
			[[ $model == skylake* || $filter == any,* ]] || continue
			run "$at.record" "$SOFTPMU" record -M "${model%% *}" -j "${filter% *}" -e instructions:upp \
				-c "$period" -o "$at.data" -- "$program"
			perf script -i "$at.data" -F ip,brstack >"$at.stacks" 2>/dev/null
			read -r _ depth shift pdir <<<"$model"
			what "record -M ${model%% *} -j ${filter% *} -c $period" stack "$at.trace" $((period + !pdir)) \
				"$depth" "${filter#* }" "$shift" <"$at.stacks"
		done
	done
}

check() {
	local name=$1 program=$2
	differences "$program" "$3" >"$SCRATCH/said"
	if [[ -s $SCRATCH/said ]]; then
		fail "$name" $'\n'"$(head -n 12 "$SCRATCH/said")"
	else
		pass "$name"
	fi
}

# Two loops: one with calls, returns and indirect branches; and one that becomes a trace, with jumps
# that are followed and a branch that goes both ways.
cat >"$SCRATCH/loop.S" <<'END'
	.globl _start
_start:	mov $200, %ebx
1:	call 4f
	lea 4f(%rip), %rax
	call *%rax
	lea 2f(%rip), %rax
	jmp *%rax
2:	dec %ebx
	jnz 1b
	mov $400, %ebx
1:	jmp 2f
	nop
2:	test $3, %ebx
	jz 3f
	jmp 5f
3:	inc %eax
	jmp 5f
4:	ret
5:	dec %ebx
	jnz 1b
	mov $60, %eax
	xor %edi, %edi
	syscall
END
"$ASSEMBLER" -nostdlib -static -no-pie -o "$SCRATCH/loop" "$SCRATCH/loop.S" || stop "loop" "does not build"
check "all branches in a loop" "$SCRATCH/loop" 1

for ((seed = first; seed < first + programs; seed++)); do
	"$BUILT/random-program" "$seed" >"$SCRATCH/$seed.S"
	"$ASSEMBLER" -nostdlib -static -no-pie -o "$SCRATCH/$seed" "$SCRATCH/$seed.S" || continue
	run "$SCRATCH/count" "$SOFTPMU" stat -j -o "$SCRATCH/json" -e instructions:u -- "$SCRATCH/$seed"
	(($(count_of "$SCRATCH/json" 1) < patience)) || continue
	compared=$((compared + 1))
	check "seed $seed" "$SCRATCH/$seed" "$seed"
done
same "at least half were single-stepped" yes "$( ((compared * 2 >= programs)) && echo yes)"
finish
