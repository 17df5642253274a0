/* SPDX-License-Identifier: MIT */
/*
 * RIP-relative operands of VEX and EVEX instructions, with immediates, masks and broadcasts.
 *   vmovdqu, vpaddd, vpermq imm, vmovd, SAME                    6   load 3  cond 1
 *   andn m, bextr m, mulx m, rorx m imm                         4   load 4
 *   EVEX: kxnorw, vpaddd m{k}, vpaddd broadcast, vpternlogd imm, vmovdqu32 store{k}  5  load 3 store 1
 *   vpcmpeqd m -> k, kmovw, SAME                                4   load 1  cond 1
 *   vzeroupper, EXIT                                            4
 * Instructions 23.  Loads 11.  Stores 1.
 *
 * needs: avx512vl
 * expect: instructions=23 branches=3 cond=2 taken=0 not_taken=2 far=1 loads=11 stores=1
 */
#include "known.h"
	.globl _start
_start:
	vmovdqu data(%rip), %ymm1
	vpaddd data(%rip), %ymm1, %ymm2
	vpermq $0x1b, data(%rip), %ymm3
	vmovd %xmm3, %eax
	SAME $7, %eax
	andn word(%rip), %rax, %rdx
	bextr %rdx, word(%rip), %rcx
	mulx word(%rip), %rsi, %rdi
	rorx $5, word(%rip), %rbx
	kxnorw %k1, %k1, %k1
	vpaddd data(%rip), %zmm1, %zmm4{%k1}
	vpaddd word(%rip){1to16}, %zmm1, %zmm5
	vpternlogd $0x96, data(%rip), %zmm4, %zmm5
	vmovdqu32 %zmm4, data(%rip){%k1}
	vpcmpeqd data(%rip), %zmm4, %k2
	kmovw %k2, %eax
	SAME $0xffff, %eax
	vzeroupper
	EXIT
	FAIL
	.data
	.balign 64
data:	.long 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16
word:	.quad 0x123456789abcdef
