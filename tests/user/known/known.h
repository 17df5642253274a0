/* SPDX-License-Identifier: MIT */
/* known.h: what the programs of this folder share.  known.sh says how they are used. */
/* clang-format off */

/* Ends the process.  3 instructions; 1 branch, far. */
.macro EXIT status=0
	mov $\status, %edi
	mov $60, %eax
	syscall
.endm

/* Ends with `status` when the two differ.  2 instructions, 1 conditional branch not taken. */
.macro SAME what, expected, status=1
	cmp \what, \expected
	jne fail_\status
.endm

/* Where SAME goes. */
.macro FAIL status=1
fail_\status:
	EXIT \status
.endm

/* A page for code far above 2 GiB, in RAX and RDI.  8 instructions; 1 branch, far. */
.macro MAP_HIGH
	mov $9, %eax
	movabs $0x700000000000, %rdi
	mov $4096, %esi
	mov $7, %edx
	mov $0x32, %r10d	/* MAP_PRIVATE, MAP_ANONYMOUS, MAP_FIXED */
	mov $-1, %r8
	xor %r9d, %r9d
	syscall
.endm
