/* SPDX-License-Identifier: MIT */
/*
 * Writes to both standard streams, and its own arguments' count is its exit status.
 *   2 * (mov edi, lea, mov, mov, syscall) + mov (rsp), mov, syscall = 13
 *
 * status: 1
 * expect: instructions=13 branches=3 far=3 loads=1 stores=0
 */
	.globl _start
_start:
	.irp fd, 1, 2
	mov $\fd, %edi
	lea text\fd(%rip), %rsi
	mov $6, %edx
	mov $1, %eax
	syscall
	.endr
	mov (%rsp), %edi
	mov $60, %eax
	syscall
	.data
text1:	.ascii "hello\n"
text2:	.ascii "error\n"
