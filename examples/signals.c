/* SPDX-License-Identifier: MIT */
/*
 * signals.c: the signals of one instruction.  CALL through memory is a branch that reads its
 * target and writes the return address.  A fused multiply-add is two operations.
 *
 * Prints:
 *	call *(%rax):
 *	  instruction retired; a REP string instruction once
 *	  near indirect call
 *	  instruction that reads data memory, software prefetches included
 *	  instruction that writes data memory
 *	  adds 1 to an event that counts all branches
 *	vfmadd231pd %ymm0, %ymm1, %ymm2:
 *	  instruction retired; a REP string instruction once
 *	  256-bit packed double-precision computation
 *	  second operation of a 256-bit packed double FMA
 *	  adds 0 to an event that counts all branches
 */
#include <stdio.h>

#include <softpmu/signals.h>

static void tell(const char *instruction, uint64_t signals)
{
	unsigned branches = 0;

	printf("%s:\n", instruction);
	for (unsigned i = 0; i < SPMU_SIGNALS; i++) {
		if (!(signals >> i & 1))
			continue;
		printf("  %s\n", spmu_signal_meaning((enum spmu_signal)i));
		branches += SPMU_SIGSET_BRANCHES >> i & 1;
	}
	printf("  adds %u to an event that counts all branches\n", branches);
}

int main(void)
{
	tell("call *(%rax)", SPMU_SIGBIT(INSTRUCTIONS) | SPMU_SIGBIT(CALL_IND) |
				     SPMU_SIGBIT(LOADS) | SPMU_SIGBIT(STORES));
	tell("vfmadd231pd %ymm0, %ymm1, %ymm2",
	     SPMU_SIGBIT(INSTRUCTIONS) | SPMU_SIGBIT(FP_256_DOUBLE) | SPMU_SIGBIT(FMA_256_DOUBLE));
	return 0;
}
