/* SPDX-License-Identifier: MIT */
/*
 * RIP-relative operands of every kind: with and without an immediate after the displacement, with
 * every register as destination, with vector registers, and with 67H (EIP-relative).
 *
 *                                                  instructions  loads  stores
 *   lea into 15 registers, each compared (SAME)       15 * 3 = 45                 cond 15
 *   mov load, SAME                                      3          1             cond 1
 *   mov store r, mov store imm32, movb store imm8       3                 3
 *   cmp m,imm8 jne; cmp m,imm32 jne; test m,imm jz      6          3             cond 3
 *   add m,r; shl m,imm8; shl m,cl... : add, shl, imul r,m,imm32, SAME   5  3  2  cond 1
 *   push m, pop m, call *m, (ret), jmp *m               5          4      3
 *     push load store; pop load store; call load store; ret load; jmp load = loads 5, stores 3
 *   movups load, movups store, pshufd m,imm8, SAME of the low word: movd, SAME  6  2  1  cond 1
 *   67H: mov load, SAME; lea, SAME                      6          1             cond 2
 *   EXIT                                                3
 * Instructions 45 + 3 + 3 + 6 + 5 + 5 + 6 + 6 + 3 = 82.
 * Conditional 15 + 1 + 3 + 1 + 1 + 2 = 23, none taken.  Near taken call, ret, jmp = 3.
 * Loads 1 + 3 + 3 + 5 + 2 + 1 = 15.  Stores 3 + 2 + 3 + 1 = 9.
 *
 * expect: instructions=82 branches=27 cond=23 taken=3 not_taken=23 call=1 ret=1 far=1
 * expect: loads=15 stores=9
 */
#include "known.h"
	.globl _start
_start:
	.irp r, rax, rbx, rcx, rdx, rsi, rdi, rbp, r8, r9, r10, r11, r12, r13, r14, r15
	lea here(%rip), %\r
	SAME $here, %\r
	.endr
	mov number(%rip), %eax
	SAME $0x11223344, %eax
	mov %eax, word(%rip)
	movl $0x55667788, word+4(%rip)
	movb $7, word+8(%rip)
	cmpb $7, word+8(%rip)
	jne fail_1
	cmpl $0x55667788, word+4(%rip)
	jne fail_1
	testl $0x40, word(%rip)
	jz fail_1
	add %eax, word(%rip)
	shll $4, word(%rip)
	imul $0x10001, word(%rip), %edx
	SAME $0x8cc66880, %edx
	push p1(%rip)
	pop word(%rip)
	call *p1(%rip)
	jmp *p2(%rip)
	ud2
2:	movups vector(%rip), %xmm1
	movups %xmm1, word(%rip)
	pshufd $0x1b, vector(%rip), %xmm2
	movd %xmm2, %eax
	SAME $4, %eax
	mov number(%eip), %eax
	SAME $0x11223344, %eax
	lea here(%eip), %rax
	SAME $here, %rax
	EXIT
	FAIL

empty:	ret
	.data
here:
number:	.long 0x11223344
	.balign 16
word:	.quad 0, 0
vector:	.long 1, 2, 3, 4
p1:	.quad empty
p2:	.quad 2b
