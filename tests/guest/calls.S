/* SPDX-License-Identifier: MIT */
/*
 * calls.S: a program without libraries that spends its time three calls deep, without frame
 * pointers. Only the processor's own record of calls tells who called (Vol. 3B 17.4.7 "LBR call
 * stack").
 */
#ifndef LOOPS
#define LOOPS 1000000
#endif

	.macro function name
	.globl \name
	.type \name, @function
\name:
	.endm

	.text
function _start
	call outer
	mov $60, %eax
	xor %edi, %edi
	syscall
	.size _start, . - _start

function outer
	call middle
	ret
	.size outer, . - outer

function middle
	call inner
	ret
	.size middle, . - middle

function inner
	mov $LOOPS, %ecx
1:	dec %ecx
	jnz 1b
	ret
	.size inner, . - inner
