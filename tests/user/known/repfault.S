/* SPDX-License-Identifier: MIT */
/*
 * REP STOSB that runs into a hole after some thousand iterations: it has not retired, but what it
 * wrote is written (the exit by signal shows only that the fault came).
 *   mov, mov, mov = 3
 *
 * status: 139
 * expect: instructions=3 branches=0 loads=0 stores=0
 */
	.globl _start
_start:
	mov $data, %edi
	mov $0x10000000, %ecx
	mov $1, %eax
	rep stosb
	mov $60, %eax
	syscall
	.bss
data:	.zero 8192
