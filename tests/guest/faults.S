/* SPDX-License-Identifier: MIT */
/*
 * faults.S: instructions that fault, code that changes itself, and single-steps, with counts that
 * follow from the text.  Each time around: what faults does not retire; its handler, the kernel's
 * way back (sigreturn) and the rest do.
 */
#define TIMES 1000
#define SA_FLAGS 0x44000004 /* NODEFER, RESTORER, SIGINFO */

#ifdef __x86_64__
	.macro catch signal
	mov $13, %eax			# 7 instructions and a far branch
	mov $\signal, %edi
	lea action(%rip), %rsi
	xor %edx, %edx
	mov $8, %r10d
	syscall
	nop
	.endm
#define SYSCALL	  syscall
#define EXIT	  60
#define ARGUMENT  %edi
#define SIGRETURN 15
#define SIGNAL	  %rdi
#define POINTER	  168(%rdx)
#define WORD	  .quad
#define WORD_BYTES 8
#define SP	  %rsp
#define AX	  %rax
#define NEAR(what) what(%rip)
#else
	.macro catch signal
	mov $174, %eax			# the same
	mov $\signal, %ebx
	lea action, %ecx
	xor %edx, %edx
	mov $8, %esi
	int $0x80
	nop
	.endm
#define SYSCALL	  int $0x80
#define EXIT	  1
#define ARGUMENT  %ebx
#define SIGRETURN 173
#define SIGNAL	  %eax
#define POINTER	  76(%ecx)
#define WORD	  .long
#define WORD_BYTES 4
#define SP	  %esp
#define AX	  %eax
#define NEAR(what) what
#endif

	.globl _start
	.text
_start:
	catch 4				# 7
	catch 11			# 7
	catch 5				# 7
	mov $TIMES, %ebp		# 1

1:	ud2				# 0, and 5 with 2 branches in the handler
	xor %eax, %eax			# 1
	mov (AX), %ebx			# 0, and 5 with 2 branches in the handler
	xor %eax, %eax			# 1
	cpuid				# 1
	rdtsc				# 1
	incl NEAR(2f+1)			# 1: changes the next
2:	mov $0, %ebx			# 1
	dec %ebp			# 1
	jnz 1b				# 1

	pushf				# 1
	orl $0x100, (SP)		# 1: TF
	popf				# 1
	nop				# 1, and 5 with 2 branches in the handler
	nop				# 1, and the same
	pushf				# 1, and the same
	andl $~0x100, (SP)		# 1, and the same
	popf				# 1, and the same: TF was on when it began
	mov $EXIT, %eax			# 1
	xor ARGUMENT, ARGUMENT		# 1
	SYSCALL				# 1

handler:
	mov step(, SIGNAL, WORD_BYTES), AX	# 1
	add AX, POINTER			# 1: of the ucontext
	ret				# 1
restorer:
	mov $SIGRETURN, %eax		# 1
	SYSCALL				# 1

	.data
	.balign 8
	/* By signal: the bytes of what faulted; a single-step goes on. */
step:	WORD 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 2
action:	WORD handler, SA_FLAGS, restorer, 0, 0
