/* SPDX-License-Identifier: MIT */
/*
 * Execution runs off the end of the mapped code: what is before the end retires, then the fetch
 * faults.  The page holds 4096 NOPs up to its end.
 *   mmap 8, mov, lea-free: mov edi, mov al, mov ecx, rep stosb  4; mprotect 5; lea 1, jmp 1; 100 nop
 *   8 + 1 (mov rbx) + 4 + 5 + 2 + 100 = 120
 *   mmap of one page at a fixed place, with nothing after it.
 *
 * status: 139
 * expect: instructions=120 branches=3 taken=1 far=2 loads=0 stores=1
 */
	.globl _start
_start:
	mov $9, %eax
	mov $0x50000000, %edi
	mov $4096, %esi
	mov $3, %edx
	mov $0x32, %r10d
	mov $-1, %r8
	xor %r9d, %r9d
	syscall
	mov %rax, %rbx
	mov %rbx, %rdi
	mov $0x90, %al
	mov $4096, %ecx
	rep stosb
	mov %rbx, %rdi
	mov $4096, %esi
	mov $5, %edx
	mov $10, %eax
	syscall
	lea 3996(%rbx), %rax
	jmp *%rax
