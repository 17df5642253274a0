/* SPDX-License-Identifier: MIT */
/*
 * Long blocks: 63, 64, 65, 128, 1000 instructions without a branch, each run 3 times, and a jump
 * into the middle of the block of 1000.
 *   each block: mov ecx; 3 * (N + dec + jnz) = 1 + 3 * (N + 2)
 *     63: 196; 64: 199; 65: 202; 128: 391; 1000: 3007                   = 3995
 *   into the middle: mov ecx 1, jmp, 500, dec, jnz                      = 504
 *   after the block of 1000: test, jnz: 2 not taken first, 2 taken second = 4
 *   xor ebx, inc ebx                                                    = 2
 *   EXIT                                                                  3
 * Instructions 3995 + 504 + 4 + 2 + 3 = 4508.
 * Conditional 5 * 3 + 1 + 2 = 18: taken 10 + 1 = 11, not 5 + 1 + 1 = 7.  Jumps 1.
 *
 * expect: instructions=4508 branches=20 cond=18 taken=12 not_taken=7 far=1 loads=0 stores=0
 */
#include "known.h"
	.globl _start
.macro BLOCK n
	mov $3, %ecx
1:
	.rept \n
	lea 1(%rax), %rax
	.endr
	dec %ecx
	jnz 1b
.endm
_start:
	xor %ebx, %ebx
	BLOCK 63
	BLOCK 64
	BLOCK 65
	BLOCK 128
	mov $3, %ecx
1:
	.rept 500
	lea 1(%rax), %rax
	.endr
half:
	.rept 500
	lea 1(%rax), %rax
	.endr
	dec %ecx
	jnz 1b
	test %ebx, %ebx
	jnz stop
	inc %ebx
	mov $1, %ecx
	jmp half
stop:	EXIT
