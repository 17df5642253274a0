/* SPDX-License-Identifier: MIT */
/*
 * softpmu.c: a first program.  Makes a core of two threads, asks CPUID what it has, and finds the
 * reset state of the manual: general counters enabled globally, nothing selected.
 *
 * Prints:
 *	version 4, 4 counters of 48 bits
 *	IA32_PERF_GLOBAL_CTRL = FH, IA32_PERFEVTSEL0 = 0H
 *	a reserved bit of IA32_PERF_GLOBAL_CTRL raises #GP
 */
#include <stdio.h>
#include <stdlib.h>

#include <softpmu/softpmu.h>

static uint64_t tsc(void *opaque, unsigned lp)
{
	(void)opaque, (void)lp;
	return 0;
}

static void pmi(void *opaque, unsigned lp, struct spmu_pmi how)
{
	(void)opaque, (void)lp, (void)how;
}

int main(void)
{
	static struct spmu_meters meters[2];
	const struct spmu_host host = {
		.size = sizeof(struct spmu_host),
		.tsc = tsc,
		.pmi = pmi,
		.supply = {.exact = SPMU_SIGSET_ARCHITECTURAL},
	};
	const struct spmu_core_config config = {
		.size = sizeof(struct spmu_core_config),
		.model = spmu_model_find("skylake"),
		.threads = 2,
		.meters = {&meters[0], &meters[1]},
	};
	size_t bytes = (spmu_core_bytes() + 63) & ~(size_t)63;
	void *memory = aligned_alloc(64, bytes);
	uint64_t global = 0, select = 0;
	struct spmu_cpuid_regs regs = {0};
	struct spmu_core *core;

	if (!memory || spmu_core_create(memory, bytes, &config, &host, &core) != SPMU_OK ||
	    !spmu_cpuid(core, 0x0a, 0, &regs) ||
	    spmu_read_msr(core, 0, 0x38f, &global) != SPMU_DONE ||
	    spmu_read_msr(core, 0, 0x186, &select) != SPMU_DONE)
		return 1;
	printf("version %u, %u counters of %u bits\n", regs.eax & 0xff, regs.eax >> 8 & 0xff,
	       regs.eax >> 16 & 0xff);
	printf("IA32_PERF_GLOBAL_CTRL = %llXH, IA32_PERFEVTSEL0 = %llXH\n",
	       (unsigned long long)global, (unsigned long long)select);
	if (spmu_write_msr(core, 0, 0x38f, UINT64_C(1) << 63) == SPMU_GP)
		printf("a reserved bit of IA32_PERF_GLOBAL_CTRL raises #GP\n");
	free(memory);
	return 0;
}
