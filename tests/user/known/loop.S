/* SPDX-License-Identifier: MIT */
/*
 * A loop of 2 instructions, 1000 times: 1 + 2 * 1000 + EXIT 3 = 2004.
 * JNZ: 999 taken, 1 not.
 *
 * expect: instructions=2004 branches=1001 cond=1000 taken=999 not_taken=1 far=1
 */
#include "known.h"
	.globl _start
_start:
	mov $1000, %ecx
1:	dec %ecx
	jnz 1b
	EXIT
