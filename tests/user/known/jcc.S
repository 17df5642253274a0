/* SPDX-License-Identifier: MIT */
/*
 * Every Jcc, in its short and its near form, taken and not taken; a wrong turn ends in UD2.
 *   taken:     push, popf, jcc             = 3 instructions
 *   not taken: push, popf, jcc, jmp        = 4 instructions, 1 more branch, taken
 * Taken cases: 16 conditions and 3 second ways to hold (JBE by ZF, JL and JLE by OF):
 * 19 flag sets, each in two forms: 38.  The negated conditions are not taken then: 38.
 *   instructions: 38 * 3 + 38 * 4 + EXIT 3 = 269
 *   branches: 38 + 38 + 38 jmp + 1 far = 115; near taken 38 + 38 = 76
 *   loads, stores: one push and one popf each = 76
 *
 * expect: instructions=269 branches=115 cond=76 taken=76 not_taken=38 far=1 loads=76 stores=76
 */
#include "known.h"
#define CF 1
#define PF 4
#define ZF 0x40
#define SF 0x80
#define OF 0x800

.macro TAKEN cc, flags
	pushq $\flags
	popfq
	j\cc 1f
	ud2
1:	pushq $\flags
	popfq
	{disp32} j\cc 2f
	ud2
2:
.endm
.macro NOT cc, flags
	pushq $\flags
	popfq
	j\cc 1f
	jmp 2f
1:	ud2
2:	pushq $\flags
	popfq
	{disp32} j\cc 3f
	jmp 4f
3:	ud2
4:
.endm
	.globl _start
_start:
	TAKEN o, OF
	TAKEN no, CF+PF+ZF+SF
	TAKEN b, CF
	TAKEN ae, PF+ZF+SF+OF
	TAKEN e, ZF
	TAKEN ne, CF+PF+SF+OF
	TAKEN be, CF
	TAKEN be, ZF
	TAKEN a, PF+SF+OF
	TAKEN s, SF
	TAKEN ns, CF+PF+ZF+OF
	TAKEN p, PF
	TAKEN np, CF+ZF+SF+OF
	TAKEN l, SF
	TAKEN l, OF
	TAKEN ge, SF+OF
	TAKEN le, ZF
	TAKEN le, OF+CF
	TAKEN g, SF+OF+CF+PF
	NOT no, OF
	NOT o, CF+PF+ZF+SF
	NOT ae, CF
	NOT b, PF+ZF+SF+OF
	NOT ne, ZF
	NOT e, CF+PF+SF+OF
	NOT a, CF
	NOT a, ZF
	NOT be, PF+SF+OF
	NOT ns, SF
	NOT s, CF+PF+ZF+OF
	NOT np, PF
	NOT p, CF+ZF+SF+OF
	NOT ge, SF
	NOT ge, OF
	NOT l, SF+OF
	NOT g, ZF
	NOT g, OF+CF
	NOT le, SF+OF+CF+PF
	EXIT
