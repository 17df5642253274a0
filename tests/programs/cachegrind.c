/* SPDX-License-Identifier: MIT */
/*
 * cachegrind.c: the model of machines (uarch.h), shaped like cachegrind, is told the accesses of a
 * program and prints its counts in cachegrind's order.
 *
 * Standard input is a trace of valgrind's lackey (--trace-mem=yes): a line for each instruction ("I
 * address,size") and for each load, store and modification (" L", " S", " M").  Cachegrind counts a
 * modification as a read, and cuts an access off at the size of a line.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <softpmu/uarch.h>

static struct spmu_uarch *make_model(void)
{
	const struct spmu_uarch_config config = {
		.size = sizeof(config), .machine = spmu_machine_find("cachegrind"), .threads = 1};
	size_t bytes = (spmu_uarch_bytes(&config) + 63) & ~(size_t)63;
	void *memory = bytes ? aligned_alloc(64, bytes) : NULL;
	struct spmu_uarch *model;

	if (!memory || spmu_uarch_create(memory, bytes, &config, &model) != SPMU_OK)
		exit(2);
	return model;
}

int main(void)
{
	struct spmu_uarch *model = make_model();
	const uint64_t *n = spmu_uarch_counts(model, 0);
	char line[256];

	while (fgets(line, sizeof(line), stdin)) {
		const char *at = line + strspn(line, " ");
		uint64_t address;
		uint32_t size;
		char *end;
		char kind = *at;

		if (!kind || !strchr("ILSM", kind) || at[1] != ' ')
			continue;
		address = strtoull(at + 1, &end, 16);
		if (*end != ',')
			continue;
		size = (uint32_t)strtoul(end + 1, NULL, 10);
		if (size > 64)
			size = 64;
		if (kind == 'I')
			spmu_uarch_fetch(model, 0, address, size);
		else
			spmu_uarch_access(model, 0, address, size,
					  kind == 'S' ? SPMU_UARCH_STORE : SPMU_UARCH_LOAD);
	}
	printf("%llu %llu %llu %llu %llu %llu %llu %llu %llu\n",
	       (unsigned long long)n[SPMU_UARCH_FETCHES],
	       (unsigned long long)n[SPMU_UARCH_FETCH_L1_MISSES],
	       (unsigned long long)n[SPMU_UARCH_FETCH_LLC_MISSES],
	       (unsigned long long)n[SPMU_UARCH_LOADS],
	       (unsigned long long)n[SPMU_UARCH_LOAD_L1_MISSES],
	       (unsigned long long)n[SPMU_UARCH_LOAD_LLC_MISSES],
	       (unsigned long long)n[SPMU_UARCH_STORES],
	       (unsigned long long)n[SPMU_UARCH_STORE_L1_MISSES],
	       (unsigned long long)n[SPMU_UARCH_STORE_LLC_MISSES]);
	return 0;
}
