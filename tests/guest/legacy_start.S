/* SPDX-License-Identifier: MIT */
/*
 * legacy_start.S: from the multiboot loader to legacy.c, 32 bits without paging; entries for #UD, #GP, NMI
 * and the performance-monitoring interrupt, and a handler for SMIs (Vol. 3C 34.4, 34.5).
 */
#define MULTIBOOT_MAGIC 0x1badb002
#define MULTIBOOT_FLAGS 0x00010000 /* the addresses in the header count */
#define CODE 0x08
#define DATA 0x10

	.section .note.GNU-stack, "", @progbits

	.section .multiboot, "a"
	.balign 4
header:
	.long MULTIBOOT_MAGIC, MULTIBOOT_FLAGS, -(MULTIBOOT_MAGIC + MULTIBOOT_FLAGS)
	.long header, image_start, image_data_end, image_end, start

	.text
	.global start, entry_ud, entry_gp, entry_nmi, entry_pmi, entry_self, smi_handler, smi_handler_end
start:
	cli
	cld
	lgdt gdt_pointer
	ljmp $CODE, $1f
1:	mov $DATA, %eax
	mov %eax, %ds
	mov %eax, %es
	mov %eax, %ss
	mov $stack_end, %esp
	call run
2:	hlt
	jmp 2b

	/* RDMSR, WRMSR and RDPMC have two bytes: what faulted is left out. */
entry_gp:
	add $4, %esp			/* the error code */
entry_ud:
	addl $2, (%esp)
	movl $1, faulted
	iret

entry_nmi:
	pusha
	cld
	call on_nmi
	popa
	iret

entry_pmi:
	pusha
	cld
	call on_pmi
	popa
	iret

entry_self:
	pusha
	cld
	call on_self
	popa
	iret

	/* Comes in real-address mode with flat data segments. */
	.code16
smi_handler:
	addr32 incl smis
	rsm
smi_handler_end:

	.data
	.balign 8
gdt:	.quad 0
	.quad 0x00cf9a000000ffff
	.quad 0x00cf92000000ffff
gdt_pointer:
	.word . - gdt - 1
	.long gdt

	.bss
	.balign 16
stack:	.skip 16384
stack_end:
