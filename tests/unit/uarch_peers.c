/* SPDX-License-Identifier: MIT */
/* uarch_peers.c: models that share a last level (spmu_uarch_config.peer). */
#include "uarch_host.h"

#define THREADS 3u

/* Makes a model of one thread that shares the last level of `peer`. */
static struct uarch_host peer_of(const struct spmu_machine *machine, struct spmu_uarch *peer)
{
	const struct spmu_uarch_config config = {
		.size = sizeof(config), .machine = machine, .threads = 1, .peer = peer};
	size_t bytes = (spmu_uarch_bytes(&config) + 63) & ~(size_t)63;
	struct uarch_host h = {.memory = aligned_alloc(64, bytes)};

	CHECK_EQ(spmu_uarch_create(h.memory, bytes, &config, &h.model), SPMU_OK);
	h.count = spmu_uarch_counts(h.model, 0);
	return h;
}

/* Returns an access of a random thread: to few lines or to many, so that all levels take part. */
static struct spmu_uarch_reference any(uint64_t *state, unsigned *thread)
{
	static const unsigned kinds[] = {SPMU_UARCH_LOAD, SPMU_UARCH_STORE, SPMU_UARCH_FETCH,
					 SPMU_UARCH_LOAD | SPMU_UARCH_STORE};
	uint64_t line;

	*state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
	line = *state >> 40;
	*thread = (unsigned)(*state >> 20) % THREADS;
	return (struct spmu_uarch_reference){
		.linear = (*state >> 63 ? line % 32 : line % 40000) * LINE,
		.bytes = 8,
		.kind = kinds[*state >> 30 & 3],
	};
}

/* Checks that models of one thread that share a last level count the same as one of all threads. */
static void counts_as_one_model(const char *name)
{
	const struct spmu_machine *machine = spmu_machine_find(name);
	struct uarch_host one = uarch_make(machine, THREADS, NULL), peers[THREADS];
	uint64_t state = 1, modified = 0;

	for (unsigned i = 0; i < THREADS; i++)
		peers[i] = peer_of(machine, i ? peers[i / 2].model : NULL);
	for (unsigned n = 0; n < 300000; n++) {
		unsigned thread;
		const struct spmu_uarch_reference r = any(&state, &thread);

		spmu_uarch_accesses(one.model, thread, &r, 1);
		spmu_uarch_accesses(peers[thread].model, 0, &r, 1);
	}
	for (unsigned i = 0; i < THREADS; i++) {
		const uint64_t *expected = spmu_uarch_counts(one.model, i);

		for (unsigned c = 0; c < SPMU_UARCH_COUNTS; c++)
			CHECK_EQ(peers[i].count[c], expected[c]);
		modified += expected[SPMU_UARCH_SNOOP_MODIFIED];
	}
	CHECK(modified > 1000);
	for (unsigned i = 0; i < THREADS; i++)
		free(peers[i].memory);
	free(one.memory);
}

static void refuses_another_last_level(void)
{
	struct uarch_host h = uarch_make(spmu_machine_find("skylake"), 1, NULL);
	struct spmu_machine other = *spmu_machine_find("skylake");
	const struct spmu_uarch_config config = {
		.size = sizeof(config), .machine = &other, .threads = 1, .peer = h.model};

	CHECK(spmu_uarch_bytes(&config) != 0);
	other.llc.bytes *= 2;
	CHECK_EQ(spmu_uarch_bytes(&config), 0);
	free(h.memory);
}

int main(void)
{
	RUN(counts_as_one_model("skylake"));
	RUN(counts_as_one_model("skylake-server"));
	RUN(counts_as_one_model("haswell"));
	RUN(refuses_another_last_level());
	return test_summary();
}
