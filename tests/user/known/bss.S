/* SPDX-License-Identifier: MIT */
/*
 * 1 GB of .bss: its first and its last byte are zero and can be written; nothing else is touched.
 *   2 * (cmpb, jne, incb, cmpb, jne) + EXIT 3 = 13; loads 2 * 3, stores 2
 *
 * expect: instructions=13 branches=5 cond=4 taken=0 not_taken=4 far=1 loads=6 stores=2
 */
#include "known.h"
	.globl _start
_start:
	.irp at, 0, 0x3fffffff
	cmpb $0, space+\at(%rip)
	jne fail_1
	incb space+\at(%rip)
	cmpb $1, space+\at(%rip)
	jne fail_1
	.endr
	EXIT
	FAIL
	.bss
space:	.zero 0x40000000
