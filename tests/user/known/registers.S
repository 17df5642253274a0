/* SPDX-License-Identifier: MIT */
/*
 * All 16 registers keep their values over every kind of transfer: the code that looks targets up restores
 * what it spills.
 *   set up 15 (rsp in a word of memory): 15 mov + 1 store of rsp = 16
 *   transfers: jmp, jmp *m, call, (ret), call *m, (ret), jne (taken), jmp *r15, call *r14, (ret)
 *     = 7 + 3 = 10                            jumps 3, calls 3, returns 3, conditional 1 taken
 *   checks: 12 SAME by constant, rsp by memory: 26; r14, r15 by constant: 4; rbp 2
 *     rax rbx rcx rdx rsi rdi rbp r8 r9 r10 r11 r12 r13 r14 r15 rsp = 16 * 2 = 32
 *   EXIT 3
 * Instructions 16 + 10 + 32 + 3 = 61.  Conditional 17: 1 taken, 16 not.
 * Near taken 3 + 6 + 1 = 10; branches 10 + 16 + 1 = 27.
 * Loads: jmp *m, call *m, 3 ret, cmp m = 6.  Stores: rsp, 3 calls = 4.
 *
 * expect: instructions=61 branches=27 cond=17 taken=10 not_taken=16 call=3 ret=3 far=1
 * expect: loads=6 stores=4
 */
#include "known.h"
	.globl _start
_start:
	mov %rsp, stack(%rip)
	mov $0xa0a0a0a0, %eax
	mov $0xb0b0b0b0, %ebx
	mov $0xc0c0c0c0, %ecx
	mov $0xd0d0d0d0, %edx
	mov $0x51515151, %esi
	mov $0xd1d1d1d1, %edi
	mov $0xb9b9b9b9, %ebp
	mov $0x08080808, %r8d
	mov $0x09090909, %r9d
	mov $0x10101010, %r10d
	mov $0x11111111, %r11d
	mov $0x12121212, %r12d
	mov $0x13131313, %r13d
	mov $empty, %r14d
	mov $3f, %r15d
	jmp 1f
	ud2
1:	jmp *p2(%rip)
	ud2
2:	call empty
	call *pointer(%rip)
	jne 4f
	ud2
4:	jmp *%r15
	ud2
3:	call *%r14
	SAME stack(%rip), %rsp
	cmp $0xa0a0a0a0, %eax
	jne fail_1
	cmp $0xb0b0b0b0, %ebx
	jne fail_1
	cmp $0xc0c0c0c0, %ecx
	jne fail_1
	cmp $0xd0d0d0d0, %edx
	jne fail_1
	SAME $0x51515151, %rsi
	cmp $0xd1d1d1d1, %edi
	jne fail_1
	cmp $0xb9b9b9b9, %ebp
	jne fail_1
	SAME $0x08080808, %r8
	SAME $0x09090909, %r9
	SAME $0x10101010, %r10
	SAME $0x11111111, %r11
	SAME $0x12121212, %r12
	SAME $0x13131313, %r13
	SAME $empty, %r14
	SAME $3b, %r15
	EXIT
	FAIL

empty:	ret
	.data
stack:	.quad 0
pointer: .quad empty
p2:	.quad 2b
