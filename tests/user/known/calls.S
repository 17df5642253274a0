/* SPDX-License-Identifier: MIT */
/*
 * Calls and returns of each form; arguments, results and the stack pointer are checked.
 *
 *   start            mov rsp -> r15                       1
 *   direct           call, (lea, ret)                     3   call rel   store / load
 *   register         lea, call *rax, (lea, ret)           4   call ind   store / load
 *   memory           call *m(rip), (lea, ret)             3   call ind   load store / load
 *   SIB              lea, mov, call *8(rax,rcx,8), (lea, ret)  5         load store / load
 *   stack            lea, push, call *(rsp), (lea, ret), pop   6         store, load store / load, load
 *   ret imm16        push, push, call, (mov, lea, ret 16) 6   stores 3, loads 2
 *   register kept    mov rax/rcx/rdx 3, call, (lea, ret)  6   store / load; 3 checks: 6 (rdx by cmp)
 *   recursion        mov, call f; f: 1000 levels deep:
 *                    each level but the last: dec, jz, call, inc, ret = 5; last: dec, jz, ret = 3
 *                    mov 1 + call 1 + 999 * 5 + 3 = 5000  (1000 jz: 999 not, 1 taken)
 *   checks           rdi = 7: 2, rax: 2, rsp: 2           6
 *   EXIT                                                  3
 * Instructions: 1+3+4+3+5+6+6+6+6+5000+6+3 = 5049.
 * Calls 7 + 1000, returns 1007.  Conditional 1000 + 6 = 1006: 1 taken, 1005 not.
 * Near taken 1007 + 1007 + 1 = 2015.  Branches 2014 + 1006 + 1 = 3021.
 * Loads: direct 1, register 1, memory 2, SIB 2, stack 3, imm16 2, kept 1, recursion 1000 = 1012.
 * Stores: direct 1, register 1, memory 1, SIB 1, stack 2, imm16 3, kept 1, recursion 1000 = 1010.
 *
 * expect: instructions=5049 branches=3021 cond=1006 taken=2015 not_taken=1005
 * expect: call=1007 ret=1007 far=1 loads=1012 stores=1010
 */
#include "known.h"
	.globl _start
_start:
	mov %rsp, %r15
	call one
	lea one(%rip), %rax
	call *%rax
	call *pointer(%rip)
	lea table(%rip), %rax
	mov $2, %ecx
	call *8(%rax,%rcx,8)
	lea one(%rip), %rax
	push %rax
	call *(%rsp)
	pop %rax
	push $40
	push $2
	call two
	mov $0x1111, %eax
	mov $0x2222, %ecx
	mov $0x3333, %edx
	call one
	SAME $0x1111, %eax
	SAME $0x2222, %ecx
	SAME $0x3333, %edx
	mov $1000, %eax
	call down
	SAME $7, %edi
	SAME $999, %eax
	SAME %rsp, %r15
	EXIT
	FAIL

one:	lea 1(%rdi), %edi
	ret
two:	mov 8(%rsp), %rsi
	lea 1(%rdi), %edi
	ret $16
down:	dec %eax
	jz 1f
	call down
	inc %eax
1:	ret
	.data
pointer: .quad one
table:	.quad 0, 0, 0, one
