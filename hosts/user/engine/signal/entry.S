/* SPDX-License-Identifier: MIT */
/*
 * entry.S: where the kernel enters a handler of the engine, and where the handler returns.
 */
#define RFLAGS_AC 0x40000

	.text

	/* The kernel does not change the program's RFLAGS.AC. */
	.globl signal_entry
signal_entry:
	pushfq
	andl $~RFLAGS_AC, (%rsp)
	popfq
	jmp signals_handler

	.globl signal_return
signal_return:
	movl $15, %eax		/* rt_sigreturn */
	syscall
	ud2

	.section .note.GNU-stack,"",@progbits
