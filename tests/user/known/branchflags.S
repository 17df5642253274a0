/* SPDX-License-Identifier: MIT */
/*
 * Flags live over taken branches of every kind, and over LOOP and JRCXZ, which leave them alone.
 *   one comparison, decided by four jumps, each to the next: mov, cmp, jl, jb.., as below
 *     mov eax 3; cmp 5; jl (taken); jne (taken); jb (taken); jbe (taken); jge (not); je (not)  8
 *   ADC chain in a LOOP: stc, xor-free mov r8 0, mov ecx 10, 10 * (adc $0 r8 kept by... )
 *     mov r8, mov ecx, stc, 10 * (adc -1, loop)                         3 + 20    9 taken, 1 not
 *     SAME r8 0 (each adds all ones and a carry)                        2         1 not
 *   JRCXZ: mov ecx 1, cmp eax eax, jrcxz (not), jne (not), xor-free: mov ecx 0, jrcxz (taken),
 *     jne (not)                                                         7         1 taken, 3 not
 *   EXIT 3
 * Instructions 8 + 23 + 2 + 7 + 3 = 43.
 * Conditional 6 + 10 + 1 + 4 = 21: taken 4 + 9 + 1 = 14, not 2 + 1 + 1 + 3 = 7.
 *
 * expect: instructions=43 branches=22 cond=21 taken=14 not_taken=7 far=1 loads=0 stores=0
 */
#include "known.h"
	.globl _start
_start:
	mov $3, %eax
	cmp $5, %eax
	jl 1f
	ud2
1:	jne 2f
	ud2
2:	jb 3f
	ud2
3:	jbe 4f
	ud2
4:	jge fail_1
	je fail_1
	mov $0, %r8d
	mov $10, %ecx
	stc
1:	adc $-1, %r8
	loop 1b
	SAME $0, %r8
	mov $1, %ecx
	cmp %eax, %eax
	jrcxz fail_near
	jne fail_1
	mov $0, %ecx
	jrcxz 2f
	ud2
2:	jne fail_1
	EXIT
fail_near:
	FAIL
