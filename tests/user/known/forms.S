/* SPDX-License-Identifier: MIT */
/*
 * One instruction of each way to reach memory.  The comment after it says whether it loads (L),
 * stores (S) and locks (K), as Vol. 2 describes it.  Each of 157 instructions runs once.
 *
 * needs: avx2
 * expect: instructions=157 branches=4 cond=0 taken=3 call=1 ret=1 far=1
 * expect: loads=94 stores=59 locks=12
 */
#include "known.h"
	.globl _start
_start:
	lea area(%rip), %rdi
	mov %rdi, %rbp
	xor %eax, %eax
	xor %edx, %edx
	fxsave (%rdi)			# S
	fxrstor (%rdi)			# L
	mov $7, %eax
	xor %edx, %edx
	xsave 1024(%rdi)		# LS
	xsaveopt 1024(%rdi)		# LS
	xrstor 1024(%rdi)		# L
	fnsave (%rdi)			# S
	frstor (%rdi)			# L
	fnstenv (%rdi)			# S
	fldenv (%rdi)			# L
	fnstcw (%rdi)			# S
	fldcw (%rdi)			# L
	fnstsw (%rdi)			# S
	fldpi
	fldpi
	fstpt (%rdi)			# S
	fldt (%rdi)			# L
	fbstp (%rdi)			# S
	fbld (%rdi)			# L
	fistpll (%rdi)			# S
	fildll (%rdi)			# L
	fisttpll (%rdi)			# S
	fninit
	flds zero(%rip)			# L
	fadds zero(%rip)		# L
	fcomps zero(%rip)		# L
	fiadds zero(%rip)		# L
	stmxcsr (%rdi)			# S
	ldmxcsr (%rdi)			# L
	pcmpeqd %xmm1, %xmm1
	pxor %xmm2, %xmm2
	maskmovdqu %xmm1, %xmm2		# S
	maskmovq %mm1, %mm2		# S
	emms
	vpcmpeqd %ymm3, %ymm3, %ymm3
	vmaskmovps (%rdi), %ymm3, %ymm4	# L
	vmaskmovps %ymm4, %ymm3, (%rdi)	# S
	vpmaskmovd (%rdi), %ymm3, %ymm4	# L
	vpmaskmovq %ymm4, %ymm3, (%rdi)	# S
	vpxor %ymm5, %ymm5, %ymm5
	vpgatherdd %ymm3, (%rdi,%ymm5,4), %ymm6	# L
	vpcmpeqd %ymm3, %ymm3, %ymm3
	vgatherqpd %ymm3, (%rdi,%ymm5,8), %ymm6	# L
	vbroadcastss (%rdi), %ymm0	# L
	vbroadcastf128 (%rdi), %ymm0	# L
	vextractf128 $1, %ymm0, (%rdi)	# S
	vinsertf128 $1, (%rdi), %ymm0, %ymm1	# L
	vmovdqu (%rdi), %ymm0		# L
	vmovdqu %ymm0, (%rdi)		# S
	vmovntdq %ymm0, (%rdi)		# S
	movntdqa (%rdi), %xmm0		# L
	movnti %rax, (%rdi)		# S
	lddqu (%rdi), %xmm0		# L
	movlps (%rdi), %xmm0		# L
	movhps %xmm0, (%rdi)		# S
	pinsrb $1, (%rdi), %xmm0	# L
	pextrw $1, %xmm0, (%rdi)	# S
	cvtsi2sdl (%rdi), %xmm1		# L
	pcmpestri $0, (%rdi), %xmm0	# L
	cmpxchg8b (%rdi)		# LS
	cmpxchg16b (%rdi)		# LS
	lock cmpxchg8b (%rdi)		# LSK
	lock cmpxchg16b (%rdi)		# LSK
	cmpxchg %eax, (%rdi)		# LS
	lock cmpxchg %al, (%rdi)	# LSK
	xadd %ax, (%rdi)		# LS
	lock xadd %rax, (%rdi)		# LSK
	xchg %rax, (%rdi)		# LSK
	xchg %al, (%rdi)		# LSK
	btl $3, (%rdi)			# L
	btsl $3, (%rdi)			# LS
	lock btrl $3, (%rdi)		# LSK
	mov $5, %eax
	lock btc %rax, (%rdi)		# LSK
	bt %rax, (%rdi)			# L
	lock notl (%rdi)		# LSK
	lock negl (%rdi)		# LSK
	lock sbbl $1, (%rdi)		# LSK
	lock decb (%rdi)		# LSK
	shll $0, (%rdi)			# LS
	shll $3, (%rdi)			# LS
	shld $3, %eax, (%rdi)		# LS
	rcll $1, (%rdi)			# LS
	setz (%rdi)			# S
	cmovz (%rdi), %eax		# L
	cmovnz (%rdi), %eax		# L
	movbe (%rdi), %eax		# L
	movbe %eax, (%rdi)		# S
	andn (%rdi), %rax, %rcx		# L
	mulx (%rdi), %rax, %rcx		# L
	pext (%rdi), %rax, %rcx		# L
	crc32l (%rdi), %eax		# L
	popcnt (%rdi), %eax		# L
	imul $3, (%rdi), %eax		# L
	mull (%rdi)			# L
	movl $1, (%rdi)			# S
	xor %edx, %edx
	divl (%rdi)			# L
	testl $1, (%rdi)		# L
	cmpl $1, (%rdi)			# L
	cmp %eax, (%rdi)		# L
	mov %rsp, %r12
	enter $16, $0			# S
	leave				# L
	mov %rdi, %rbp
	pushf				# S
	popf				# L
	push $1				# S
	pop (%rdi)			# LS
	pushw (%rdi)			# LS
	popw (%rdi)			# LS
	push %fs			# S
	pop %fs				# L
	mov %ds, (%rdi)			# S
	mov (%rdi), %es			# L
	movl $0, (%rdi)			# S
	mov (%rdi), %es			# L
	lar (%rdi), %eax		# L
	lsl (%rdi), %eax		# L
	verr (%rdi)			# L
	verw (%rdi)			# L
	clflush (%rdi)
	prefetcht0 (%rdi)		# L
	prefetcht1 (%rdi)		# L
	prefetcht2 (%rdi)		# L
	prefetchnta (%rdi)		# L
	.byte 0x0f,0x18,0x27
	.byte 0x0f,0x18,0x3f
	.byte 0x0f,0x0d,0x07		# L
	.byte 0x0f,0x0d,0x17		# L
	.byte 0x0f,0x0d,0x1f		# L
	.byte 0x0f,0x19,0x07
	.byte 0x0f,0x1e,0x07
	nopl (%rdi)
	lea (%rdi), %rsi
	mov %rdi, %rbx
	xlatb				# L
	movabs %al, area		# S
	movabs area, %al		# L
	lodsb				# L
	lea area+64(%rip), %rsi
	cmpsb				# L
	scasb				# L
	stosb				# S
	movsb				# LS
	mov %rsp, %r12
	call *fn(%rip)			# LS
	jmp *next(%rip)			# L
leaf:	ret				# L
n1:
	EXIT
	.data
fn:	.quad leaf
next:	.quad n1
	.bss
zero:	.skip 8
	.balign 64
area:	.skip 8192
