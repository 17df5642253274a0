/* SPDX-License-Identifier: MIT */
/*
 * The program sees its own addresses: the return address on the stack, LEA of RIP, RCX after
 * SYSCALL; and it may return to an address that it made itself.
 *   call, pop, mov, SAME                       5     call 1, cond 1     load 1, store 1
 *   lea (rip), mov, SAME                       4     cond 1
 *   mov, syscall, mov, SAME                    5     far 1, cond 1
 *   retpoline: mov, call, (mov to (rsp), ret)  4     call 1, ret 1      load 1, store 2
 *   return address raised over a UD2: call, (addq (rsp), ret)  3  call 1, ret 1  load 2, store 2
 *   longjmp-like: mov rsp, call, (call, (mov rsp, jmp *))  mov+mov+call+call+mov+jmp = 6
 *                                                    call 2, jmp 1      store 2
 *   SAME rsp 2, EXIT 3                         5     cond 1, far 1
 * Instructions 5 + 4 + 5 + 4 + 3 + 6 + 5 = 32.  Conditional 4 not.  Calls 5, returns 2.
 * Near taken 5 + 2 + 1 = 8; branches 8 + 4 + 2 = 14.  Loads 4, stores 7.
 *
 * expect: instructions=32 branches=14 cond=4 taken=8 not_taken=4 call=5 ret=2 far=2
 * expect: loads=4 stores=7
 */
#include "known.h"
	.globl _start
_start:
	call 1f
1:	pop %rax
	mov $1b, %edx
	SAME %rax, %rdx
	lea (%rip), %rax
1:	mov $1b, %edx
	SAME %rax, %rdx
	mov $39, %eax
	syscall
1:	mov $1b, %edx
	SAME %rcx, %rdx
	mov $2f, %eax
	call 1f
	ud2
1:	mov %rax, (%rsp)
	ret
2:	call skip
	ud2
	mov %rsp, %r15
	mov $3f, %eax
	call deep
	ud2
3:	SAME %rsp, %r15
	EXIT
	FAIL

skip:	addq $2, (%rsp)
	ret
deep:	call 1f
	ud2
1:	mov %r15, %rsp
	jmp *%rax
