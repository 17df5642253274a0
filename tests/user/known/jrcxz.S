/* SPDX-License-Identifier: MIT */
/*
 * JRCXZ, JECXZ, LOOP, LOOPE, LOOPNE both ways; with 67H they use ECX.  A wrong turn ends in UD2.
 *
 *   case                    instructions            conditional
 *   JRCXZ  taken            xor jrcxz               1 taken
 *   JRCXZ  not              mov jrcxz jmp           1 not
 *   JECXZ  taken            movabs jecxz            1 taken   (RCX is not 0, ECX is)
 *   JECXZ  not              mov jecxz jmp           1 not
 *   LOOP   taken            mov loop                1 taken
 *   LOOP   not              mov loop jmp            1 not
 *   LOOP   RCX=0 taken      xor loop                1 taken   (RCX becomes -1)
 *   LOOP   67H taken        movabs loopl            1 taken   (ECX = 2)
 *   LOOP   67H not          movabs loopl jmp        1 not     (ECX = 1, RCX is larger)
 *   LOOPE  taken            mov cmp loope           1 taken
 *   LOOPE  not by ZF        mov test loope jmp      1 not
 *   LOOPE  not by RCX       mov cmp loope jmp       1 not
 *   LOOPNE taken            mov test loopne         1 taken
 *   LOOPNE not by ZF        mov cmp loopne jmp      1 not
 *   LOOPNE not by RCX       mov test loopne jmp     1 not
 *   LOOP 100 times          mov 100*loop            99 taken, 1 not
 * Taken 2+2+2+2+2+3+3 = 16 instructions (7 taken); not taken 3+3+3+3+4+4+4+4 = 28 (8 not, 8 jmp);
 * the loop 101; checks 2 * 2 = 4 (2 not); EXIT 3: 152 instructions.
 * Conditional: 7 + 8 + 100 + 2 = 117; not taken 8 + 1 + 2 = 11; near taken 7 + 8 + 99 = 114.
 *
 * expect: instructions=152 branches=126 cond=117 taken=114 not_taken=11 far=1 loads=0 stores=0
 */
#include "known.h"
	.globl _start
_start:
	xor %ecx, %ecx
	jrcxz 1f
	ud2
1:	mov $1, %ecx
	jrcxz 1f
	jmp 2f
1:	ud2
2:	movabs $0x100000000, %rcx
	jecxz 1f
	ud2
1:	mov $1, %ecx
	jecxz 1f
	jmp 2f
1:	ud2
2:	mov $2, %ecx
	loop 1f
	ud2
1:	mov $1, %ecx
	loop 1f
	jmp 2f
1:	ud2
2:	xor %ecx, %ecx
	loop 1f
	ud2
1:	SAME $-1, %rcx
	movabs $0x500000002, %rcx
	loopl 1f
	ud2
1:	SAME $1, %rcx
	movabs $0x500000001, %rcx
	loopl 1f
	jmp 2f
1:	ud2
2:	mov $2, %ecx
	cmp %ecx, %ecx
	loope 1f
	ud2
1:	mov $2, %ecx
	test %ecx, %ecx
	loope 1f
	jmp 2f
1:	ud2
2:	mov $1, %ecx
	cmp %ecx, %ecx
	loope 1f
	jmp 2f
1:	ud2
2:	mov $2, %ecx
	test %ecx, %ecx
	loopne 1f
	ud2
1:	mov $2, %ecx
	cmp %ecx, %ecx
	loopne 1f
	jmp 2f
1:	ud2
2:	mov $1, %ecx
	test %ecx, %ecx
	loopne 1f
	jmp 2f
1:	ud2
2:	mov $100, %ecx
1:	loop 1b
	EXIT
	FAIL
