/* SPDX-License-Identifier: MIT */
/*
 * System calls: each SYSCALL is one instruction and one far branch.  After it RCX is the address
 * of the next instruction, and R11 has the flags without TF, which a debugger sets.  The other
 * registers are kept.  The flags are kept too: CF set by STC, ZF and PF left by the last DEC.
 *   set up: 13 mov                                        13
 *   100 rounds: mov eax, syscall, lea, cmp, jne, dec, jnz  700   cond 200: 99 taken, 101 not
 *   flags: stc, mov, syscall, jnc, and, cmp, jne           7    cond 2 not
 *   checks of 12 registers: 24                            24    cond 12 not
 *   EXIT                                                   3
 * Instructions 13 + 700 + 7 + 24 + 3 = 747.  Far 100 + 1 + 1 = 102.
 * Conditional 200 + 2 + 12 = 214: 99 taken, 115 not.
 *
 * expect: instructions=747 branches=316 cond=214 taken=99 not_taken=115 far=102 loads=0 stores=0
 */
#include "known.h"
	.globl _start
_start:
	mov $101, %ebx
	mov $102, %edx
	mov $103, %esi
	mov $104, %edi
	mov $105, %ebp
	mov $106, %r8d
	mov $107, %r9d
	mov $108, %r10d
	mov $109, %r12d
	mov $110, %r13d
	mov $111, %r14d
	mov %rsp, %r15
	mov $100, %ebx
1:	mov $39, %eax
	syscall
2:	lea 2b(%rip), %rax
	cmp %rax, %rcx
	jne fail_1
	dec %ebx
	jnz 1b
	stc
	mov $39, %eax
	syscall
	jnc fail_2
	and $0x8c5, %r11d
	cmp $0x45, %r11d
	jne fail_2
	SAME $0, %ebx
	SAME $102, %edx
	SAME $103, %esi
	SAME $104, %edi
	SAME $105, %ebp
	SAME $106, %r8d
	SAME $107, %r9d
	SAME $108, %r10d
	SAME $109, %r12d
	SAME $110, %r13d
	SAME $111, %r14d
	SAME %rsp, %r15
	EXIT
	FAIL 1
	FAIL 2
