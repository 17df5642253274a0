/* SPDX-License-Identifier: MIT */
/*
 * model.c: finds a model, asks what it has, and looks up an event by its code.  Asks how exactly a
 * host that only executes (no caches, no clock) can count two events.
 *
 * Prints:
 *	skylake: version 4, 4 general counters of 48 bits, 3 fixed, PEBS format 3
 *	20C4H is BR_INST_RETIRED.NEAR_TAKEN (exact), precise on counters 0FH
 *	412EH is LONGEST_LAT_CACHE.MISS (absent)
 */
#include <stdio.h>

#include <softpmu/model.h>

static const char *fidelity(const struct spmu_event *event)
{
	static const char *const text[] = {
		[SPMU_ABSENT] = "absent", [SPMU_MODELLED] = "modelled", [SPMU_EXACT] = "exact"};
	const struct spmu_supply execution_only = {.exact = SPMU_SIGSET_ARCHITECTURAL};

	return text[spmu_event_fidelity(event, &execution_only)];
}

int main(void)
{
	const struct spmu_model *model = spmu_model_find("skylake");
	const struct spmu_event *branches, *misses;
	struct spmu_model_info info;

	if (!model)
		return 1;
	info = spmu_model_describe(model);
	printf("%s: version %u, %u general counters of %u bits, %u fixed, PEBS format %d\n",
	       info.name, info.perfmon_version, info.counters_ht, info.counter_bits,
	       info.fixed_counters, info.pebs_format);

	branches = spmu_event_by_code(model, 0x20c4);
	misses = spmu_event_by_code(model, 0x412e);
	if (!branches || !misses)
		return 1;
	printf("20C4H is %s (%s), precise on counters %02XH\n", branches->name, fidelity(branches),
	       (unsigned)branches->pebs_counters);
	printf("412EH is %s (%s)\n", misses->name, fidelity(misses));
	return 0;
}
