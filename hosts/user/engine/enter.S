/* SPDX-License-Identifier: MIT */
/*
 * enter.S: the way into the engine, and between engine and translated code.
 *
 * enter() keeps the engine's callee-saved registers on the engine's stack, loads
 * the program's registers from the context and jumps.  The exits do the
 * reverse.  Vector registers are never touched: the engine is built without them.
 */
#include "context.h"

#define RFLAGS_AC 0x40000

	.text
	.globl _start
_start:
	xorl %ebp, %ebp
	movq %rsp, %rdi		/* the stack as the kernel made it */
	andq $-16, %rsp
	call engine_start
	ud2

	.globl enter
enter:
	pushq %rbx
	pushq %rbp
	pushq %r12
	pushq %r13
	pushq %r14
	pushq %r15
	movq %rsp, %gs:CTX_ENGINE_RSP
	pushq %gs:CTX_RFLAGS
	popfq
	movq %gs:CTX_RAX, %rax
	movq %gs:CTX_RCX, %rcx
	movq %gs:CTX_RDX, %rdx
	movq %gs:CTX_RBX, %rbx
	movq %gs:CTX_RBP, %rbp
	movq %gs:CTX_RSI, %rsi
	movq %gs:CTX_RDI, %rdi
	movq %gs:CTX_R8+0x00, %r8
	movq %gs:CTX_R8+0x08, %r9
	movq %gs:CTX_R8+0x10, %r10
	movq %gs:CTX_R8+0x18, %r11
	movq %gs:CTX_R8+0x20, %r12
	movq %gs:CTX_R8+0x28, %r13
	movq %gs:CTX_R8+0x30, %r14
	movq %gs:CTX_R8+0x38, %r15
	movq %gs:CTX_RSP, %rsp
	jmp *%gs:CTX_RESUME

	.macro leave_by name, reason
	.globl \name
	.balign 16
\name:
	movl $\reason, %gs:CTX_REASON
	jmp leave_common
	.endm

	leave_by exit_link, EXIT_LINK
	leave_by exit_headroom, EXIT_HEADROOM
	leave_by exit_headroom_edge, EXIT_HEADROOM_EDGE
	leave_by exit_syscall, EXIT_SYSCALL
	leave_by exit_step_next, EXIT_STEP_NEXT
	leave_by exit_step_taken, EXIT_STEP_TAKEN
	leave_by exit_step_jump, EXIT_STEP_JUMP
	leave_by exit_step_me, EXIT_STEP_ME
	leave_by exit_log_full, EXIT_LOG_FULL

	.globl exit_indirect
	.balign 16
exit_indirect:
	/* RCX holds the program address; RAX and RCX of the program are spilled. */
	movl $EXIT_INDIRECT, %gs:CTX_REASON
	movq %rcx, %gs:CTX_PC
	movq %gs:CTX_SPILL_RAX, %rax
	movq %gs:CTX_SPILL_RCX, %rcx

leave_common:
	movq %rax, %gs:CTX_RAX
	movq %rcx, %gs:CTX_RCX
	movq %rdx, %gs:CTX_RDX
	movq %rbx, %gs:CTX_RBX
	movq %rsp, %gs:CTX_RSP
	movq %rbp, %gs:CTX_RBP
	movq %rsi, %gs:CTX_RSI
	movq %rdi, %gs:CTX_RDI
	movq %r8, %gs:CTX_R8+0x00
	movq %r9, %gs:CTX_R8+0x08
	movq %r10, %gs:CTX_R8+0x10
	movq %r11, %gs:CTX_R8+0x18
	movq %r12, %gs:CTX_R8+0x20
	movq %r13, %gs:CTX_R8+0x28
	movq %r14, %gs:CTX_R8+0x30
	movq %r15, %gs:CTX_R8+0x38
	movq %gs:CTX_ENGINE_RSP, %rsp
	pushfq
	popq %gs:CTX_RFLAGS
	testl $RFLAGS_AC, %gs:CTX_RFLAGS
	jz 1f
	pushq $0		/* the engine's own accesses are not all aligned */
	popfq
1:	cld
	popq %r15
	popq %r14
	popq %r13
	popq %r12
	popq %rbp
	popq %rbx
	ret

	.globl signal_return
signal_return:
	movl $15, %eax		/* rt_sigreturn */
	syscall
	ud2

	.section .note.GNU-stack,"",@progbits
