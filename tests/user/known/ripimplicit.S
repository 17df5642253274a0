/* SPDX-License-Identifier: MIT */
/*
 * RIP-relative operands of instructions that use many registers besides, so none is free: a host
 * that needs one for the address must save and restore it.
 *                                                          instructions  loads  stores locks
 *   cmpxchg16b equal: 4 mov, cmpxchg16b, jne                   6           1      1
 *   lock cmpxchg16b not equal: sets RDX:RAX; je; SAME * 2      1+1+4=6     1      1     1
 *   mul m: mov, mul, SAME rdx                                  4           1
 *   div m: mov, mov, div, SAME rax, SAME rdx                   7           1
 *   shld m, r, cl: mov, mov, shld, SAME m (cmp m, r: mov)      2+1+3=6     2      1
 *   cmpxchg m, r: mov, mov, cmpxchg, jne                       4           1      1
 *   bts m, r with a bit beyond the word: mov, bts, testb, jz   4           2      1
 *   xadd m, rsp-free: mov, xadd, SAME                          4           1      1
 *   add m, rsp; sub m, rsp                                     2           2
 *   movabs to and from an absolute address: movabs al, movabs  2           1      1
 *   fxsave m, fxrstor m                                        2           1      1
 *   SAME of RSP, R15 kept                                      2
 *   mov rsp -> r15                                             1
 *   EXIT                                                       3
 * Instructions 6+6+4+7+6+4+4+4+2+2+2+2+1+3 = 53.
 * Conditional 1 + 3 + 1 + 2 + 1 + 1 + 1 + 1 + 1 = 12.  Loads 14, stores 8, locked 1.
 *
 * expect: instructions=53 branches=13 cond=12 taken=0 not_taken=12 far=1 loads=14 stores=8 locks=1
 */
#include "known.h"
	.globl _start
_start:
	mov %rsp, %r15
	mov $1, %eax
	mov $2, %edx
	mov $3, %ebx
	mov $4, %ecx
	cmpxchg16b pair(%rip)
	jne fail_1
	lock cmpxchg16b pair(%rip)
	je fail_1
	SAME $3, %rax
	SAME $4, %rdx
	mov $5, %eax
	mulq pair(%rip)
	SAME $0, %rdx
	mov $100, %eax
	mov $0, %edx
	divq seven(%rip)
	SAME $14, %rax
	SAME $2, %rdx
	mov $4, %ecx
	movabs $0xf000000000000000, %rax
	shld %cl, %rax, word(%rip)
	mov $0x1f, %edx
	SAME word(%rip), %rdx
	mov $7, %eax
	mov $9, %ebx
	cmpxchg %rbx, seven(%rip)
	jne fail_1
	mov $200, %eax
	bts %rax, bits(%rip)
	testb $1, bits+25(%rip)
	jz fail_1
	mov $11, %esi
	xadd %rsi, seven(%rip)
	SAME $9, %rsi
	add seven(%rip), %rsp
	sub seven(%rip), %rsp
	movabs word, %al
	movabs %al, word
	fxsave area(%rip)
	fxrstor area(%rip)
	SAME %rsp, %r15
	EXIT
	FAIL
	.data
	.balign 64
area:	.zero 512
pair:	.quad 1, 2
seven:	.quad 7
word:	.quad 1
bits:	.zero 64
