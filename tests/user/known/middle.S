/* SPDX-License-Identifier: MIT */
/*
 * Jumps into the middle of an instruction: the same bytes are two programs.
 *   B8 90 90 FF C3 is MOV EAX, 0xC3FF9090; from its second byte it is NOP, NOP, INC EBX.
 *   xor ebx, mov ecx 10                                                    2
 *   `whole`:  mov eax, dec, jz (not taken), jmp inside = 4
 *   `inside`: nop, nop, inc ebx, dec, jz, jmp inside: as the tail is shared, the first entry is
 *     whole, the other 9 are inside; the tenth JZ is taken:
 *     4 + 8 * 6 + 5 = 57                           conditional 10: 1 taken; jumps 9
 *   SAME eax, SAME ebx 9                                                   4
 *   LOCK INC without and with its prefix:
 *     mov ecx 2, jmp, incl, dec, jnz (taken), lock incl, dec, jnz (not)    8
 *     ECX 2: one round each                        conditional 2: 1 taken; jumps 1
 *   SAME word 2                                                            2    load
 *   EXIT                                                                   3
 * Instructions 2 + 57 + 4 + 8 + 2 + 3 = 76.  Conditional 10 + 2 + 2 + 1 = 15: 2 taken, 13 not.
 * Near taken 2 + 9 + 1 = 12; branches 15 + 10 + 1 = 26.  Loads 3, stores 2, locked 1.
 *
 * expect: instructions=76 branches=26 cond=15 taken=12 not_taken=13 far=1 loads=3 stores=2 locks=1
 */
#include "known.h"
	.globl _start
_start:
	xor %ebx, %ebx
	mov $10, %ecx
whole:	.byte 0xb8
inside:	.byte 0x90, 0x90, 0xff, 0xc3
	dec %ecx
	jz 1f
	jmp inside
1:	SAME $0xc3ff9090, %eax
	SAME $9, %ebx
	mov $2, %ecx
	jmp 2f
1:	lock
2:	incl word(%rip)
	dec %ecx
	jnz 1b
	cmpl $2, word(%rip)
	jne fail_1
	EXIT
	FAIL
	.data
word:	.long 0
