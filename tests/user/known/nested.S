/* SPDX-License-Identifier: MIT */
/*
 * Three nested loops with a call in the innermost; enough for the period of any sampling test.
 *   inner body: call, (lea, ret), dec, jnz   = 5 instructions, 100 times a round
 *   middle:     mov + 500 + dec, jnz         = 503, 50 times
 *   outer:      mov + 25150 + dec, jnz       = 25153, 4 times
 *   all: xor, mov + 4 * 25153 + EXIT 3 + compare 2 = 100619
 * Conditional: inner 4*50*100 = 20000 (200*99 taken), middle 200 (4*49), outer 4 (3), check 1:
 *   20205, of which 19800 + 196 + 3 = 19999 taken, 206 not.
 * Calls 20000, returns 20000.  Near taken: 19999 + 20000 + 20000 = 59999.
 *
 * expect: instructions=100619 branches=60206 cond=20205 taken=59999 not_taken=206
 * expect: call=20000 ret=20000 far=1 loads=20000 stores=20000
 */
#include "known.h"
	.globl _start
_start:
	xor %eax, %eax
	mov $4, %ebx
1:	mov $50, %ecx
2:	mov $100, %edx
3:	call count
	dec %edx
	jnz 3b
	dec %ecx
	jnz 2b
	dec %ebx
	jnz 1b
	SAME $20000, %eax
	EXIT
	FAIL

count:	lea 1(%rax), %eax
	ret
