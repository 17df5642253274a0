/* SPDX-License-Identifier: MIT */
/*
 * memory.S: a program without libraries whose loads and stores follow from its text (guest.sh has
 * them), with data at addresses that are known, too.  The pages are touched for the first time in the
 * middle of blocks and of string instructions.
 * Each turn: 11 instructions, 7 load, 5 store, 1 of them locked.  Behind the loop: 16 instructions,
 * 2 load, 1 stores.
 */
#define TURNS 10000

#ifdef __x86_64__
#define R(name) %r##name
#define EXIT	mov $60, %eax; xor %edi, %edi; syscall
#else
#define R(name) %e##name
#define EXIT	mov $1, %eax; xor %ebx, %ebx; int $0x80
#endif

	.globl _start, load_at, store_at, leaf
	.text
_start:
	mov $TURNS, %ecx		# 1
load_at:
	mov from-4(, R(cx), 4), %eax	# loads
store_at:
	mov %eax, to-4(, R(cx), 4)	# stores
rest:
	add %eax, sum			# loads and stores
	lock incl sum			# the same, locked
	push from			# loads, and stores on the stack
	pop R(dx)			# loads
	call leaf			# stores
	prefetcht0 from			# loads
	dec %ecx
	jnz load_at
strings:
	mov $from, %esi			# 1
	mov $area, %edi			# 1
	mov $TURNS, %ecx		# 1
	cld				# 1
	rep movsl			# 1, loads and stores once, however often a page fault interrupts it
	rep stosb			# 1, which has nothing to store
	mov $from, %edi			# 1
	mov $100, %ecx			# 1
	repe scasb			# 1, loads; all is 0
	lea sum, %eax			# 1
	nopl sum			# 1
	mov $1, %ebx			# 1
	EXIT				# 3
leaf:
	ret				# loads

	.bss
from:	.skip 4 * TURNS
	.balign 0x10000
to:	.skip 4 * TURNS
	.balign 0x10000
area:	.skip 4 * TURNS
sum:	.skip 8
