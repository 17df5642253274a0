/* SPDX-License-Identifier: MIT */
/*
 * children-program: processes whose instructions are counted by hand.
 *
 * Without an argument, 50 children of fork and then 50 of vfork, one after the other; the
 * latter execute this program again, with one argument.  In all processes together:
 *   parent: 2 + 1 + 50 * 12 + 1 + 50 * 12 + 3 = 1207 instructions,
 *           1 + 50 * 4 + 50 * 4 + 1 = 402 branches
 *   child of fork: test, jz, 3 to exit = 5; 2 branches
 *   child of vfork: test, jz, 5 to execute, then cmp, jne, cmp, je, 3 to exit = 14; 5 branches
 *   2057 + 100 = 2157 instructions, 402 + 100 + 250 = 752 branches
 * With two arguments, 20 children of fork at the same time, each of them a loop:
 *   parent: 4 + 1 + 20 * 6 + 1 + 20 * 8 + 3 = 289 instructions
 *   child: test, jz, mov, 2000000 of the loop, 3 to exit = 2000006
 */
	.macro WAIT
	mov $-1, %rdi
	xor %esi, %esi
	xor %edx, %edx
	xor %r10d, %r10d
	mov $61, %eax
	syscall
	.endm
	.macro EXIT
	xor %edi, %edi
	mov $60, %eax
	syscall
	.endm

	.globl _start
_start:	cmpq $1, (%rsp)
	jne again
	mov $50, %ebx
1:	mov $57, %eax
	syscall
	test %eax, %eax
	jz ends
	WAIT
	dec %ebx
	jnz 1b
	mov $50, %ebx
2:	mov $58, %eax
	syscall
	test %eax, %eax
	jz executes
	WAIT
	dec %ebx
	jnz 2b
	EXIT
executes:
	mov 8(%rsp), %rdi
	lea arguments(%rip), %rsi
	xor %edx, %edx
	mov $59, %eax
	syscall
	ud2
again:	cmpq $2, (%rsp)
	je ends
	mov $20, %ebx
3:	mov $57, %eax
	syscall
	test %eax, %eax
	jz loops
	dec %ebx
	jnz 3b
	mov $20, %ebx
4:	WAIT
	dec %ebx
	jnz 4b
ends:	EXIT
loops:	mov $1000000, %ecx
5:	dec %ecx
	jnz 5b
	EXIT

	.data
name:	.asciz "again"
	.balign 8
arguments:
	.quad name, name, 0
