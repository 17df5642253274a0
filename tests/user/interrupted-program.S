/* SPDX-License-Identifier: MIT */
/*
 * interrupted-program: a loop that a timer interrupts until its handler has run 400 times.  It
 * writes how often loop and handler have run, as two 64-bit numbers. A round of the loop always
 * has the same number of instructions, and so has a run of the handler. So the program's counts
 * follow from these numbers, wherever the signals arrived (signals.sh has the sums). The handler
 * destroys all registers that it can; the loop notices when one is not restored, and the handler
 * when the saved RIP is not within the program.
 */
	.globl _start
_start:
	mov $14, %edi /* SIGALRM */
	lea action(%rip), %rsi
	xor %edx, %edx
	mov $8, %r10d
	mov $13, %eax /* rt_sigaction */
	syscall
	xor %edi, %edi
	lea every(%rip), %rsi
	xor %edx, %edx
	mov $38, %eax /* setitimer */
	syscall
	xor %r12d, %r12d
	xor %r13d, %r13d
	mov $400, %r14d
	mov $1, %eax
	movq %rax, %xmm0
	pxor %xmm1, %xmm1
	xor %ebx, %ebx

	/* 27 instructions, 9 branches (4 conditional; jz is taken every other round), 6 loads */
loop:	inc %r12
	lea (%r12,%r12,2), %rax
	add $3, %r13
	cmp %rax, %r13
	jne bad
	lea moves(%rip), %rcx
	call stub
	call *%rcx
	movq %xmm1, %rax
	cmp %rax, %r12
	jne bad
	test $1, %r12b
	jz 1f
1:	cmp %r14, handled(%rip)
	jb loop

	xor %edi, %edi
	lea never(%rip), %rsi
	xor %edx, %edx
	mov $38, %eax
	syscall
	mov %r12, rounds(%rip)
	mov $1, %edi
	lea rounds(%rip), %rsi
	mov $16, %edx
	mov $1, %eax
	syscall
	xor %edi, %edi
	mov $60, %eax
	syscall
bad:	mov $1, %edi
	mov $60, %eax
	syscall

stub:	jmp *adds_at(%rip) /* as a procedure linkage table does */
adds:	push %rbx
	paddq %xmm0, %xmm1
	pop %rbx
	ret
moves:	mov $4, %ecx
	lea from(%rip), %rsi
	lea to(%rip), %rdi
	rep movsb
	push $0
	pop %rax
	ret

	/* 24 instructions with the restorer, 4 branches (2 conditional) */
handler:
	mov 168(%rdx), %rax /* uc_mcontext.rip */
	lea _start(%rip), %rcx
	sub %rcx, %rax
	cmp $end - _start, %rax
	ja bad
	cmp $14, %edi
	jne bad
	incq handled(%rip)
	xor %ebx, %ebx
	xor %ebp, %ebp
	xor %r8d, %r8d
	xor %r9d, %r9d
	xor %r12d, %r12d
	xor %r13d, %r13d
	xor %r14d, %r14d
	xor %r15d, %r15d
	pxor %xmm0, %xmm0
	pxor %xmm1, %xmm1
	mov $-1, %rsi
	mov $-1, %rdi
	std
	ret
restorer:
	mov $15, %eax
	syscall
end:
	.data
	.balign 8
action:	.quad handler, 0x04000004, restorer, 0 /* SA_RESTORER, SA_SIGINFO */
every:	.quad 0, 500, 0, 500
never:	.quad 0, 0, 0, 0
adds_at: .quad adds
rounds:	.quad 0
handled: .quad 0
from:	.ascii "abcd"
to:	.ascii "    "
