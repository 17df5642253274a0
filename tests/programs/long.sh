#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# long.sh: counts and periods beyond 32 bits, much code, deep stacks.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

# assemble NAME: builds the program on standard input.
assemble() {
	cat >"$SCRATCH/$1.S"
	"$ASSEMBLER" -nostdlib -static -no-pie -o "$BUILT/$1" "$SCRATCH/$1.S" || stop "$1" "does not build"
}

# A loop of 4 instructions, 2^31 times, and 8 around it: 2^33 + 8, more than 32 bits can hold.
assemble billions <<'S'
	.globl _start
_start:	nop
	nop
	nop
	mov $0, %eax
	movabs $0x80000000, %rcx
1:	inc %eax
	nop
	dec %rcx
	jnz 1b
	mov $60, %eax
	xor %edi, %edi
	syscall
S
total=$(((1 << 33) + 8))
run "$SCRATCH/run" "$SOFTPMU" stat -j -o "$SCRATCH/json" -e instructions:u -e branches:u -e BR_INST_RETIRED.NOT_TAKEN:u -- "$BUILT/billions"
same "2^33 instructions" $total "$(count_of "$SCRATCH/json" 1)"
same "2^31 branches" $(((1 << 31) + 1)) "$(count_of "$SCRATCH/json" 2)"
same "1 branch not taken" 1 "$(count_of "$SCRATCH/json" 3)"

# Prints the index of the instruction that is number $1 (from 1) of `billions`.
at() {
	local n=$1
	if ((n <= 5)); then
		echo "$n"
	elif ((n > 5 + (1 << 33))); then
		echo $((n - (1 << 33) + 4))
	else
		echo $(((n - 6) % 4 + 6))
	fi
}
objdump -d --no-show-raw-insn "$BUILT/billions" | sed -n 's/^ *\([0-9a-f]*\):.*/\1/p' >"$SCRATCH/addresses"
for period in 1000000007 2147483647 2147483648 2147483649 3000000001 4294967295 4294967296 4294967297; do
	run "$SCRATCH/run" "$SOFTPMU" record -e instructions:upp -c $period -o "$SCRATCH/perf.data" -- "$BUILT/billions"
	perf script -i "$SCRATCH/perf.data" -F ip 2>/dev/null | tr -d ' ' >"$SCRATCH/is"
	for ((n = period + 1; n <= total; n += period + 1)); do
		sed -n "$(at $n)p" "$SCRATCH/addresses"
	done >"$SCRATCH/should"
	same_file "period $period: $(wc -l <"$SCRATCH/should") records" "$SCRATCH/should" "$SCRATCH/is"
done
run "$SCRATCH/run" "$SOFTPMU" record -e instructions:upp -c $((1 << 48)) -o "$SCRATCH/perf.data" -- "$BUILT/billions"
if ((status == 125 || status == 129)) && grep -q '^softpmu: ' "$SCRATCH/run.err"; then
	pass "a period wider than the counter is refused"
else
	fail "a period wider than the counter is refused" "status $status: $(tail -n 1 "$SCRATCH/run.err")"
fi

# 16 MB of code, in functions of many sizes, twice: 20000 functions of 200 LEA.
assemble much-code <<'S'
	.altmacro
	.macro FUNCTION n
f\n:	.rept 200
	lea 1(%rax), %rax
	.endr
	ret
	.endm
	.macro USE n
	call f\n
	.endm
	.text
	.set i, 0
	.rept 20000
	FUNCTION %i
	.set i, i + 1
	.endr
	.globl _start
_start:	mov $2, %ebx
	xor %eax, %eax
1:
	.set i, 0
	.rept 20000
	USE %i
	.set i, i + 1
	.endr
	dec %ebx
	jnz 1b
	mov $60, %eax
	xor %edi, %edi
	syscall
S
run "$SCRATCH/run" "$SOFTPMU" stat -j -o "$SCRATCH/json" -e instructions:u -e BR_INST_RETIRED.NEAR_CALL:u -- "$BUILT/much-code"
same "16 MB of code" "0 $((2 + 2 * (20000 * 202 + 2) + 3)) 40000" "$status $(count_of "$SCRATCH/json" 1) $(count_of "$SCRATCH/json" 2)"

# A million levels of recursion on a stack of 64 MB: 1 + 1 call; each level dec, jz, call, ret.
assemble deep <<'S'
	.globl _start
_start:	mov $1000000, %ecx
	call down
	mov $60, %eax
	xor %edi, %edi
	syscall
down:	dec %ecx
	jz 1f
	call down
1:	ret
S
(ulimit -s 65536 && run "$SCRATCH/run" "$SOFTPMU" stat -j -o "$SCRATCH/json" -e instructions:u -- "$BUILT/deep")
same "a million levels deep" $((5 + 999999 * 4 + 3)) "$(count_of "$SCRATCH/json" 1)"

# Exceeding the stack's limit ends the program, as natively.
# shellcheck disable=SC2016 # the inner shell expands it
run "$SCRATCH/native" bash -c 'ulimit -s 1024; exec "$@"' limit "$BUILT/deep" 2>/dev/null
native=$status
# shellcheck disable=SC2016
run "$SCRATCH/run" bash -c 'ulimit -s 1024; exec "$@"' limit "$SOFTPMU" stat -o "$SCRATCH/out" -e instructions:u -- "$BUILT/deep" 2>/dev/null
same "stack overflow" 139:139 "$native:$status"

finish
