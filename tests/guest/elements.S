/* SPDX-License-Identifier: MIT */
/*
 * elements.S: a program without libraries whose instructions access elements that a mask or indices
 * select.  Those that cross a cache line are counted (guest.sh has the sums).  An element that is
 * not selected is not.
 */
#define TURNS 1000

	.globl _start
	.text
_start:
	mov $TURNS, %ecx
	movl $0, to		# no other store of these faults
turn:
	vmovdqu from+48, %ymm0		# a load, between its halves
	vmovdqu %ymm0, to+48		# a store, the same
	vmovdqa selected, %ymm1
	vmaskmovps from+50, %ymm1, %ymm0	# a load: element 3
	vmaskmovps from+46, %ymm1, %ymm0	# none: that would be element 4
	vmaskmovps %xmm0, %xmm1, to+50	# a store: element 3
	vmaskmovps %xmm0, %xmm1, to+54	# none: that would be element 2
	vpmaskmovq from+62, %ymm1, %ymm0	# a load: element 0
	vpmaskmovq %ymm0, %ymm1, to+44	# none: that would be element 2
	mov $from, %esi
	vmovdqa offsets, %ymm2
	vpgatherdd %ymm1, (%rsi,%ymm2,2), %ymm3	# 2 loads: elements 0 and 3
	vmovdqa selected, %ymm1
	vmovdqa wide_offsets, %ymm2
	vpgatherqq %ymm1, (%rsi,%ymm2), %ymm3	# 2 loads: elements 0 and 1
	vmovdqa selected, %xmm1
	vpgatherdq %xmm1, (%rsi,%xmm2), %xmm3	# a load: element 0
	mov $to+56, %edi
	pcmpeqd %xmm1, %xmm1
	maskmovdqu %xmm1, %xmm0		# none: its elements are bytes
	dec %ecx
	jnz turn
	vzeroupper
	mov $60, %eax
	xor %edi, %edi
	syscall

	.data
	.balign 64
selected:				# elements 0, 1, 3 and 7 of 4 bytes; 0, 1 and 3 of 8 bytes
	.long 1 << 31, 1 << 31, 1, 1 << 31, 1, 1, 1, 1 << 31
offsets:				# halves
	.long 31, 0, 63, 95, 31, 31, 31, 0
wide_offsets:
	.quad 0x000000000000003d, 60, 124, 0

	.bss
from:	.skip 512
	.balign 64
to:	.skip 512
