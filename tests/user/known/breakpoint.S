/* SPDX-License-Identifier: MIT */
/*
 * INT3 is a trap, not a fault: it is reported after the instruction (Vol. 3A 6.5), which has
 * retired, and like every INT n it is a far branch.  Nothing after it runs.
 *   mov, jmp, int3 = 3
 *
 * status: 133
 * expect: instructions=3 branches=2 taken=1 far=1 loads=0 stores=0
 */
	.globl _start
_start:
	mov $1, %eax
	jmp 1f
	nop
1:	int3
	mov $60, %eax
	syscall
