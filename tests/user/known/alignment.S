/* SPDX-License-Identifier: MIT */
/*
 * With the alignment-check flag set every unaligned access at CPL 3 faults: what the host adds to
 * the program must be aligned.  And RFLAGS.AC, ID and DF come back as they were.
 *   pushf, orl, popf                                        3   load 2, store 2
 *   mov, 20 * (call, (ret), dec, jnz)                       81  cond 20: 19 taken
 *   mov, syscall, lea, jmp *, std                           5   far 1
 *   pushf, pop, cld, and, SAME                              6   cond 1
 *   pushf, andl, popf                                       3   load 2, store 2
 *   EXIT                                                    3
 * Instructions 101.  Loads 2 + 20 + 1 + 2 = 25.  Stores 2 + 20 + 1 + 2 = 25.
 *
 * expect: instructions=101 branches=64 cond=21 taken=60 not_taken=2 call=20 ret=20 far=2
 * expect: loads=25 stores=25
 */
#include "known.h"
	.globl _start
_start:
	pushfq
	orl $0x240000, (%rsp)
	popfq
	mov $20, %ecx
1:	call empty
	dec %ecx
	jnz 1b
	mov $39, %eax
	syscall
	lea 2f(%rip), %rdx
	jmp *%rdx
	ud2
2:	std
	pushfq
	pop %rdx
	cld
	and $0x240400, %edx
	SAME $0x240400, %edx
	pushfq
	andl $~0x240000, (%rsp)
	popfq
	EXIT
	FAIL

empty:	ret
