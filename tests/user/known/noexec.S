/* SPDX-License-Identifier: MIT */
/*
 * A jump into data, which is mapped without execute permission: the JMP retires, nothing after it
 * does, however well its bytes would run.
 *
 * status: 139
 * expect: instructions=2 branches=1 taken=1 loads=0 stores=0
 */
	.globl _start
_start:
	lea data(%rip), %rax
	jmp *%rax
	.data
data:	.byte 0xbf, 0, 0, 0, 0, 0xb8, 60, 0, 0, 0, 0x0f, 0x05
