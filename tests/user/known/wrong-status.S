/* SPDX-License-Identifier: MIT */
/*
 * A wrong exit status: known.sh must refuse it.
 *
 * status: 3
 * refuse: status
 * expect: instructions=4 far=1
 */
#include "known.h"
	.globl _start
_start:
	nop
	EXIT 4
