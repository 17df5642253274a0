/* SPDX-License-Identifier: MIT */
/*
 * hot.S: a file whose addresses the samples have; it is never run.  `hot`, `warm` and `cold` are
 * functions with sizes, `label` has neither type nor size, and two names share `warm`'s
 * address.
 */
	.text
	.globl	hot, warm, cold, label
	.weak	_warm_alias
	.type	hot, @function
	.type	warm, @function
	.type	_warm_alias, @function
	.type	cold, @function
hot:
	xor	%eax, %eax
	mov	$1000, %ecx
1:	add	$1, %rax
	lea	table(%rip), %rdx
	dec	%ecx
	jnz	1b
	call	warm
	ret
	.size	hot, . - hot

	.balign	16
warm:
_warm_alias:
	imul	%rax, %rax
	ret
	.size	warm, . - warm
	.size	_warm_alias, . - _warm_alias

	.balign	16
cold:
	ret
	.size	cold, . - cold

	.balign	16
label:
	nop
	.byte	0x06 /* no instruction in 64-bit mode */
	nop
	ret

	.section .note.GNU-stack, "", @progbits
	.data
table:	.quad	0
