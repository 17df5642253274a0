/* SPDX-License-Identifier: MIT */
/*
 * A static PIE: loaded where the system likes, without an interpreter.
 *   lea, shr 12, jz fail (it is not at 0): 3; mov store, SAME 2, call, (ret), EXIT 3
 *   = 3 + 1 + 2 + 2 + 3 = 11
 *
 * build: -fPIE -static-pie
 * expect: instructions=11 branches=5 cond=2 taken=2 not_taken=2 call=1 ret=1 far=1
 * expect: loads=2 stores=2
 */
#include "known.h"
	.globl _start
_start:
	lea _start(%rip), %rax
	shr $12, %rax
	jz fail_1
	mov %rax, word(%rip)
	SAME word(%rip), %rax
	call empty
	EXIT
	FAIL

empty:	ret
	.data
word:	.quad 0
