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

#ifdef __x86_64__
#define LEA_AREA lea area(%rip), %rdi
#define EXIT	 mov $60, %eax; xor %edi, %edi; syscall
#else
#define LEA_AREA lea area, %edi
#define EXIT	 mov $1, %eax; xor %ebx, %ebx; int $0x80
#endif

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
	LEA_AREA			# 1
	mov $4096, %ecx			# 1
	cld				# 1
	rep stosb			# 1, however often a page fault interrupts it
	EXIT				# 3, of which a far branch
leaf:
	nop
	ret

	.bss
	.balign 4096
	.skip 2048
area:	.skip 8192
