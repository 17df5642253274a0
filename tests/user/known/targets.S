/* SPDX-License-Identifier: MIT */
/*
 * 300 functions called through a table, 10 rounds: more targets than a small lookup table has
 * room for, and each return goes to one place only.
 *   xor, mov; each round: xor; each call: call *, (add, ret), inc, cmp, jne = 6; dec, jnz
 *   2 + 10 * (1 + 300 * 6 + 2) + check 2 + EXIT 3 = 18037
 * Conditional 10 * 300 (2990 taken) + 10 (9 taken) + 1 = 3011; not taken 10 + 1 + 1 = 12.
 * Calls 3000, returns 3000.  Near taken 6000 + 2999 = 8999; branches 6000 + 3011 + 1.
 * Sum: 10 * (1 + ... + 300) = 451500.
 *
 * expect: instructions=18037 branches=9012 cond=3011 taken=8999 not_taken=12 call=3000 ret=3000
 * expect: far=1 loads=6000 stores=3000
 */
#include "known.h"
	.globl _start
_start:
	xor %eax, %eax
	mov $10, %ebx
1:	xor %ecx, %ecx
2:	call *table(,%rcx,8)
	inc %ecx
	cmp $300, %ecx
	jne 2b
	dec %ebx
	jnz 1b
	SAME $451500, %eax
	EXIT
	FAIL

	.altmacro
.macro FUNCTION n
f\n:	add $\n, %eax
	ret
.endm
.macro ENTRY n
	.quad f\n
.endm
	.set i, 1
	.rept 300
	FUNCTION %i
	.set i, i + 1
	.endr
	.data
table:
	.set i, 1
	.rept 300
	ENTRY %i
	.set i, i + 1
	.endr
