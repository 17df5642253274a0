/* SPDX-License-Identifier: MIT */
/*
 * Branches with prefixes that do not change what they do: REP RET, BND (MPX) and NOTRACK (CET)
 * forms, branch hints, a segment override, a REX on a jump.
 *   5 calls (plain to `rep ret`, bnd call, notrack call *, bnd call *m, plain to bnd ret)
 *     each call + ret 2, and a LEA for the register: 5 * 2 + 1 = 11
 *   hints: test, jnz taken with 3EH; cmp, jne not taken with 2EH, jmp              5
 *   bnd jmp rel; test, lea, bnd jne taken                                          4
 *   lea, notrack jmp *, bnd jmp *m, REX.W jmp rel                                  4
 *   EXIT                                                                           3
 * Instructions 11 + 5 + 4 + 4 + 3 = 27.
 * Conditional 3: 2 taken, 1 not.  Calls 5, returns 5.  Jumps: 1 + 1 + 2 + 1 = 5.
 * Near taken 2 + 10 + 5 = 17; branches 18 + 1 = 19.
 * Loads: 5 ret, call *m, jmp *m = 7.  Stores 5.
 *
 * expect: instructions=27 branches=19 cond=3 taken=17 not_taken=1 call=5 ret=5 far=1
 * expect: loads=7 stores=5
 */
#include "known.h"
	.globl _start
_start:
	call repret
	bnd call repret
	lea repret(%rip), %rax
	notrack call *%rax
	bnd call *pointer(%rip)
	call bndret
	test %esp, %esp
	.byte 0x3e
	jnz 1f
	ud2
1:	cmp %eax, %eax
	.byte 0x2e
	jne 1f
	jmp 2f
1:	ud2
2:	bnd jmp 3f
	ud2
3:	test %esp, %esp
	lea (%rsp), %rsp
	bnd jne 4f
	ud2
4:	lea 5f(%rip), %rdx
	notrack jmp *%rdx
	ud2
5:	bnd jmp *p6(%rip)
	ud2
6:	.byte 0x48
	jmp 7f
	ud2
7:	EXIT

repret:	rep ret
bndret:	bnd ret
	.data
pointer: .quad repret
p6:	.quad 6b
