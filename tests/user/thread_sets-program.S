/* SPDX-License-Identifier: MIT */
/*
 * thread_sets-program: three threads that run sections with known counts, each when it is told to.
 *
 *	thread_sets-program
 *
 * The first thread reads descriptor 5, those that it starts read descriptors 6 to 8.  Each byte is a section:
 *	w	turns a loop of two instructions 100,000 times, each with a conditional branch
 *	s	starts a thread, which turns the loop and ends
 *	f	forks a process, which turns the loop and ends, and waits for it
 *	x	the same, but the process first executes this program again
 *	q	ends the process
 * Section w runs 9 instructions and the 200,000 of the loop, from the return of one read to the next read.
 * Its only conditional branches are those of the loop.  Sections s, f and x start a thread or process:
 *
 *	section	instructions	conditional branches
 *	s	200,006		100,001
 *	f	200,006		100,001
 *	x	200,013		100,002
 */
	.equ STACK, 4096
	.equ TURNS, 100000
	.equ THREAD, 0x50f00	/* VM, FS, FILES, SIGHAND, THREAD, SYSVSEM */
	.equ SIGCHLD, 17

	.text
	.globl _start
_start:
	cmpq $2, (%rsp)
	je last
	movl $5, %r12d
	movl $3, %r14d
	leaq stacks(%rip), %rbx
1:	addq $STACK, %rbx
	movl $THREAD, %edi
	movq %rbx, %rsi
	xorl %edx, %edx
	xorl %r10d, %r10d
	xorl %r8d, %r8d
	movl $56, %eax		/* clone */
	syscall
	leal 9(%rax), %r12d
	subl %r14d, %r12d	/* of a thread: 6, 7, 8 */
	testl %eax, %eax
	jz next
	decl %r14d
	jnz 1b
	movl $5, %r12d

next:
	movl %r12d, %edi
	leaq -64(%rsp), %rsi
	movl $1, %edx
	xorl %eax, %eax		/* read */
	syscall
	movzbl -64(%rsp), %eax
	jmp *table(, %rax, 8)

work:
	movl $TURNS, %ecx
1:	decl %ecx
	jnz 1b
	jmp next

last:
	movl $TURNS, %ecx
1:	decl %ecx
	jnz 1b
	movl $60, %eax		/* exit */
	xorl %edi, %edi
	syscall

start:
	movl $THREAD, %edi
	leaq more_stacks(%rip), %rsi
	movl $56, %eax		/* clone */
	xorl %edx, %edx
	syscall
	testl %eax, %eax
	jz last
	jmp next

fork:
	movl $57, %eax
	syscall
	testl %eax, %eax
	jz last
wait:
	movl %eax, %edi
	xorl %esi, %esi
	xorl %edx, %edx
	xorl %r10d, %r10d
	movl $61, %eax		/* wait4 */
	syscall
	jmp next

execute:
	movl $57, %eax		/* fork */
	syscall
	testl %eax, %eax
	jnz wait
	movl $59, %eax		/* execve */
	leaq path(%rip), %rdi
	leaq arguments(%rip), %rsi
	xorl %edx, %edx
	syscall

quit:
	xorl %edi, %edi
	movl $231, %eax		/* exit_group */
	syscall

	.data
path:
	.asciz "/proc/self/exe"
	.balign 8
arguments:
	.quad path, path, 0
table:				/* by the letter */
	.rept 102
	.quad quit
	.endr
	.quad fork		/* f, 102 */
	.rept 12
	.quad quit
	.endr
	.quad start		/* s, 115 */
	.rept 3
	.quad quit
	.endr
	.quad work		/* w, 119 */
	.quad execute		/* x, 120 */
	.rept 135
	.quad quit
	.endr

	.bss
	.balign 16
stacks:
	.space 3 * STACK
	.space 16
	.space STACK
more_stacks:
	.space 16

	.section .note.GNU-stack,"",@progbits
