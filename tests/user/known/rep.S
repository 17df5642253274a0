/* SPDX-License-Identifier: MIT */
/*
 * A REP string instruction is one instruction however often it repeats; with a count of 0 it is
 * one instruction that touches no memory.
 *
 *                                              instructions  loads  stores  conditional
 *   set up: movabs rax, cld                         2
 *   REP STOSB 100 bytes: mov, mov, rep              3                 1
 *   REP MOVSB 100 bytes: mov, mov, mov, rep         4          1      1
 *   REPE CMPSB, equal to the end: 3 mov, rep, jne   5          1              1
 *   REPNE SCASB finds the end: 2 mov, xor, rep, jne 5          1              1
 *      SAME rcx                                     2                         1
 *   REPE CMPSB, differs at byte 0: inc mem, 3 mov,
 *      rep, je; SAME rcx                          5+1+2=8      2      1       2
 *   REP LODSB 5: 2 mov, rep                         3          1
 *   REP MOVSQ backwards: std, 3 mov, rep, cld       6          1      1
 *   count 0: xor ecx, then MOVSB STOSB LODSB        4
 *      test ecx; CMPSB; jne; SCASB; jne             5                         2
 *      SAME rsi, SAME rdi, with 2 mov before        6                         2
 *   67H, ECX 0 of a larger RCX: movabs, rep         2
 *   without REP: 2 mov, movsb stosb lodsb cmpsb scasb 7        4      2
 *      (movsb: both; stosb: store; lodsb, cmpsb, scasb: load)
 *   EXIT                                            3
 * Instructions 2+3+4+5+5+2+8+3+6+4+5+6+2+7+3 = 65.
 * Conditional 1+1+1+2+2+2 = 9, all not taken.  Loads 1+1+1+2+1+1+4 = 11.  Stores 1+1+1+1+2 = 6.
 *
 * expect: instructions=65 branches=10 cond=9 taken=0 not_taken=9 far=1 loads=11 stores=6
 */
#include "known.h"
	.globl _start
_start:
	movabs $0x4141414141414141, %rax
	cld
	mov $a, %edi
	mov $100, %ecx
	rep stosb
	mov $a, %esi
	mov $b, %edi
	mov $100, %ecx
	rep movsb
	mov $a, %esi
	mov $b, %edi
	mov $100, %ecx
	repe cmpsb
	jne fail_1
	mov $a, %edi
	mov $1000, %ecx
	xor %eax, %eax
	repne scasb
	jne fail_1
	SAME $899, %rcx
	incb b(%rip)
	mov $a, %esi
	mov $b, %edi
	mov $100, %ecx
	repe cmpsb
	je fail_1
	SAME $99, %rcx
	mov $a, %esi
	mov $5, %ecx
	rep lodsb
	std
	mov $a+88, %esi
	mov $a+96, %edi
	mov $5, %ecx
	rep movsq
	cld
	xor %ecx, %ecx
	rep movsb
	rep stosb
	rep lodsb
	test %ecx, %ecx
	repe cmpsb
	jne fail_1
	repne scasb
	jne fail_1
	mov $a+48, %eax
	mov $a+56, %edx
	SAME %rax, %rsi
	SAME %rdx, %rdi
	movabs $0x300000000, %rcx
	addr32 rep movsb
	mov $a, %esi
	mov $b, %edi
	movsb
	stosb
	lodsb
	cmpsb
	scasb
	EXIT
	FAIL
	.bss
a:	.zero 1000
b:	.zero 1000
