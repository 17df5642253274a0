/* SPDX-License-Identifier: MIT */
/*
 * Far transfers in user mode, and loads of GS.  A far transfer is one instruction and one far branch.
 *   far RET: push, push, lretq                               3      far 1, stores 2, load 1
 *   IRETQ: mov, mov, push * 2, pushfq, push * 2, iretq       8      far 1, stores 5, load 1
 *   far JMP through memory: ljmp                             1      far 1, load 1
 *   far CALL through memory, and back: lcall, lret           2      far 2, loads 2, store 1
 *   GS: mov, mov to GS, mov from GS, push, pop gs            5      load 1, store 1
 *   flags: pushfq, popfq                                     2      load 1, store 1
 *   EXIT 3                                                          far 1
 * Instructions 3 + 8 + 1 + 2 + 5 + 2 + 3 = 24; far 6; loads 7; stores 10.
 *
 * expect: instructions=24 branches=6 cond=0 taken=0 not_taken=0 far=6 loads=7 stores=10
 */
#include "known.h"
	.globl _start
_start:
	push $0x33
	push $1f
	lretq
	ud2
1:	mov %rsp, %rcx
	mov %ss, %edx
	push %rdx
	push %rcx
	pushfq
	push $0x33
	push $2f
	iretq
	ud2
2:	ljmpl *jump
	ud2
3:	lcalll *call
	mov $0x2b, %eax
	mov %eax, %gs
	mov %gs, %eax
	push $0
	pop %gs
	pushfq
	popfq
	EXIT
far:	lretl
	.data
jump:	.long 3b
	.word 0x33
call:	.long far
	.word 0x33
