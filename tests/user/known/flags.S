/* SPDX-License-Identifier: MIT */
/*
 * Flags live across every kind of block boundary: whatever counts must not disturb them.
 *
 *   ADC chain over jumps, 8 limbs of all ones plus 1: stc, 8 * (adc, jmp), setc,
 *     SAME al 1                                        1 + 16 + 1 + 2 = 20   8 jmp, 1 not
 *   sub sets CF, OF, SF at once; then over jmp, call, ret, indirect jump, indirect call each
 *     flag is looked at by SETcc: mov, sub, jmp, call, (ret), lea-free jmp *, call *, (ret)
 *       mov eax, mov r8, mov r9, sub, jmp, call, ret, jmp *r8, call *r9, ret = 10
 *     setc seto sets setz setp seta 6; six SAME 12                            = 18
 *   INC keeps CF over a loop edge: stc, mov, (dec, jnz) * 10, jnc             = 1+1+20+1 = 23
 *     10 jnz: 9 taken, 1 not; jnc not taken
 *   DF over a call and a return: see below                                     = 8
 *     std call ret mov lodsb cld = 6, SAME rsi 2
 *   LAHF/SAHF over a jump: mov, sahf, jmp, lahf, and, SAME                     = 7
 *   PUSHF/POPF over a jump: pushq, popf, jmp, pushf, pop, and, cld, SAME       = 9
 *   not taken branches keep flags: mov, cmp, je, jl, jb, ja                    = 6
 *     5 is above 3: je not, jl not, jb not, ja taken
 *   EXIT 3
 * Instructions 20 + 10 + 18 + 23 + (6 + 2) + 7 + 9 + 6 + 3 = 104.
 * Jumps 8 + 1 + 1 (indirect) + 1 + 1 = 12; calls 2 + 1, returns 3.
 * Conditional: 1 + 6 + 10 + 1 + 1 + 1 + 1 + 4 = 25; taken 9 + 1 = 10; not taken 15.
 * Near taken 12 + 6 + 10 = 28; branches 28 + 15 + 1 = 44.
 * Loads: returns 3, lodsb, popf, pop = 6.  Stores: calls 3, push, pushf = 5.
 *
 * expect: instructions=104 branches=44 cond=25 taken=28 not_taken=15 call=3 ret=3 far=1
 * expect: loads=6 stores=5
 */
#include "known.h"
	.globl _start
_start:
	stc
	.rept 8
	adc $-1, %r8
	jmp 1f
	ud2
1:
	.endr
	setc %al
	SAME $1, %al
	mov $0x7fffffff, %eax
	mov $2f, %r8d
	mov $empty, %r9d
	sub $-2, %eax
	jmp 1f
	ud2
1:	call empty
	jmp *%r8
	ud2
2:	call *%r9
	setc %r10b
	seto %r11b
	sets %r12b
	setz %r13b
	setp %r14b
	seta %r15b
	SAME $1, %r10b
	SAME $1, %r11b
	SAME $1, %r12b
	SAME $0, %r13b
	SAME $0, %r14b
	SAME $0, %r15b
	stc
	mov $10, %ecx
1:	dec %ecx
	jnz 1b
	jnc fail_1
	std
	call empty
	mov $bytes+1, %esi
	lodsb
	cld
	SAME $bytes, %esi
	mov $0xd7, %ah
	sahf
	jmp 1f
	ud2
1:	lahf
	and $0xd5, %ah
	SAME $0xd5, %ah
	pushq $0xcd5
	popfq
	jmp 1f
	ud2
1:	pushfq
	pop %rdx
	and $0xcd5, %edx
	cld
	SAME $0xcd5, %edx
	mov $5, %edx
	cmp $3, %edx
	je fail_1
	jl fail_1
	jb fail_1
	ja 1f
	ud2
1:	EXIT
	FAIL

empty:	ret
	.data
bytes:	.byte 1, 2
