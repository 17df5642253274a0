/* SPDX-License-Identifier: MIT */
/*
 * hotspots: three functions that take 70, 20 and 10 of each 100 instructions, by construction:
 * each is a loop of 10 instructions, run 700, 200 and 100 times a round, for 1000 rounds.  What
 * is around the loops is 11 instructions a round, 11 in 10011.
 */
	.macro HOT name, times
	.globl \name
	.type \name, @function
\name:	mov $\times, %ecx
.Lloop_\name:
	add $1, %rax
	lea 3(%rax), %rdx
	imul $5, %rdx, %rsi
	mov %rsi, (%rdi)
	mov (%rdi), %r8
	xor %r8, %rax
	and $0xffff, %eax
	rol $3, %r9
	dec %ecx
	jnz .Lloop_\name
	ret
	.size \name, . - \name
	.endm

	.text
	HOT seventy, 700
	HOT twenty, 200
	HOT ten, 100

	.globl _start
	.type _start, @function
_start:	mov $cell, %edi
	mov $1000, %ebx
1:	call seventy
	call twenty
	call ten
	dec %ebx
	jnz 1b
	mov $60, %eax
	xor %edi, %edi
	syscall
	.size _start, . - _start
	.bss
cell:	.quad 0
