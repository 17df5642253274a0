/* SPDX-License-Identifier: MIT */
/*
 * spots.S: a program with known hot spots: `three` retires three instructions for each of
 * `one`, and all taken branches but one in a thousand are the two `jnz`.
 */
	.text
	.globl	_start, three, one
	.type	_start, @function
	.type	three, @function
	.type	one, @function
_start:
	mov	$1000, %ebx
1:	call	three
	call	one
	dec	%ebx
	jnz	1b
	mov	$60, %eax
	xor	%edi, %edi
	syscall
	.size	_start, . - _start

/* 1 + 3 * 1000 + 1 instructions */
three:
	mov	$1000, %ecx
2:	add	$1, %rax
	dec	%ecx
	jnz	2b
	ret
	.size	three, . - three

/* 1 + 2 * 500 + 1 instructions */
one:
	mov	$500, %ecx
3:	dec	%ecx
	jnz	3b
	ret
	.size	one, . - one

	.section .note.GNU-stack, "", @progbits
