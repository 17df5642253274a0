/* SPDX-License-Identifier: MIT */
/*
 * A store to an address that is not mapped, in the middle of a block, after 10 rounds of a loop in
 * which it works.  The faulting MOV has not retired and is no store.
 *   mov, mov; 10 * (mov store, add, dec, jnz); mov rdx; then the round that faults: 0
 *   2 + 40 + 2 (mov, jmp) = 44.  The pointer is moved to 0x10 before the jump back.
 *
 * status: 139
 * expect: instructions=44 branches=11 cond=10 taken=10 not_taken=1 far=0 loads=0 stores=10
 */
	.globl _start
_start:
	mov $data, %edx
	mov $10, %ecx
1:	mov %ecx, (%rdx)
	add $4, %rdx
	dec %ecx
	jnz 1b
	mov $0x10, %edx
	jmp 1b
	.bss
data:	.zero 64
