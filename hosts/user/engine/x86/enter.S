/* SPDX-License-Identifier: MIT */
/*
 * enter.S: the transitions between engine and translated code, and the system calls of the
 * program.
 *
 * enter() saves the engine's callee-saved registers on the engine's stack, loads the program's
 * registers from the context and jumps.  The exits do the reverse.  They never touch vector
 * registers: the engine is built without them.
 */
#include "engine/rt/context_words.h"

#define RFLAGS_AC 0x40000
#define RFLAGS_TF 0x100

	.text

	/* Loads the registers of the program, except RSP. */
	.macro LOAD_REGISTERS
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
	.endm

	.globl enter
enter:
	pushq %rbx
	pushq %rbp
	pushq %r12
	pushq %r13
	pushq %r14
	pushq %r15
	movq %rsp, %gs:CTX_ENGINE_RSP
	.globl enter_check
enter_check:
	cmpl $0, %gs:CTX_PENDING
	jne enter_trap
	pushq %gs:CTX_RFLAGS
	popfq
	LOAD_REGISTERS
	movq %gs:CTX_RSP, %rsp
	jmp *%gs:CTX_RESUME
	.globl enter_trap, enter_end
enter_trap:
	int3			/* from here on signals.c finds the boundary by CTX_RESUME */
	nop
enter_end:

	/* Like enter(), with RFLAGS.TF: the kernel raises SIGTRAP after one instruction. */
	.globl enter_one
enter_one:
	pushq %rbx
	pushq %rbp
	pushq %r12
	pushq %r13
	pushq %r14
	pushq %r15
	movq %rsp, %gs:CTX_ENGINE_RSP
	pushq $0		/* IRETQ does not run with RFLAGS.NT */
	popfq
	movl %ss, %eax
	pushq %rax
	pushq %gs:CTX_RSP
	pushq %gs:CTX_RFLAGS
	orl $RFLAGS_TF, (%rsp)
	movl %cs, %eax
	pushq %rax
	pushq %gs:CTX_RESUME
	LOAD_REGISTERS
	iretq

	/* An instruction for enter_one() that has no effect. */
	.globl trap_here
trap_here:
	nop
	jmp exit_step_next

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
	leave_by exit_step_aborted, EXIT_STEP_ABORTED

	.globl exit_headroom_flags
	.balign 16
exit_headroom_flags:
	addb $0x7f, %al		/* as in emit_flags_restore() */
	sahf
	movq %gs:CTX_SPILL_FLAGS, %rax
	jmp exit_headroom

	.globl exit_indirect
	.balign 16
exit_indirect:
	/* CTX_PC holds the program address.  The program's RCX is saved. */
	movl $EXIT_INDIRECT, %gs:CTX_REASON
	movq %gs:CTX_SPILL_RCX, %rcx
	jmp leave_common

	.globl exit_return
	.balign 16
exit_return:
	/* The program address is still below the stack pointer. */
	movl $EXIT_RETURN, %gs:CTX_REASON
	movq -8(%rsp), %rcx
	movq %rcx, %gs:CTX_PC
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

	.globl syscall_program, syscall_check, syscall_at, syscall_after, syscall_again, syscall_interrupted
syscall_program:
	movq %rdi, %rax
	movq 0x28(%rsi), %r9
	movq 0x20(%rsi), %r8
	movq 0x18(%rsi), %r10
	movq 0x10(%rsi), %rdx
	movq 0x00(%rsi), %rdi
	movq 0x08(%rsi), %rsi
	xorl %ecx, %ecx		/* the kernel leaves syscall_after there */
	movl $CALL_MADE, %gs:CTX_CALL
syscall_check:
	cmpl $0, %gs:CTX_PENDING
	jne syscall_interrupted
syscall_at:
	syscall
syscall_after:
	ret
syscall_again:
	movl $CALL_AGAIN, %gs:CTX_CALL
	movq $CALL_NO_RESULT, %rax
	ret
syscall_interrupted:
	movl $CALL_NOT_BEGUN, %gs:CTX_CALL
	movq $CALL_NO_RESULT, %rax
	ret

	.globl clone_process, clone_after
clone_process:
	pushq %rbx
	pushq %rbp
	movq %rdx, %rbx
	movq %rcx, %rbp
	movq %rdi, %rax
	movq 0x20(%rsi), %r8
	movq 0x18(%rsi), %r10
	movq 0x10(%rsi), %rdx
	movq 0x00(%rsi), %rdi
	movq 0x08(%rsi), %rsi
	syscall
clone_after:
	testq %rax, %rax
	jnz 1f
	testq %rbx, %rbx
	jz 1f
	movq %rbp, %rsp		/* the parent may be using the old stack */
	xorl %ebp, %ebp
	call *%rbx
	ud2
1:	popq %rbp
	popq %rbx
	ret

	.globl thread_leave
thread_leave:
	movl $0, (%rdi)		/* there is no stack from here on */
	movl %esi, %edi
	movl $60, %eax		/* exit */
	syscall
	ud2

	.globl frame_resume, frame_resume_after, frame_back
frame_resume:
	pushq %rbx
	pushq %rbp
	pushq %r12
	pushq %r13
	pushq %r14
	pushq %r15
	movq %rsp, FRAME_RSP(%rdi)
	leaq frame_back(%rip), %rax
	movq %rax, FRAME_RIP(%rdi)
	leaq 8(%rdi), %rsp
	movl $15, %eax
	syscall
frame_resume_after:
	ud2
frame_back:
	popq %r15
	popq %r14
	popq %r13
	popq %r12
	popq %rbp
	popq %rbx
	ret

	.globl probe_read, probe_read_at, probe_write, probe_write_at, probe_failed
probe_read:
probe_read_at:
	movzbl (%rdi), %eax
	movl $1, %eax
	ret
probe_write:
probe_write_at:
	lock orb $0, (%rdi)
	movl $1, %eax
	ret
probe_failed:
	xorl %eax, %eax
	ret

	.section .note.GNU-stack,"",@progbits
