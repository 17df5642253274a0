/* SPDX-License-Identifier: MIT */
/*
 * known.S: a program without libraries that says on its first line of output, in no way at all:
 * its counts follow from its text.  Instructions: 2 * LOOPS + 9 + 5 * PAIRS;
 * branches: LOOPS + 3 * PAIRS + 1.
 */
#define LOOPS 1000000
#define PAIRS 1000

	.globl _start
	.text
_start:
	mov $LOOPS, %ecx		# 1
1:	dec %ecx
	jnz 1b				# 2 * LOOPS, LOOPS branches
	mov $PAIRS, %ebx		# 1
2:	call leaf			# of each: call, nop, ret, dec, jnz = 5, 3 branches
	dec %ebx
	jnz 2b
	lea area(%rip), %rdi		# 1
	mov $4096, %ecx			# 1
	cld				# 1
	rep stosb			# 1, however often it is interrupted by faults
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
