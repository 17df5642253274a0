/* SPDX-License-Identifier: MIT */
/*
 * The x87 stack, its control word and MXCSR live across blocks.
 *   fninit, fldcw, fld1, fldpi, ldmxcsr                 5     load 2
 *   jmp, call, (ret), lea, jmp *                        5
 *   fstpt, fistpl, fnstcw, stmxcsr                      4     store 4
 *   SAME of pi (64 of its 80 bits), 1, control word, MXCSR: mov, mov/cmp:
 *     movabs + SAME 3, SAME by imm 2, 2, 2              9     load 4, cond 4
 *   EXIT                                                3
 * Instructions 26.  Near taken jmp, call, ret, jmp = 4.  Loads 2 + 1 + 4 = 7.  Stores 4 + 1 = 5.
 *
 * expect: instructions=26 branches=9 cond=4 taken=4 not_taken=4 call=1 ret=1 far=1
 * expect: loads=7 stores=5
 */
#include "known.h"
	.globl _start
_start:
	fninit
	fldcw control(%rip)
	fld1
	fldpi
	ldmxcsr mxcsr(%rip)
	jmp 1f
	ud2
1:	call empty
	lea 2f(%rip), %rax
	jmp *%rax
	ud2
2:	fstpt pi(%rip)
	fistpl one(%rip)
	fnstcw control2(%rip)
	stmxcsr mxcsr2(%rip)
	movabs $0xc90fdaa22168c234, %rdx
	SAME pi(%rip), %rdx
	cmpl $1, one(%rip)
	jne fail_1
	cmpw $0x0e7f, control2(%rip)
	jne fail_1
	cmpl $0x7f80, mxcsr2(%rip)
	jne fail_1
	EXIT
	FAIL

empty:	ret
	.data
	.balign 16
pi:	.zero 16
one:	.long 0
mxcsr:	.long 0x7f80
mxcsr2:	.long 0
control: .word 0x0e7f
control2: .word 0
