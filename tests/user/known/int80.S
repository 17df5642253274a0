/* SPDX-License-Identifier: MIT */
/*
 * INT 80H: one instruction, one far branch; unlike SYSCALL it keeps RCX and R11.
 *   2 * (mov) + mov, int, SAME rcx, SAME r11, EXIT 3 = 2 + 2 + 4 + 3 = 11
 *
 * needs: int80
 * expect: instructions=11 branches=4 cond=2 taken=0 not_taken=2 far=2 loads=0 stores=0
 */
#include "known.h"
	.globl _start
_start:
	mov $0x1234, %ecx
	mov $0x5678, %r11d
	mov $20, %eax
	int $0x80
	SAME $0x1234, %ecx
	SAME $0x5678, %r11
	EXIT
	FAIL
