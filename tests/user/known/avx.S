/* SPDX-License-Identifier: MIT */
/*
 * YMM0..15 keep their upper halves too.
 *   fill:  16 * (mov, vmovd, vpbroadcastd)                 48
 *   jmp, call, (ret), lea, jmp *, mov, syscall              7    far 1
 *   check: 16 * (vextracti128, vpextrd, SAME)              64    cond 16
 *   vzeroupper, EXIT                                        4
 * Instructions 123.  Near taken 4.  Loads 1 (ret), stores 1 (call).
 *
 * needs: avx2
 * expect: instructions=123 branches=22 cond=16 taken=4 not_taken=16 call=1 ret=1 far=2
 * expect: loads=1 stores=1
 */
#include "known.h"
	.globl _start
#define ALL 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
_start:
	.irp n, ALL
	mov $0x1000 + \n, %eax
	vmovd %eax, %xmm\n
	vpbroadcastd %xmm\n, %ymm\n
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
	vextracti128 $1, %ymm\n, %xmm\n
	vpextrd $3, %xmm\n, %eax
	SAME $0x1000 + \n, %eax
	.endr
	vzeroupper
	EXIT
	FAIL

empty:	ret
