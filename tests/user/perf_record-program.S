/* SPDX-License-Identifier: MIT */
/*
 * perf_record-program.S: a program whose instructions are counted by hand, without a library: 31 in
 * each of 1000 turns, of which 20 are in _start, 5 in f and 6 in g; one before and three after.
 */
	.text
	.globl _start
	.type _start, @function
_start:
	movl $1000, %ebx
1:	movl $7, %ecx
2:	decl %ecx
	jnz 2b
	call f
	movq %rax, word
	addq word, %rdx
	decl %ebx
	jnz 1b
	movl $60, %eax
	xorl %edi, %edi
	syscall
	.size _start, . - _start
	.globl f
	.type f, @function
f:	pushq %rbp
	movq %rsp, %rbp
	call g
	popq %rbp
	ret
	.size f, . - f
	.globl g
	.type g, @function
g:	pushq %rbp
	movq %rsp, %rbp
	nop
	nop
	popq %rbp
	ret
	.size g, . - g
	.lcomm word, 8
	.section .note.GNU-stack,"",@progbits
