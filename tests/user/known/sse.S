/* SPDX-License-Identifier: MIT */
/*
 * XMM0..15 keep their values over jumps, calls, indirect transfers and system calls.
 *   fill:  16 * (mov, movd, pshufd)                        48
 *   jmp, call, (ret), lea, jmp *, mov, syscall              7    far 1
 *   check: 16 * (pshufd, movd, SAME)                       64    cond 16
 *   EXIT                                                    3
 * Instructions 122.  Near taken 4.  Loads 1 (ret), stores 1 (call).
 *
 * expect: instructions=122 branches=22 cond=16 taken=4 not_taken=16 call=1 ret=1 far=2
 * expect: loads=1 stores=1
 */
#include "known.h"
	.globl _start
#define ALL 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
_start:
	.irp n, ALL
	mov $0x1000 + \n, %eax
	movd %eax, %xmm\n
	pshufd $0, %xmm\n, %xmm\n
	.endr
	jmp 1f
	ud2
1:	call empty
	lea 2f(%rip), %rax
	jmp *%rax
	ud2
2:	mov $39, %eax
	syscall
	.irp n, ALL
	pshufd $0xff, %xmm\n, %xmm\n
	movd %xmm\n, %eax
	SAME $0x1000 + \n, %eax
	.endr
	EXIT
	FAIL

empty:	ret
