/* SPDX-License-Identifier: MIT */
/*
 * A store into the program's own code, which is mapped without write permission: INC is neither
 * retired nor a load.
 *
 * status: 139
 * expect: instructions=2 branches=1 taken=1 loads=0 stores=0
 */
	.globl _start
_start:
	lea _start(%rip), %rax
	jmp 1f
	nop
1:	incl (%rax)
	mov $60, %eax
	syscall
