/* SPDX-License-Identifier: MIT */
/*
 * perf_open-program.S: a program whose instructions are counted by hand, without a library: 2004, of
 * which 1001 are branches.
 */
	.globl _start
_start:
	movl $1000, %ecx
1:	decl %ecx
	jnz 1b
	movl $60, %eax
	xorl %edi, %edi
	syscall
	.section .note.GNU-stack,"",@progbits
