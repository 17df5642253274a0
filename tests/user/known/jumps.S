/* SPDX-License-Identifier: MIT */
/*
 * Indirect jumps: through a table of 4, 400 times; then register, RIP-relative memory, SIB, and
 * a RET used as a jump.
 *   table: mov ecx 1; each round: mov, and, jmp *table, (add, jmp) or (add) at the last entry,
 *          dec, jnz.  Entries 0..2 jump to the common end, entry 3 falls through:
 *          3 + 2 + 2 = 7, or 6 for entry 3; ECX & 3 = 3 in 100 of 400 rounds: 300*7 + 100*6 = 2700
 *   register: lea jmp 2, memory: jmp 1, SIB: lea mov jmp 3, ret: lea push ret 3     = 9
 *   check 2, EXIT 3
 * Instructions 1 + 2700 + 9 + 2 + 3 + xor 1 = 2716.
 * Jumps: indirect 400 + 3, relative 300; returns 1.  Conditional 400 (399 taken) + 1 not.
 * Near taken 403 + 300 + 1 + 399 = 1103; branches 1103 + 2 + 1 = 1106.
 * Loads: table 400, memory 1, SIB 1, ret 1 = 403.  Stores: push 1.
 * Sum: entry n adds n + 1: 100 * (1 + 2 + 3 + 4) = 1000.
 *
 * expect: instructions=2716 branches=1106 cond=401 taken=1103 not_taken=2 call=0 ret=1 far=1
 * expect: loads=403 stores=1
 */
#include "known.h"
	.globl _start
_start:
	xor %eax, %eax
	mov $400, %ecx
again:	mov %ecx, %edx
	and $3, %edx
	jmp *table(,%rdx,8)
e0:	add $1, %eax
	jmp end
e1:	add $2, %eax
	jmp end
e2:	add $3, %eax
	jmp end
e3:	add $4, %eax
end:	dec %ecx
	jnz again
	lea 1f(%rip), %rdx
	jmp *%rdx
	ud2
1:	jmp *p2(%rip)
	ud2
2:	lea p3(%rip), %rdx
	mov $1, %ecx
	jmp *-8(%rdx,%rcx,8)
	ud2
3:	lea 4f(%rip), %rdx
	push %rdx
	ret
	ud2
4:	SAME $1000, %eax
	EXIT
	FAIL
	.data
table:	.quad e0, e1, e2, e3
p2:	.quad 2b
p3:	.quad 3b
