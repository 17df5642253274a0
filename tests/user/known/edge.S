/* SPDX-License-Identifier: MIT */
/*
 * Code at the very end of a page, with nothing after the page.  Nothing may read further.
 *   mmap of 2 pages: 6 mov and mov r9d... = 7 + syscall        8     far 1
 *   munmap of the second: mov rax -> rbx, lea, mov, mov, syscall 5   far 1
 *   copy: lea rdi, mov rsi, mov ecx, rep movsb                 4     load 1, store 1
 *   mprotect: mov, mov, mov, mov, syscall                      5     far 1
 *   call at the last 6 bytes: lea, call *, (mov eax, ret)      4     call 1, ret 1
 *   SAME eax                                                   2
 *   call of the last byte alone: lea, call *, (ret)            3     call 1, ret 1
 *   EXIT                                                       3
 * Instructions 8 + 5 + 4 + 5 + 4 + 2 + 3 + 3 = 34.
 * Loads: rep, 2 ret = 3; stores: rep, 2 call = 3.
 *
 * expect: instructions=34 branches=9 cond=1 taken=4 not_taken=1 call=2 ret=2 far=4
 * expect: loads=3 stores=3
 */
#include "known.h"
	.globl _start
_start:
	mov $9, %eax
	xor %edi, %edi
	mov $8192, %esi
	mov $3, %edx
	mov $0x22, %r10d
	mov $-1, %r8
	xor %r9d, %r9d
	syscall
	mov %rax, %rbx
	lea 4096(%rbx), %rdi
	mov $4096, %esi
	mov $11, %eax
	syscall
	lea 4090(%rbx), %rdi
	mov $code, %esi
	mov $6, %ecx
	rep movsb
	mov %rbx, %rdi
	mov $4096, %esi
	mov $5, %edx
	mov $10, %eax
	syscall
	lea 4090(%rbx), %rax
	call *%rax
	SAME $77, %eax
	lea 4095(%rbx), %rax
	call *%rax
	EXIT
	FAIL
code:	mov $77, %eax
	ret
