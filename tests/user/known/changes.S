/* SPDX-License-Identifier: MIT */
/*
 * changes: code that is changed each time before it runs, below 2 GiB and far above, beside code that
 * stays; loops and direct calls that have been linked to it (Vol. 3A, 11.6).
 *
 * The two functions: target 2 instructions, 1 near branch; hot 2 + 20 * 3 + 1 = 63, 21 branches.
 * Low: 2 + 300 * (8 + 65) = 21902 instructions, 300 * (3 + 22) = 7500 branches.
 * High: 8 + 2 + 5 (the copy and where it is) + 300 * (9 + 65) = 22215, 2 + 300 * 25 = 7502 branches.
 * End: 2 + 3 instructions, 2 branches.
 * expect: instructions=44122 branches=15004
 * build: -Wl,--no-warn-rwx-segments
 */
#include "known.h"

.globl _start
_start:	xor %r12d, %r12d
	mov $300, %ebx
1:	mov %ebx, target+1(%rip)
	mov %bl, hot_add+2(%rip)
	call target
	add %eax, %r12d
	call hot
	add %eax, %r12d
	dec %ebx
	jnz 1b

	MAP_HIGH
	SAME %rdi, %rax
	lea target(%rip), %rsi
	mov $code_end-target, %ecx
	mov %rax, %rbp
	rep movsb
	mov $300, %ebx
2:	mov %ebx, 1(%rbp)
	mov %bl, hot_add+2-target(%rbp)
	call *%rbp
	add %eax, %r12d
	lea hot-target(%rbp), %rdx
	call *%rdx
	add %eax, %r12d
	dec %ebx
	jnz 2b

	SAME $124780, %r12d
	EXIT
	FAIL

	.section .code, "awx", @progbits
target:	mov $0, %eax
	ret
hot:	xor %eax, %eax
	mov $20, %ecx
hot_add:	add $0, %eax
	dec %ecx
	jnz hot_add
	ret
code_end:
