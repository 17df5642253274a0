/* SPDX-License-Identifier: MIT */
/*
 * event_sets-program: runs sections with known counts, and sends commands between them to its caller.
 *
 *	event_sets-program COMMANDS ACKNOWLEDGEMENTS [SECTION...]
 *
 * The first two arguments are the numbers of descriptors, of one digit.  Each SECTION is a word whose
 * first letter says what is done:
 *	e	writes "enable\n" and waits for the answer
 *	d	the same with "disable\n"
 *	r	writes "r" to descriptor 1 and waits for a byte from descriptor 0: ten instructions
 *	m	maps all memory from 16 MiB to 16 MiB below 2 GiB: fifteen instructions with those at `next`
 *	w	turns a loop of two instructions 100,000 times, each with a conditional branch
 * At the end it exits.  There is no other conditional branch than that of the loop.
 */
	.macro WRITE descriptor, text, bytes
	movl \descriptor, %edi
	leaq \text(%rip), %rsi
	movl $\bytes, %edx
	movl $1, %eax		/* write */
	syscall
	.endm
	.macro READ descriptor, bytes
	movl \descriptor, %edi
	leaq answer(%rip), %rsi
	movl $\bytes, %edx
	xorl %eax, %eax		/* read */
	syscall
	.endm

	.text
	.globl _start
_start:
	movq 16(%rsp), %rax	/* the descriptors */
	movzbl (%rax), %r12d
	subl $'0', %r12d
	movq 24(%rsp), %rax
	movzbl (%rax), %r13d
	subl $'0', %r13d
	leaq 32(%rsp), %rbx	/* the sections */
next:
	movq (%rbx), %rax
	addq $8, %rbx
	testq %rax, %rax
	cmovzq end_word(%rip), %rax
	movzbl (%rax), %eax
	jmp *table(, %rax, 8)

enable:
	WRITE %r12d, enable_text, 7
	READ %r13d, 4
	jmp next
disable:
	WRITE %r12d, disable_text, 8
	READ %r13d, 4
	jmp next
ready:
	WRITE $1, ready_text, 1
	READ $0, 1
	jmp next

map:
	movl $0x01000000, %edi
	movl $0x7e000000, %esi
	xorl %edx, %edx		/* no rights */
	movl $0x4032, %r10d	/* private, anonymous, at this address, without swap */
	movl $-1, %r8d
	xorl %r9d, %r9d
	movl $9, %eax		/* mmap */
	syscall
	jmp next

	.globl work
work:
	movl $100000, %ecx
1:	decl %ecx
	jnz 1b
	jmp next

end:
	xorl %edi, %edi
	movl $60, %eax		/* exit */
	syscall

	.data
end_word:
	.quad end_text
end_text:
	.byte 'x'
enable_text:
	.ascii "enable\n"
disable_text:
	.ascii "disable\n"
ready_text:
	.ascii "r"
answer:
	.space 16
	.balign 8
table:				/* by the letter */
	.rept 100
	.quad end
	.endr
	.quad disable		/* d, 100 */
	.quad enable		/* e */
	.rept 7
	.quad end
	.endr
	.quad map		/* m, 109 */
	.rept 4
	.quad end
	.endr
	.quad ready		/* r, 114 */
	.rept 4
	.quad end
	.endr
	.quad work		/* w, 119 */
	.rept 136
	.quad end
	.endr

	.section .note.GNU-stack,"",@progbits
