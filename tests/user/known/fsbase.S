/* SPDX-License-Identifier: MIT */
/*
 * The FS base is the program's, over system calls, jumps and calls.
 *   ARCH_SET_FS, ARCH_GET_FS: each mov, mov, mov, syscall = 8       far 2   (GET stores nothing
 *     that the program's instructions do)
 *   mov, mov to fs:0                                         2      store 1
 *   jmp, call, (ret)                                         3      call 1, ret 1
 *   SAME of fs:0, of the word in .data, of the base got      6      load 3, cond 3
 *   mov rax, fs:0 into rax; SAME                             3      load 1, cond 1
 *   EXIT                                                     3
 * Instructions 8 + 2 + 3 + 6 + 3 + 1 (mov) + 3 = 26.
 *
 * expect: instructions=26 branches=10 cond=4 taken=3 not_taken=4 call=1 ret=1 far=3
 * expect: loads=5 stores=2
 */
#include "known.h"
	.globl _start
_start:
	mov $158, %eax
	mov $0x1002, %edi
	mov $area, %esi
	syscall
	mov $158, %eax
	mov $0x1003, %edi
	mov $got, %esi
	syscall
	mov $0x77, %ebx
	mov %rbx, %fs:0
	jmp 1f
	ud2
1:	call empty
	SAME %fs:0, %rbx
	SAME area(%rip), %rbx
	mov $area, %ebp
	SAME got(%rip), %rbp
	mov %fs:0, %rax
	SAME $0x77, %rax
	EXIT
	FAIL

empty:	ret
	.data
area:	.quad 0
got:	.quad 0
