/* SPDX-License-Identifier: MIT */
/*
 * program.S: the program that runs in the emulator: calls, conditional branches taken and not taken,
 * loads, stores, a REP string instruction.  It needs nothing else (tests/unicorn also makes a Linux
 * program of it).
 */
	.section .note.GNU-stack, "", @progbits
	.text
	.global program, program_bytes
program:
	mov $1000, %ecx
1:	call 3f
	test $1, %cl
	jz 2f
	add $1, %rax
2:	dec %ecx
	jnz 1b
	lea -64(%rsp), %rdi
	mov $8, %ecx
	cld
	rep stosq
	jmp 4f
3:	push %rbx
	mov (%rsp), %rdx
	addq $1, (%rsp)
	pop %rdx
	ret
4:	nop
5:
	.pushsection .rodata
program_bytes: .quad 5b - program
	.popsection
