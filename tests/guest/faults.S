/* SPDX-License-Identifier: MIT */
/*
 * faults.S: instructions that fault, code that changes itself, and single-steps, with counts that
 * follow from the text.  Each time around: what faults does not retire; its handler, the kernel's
 * way back (sigreturn) and the rest do.
 */
#define TIMES 1000
#define SA_FLAGS 0x44000004 /* NODEFER, RESTORER, SIGINFO */

	.macro catch signal
	mov $13, %eax			# 7 instructions and a far branch
	mov $\signal, %edi
	lea action(%rip), %rsi
	xor %edx, %edx
	mov $8, %r10d
	syscall
	nop
	.endm

	.globl _start
	.text
_start:
	catch 4				# 7
	catch 11			# 7
	catch 5				# 7
	mov $TIMES, %ebp		# 1

1:	ud2				# 0, and 5 with 2 branches in the handler
	xor %eax, %eax			# 1
	mov (%rax), %ebx		# 0, and 5 with 2 branches in the handler
	xor %eax, %eax			# 1
	cpuid				# 1
	rdtsc				# 1
	incl 2f+1(%rip)			# 1: changes the next
2:	mov $0, %ebx			# 1
	dec %ebp			# 1
	jnz 1b				# 1

	pushf				# 1
	orl $0x100, (%rsp)		# 1: TF
	popf				# 1
	nop				# 1, and 5 with 2 branches in the handler
	nop				# 1, and the same
	pushf				# 1, and the same
	andl $~0x100, (%rsp)		# 1, and the same
	popf				# 1, and the same: TF was on when it began
	mov $60, %eax			# 1
	xor %edi, %edi			# 1
	syscall				# 1

handler:
	mov step(, %rdi, 8), %rax	# 1
	add %rax, 168(%rdx)		# 1: RIP of the ucontext
	ret				# 1
restorer:
	mov $15, %eax			# 1
	syscall				# 1

	.data
	.balign 8
	/* By signal: the bytes of what faulted; a single-step goes on. */
step:	.quad 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 2
action:	.quad handler, SA_FLAGS, restorer, 0
