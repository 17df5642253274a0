/* SPDX-License-Identifier: MIT */
/*
 * A RET that cannot read its return address faults: no return, no load.
 *   call, mov = 2
 *
 * status: 139
 * expect: instructions=2 branches=1 taken=1 call=1 ret=0 loads=0 stores=1
 */
	.globl _start
_start:
	call 1f
	mov $60, %eax
	syscall
1:	mov $0x10, %esp
	ret
