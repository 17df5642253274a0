/* SPDX-License-Identifier: MIT */
/* endless.S: a program that makes no system call and does not end by itself. */
	.globl _start
	.text
_start:
	jmp _start
