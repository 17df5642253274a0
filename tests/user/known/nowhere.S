/* SPDX-License-Identifier: MIT */
/*
 * A call to an address without code: the CALL retires, the fetch after it faults.
 *   mov, mov, call = 3
 *
 * status: 139
 * expect: instructions=3 branches=1 call=1 taken=1 stores=1 loads=0
 */
	.globl _start
_start:
	mov $1, %ebx
	mov $0x1000, %eax
	call *%rax
	mov $60, %eax
	syscall
