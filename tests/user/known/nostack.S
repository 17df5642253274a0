/* SPDX-License-Identifier: MIT */
/*
 * RSP as an ordinary register, that points to no memory: 0, a non-canonical value, the middle
 * of nowhere.  Nothing needs a stack but what the program itself pushes.
 *   mov rsp -> r15                                           1
 *   per value: movabs rsp, mov ecx 5, 5 * (add rsp, dec, jnz), jmp, lea, jmp *, SAME, mov, syscall
 *     = 2 + 15 + 1 + 2 + 2(+1 movabs for the compare) + 2 = 25, 4 times          = 100
 *     conditional 5 (4 taken) + 1; jumps 2; far 1
 *   mov r15 -> rsp, push, pop                                3    store, load
 *   EXIT                                                     3
 * Instructions 107.  Conditional 24: 16 taken, 8 not.  Near taken 16 + 8 = 24.  Far 5.
 *
 * needs: syscall_without_stack
 * expect: instructions=107 branches=37 cond=24 taken=24 not_taken=8 far=5 loads=1 stores=1
 */
#include "known.h"
	.globl _start
_start:
	mov %rsp, %r15
	.irp value, 0, 0x7000000000000000, 0xffffffffffffff00, 0x123456789
	movabs $\value, %rsp
	mov $5, %ecx
1:	add $8, %rsp
	dec %ecx
	jnz 1b
	jmp 2f
	ud2
2:	lea 3f(%rip), %rdx
	jmp *%rdx
	ud2
3:	movabs $\value + 40, %rdx
	SAME %rsp, %rdx
	mov $39, %eax
	syscall
	.endr
	mov %r15, %rsp
	push %rax
	pop %rax
	EXIT
	FAIL
