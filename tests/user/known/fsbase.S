/* SPDX-License-Identifier: MIT */
/*
 * The FS and GS bases are the program's, over system calls, jumps and calls.
 *   ARCH_SET_FS, ARCH_SET_GS: each mov, mov, mov, syscall = 8       far 2
 *   mov to fs:0, mov to gs:8                                 2      store 2
 *   jmp, call, (ret)                                         3      call 1, ret 1
 *   SAME of fs:0 and gs:8 with a register, of the words in .data    8: 4 * 2   load 4, cond 4
 *   mov rax, fs:0 into rax; SAME                             3      load 1, cond 1
 *   EXIT                                                     3
 * Instructions 8 + 2 + 2 (mov) + 3 + 8 + 3 + 3 = 29.
 *
 * expect: instructions=29 branches=11 cond=5 taken=3 not_taken=5 call=1 ret=1 far=3
 * expect: loads=6 stores=3
 */
#include "known.h"
	.globl _start
_start:
	mov $158, %eax
	mov $0x1002, %edi
	mov $area, %esi
	syscall
	mov $158, %eax
	mov $0x1001, %edi
	mov $area, %esi
	syscall
	mov $0x77, %ebx
	mov $0x99, %ebp
	mov %rbx, %fs:0
	mov %rbp, %gs:8
	jmp 1f
	ud2
1:	call empty
	SAME %fs:0, %rbx
	SAME %gs:8, %rbp
	SAME area(%rip), %rbx
	SAME area+8(%rip), %rbp
	mov %fs:0, %rax
	SAME $0x77, %rax
	EXIT
	FAIL

empty:	ret
	.data
area:	.quad 0, 0
