/* SPDX-License-Identifier: MIT */
/*
 * 200 KB of code in a straight line, run twice: 25000 pairs of a 4-byte ADD and a 4-byte LEA.
 *   xor, mov; 2 * (50000 + dec, jnz near); SAME; EXIT: 2 + 100004 + 2 + 3 = 100011
 *
 * expect: instructions=100011 branches=4 cond=3 taken=1 not_taken=2 far=1 loads=0 stores=0
 */
#include "known.h"
	.globl _start
_start:
	xor %eax, %eax
	mov $2, %ecx
1:
	.rept 25000
	add $1, %rax
	lea 1(%rax), %rdx
	.endr
	dec %ecx
	jnz 1b
	SAME $50000, %eax
	EXIT
	FAIL
