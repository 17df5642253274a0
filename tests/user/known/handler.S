/* SPDX-License-Identifier: MIT */
/*
 * Handlers of signals that the program sends itself, one of them nested in another, and of a
 * fault whose handler moves the saved RIP on.  Entering a handler is the system's work and
 * retires nothing; what the handler executes counts like anything else, rt_sigreturn's
 * SYSCALL too.  An instruction that faults has not retired (Vol. 3A 6.5).
 *   install twice: 8 + 8 = 16 (2 far branches, 1 load, 1 store)
 *   getpid: mov, syscall, mov = 3 (1 far)
 *   kill USR1: mov*3, syscall = 4 (1 far)
 *     on_usr1: inc (load, store), mov*3, syscall (kill USR2) = 5 (1 far)
 *       on_usr2: add (load, store), ret = 2 (1 return: load)
 *       restorer: mov, syscall = 2 (1 far)
 *     on_usr1 goes on: ret = 1 (1 return: load)
 *     restorer: 2 (1 far)
 *   install for SIGILL: 8 (1 far, 1 load, 1 store: with the two above 3 each)
 *   the loop, 5 times: mov, ud2 (faults), then at its place's end: dec, jnz = 3 a round, 15;
 *     5 conditional, 4 taken; the first mov before the loop: 1
 *     on_ill, 5 times: addq to the saved RIP (load, store), ret (load) = 2; restorer 2 (1 far): 20
 *   cmpl (load), jne, cmpl (load), jne: 4 (2 not taken), exit: 3 (1 far)
 *
 * expect: instructions=86 branches=28 cond=7 not_taken=3 ret=7 taken=11 far=14
 */
#include "known.h"
	.macro INSTALL number, handler
	lea \handler(%rip), %rax
	mov %rax, action(%rip)
	mov $\number, %edi
	lea action(%rip), %rsi
	xor %edx, %edx
	mov $8, %r10d
	mov $13, %eax
	syscall
	.endm

	.globl _start
_start:
	INSTALL 10, on_usr1
	INSTALL 12, on_usr2
	mov $39, %eax
	syscall
	mov %eax, %ebx
	mov $62, %eax
	mov %ebx, %edi
	mov $10, %esi
	syscall
	INSTALL 4, on_ill
	mov $5, %ebp
1:	mov $7, %eax
	ud2
	dec %ebp
	jnz 1b
	cmpl $1, first(%rip)
	jne fail_1
	cmpl $2, second(%rip)
	jne fail_1
	EXIT
	FAIL

on_usr1:
	incl first(%rip)
	mov $62, %eax
	mov %ebx, %edi
	mov $12, %esi
	syscall
	ret
on_usr2:
	addl $2, second(%rip)
	ret
on_ill:
	addq $2, 168(%rdx) /* uc_mcontext.rip */
	ret
restorer:
	mov $15, %eax
	syscall

	.data
action:	.quad 0, 0x04000004, restorer, 0 /* SA_RESTORER, SA_SIGINFO */
first:	.long 0
second:	.long 0
