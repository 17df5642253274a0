/* SPDX-License-Identifier: MIT */
/*
 * A process that sends itself SIGTERM: the SYSCALL that does it retires, nothing after it.
 *   getpid: mov, syscall; kill: mov edi, mov esi, mov eax, syscall = 6
 *
 * status: 143
 * expect: instructions=6 branches=2 far=2 loads=0 stores=0
 */
	.globl _start
_start:
	mov $39, %eax
	syscall
	mov %eax, %edi
	mov $15, %esi
	mov $62, %eax
	syscall
	mov $60, %eax
	syscall
