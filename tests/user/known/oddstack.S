/* SPDX-License-Identifier: MIT */
/*
 * Transfers and stack instructions whose operand is on the stack.  As the manual says, CALL and
 * PUSH compute the address of the operand before RSP changes, and POP after it.
 *                                                              instructions  loads  stores
 *   mov rsp -> r15                                                 1
 *   lea, push, call *(rsp), (ret), pop                             5           3      2
 *   lea, mov to -16(rsp), call *-16(rsp), (ret)                    4           2      2
 *   lea, mov to -8(rsp), jmp *-8(rsp)                              3           1      1
 *   push 1, push 2, push 8(rsp), pop rax: 1                        4           2      3
 *   push 7, pop 8(rsp): the word above the top; pop, pop: 7        4           3      2
 *   SAME rax, SAME rdx                                             4
 *   sub rsp 4096, lea, push, ret 4096                              4           1      1
 *   SAME rsp                                                       2
 *   EXIT                                                           3
 * Instructions 34.  Loads 12.  Stores 11.  Conditional 3.  Calls 2, returns 3, jumps 1.
 *
 * expect: instructions=34 branches=10 cond=3 taken=6 not_taken=3 call=2 ret=3 far=1
 * expect: loads=12 stores=11
 */
#include "known.h"
	.globl _start
_start:
	mov %rsp, %r15
	lea empty(%rip), %rax
	push %rax
	call *(%rsp)
	pop %rax
	lea empty(%rip), %rax
	mov %rax, -16(%rsp)
	call *-16(%rsp)
	lea 1f(%rip), %rax
	mov %rax, -8(%rsp)
	jmp *-8(%rsp)
	ud2
1:	push $1
	push $2
	push 8(%rsp)
	pop %rax
	push $7
	pop 8(%rsp)
	pop %rcx
	pop %rdx
	SAME $1, %rax
	SAME $7, %rdx
	sub $4096, %rsp
	lea 2f(%rip), %rcx
	push %rcx
	ret $4096
	ud2
2:	SAME %rsp, %r15
	EXIT
	FAIL

empty:	ret
