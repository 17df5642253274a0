/* SPDX-License-Identifier: MIT */
/*
 * A wrong expectation: known.sh must refuse it.  4 instructions, not 5.
 *
 * refuse: instructions
 * expect: instructions=5 far=1
 */
#include "known.h"
	.globl _start
_start:
	nop
	EXIT
