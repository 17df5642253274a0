/* SPDX-License-Identifier: MIT */
/*
 * HLT at CPL 3 faults (#GP, SIGSEGV), after a call whose return is not reached.
 *
 * status: 139
 * expect: instructions=2 branches=1 call=1 ret=0 taken=1 stores=1 loads=0
 */
	.globl _start
_start:
	nop
	call 1f
	nop
1:	hlt
	ret
