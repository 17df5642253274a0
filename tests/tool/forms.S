/* SPDX-License-Identifier: MIT */
/* forms.S: forms of instructions whose names, sizes or operands AT&T's syntax writes in its own way. */
	.text
	movzbl (%rax), %ecx
	movzbw %al, %cx
	movzwq (%rax), %rcx
	movsbq %dil, %rax
	movswl (%rax,%rbx,4), %r9d
	movslq %eax, %rcx
	cbtw
	cwtl
	cltq
	cwtd
	cltd
	cqto
	nopw 0x100(%rax,%rax,1)
	nopl (%rax)
	.byte 0x66, 0x90
	.byte 0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0
	lock incb (%rdi)
	lock decq 8(%rdi)
	lock addl $-1, (%rdi)
	lock orw $0x80, %fs:16
	lock xaddl %eax, (%rdi)
	lock cmpxchg16b (%rdi)
	lock notq (%rdi)
	lock btsl $3, (%rdi)
	xchg %eax, (%rdi)
	incl (%rax)
	negw (%rax)
	mulq (%rax)
	idivb (%rax)
	imulq (%rax)
	imull $-5, (%rax), %ecx
	imul $1000, %rdx
	shll (%rax)
	shlq %cl, (%rax)
	sarw $3, (%rax)
	rorb %cl, %dl
	shldq $4, %rax, (%rbx)
	testb $0x80, (%rax)
	cmpw $-1, (%rax)
	movb $-1, (%rax)
	movq $-1, (%rax)
	mov $-1, %eax
	mov $-1, %rax
	movabs $0x1122334455667788, %rax
	movabs 0x1122334455667788, %al
	movabs %eax, 0x1122334455667788
	mov %fs:0, %rax
	mov %gs:-8, %rax
	mov %ds, (%rax)
	mov 0x7fffffff, %eax
	push $-1
	pushw $5
	pushw $-1
	pushw (%rax)
	popw (%rax)
	push %ax
	pushq (%rax)
	pop 8(%rax)
	pushf
	popf
	call *%rax
	call *8(%rax)
	jmp *(%rax,%rcx,8)
	notrack jmp *%rdx
	ljmp *(%rax)
	lcall *(%rax)
	lret
	ret $16
	repz ret
	bnd ret
	enter $16, $1
	leave
	iretq
	int3
	int $0x80
	syscall
	ud2
	hlt
	sete %al
	setnle (%rax)
	cmovnbe %rax, %rcx
	cmovl (%rax), %ecx
1:	jnz 1b
	jnb 1b
	jg 1b
	jrcxz 1b
	loopne 1b
	movsb
	movsw
	rep movsl
	rep movsq
	repz cmpsb
	repnz scasb
	rep stosl
	stosq
	lodsw
	insb
	outsl
	in $0x10, %al
	in (%dx), %eax
	out %al, (%dx)
	out %eax, $4
	xlat
	cmpxchg %cl, (%rdx)
	bt %eax, (%rcx)
	btl $5, (%rcx)
	bswap %r9
	movbe (%rax), %ecx
	crc32b (%rax), %ecx
	crc32q %rax, %rcx
	crc32l (%rax), %ecx
	popcnt (%rax), %rcx
	lzcnt %eax, %ecx
	lea (,%rax,8), %rcx
	lea 0(%rax,%rax), %ecx
	lea -1(%rip), %rdx
	mov 0(%r13), %rax
	mov (%eax), %ecx
	fld %st(0)
	fld %st(3)
	flds (%rax)
	fldl (%rax)
	fldt (%rax)
	fsts (%rax)
	fstpl (%rax)
	fstpt (%rax)
	fstp %st(1)
	filds (%rax)
	fildl (%rax)
	fildll (%rax)
	fists (%rax)
	fistpll (%rax)
	fisttpl (%rax)
	fadds (%rax)
	faddl (%rax)
	fiadds (%rax)
	fiaddl (%rax)
	fadd %st(2), %st
	fadd %st, %st(2)
	faddp %st, %st(1)
	fmulp %st, %st(3)
	.byte 0xd8, 0xe2, 0xd8, 0xea, 0xdc, 0xe2, 0xdc, 0xea, 0xde, 0xe2, 0xde, 0xea
	.byte 0xd8, 0xf2, 0xd8, 0xfa, 0xdc, 0xf2, 0xdc, 0xfa, 0xde, 0xf2, 0xde, 0xfa
	fsubs (%rax)
	fsubrl (%rax)
	fidivs (%rax)
	fcom %st(1)
	fcomp %st(2)
	fcompp
	fucom %st(1)
	fucompp
	fucomi %st(1), %st
	fcomip %st(2), %st
	fcmovb %st(1), %st
	fxch %st(1)
	fxch %st(4)
	ffree %st(2)
	fnstsw %ax
	fnstcw (%rax)
	fldcw (%rax)
	fnstenv (%rax)
	fld1
	fldz
	fabs
	fchs
	fsqrt
	fscale
	fyl2x
	fbld (%rax)
	fbstp (%rax)
	cvtsi2sd %eax, %xmm0
	cvtsi2sdl (%rax), %xmm0
	cvtsi2ssq (%rax), %xmm0
	cvttsd2si (%rax), %rcx
	cvtss2si %xmm1, %ecx
	movd %xmm0, (%rax)
	movq (%rax), %xmm0
	movq %rax, %xmm1
	movss (%rax), %xmm0
	movsd %xmm0, 8(%rsp)
	movhps %xmm0, (%rax)
	pinsrw $3, (%rax), %xmm1
	pextrb $2, %xmm1, (%rax)
	pshufd $0xe4, %xmm1, %xmm2
	cmpltps %xmm1, %xmm2
	blendvpd %xmm0, (%rax), %xmm3
	maskmovdqu %xmm1, %xmm2
	ldmxcsr (%rax)
	fxsave (%rax)
	xsave64 (%rax)
	prefetcht0 (%rax)
	clflush (%rax)
	movntiq %rax, (%rcx)
	vaddps (%rax), %ymm1, %ymm2
	vcvtsi2sdl (%rax), %xmm1, %xmm2
	vcvtsi2ssq %rax, %xmm1, %xmm2
	vcvtpd2psx (%rax), %xmm1
	vcvtpd2psy (%rax), %xmm1
	vcvttpd2dqy (%rax), %xmm1
	vmovdqu (%rax), %ymm3
	vpermq $0x1b, (%rax), %ymm1
	vpgatherdd %ymm1, (%rax,%ymm2,4), %ymm3
	vblendvps %ymm1, (%rax), %ymm2, %ymm3
	vextracti128 $1, %ymm1, (%rax)
	vfmadd213sd (%rax), %xmm1, %xmm2
	vzeroupper
	vaddps (%rax){1to16}, %zmm1, %zmm2{%k1}{z}
	vaddps {rn-sae}, %zmm1, %zmm2, %zmm3
	vaddpd {rz-sae}, %zmm1, %zmm2, %zmm3{%k2}
	vcmpltps {sae}, %zmm1, %zmm2, %k1{%k3}
	vrndscalepd $3, {sae}, %zmm1, %zmm2
	vmovdqu64 (%rax), %zmm17
	vmovdqu8 0x40(%rax), %zmm1{%k1}{z}
	vmovups %zmm0, 0x40(%rax){%k1}
	vpcmpub $4, (%rdi), %ymm18, %k1{%k2}
	vptestnmb %zmm1, %zmm1, %k4{%k1}
	vcvtpd2psx (%rax), %xmm17
	vcvtpd2ps (%rax){1to4}, %xmm17
	vcvtqq2psy (%rax), %xmm17
	vfpclasspsz $3, (%rax), %k1
	vcvtusi2sdl (%rax), %xmm1, %xmm2
	vpscatterdd %zmm0, (%rax,%zmm1,4){%k1}
	vpgatherdq (%rax,%ymm1,8), %zmm2{%k1}
	vpternlogd $1, %ymm2, %ymm3, %ymm4{%k1}{z}
	kmovq %k1, %rax
	kortestb %k1, %k2
	andn (%rax), %ecx, %edx
	bextr %eax, (%rcx), %edx
	rorx $3, (%rax), %ecx
	pdep (%rax), %ecx, %edx
	mulx (%rax), %ecx, %edx
	adcx (%rax), %ecx
	rdtscp
	rdrand %rax
	endbr64
	tzcnt %ax, %cx
	xbegin 1b
	movmskpd %xmm1, %eax
	pinsrq $1, (%rax), %xmm1
	vbroadcastss (%rax), %zmm1
	vpbroadcastd %eax, %zmm1
	vcvtps2ph $4, %ymm1, (%rax)
	xabort $3
	int1
	cpuid
	rep nop
	sysretq
	lgdt (%rax)
	str (%rax)
	verw (%rax)
	mov %rax, %cr3
	mov %dr7, %rax
	invlpg (%rax)
