/* SPDX-License-Identifier: MIT */
/*
 * splits.S: a program without libraries whose loads and stores cross cache lines as its text says
 * (guest.sh has the sums). There are single ones, locked ones, and elements of REP string
 * instructions in both directions.
 */
#define TURNS 1000

	.globl _start
	.text
_start:
	mov $TURNS, %ecx
turn:
	mov from+62, %eax		# a load
	mov %eax, to+61			# a store
	add %eax, to+125		# a load and a store
	lock incl to+189		# the same
	movups from+120, %xmm0		# a load
	movups %xmm0, to+240		# none
	mov from+64, %eax		# none
	prefetcht0 from+63		# none
	dec %ecx
	jnz turn
	mov $from+1, %esi
	mov $to+2, %edi
	mov $64, %ecx
	cld
	rep movsl			# 4 loads and 4 stores
	mov $to+253, %edi
	mov $16, %ecx
	std
	rep stosl			# a store, the first
	cld
	mov $60, %eax
	xor %edi, %edi
	syscall

	.bss
from:	.skip 512
	.balign 64
to:	.skip 512
