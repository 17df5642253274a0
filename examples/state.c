/* SPDX-License-Identifier: MIT */
/*
 * state.c: a snapshot.  Saves a core, changes it, prints what changed, and loads the state.
 *
 * Prints:
 *	equal: nothing differs
 *	after a write: IA32_PERFEVTSEL0 of logical processor 0 differs
 *	after the load: nothing differs
 *	a truncated state: a saved state that contradicts itself
 */
#include <stdio.h>
#include <stdlib.h>

#include <softpmu/state.h>

static struct spmu_meters meters;

/* Returns a time.  The example does not sample, so the unit calls only these callbacks. */
static uint64_t tsc(void *opaque, unsigned lp)
{
	(void)opaque, (void)lp;
	return 0;
}
static void pmi(void *opaque, unsigned lp, struct spmu_pmi how)
{
	(void)opaque, (void)lp, (void)how;
}

static void compare(const char *when, const void *a, const void *b, size_t bytes)
{
	unsigned lp = 0;
	const char *what = spmu_state_difference(a, b, bytes, &lp);

	if (what)
		printf("%s: %s of logical processor %u differs\n", when, what, lp);
	else
		printf("%s: nothing differs\n", when);
}

/* Ends the example if a call failed. */
static void must(bool good)
{
	if (!good)
		exit(1);
}

int main(void)
{
	const struct spmu_host host = {.size = sizeof(struct spmu_host), .tsc = tsc, .pmi = pmi};
	const struct spmu_core_config config = {
		.size = sizeof(struct spmu_core_config),
		.model = spmu_model_find("skylake"),
		.threads = 1,
		.meters = {&meters},
	};
	size_t core_bytes = (spmu_core_bytes() + 63) & ~(size_t)63;
	void *memory = aligned_alloc(64, core_bytes);
	struct spmu_core *core = NULL;
	size_t bytes;
	char *before, *after;

	must(memory && spmu_core_create(memory, core_bytes, &config, &host, &core) == SPMU_OK);
	bytes = spmu_state_bytes(core);
	before = malloc(bytes);
	after = malloc(bytes);
	must(before && after);

	must(spmu_save(core, before, bytes) == SPMU_OK);
	must(spmu_save(core, after, bytes) == SPMU_OK);
	compare("equal", before, after, bytes);

	must(spmu_write_msr(core, 0, 0x186, 0x4100c0) == SPMU_DONE);
	must(spmu_save(core, after, bytes) == SPMU_OK);
	compare("after a write", before, after, bytes);

	must(spmu_load(core, before, bytes) == SPMU_OK);
	must(spmu_save(core, after, bytes) == SPMU_OK);
	compare("after the load", before, after, bytes);

	printf("a truncated state: %s\n", spmu_status_text(spmu_load(core, before, bytes - 8)));
	free(before);
	free(after);
	free(memory);
	return 0;
}
