/* SPDX-License-Identifier: MIT */
/*
 * threads-program: threads whose instructions are counted by hand (Vol. 3B, 18.2: each logical
 * processor has counters of its own; here each thread has).
 *
 * As many threads as it has arguments (at most 1000), all alike; each ends by exit(2), and so
 * does the first, so that nobody is ended by another.  Its first words are the threads' stacks.
 *   first: 3 + threads * 14 + 3 instructions (3 + 3 with no argument), 1 + threads * 3 + 1 branches
 *   other: test, jz, 3, 2000000 of the loop, 3 to exit = 2000008; jz, 1000000, exit = 1000002 branches
 */
	.macro EXIT
	xor %edi, %edi
	mov $60, %eax
	syscall
	.endm

	.globl _start
_start:	mov (%rsp), %ebx
	dec %ebx
	jz ends
	/* CLONE_VM, FS, FILES, SIGHAND, THREAD, SYSVSEM */
1:	mov $0x50f00, %edi
	lea stacks(%rip), %rsi
	mov %rbx, %rax
	shl $8, %rax
	add %rax, %rsi
	xor %edx, %edx
	xor %r10d, %r10d
	xor %r8d, %r8d
	mov $56, %eax
	syscall
	test %eax, %eax
	jz loops
	dec %ebx
	jnz 1b
ends:	EXIT
loops:	mov $1000000, %ecx
	xor %edx, %edx
	nop
5:	dec %ecx
	jnz 5b
	EXIT

	.bss
	.balign 16
stacks:	.skip 256 * 1002
