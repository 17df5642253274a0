/* SPDX-License-Identifier: MIT */
/*
 * The stack: PUSH and POP of each form, ENTER and LEAVE, PUSHF and POPF, arithmetic on RSP.
 *
 *                                           instructions  loads  stores
 *   mov rsp -> r15, mov rax                     2
 *   push r, push r8.., push imm8, push imm32    4                   4
 *   push m, push fs                             2           1       2
 *   pushw                                       1                   1
 *   popw                                        1           1
 *   pop fs                                      1           1
 *   pop m                                       1           1       1
 *   pop r * 4                                   4           4
 *   push rsp, pop rcx: RCX is RSP before        2           1       1
 *     SAME                                      2
 *   push rsp, pop rsp: no change                2           1       1
 *   enter 32,0 (stores RBP), leave              2           1       1
 *   enter 16,1 (stores RBP and the frame), leave 2          1       1
 *   pushf, popf                                 2           1       1
 *   sub rsp, mov to (rsp), mov from, add rsp    4           1       1
 *   xchg rsp, r14 twice with r14 = rsp - 64: lea, xchg, push, pop, xchg   5  1  1
 *   SAME rsp r15, SAME rax, SAME rbx            6
 *   EXIT                                        3
 * Instructions 2+4+2+1+1+1+1+4+2+2+2+2+2+2+4+5+6+3 = 46.
 * Conditional 4 not taken.  Loads 1+1+1+1+4+1+1+1+1+1+1+1 = 15.  Stores 4+2+1+1+1+1+1+1+1+1+1 = 15.
 *
 * expect: instructions=46 branches=5 cond=4 taken=0 not_taken=4 far=1 loads=15 stores=15
 */
#include "known.h"
	.globl _start
_start:
	mov %rsp, %r15
	mov $0x1234, %eax
	push %rax
	push %r8
	push $-5
	push $0x12345678
	push value(%rip)
	push %fs
	pushw $3
	popw %dx
	pop %fs
	pop copy(%rip)
	pop %rbx
	pop %rcx
	pop %r8
	pop %rax
	push %rsp
	pop %rcx
	SAME %rsp, %rcx
	push %rsp
	pop %rsp
	enter $32, $0
	leave
	enter $16, $1
	leave
	pushfq
	popfq
	sub $64, %rsp
	mov %rax, (%rsp)
	mov (%rsp), %rdx
	add $64, %rsp
	lea -64(%rsp), %r14
	xchg %r14, %rsp
	push %rdx
	pop %rdx
	xchg %r14, %rsp
	SAME %rsp, %r15
	SAME $0x1234, %rdx
	SAME $0x12345678, %rbx
	EXIT
	FAIL
	.data
value:	.quad 99
copy:	.quad 0
