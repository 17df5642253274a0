/* SPDX-License-Identifier: MIT */
/*
 * known.S: a program without libraries whose counts follow from its text (guest.sh has them).
 * Instructions: 2 * LOOPS + 5 * PAIRS + 9.  Branches: LOOPS + 3 * PAIRS + 1, of which
 * taken: LOOPS - 1 + 3 * PAIRS - 1 + 1.
 */
#ifndef LOOPS
#define LOOPS 1000000
#endif
#define PAIRS 1000

	.globl _start, loop_branch, leaf
	.text
_start:
	mov $LOOPS, %ecx		# 1
1:	dec %ecx
loop_branch:
	jnz 1b				# 2 * LOOPS, LOOPS branches
pairs:
	mov $PAIRS, %ebx		# 1
2:	call leaf			# each time: call, nop, ret, dec, jnz = 5, 3 branches
	dec %ebx
	jnz 2b
last:
	lea area(%rip), %rdi		# 1
	mov $4096, %ecx			# 1
	cld				# 1
	rep stosb			# 1, however often a page fault interrupts it
	mov $60, %eax			# 1
	xor %edi, %edi			# 1
	syscall				# 1, a far branch
leaf:
	nop
	ret

	.bss
	.balign 4096
	.skip 2048
area:	.skip 8192
