/* SPDX-License-Identifier: MIT */
/*
 * The 128 bytes below RSP belong to the program, and nothing but the program writes further below
 * either: 64 words down to RSP - 512 keep their values over jumps and indirect jumps of code
 * that runs for the first time (and so is translated then).  Calls write one word: the return
 * address, at RSP - 8.
 *   fill:  mov ecx; 64 * (mov to -8(rsp,rcx,8), inc, jnz)        1 + 192  cond 64: 63 taken
 *   jumps: jmp, mov, jmp *, call, (ret), mov, call *, (ret)      8        2 jumps, 2 calls, 2 ret
 *   check: mov rcx; 63 * (cmp, jne, inc, cmp, jne)
 *          1 + 63 * 5 = 316                                               cond 126: 62 taken
 *   EXIT 3
 * Words are at RSP + 8 * RCX for RCX = -64 .. -1; the check covers -64 .. -2.
 * Instructions 1 + 192 + 8 + 316 + 3 = 520.  Conditional 64 + 126 = 190: 125 taken, 65 not.
 * Near taken 125 + 6 = 131; branches 190 + 6 + 1 = 197.
 * Loads 63 + 2 ret = 65.  Stores 64 + 2 = 66.
 *
 * expect: instructions=520 branches=197 cond=190 taken=131 not_taken=65 call=2 ret=2 far=1
 * expect: loads=65 stores=66
 */
#include "known.h"
	.globl _start
_start:
	mov $-64, %rcx
1:	mov %rcx, (%rsp,%rcx,8)
	inc %rcx
	jnz 1b
	jmp 1f
	ud2
1:	mov $2f, %eax
	jmp *%rax
	ud2
2:	call empty
	mov $empty2, %eax
	call *%rax
	mov $-64, %rcx
1:	cmp (%rsp,%rcx,8), %rcx
	jne fail_1
	inc %rcx
	cmp $-1, %rcx
	jne 1b
	EXIT
	FAIL

empty:	ret
empty2:	ret
