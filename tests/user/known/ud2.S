/* SPDX-License-Identifier: MIT */
/*
 * UD2 in the middle of a block: it faults (#UD), so it has not retired.  3 instructions before it.
 *
 * status: 132
 * expect: instructions=3 branches=0 loads=0 stores=0
 */
	.globl _start
_start:
	mov $1, %eax
	mov $2, %ebx
	add %eax, %ebx
	ud2
	add %eax, %ebx
	add %eax, %ebx
	mov $60, %eax
	syscall
