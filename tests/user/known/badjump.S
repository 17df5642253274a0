/* SPDX-License-Identifier: MIT */
/*
 * An indirect JMP whose operand cannot be read faults and has not retired; the loop before it ran
 * through the same block twice with an operand that could be read.
 *   mov, mov; 2 * (dec, jz not taken, jmp * taken) and then dec, jz taken, jmp-less: mov, jmp rel,
 *   jmp * faults:  2 + 2 * 3 + 2 + 2 = 12
 *
 * status: 139
 * expect: instructions=12 branches=6 cond=3 taken=4 not_taken=2 loads=2 stores=0
 */
	.globl _start
_start:
	mov $3, %ecx
	mov $pointer, %edx
again:	dec %ecx
	jz 1f
last:	jmp *(%rdx)
1:	mov $0x10, %edx
	jmp last
	.data
pointer: .quad again
