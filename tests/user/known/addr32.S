/* SPDX-License-Identifier: MIT */
/*
 * 67H: addresses of 32 bits from registers whose upper halves are not 0.
 *   set up: movabs * 3                                     3
 *   mov (esi), mov to (edi,ecx*4), lea (esi,ecx), SAME     5    load 1, store 1, cond 1
 *   addr32 lodsb; RSI is zero-extended: SAME               3    load 1, cond 1
 *   addr32 stosb: SAME rdi                                 3    store 1, cond 1
 *   addr32 rep movsb of 3: movabs * 3, rep, SAME * 3 (rsi rdi rcx)  10  load 1, store 1, cond 3
 *   addr32 jmp *(eax): mov eax with upper half: movabs, jmp 2   load 1
 *   EXIT                                                   3
 * lodsb needs RSI again: movabs 1; stosb RDI: movabs 1.
 * Instructions 3 + 5 + 4 + 4 + 10 + 2 + 3 = 31.  Conditional 6.
 *
 * expect: instructions=31 branches=8 cond=6 taken=1 not_taken=6 far=1 loads=4 stores=3
 */
#include "known.h"
	.globl _start
#define HIGH 0x7777777700000000
_start:
	movabs $HIGH + data, %rsi
	movabs $HIGH + data, %rdi
	movabs $HIGH + 8, %rcx
	mov (%esi), %eax
	mov %eax, (%edi,%ecx,4)
	lea (%esi,%ecx), %rdx
	SAME $data+8, %rdx
	movabs $HIGH + data, %rsi
	addr32 lodsb
	SAME $data+1, %rsi
	movabs $HIGH + data, %rdi
	addr32 stosb
	SAME $data+1, %rdi
	movabs $HIGH + data, %rsi
	movabs $HIGH + data + 16, %rdi
	movabs $HIGH + 3, %rcx
	addr32 rep movsb
	SAME $data+3, %rsi
	SAME $data+19, %rdi
	SAME $0, %rcx
	movabs $HIGH + pointer, %rax
	jmp *(%eax)
	ud2
1:	EXIT
	FAIL
	.data
data:	.zero 64
pointer: .quad 1b
