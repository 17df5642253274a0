/* SPDX-License-Identifier: MIT */
/*
 * DIV by zero faults (#DE); DIV by 3 before it does not.
 *   mov, xor, mov, div, xor, xor = 6
 *
 * status: 136
 * expect: instructions=6 branches=0
 */
	.globl _start
_start:
	mov $100, %eax
	xor %edx, %edx
	mov $3, %ecx
	div %ecx
	xor %ecx, %ecx
	xor %edx, %edx
	div %ecx
	mov $60, %eax
	syscall
