/* SPDX-License-Identifier: MIT */
/*
 * Code and data at fixed addresses, as low as the system allows: nothing of the host may be there.
 * The segments start at 0x10000, the default of vm.mmap_min_addr.
 *   lea, cmp, ja; mov store, SAME load; EXIT = 3 + 1 + 2 + 3 = 9
 *
 * build: -Wl,-Ttext-segment=0x10000
 * expect: instructions=9 branches=3 cond=2 taken=0 not_taken=2 far=1 loads=1 stores=1
 */
#include "known.h"
	.globl _start
_start:
	lea _start(%rip), %rax
	cmp $0x20000, %rax
	ja fail_1
	mov %rax, word(%rip)
	SAME word(%rip), %rax
	EXIT
	FAIL
	.data
word:	.quad 0
