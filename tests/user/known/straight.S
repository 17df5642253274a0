/* SPDX-License-Identifier: MIT */
/*
 * Straight line: 10 instructions, then the 3 of EXIT.  The only branch is the SYSCALL.
 *
 * status: 7
 * expect: instructions=13 branches=1 cond=0 taken=0 far=1 loads=0 stores=0
 */
#include "known.h"
	.globl _start
_start:
	mov $1, %eax
	mov $2, %ebx
	add %eax, %ebx
	xor %ecx, %ecx
	nop
	nopw 0(%rax,%rax)
	lea 5(%rbx,%rbx,2), %rdx
	imul $3, %rdx, %rsi
	not %rsi
	bswap %rsi
	EXIT 7
