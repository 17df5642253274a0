/* SPDX-License-Identifier: MIT */
/*
 * xen_domain.S: the smallest kernel that Xen accepts for its first domain. It is paravirtual and
 * blocks forever, so that the hypervisor stays and answers the keys of its console.
 */
#define HYPERCALL_SCHED 29
#define SCHED_BLOCK	1
#define BASE		0xffffffff80000000

	.globl _start
	.text
_start:
	mov $SCHED_BLOCK, %edi
	call hypercalls + 32 * HYPERCALL_SCHED
	jmp _start
	.balign 4096
hypercalls:
	.skip 4096

/* What its loader wants to know (elfnote.h of Xen's public headers). */
	.macro note type:req, value:vararg
	.balign 4
	.long 4, 2f - 1f, \type
	.asciz "Xen"
1:	\value
2:	.balign 4
	.endm
	.section .note.Xen, "a", @note
	note 1, .quad _start		# entry
	note 2, .quad hypercalls	# the page that Xen fills in
	note 3, .quad BASE		# where physical memory is mapped
	note 4, .quad BASE		# what the file's physical addresses begin with
	note 5, .asciz "xen-3.0"
	note 6, .asciz "none"
	note 8, .asciz "generic"
