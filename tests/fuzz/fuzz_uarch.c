/* SPDX-License-Identifier: MIT */
/*
 * fuzz_uarch.c: the model of machines (uarch.h) with arbitrary machines, accesses and branches.
 *
 * A machine that is refused has a reason.  A machine that is accepted counts every access once.  It
 * never counts more misses than accesses, nor more misses of one level than of the level before it.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include <softpmu/uarch.h>

#define MEMORY_MOST (16u << 20)
#define THREADS	    3u

static void check(bool good)
{
	if (!good)
		abort();
}

/* A machine of the library with some bytes changed, or a whole one of the input. */
static struct spmu_machine take_machine(const uint8_t **data, size_t *size)
{
	static const char *const names[] = {"cachegrind", "haswell", "skylake"};
	struct spmu_machine machine = *spmu_machine_find(names[*size ? (*data)[0] % 3 : 0]);
	const size_t first = offsetof(struct spmu_machine, l1i);
	unsigned changes = *size > 1 ? (*data)[1] % 8 : 0;

	*data += *size < 2 ? *size : 2;
	*size -= *size < 2 ? *size : 2;
	for (; changes && *size >= 2; changes--, *data += 2, *size -= 2)
		((uint8_t *)&machine)[first + (*data)[0] % (sizeof(machine) - first)] = (*data)[1];
	return machine;
}

/* Three counts of misses that begin at `first` belong to `accesses`. */
static void check_misses(const uint64_t *n, unsigned accesses, unsigned first)
{
	check(n[first] <= n[accesses] && n[first + 1] <= n[first] && n[first + 2] <= n[first + 1]);
}

static void feed(struct spmu_uarch *model, const uint8_t *data, size_t size)
{
	uint64_t fetches = 0, loads = 0, stores = 0;

	for (; size >= 8; data += 8, size -= 8) {
		uint64_t at = (uint64_t)data[1] << data[2] % 56 | (uint64_t)data[3] << 6 | data[4];
		unsigned thread = data[0] >> 6;
		uint32_t bytes = data[5];
		const struct spmu_executed_branch branch = {.from = at,
							    .next = at + bytes,
							    .to = at ^ data[6],
							    .kind = data[7] % 8,
							    .taken = data[6] & 1};
		const struct spmu_uarch_reference r = {at, bytes, data[7] & 7};

		switch (data[0] & 3) {
		case 0:
			(void)spmu_uarch_fetch(model, thread, at, bytes);
			fetches += bytes && thread < THREADS;
			break;
		case 1:
			(void)spmu_uarch_branch(model, thread, &branch);
			break;
		default:
			if (data[0] & 1)
				(void)spmu_uarch_access(model, thread, at, bytes, data[7]);
			else
				spmu_uarch_accesses(model, thread, &r, 1);
			loads += bytes && thread < THREADS &&
				 (data[7] & (SPMU_UARCH_PREFETCH | SPMU_UARCH_LOAD)) ==
					 SPMU_UARCH_LOAD;
			stores += bytes && thread < THREADS &&
				  (data[7] & (SPMU_UARCH_PREFETCH | SPMU_UARCH_STORE)) ==
					  SPMU_UARCH_STORE;
		}
	}
	for (unsigned i = 0; i < THREADS; i++) {
		const uint64_t *n = spmu_uarch_counts(model, i);

		check_misses(n, SPMU_UARCH_FETCHES, SPMU_UARCH_FETCH_L1_MISSES);
		check_misses(n, SPMU_UARCH_LOADS, SPMU_UARCH_LOAD_L1_MISSES);
		check_misses(n, SPMU_UARCH_STORES, SPMU_UARCH_STORE_L1_MISSES);
		check(n[SPMU_UARCH_CONDITIONAL_MISSES] <= n[SPMU_UARCH_CONDITIONALS]);
		fetches -= n[SPMU_UARCH_FETCHES];
		loads -= n[SPMU_UARCH_LOADS];
		stores -= n[SPMU_UARCH_STORES];
	}
	check(!fetches && !loads && !stores);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct spmu_machine machine = take_machine(&data, &size);
	const struct spmu_uarch_config config = {
		.size = sizeof(config), .machine = &machine, .threads = THREADS};
	size_t bytes = spmu_uarch_bytes(&config);
	struct spmu_uarch *model = NULL;
	void *memory;

	check((bytes == 0) == (spmu_machine_error(&machine) != NULL));
	if (!bytes || bytes > MEMORY_MOST)
		return 0;
	memory = aligned_alloc(64, (bytes + 63) & ~(size_t)63);
	check(memory && spmu_uarch_create(memory, bytes, &config, &model) == SPMU_OK);
	feed(model, data, size);
	free(memory);
	return 0;
}
