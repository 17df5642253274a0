/* SPDX-License-Identifier: MIT */
/*
 * The GS base, which no libc of this system uses.
 *   mov, mov, mov, syscall                                   4      far 1
 *   mov, mov to gs:0, SAME of gs:0                           4      store 1, load 1, cond 1
 *   EXIT                                                     3
 *
 * expect: instructions=11 branches=3 cond=1 taken=0 not_taken=1 far=2 loads=1 stores=1
 */
#include "known.h"
	.globl _start
_start:
	mov $158, %eax
	mov $0x1001, %edi
	mov $area, %esi
	syscall
	mov $0x77, %ebx
	mov %rbx, %gs:0
	SAME %gs:0, %rbx
	EXIT
	FAIL
	.data
area:	.quad 0
