/* SPDX-License-Identifier: MIT */
/*
 * Code on the stack, written anew each time: inc %eax (or dec), ret.
 *   mov, xor, mov, lea                                              4
 *   5 rounds: movl to the stack (store), call (store), inc or dec, ret (load),
 *     xorl of the next round's opcode in a register, dec, jnz       7: 35; call, ret, jnz: 15 branches
 *   SAME of the sum (inc, dec, inc, dec, inc)                       2      1 cond
 *   EXIT                                                            3      far 1
 *
 * build: -z execstack
 * expect: instructions=44 branches=17 call=5 ret=5 cond=6 not_taken=2 far=1 loads=5 stores=10
 */
#include "known.h"
	.globl _start
_start:
	mov $5, %ecx
	xor %eax, %eax
	mov $0x00c3c0ff, %edx	/* ff c0: inc %eax; ff c8: dec %eax; c3: ret */
	lea -64(%rsp), %rdi
1:	mov %edx, (%rdi)
	call *%rdi
	xor $0x800, %edx
	dec %ecx
	jnz 1b
	SAME $1, %eax
	EXIT
	FAIL
