/* SPDX-License-Identifier: MIT */
/*
 * start.S: from the multiboot loader to 64-bit mode, into ring 3 and back, and the interrupt entries.
 *
 * The first 4 GiB are mapped as they are, for ring 3 too: this is an example and no system.
 */
#define MULTIBOOT_MAGIC 0x1badb002
#define MULTIBOOT_FLAGS 0x00010000 /* the addresses in the header count, not an ELF header */

#define CODE64	0x08
#define DATA64	0x10
#define USER_DATA (0x18 | 3)
#define USER_CODE (0x20 | 3)
#define TASK	0x28

	.section .note.GNU-stack, "", @progbits

	.section .multiboot, "a"
	.balign 4
header:
	.long MULTIBOOT_MAGIC, MULTIBOOT_FLAGS, -(MULTIBOOT_MAGIC + MULTIBOOT_FLAGS)
	.long header, image_start, image_data_end, image_end, start

/* --- 32-bit: four page directories of 2 MiB pages, then IA-32e mode (Vol. 3A 9.8.5) --- */
	.text
	.code32
	.global start
start:
	cli
	cld
	mov $stack_end, %esp
	mov $page_directories, %edi
	xor %ecx, %ecx
1:	mov %ecx, %eax
	shl $21, %eax
	or $0x87, %eax			/* present, writable, user, 2 MiB */
	cmp $3 * 512, %ecx
	jb 2f
	or $0x18, %eax			/* the last GiB holds devices: not cached */
2:	mov %eax, (%edi, %ecx, 8)
	inc %ecx
	cmp $4 * 512, %ecx
	jb 1b
	mov $4, %ecx
	mov $page_directories + 7, %eax
	mov $page_pointers, %edi
3:	mov %eax, (%edi)
	add $4096, %eax
	add $8, %edi
	dec %ecx
	jnz 3b
	movl $page_pointers + 7, page_root
	mov $page_root, %eax
	mov %eax, %cr3
	mov %cr4, %eax
	or $0x20, %eax			/* PAE */
	mov %eax, %cr4
	mov $0xc0000080, %ecx		/* IA32_EFER.LME */
	rdmsr
	or $0x100, %eax
	wrmsr
	mov %cr0, %eax
	or $0x80000000, %eax		/* PG */
	mov %eax, %cr0
	lgdt gdt_pointer
	ljmp $CODE64, $start64

	.code64
start64:
	mov $DATA64, %eax
	mov %eax, %ds
	mov %eax, %es
	mov %eax, %ss
	/* the address of the task state segment is in pieces */
	mov $task_state, %eax
	mov %ax, gdt_task + 2
	shr $16, %eax
	mov %al, gdt_task + 4
	mov %ah, gdt_task + 7
	mov $TASK, %eax
	ltr %ax
	mov $stack_end, %rsp
	call run
1:	hlt
	jmp 1b

/* --- the known program, run in ring 3: 1 + 4 * times + 1 instructions --- */
	.global known, known_add, known_lea, known_dec, known_jnz, known_int
known:	xor %eax, %eax
known_add: add $3, %rax
known_lea: lea (%rax, %rax), %rdx
known_dec: dec %rdi
known_jnz: jnz known_add
known_int: int $0x80

/* void run_user(void (*code)(void), uint64_t rdi): until it executes INT 80H. */
	.global run_user
run_user:
	push %rbx
	push %rbp
	push %r12
	push %r13
	push %r14
	push %r15
	mov %rsp, kernel_stack
	mov %rdi, %rax
	mov %rsi, %rdi
	pushq $USER_DATA
	pushq $user_stack_end
	pushq $0x202			/* interrupts are taken */
	pushq $USER_CODE
	push %rax
	iretq

	.global user_ends
user_ends:
	mov kernel_stack, %rsp
	pop %r15
	pop %r14
	pop %r13
	pop %r12
	pop %rbp
	pop %rbx
	ret

/* --- RDMSR and WRMSR, and where #GP goes on instead: bool f(uint32_t msr, uint64_t *value) --- */
	.global read_msr, read_msr_at, write_msr, write_msr_at, msr_faults
read_msr:
	mov %edi, %ecx
read_msr_at:
	rdmsr
	shl $32, %rdx
	or %rdx, %rax
	mov %rax, (%rsi)
	mov $1, %eax
	ret
write_msr:
	mov %edi, %ecx
	mov %esi, %eax
	mov %rsi, %rdx
	shr $32, %rdx
write_msr_at:
	wrmsr
	mov $1, %eax
	ret
msr_faults:
	xor %eax, %eax
	ret

/* --- interrupt entries; all registers go to struct frame (machine.h) --- */
	.macro entry number
entry_\number:
	.if \number != 8 && (\number < 10 || \number > 14) && \number != 17
	push $0				/* no error code */
	.endif
	push $\number
	jmp common
	.endm
	.altmacro
	.set n, 0
	.rept 32
	entry %n
	.set n, n + 1
	.endr
	entry 224			/* performance-monitoring interrupt */
	entry 255			/* spurious */

common:
	push %r15
	push %r14
	push %r13
	push %r12
	push %r11
	push %r10
	push %r9
	push %r8
	push %rbp
	push %rdi
	push %rsi
	push %rdx
	push %rcx
	push %rbx
	push %rax
	cld
	mov %rsp, %rdi
	call take_interrupt
	pop %rax
	pop %rbx
	pop %rcx
	pop %rdx
	pop %rsi
	pop %rdi
	pop %rbp
	pop %r8
	pop %r9
	pop %r10
	pop %r11
	pop %r12
	pop %r13
	pop %r14
	pop %r15
	add $16, %rsp
	iretq

	.section .rodata
	.macro address number
	.quad entry_\number
	.endm
	.balign 8
	.global entries
entries:
	.set n, 0
	.rept 32
	address %n
	.set n, n + 1
	.endr
	.quad entry_224, entry_255

	.data
	.balign 8
gdt:	.quad 0
	.quad 0x00209a0000000000	/* code, 64 bits, ring 0 */
	.quad 0x0000920000000000	/* data, ring 0 */
	.quad 0x0000f20000000000	/* data, ring 3 */
	.quad 0x0020fa0000000000	/* code, 64 bits, ring 3 */
gdt_task:
	.quad 0x0000890000000067, 0	/* available 64-bit TSS, 104 bytes */
gdt_pointer:
	.word . - gdt - 1
	.quad gdt

/* INT 80H comes to RSP0.  The other gates have stacks of their own (Vol. 3A 6.14.5): the library is
 * built with the red zone, which an interrupt on the same stack would run over. */
	.balign 8
task_state:
	.long 0
	.quad stack_end, 0, 0
	.quad 0
	.quad pmi_stack_end, fault_stack_end, 0, 0, 0, 0, 0
	.quad 0
	.word 0, 104

	.bss
	.balign 4096
page_root: .skip 4096
page_pointers: .skip 4096
page_directories: .skip 4 * 4096
stack:	.skip 65536
stack_end:
pmi_stack: .skip 65536
pmi_stack_end:
fault_stack: .skip 4096
fault_stack_end:
user_stack: .skip 4096
user_stack_end:
kernel_stack: .skip 8
