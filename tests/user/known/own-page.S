/* SPDX-License-Identifier: MIT */
/*
 * own-page: instructions that write to the page in which they stand, below 2 GiB and far above:
 * to the next instruction, to their own immediate, to data beside them (Vol. 3A, 11.6).
 *
 * The function: 2 + 300 * 8 + 2 = 2404 instructions, 301 branches.
 * Low: 1 + 2404 + 2 = 2407 instructions, 1 + 301 + 1 = 303 branches.
 * High: 8 + 4 (the copy and where it is) + 1 + 2404 + 2 = 2419, 1 + 303 = 304.
 * End: 3 instructions, 1 branch.
 * expect: instructions=4829 branches=608
 * build: -Wl,--no-warn-rwx-segments
 */
#include "known.h"

.globl _start
_start:	call loop
	SAME $90300, %r12d

	MAP_HIGH
	lea loop(%rip), %rsi
	mov $code_end-loop, %ecx
	mov %rax, %rbp
	rep movsb
	call *%rbp
	SAME $90300, %r12d
	EXIT
	FAIL

	.section .code, "awx", @progbits
loop:	xor %r12d, %r12d
	mov $300, %ebx
1:	mov %ebx, next+1(%rip)		/* changes the next */
next:	mov $0, %eax
	add %eax, %r12d			/* 300 + 299 + ... + 1 = 45150 */
own:	movl $1, own+6(%rip)		/* writes what it has already read */
	incl data(%rip)
	mov data(%rip), %ecx
	dec %ebx
	jnz 1b
	add %r12d, %r12d
	ret
data:	.long 0
code_end:
