/* SPDX-License-Identifier: MIT */
/*
 * uncore.c: the uncore unit of a Nehalem package counts reads of the last-level cache, and stops by
 * itself after 1000 of them (PMI_FRZ).
 *
 * Prints:
 *	1000 reads in 500 clocks; the status is a0000000 00000001
 */
#include <stdio.h>

#include <softpmu/uncore.h>

#define GLOBAL_CTRL   0x391u
#define GLOBAL_STATUS 0x392u
#define FIXED_CTR0    0x394u
#define FIXED_CTRL    0x395u
#define PMC0	      0x3b0u
#define PERFEVTSEL0   0x3c0u

#define EN	0x400000u
#define PMI	0x100000u
#define EN_FC0	(UINT64_C(1) << 32)
#define PMI_FRZ (UINT64_C(1) << 63)

#define COUNTER_MAX  UINT64_C(0xffffffffffff)
#define LLC_HITS     0x08u /* UNC_LLC_HITS */
#define READ	     0x01u /* its unit mask READ */
#define READS_WANTED 1000u

static uint64_t read_msr(const struct spmu_uncore *uncore, uint32_t msr)
{
	uint64_t value = 0;

	return spmu_uncore_read_msr(uncore, msr, &value) == SPMU_DONE ? value : 0;
}

int main(void)
{
	const struct spmu_uncore_config config = {
		.size = sizeof(config), .model = spmu_model_find("nehalem"), .cores = 4};
	const struct spmu_uncore_activity reads = {.event = LLC_HITS, .mask = READ, .times = 2};
	const struct {
		uint32_t msr;
		uint64_t value;
	} set_up[] = {
		{PERFEVTSEL0, EN | PMI | READ << 8 | LLC_HITS},
		{PMC0, COUNTER_MAX + 1 - READS_WANTED},
		{FIXED_CTRL, 1},
		{GLOBAL_CTRL, PMI_FRZ | EN_FC0 | 1},
	};
	static uint64_t memory[64];
	struct spmu_uncore *uncore;
	uint64_t status, reads_done;

	if (spmu_uncore_create(memory, sizeof(memory), &config, &uncore) != SPMU_OK)
		return 1;
	for (unsigned i = 0; i < sizeof(set_up) / sizeof(set_up[0]); i++)
		if (spmu_uncore_write_msr(uncore, set_up[i].msr, set_up[i].value) != SPMU_DONE)
			return 1;
	spmu_uncore_clocks(uncore, 1000000, &reads, 1);
	status = read_msr(uncore, GLOBAL_STATUS);
	reads_done = read_msr(uncore, PMC0) + READS_WANTED;
	printf("%llu reads in %llu clocks; the status is %08lx %08lx\n",
	       (unsigned long long)reads_done, (unsigned long long)read_msr(uncore, FIXED_CTR0),
	       (unsigned long)(status >> 32), (unsigned long)(status & 0xffffffffu));
	return 0;
}
