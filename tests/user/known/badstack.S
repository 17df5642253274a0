/* SPDX-License-Identifier: MIT */
/*
 * A CALL that cannot push its return address faults: it is no call, no branch, no store.
 *   mov, mov, dec, jnz not taken = 4
 *
 * status: 139
 * expect: instructions=4 branches=1 cond=1 not_taken=1 taken=0 call=0 loads=0 stores=0
 */
	.globl _start
_start:
	mov $0x10, %esp
	mov $1, %ecx
	dec %ecx
	jnz 1f
	call 1f
1:	mov $60, %eax
	syscall
