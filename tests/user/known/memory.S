/* SPDX-License-Identifier: MIT */
/*
 * Loads, stores and locked loads, an instruction of each sort.  A load is an instruction that
 * reads data memory, a store one that writes it; an instruction may be both and counts once each.
 *
 *   loads only, 12:  mov, movzb, add r,m, cmp m,r, cmp m,imm, test, cmovne (taken or not), xlat,
 *                    imul, prefetcht0, bt m,imm, mul m
 *   stores only, 5:  mov, mov imm, movnti, setc, push imm
 *   both, 6:         add m,r, inc, neg, shl, push m, pop m
 *   locked, 9:       lock inc, lock add, lock xadd, lock cmpxchg (equal and not), lock btsl,
 *                    lock cmpxchg8b, lock cmpxchg16b, xchg
 *   neither, 5:      lea, nop m, mov r,r, endbr64, lfence
 * In order below, with the pop of the pushed immediate (1, a load), set-up 4 before, 1 within,
 * 4 after, and EXIT 3:
 * Instructions 12 + 5 + 6 + 9 + 5 + 1 + 9 + 3 = 50.
 * Loads 12 + 6 + 9 + 1 = 28.  Stores 5 + 6 + 9 = 20.  Locks 9.
 *
 * expect: instructions=50 branches=1 far=1 loads=28 stores=20 locks=9
 */
#include "known.h"
	.globl _start
_start:
	mov $data, %ebx
	mov $data, %esi
	mov $1, %eax
	xor %ecx, %ecx
	/* loads */
	mov (%rsi), %rdx
	movzbl 1(%rsi), %edx
	add 8(%rsi), %edx
	cmp %edx, 8(%rsi)
	cmpb $1, (%rsi)
	test %edx, (%rsi)
	cmovne (%rsi), %edx
	xlat
	imul 4(%rsi), %edx
	prefetcht0 (%rsi)
	btl $3, (%rsi)
	mull 4(%rsi)
	/* stores */
	mov %rdx, (%rsi)
	movl $5, 4(%rsi)
	movnti %rdx, 16(%rsi)
	setc 24(%rsi)
	push $77
	/* both */
	add %edx, (%rsi)
	incl (%rsi)
	negq (%rsi)
	shll $2, (%rsi)
	push 8(%rsi)
	pop 8(%rsi)
	pop %rdi
	/* locked */
	mov $1, %eax
	lock incl (%rsi)
	lock add %edx, (%rsi)
	lock xadd %eax, (%rsi)
	lock cmpxchg %edx, (%rsi)
	lock cmpxchg %edx, (%rsi)
	lock btsl $3, (%rsi)
	lock cmpxchg8b (%rsi)
	lock cmpxchg16b 32(%rsi)
	xchg %edx, (%rsi)
	/* neither */
	lea 8(%rsi,%rdx,4), %rdi
	nopl 8(%rsi)
	mov %rsi, %rdi
	endbr64
	lfence
	mov $1, %r8d
	mov $1, %r9d
	mov $1, %r10d
	mov $1, %r12d
	EXIT
	.data
	.balign 64
data:	.zero 512
