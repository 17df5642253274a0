/* SPDX-License-Identifier: MIT */
/*
 * ZMM0..31 and K1..7 keep their values.
 *   fill:  32 * (mov, vpbroadcastd)                        64
 *          7 * (mov, kmovw)                                14
 *   jmp, call, (ret), lea, jmp *, mov, syscall              7    far 1
 *   check: 7 * (kmovw, SAME)                               21    cond 7
 *          32 * (vextracti32x4, vmovd, SAME)              128    cond 32
 *   vzeroupper, EXIT                                        4
 * Instructions 238.  Near taken 4.  Loads 1 (ret), stores 1 (call).
 *
 * needs: avx512f
 * expect: instructions=238 branches=45 cond=39 taken=4 not_taken=39 call=1 ret=1 far=2
 * expect: loads=1 stores=1
 */
#include "known.h"
	.globl _start
#define LOW 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
#define HIGH 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
_start:
	.irp n, LOW, HIGH
	mov $0x1000 + \n, %eax
	vpbroadcastd %eax, %zmm\n
	.endr
	.irp n, 1, 2, 3, 4, 5, 6, 7
	mov $0x2000 + \n, %eax
	kmovw %eax, %k\n
	.endr
	jmp 1f
	ud2
1:	call empty
	lea 2f(%rip), %rax
	jmp *%rax
	ud2
2:	mov $39, %eax
	syscall
	.irp n, 1, 2, 3, 4, 5, 6, 7
	kmovw %k\n, %eax
	SAME $0x2000 + \n, %eax
	.endr
	.irp n, LOW, HIGH
	vextracti32x4 $3, %zmm\n, %xmm0
	vmovd %xmm0, %eax
	SAME $0x1000 + \n, %eax
	.endr
	vzeroupper
	EXIT
	FAIL

empty:	ret
