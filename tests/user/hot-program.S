/* SPDX-License-Identifier: MIT */
/*
 * hot-program: a loop that runs long enough for a trace along its path, and then leaves this
 * path. A jump's word in memory changes, and a function returns to another place than it was
 * called from. CF and RCX are live across both. It writes how often three places were passed, as
 * 64-bit numbers; hot.sh has the sums.
 */
#define ROUNDS 0x200000
	.globl _start
_start:	mov $ROUNDS, %r12
	xor %r13d, %r13d
	xor %r14d, %r14d
	xor %r15d, %r15d

	/* 17 instructions, 10 branches (5 conditional, two returns) without the other ways */
loop:	mov %r12, %rcx
	bt $3, %r12
	call stub
	jnc 1f
	inc %r13
1:	cmp %r12, %rcx
	jne bad
	test $0xffff, %r12w
	jnz 2f
	mov word(%rip), %rax
	xchg other(%rip), %rax
	mov %rax, word(%rip)
2:	call skips
	nop
	dec %r12
	jnz loop

	mov %r13, passed(%rip)
	mov %r14, 8+passed(%rip)
	mov %r15, 16+passed(%rip)
	mov $1, %edi
	lea passed(%rip), %rsi
	mov $24, %edx
	mov $1, %eax /* write */
	syscall
	xor %edi, %edi
	mov $60, %eax /* exit */
	syscall
bad:	mov $1, %edi
	mov $60, %eax
	syscall

stub:	jmp *word(%rip)
even:	ret
odd:	inc %r14
	ret
skips:	test $0x20000, %r12d
	jz 3f
	inc %r15
	incq (%rsp) /* over the NOP */
3:	ret

	.data
	.balign 8
word:	.quad even
other:	.quad odd
passed:	.quad 0, 0, 0
