/* SPDX-License-Identifier: MIT */
/* driver_offcore.c: requests with a register of off-core responses (18.8.1.3, 18.9.5). */
#include "driver_host.h"

#define FIRST  UINT64_C(0x10001)   /* data reads, any response */
#define SECOND UINT64_C(0x10002)   /* reads for ownership */
#define THIRD  UINT64_C(0x10007)   /* both, and code reads */
#define BAD    (UINT64_C(1) << 60) /* a reserved bit */

static unsigned last_slot;

static void make(struct host *host, const char *model)
{
	host_make_model(host, spmu_model_find(model), 1);
	CHECK_EQ(host_detect(host), SPMU_OK);
}

static enum spmu_status add(struct host *host, uint64_t select, uint64_t offcore)
{
	const struct spmu_request request = {.size = sizeof(struct spmu_request),
					     .select = select | USR,
					     .counters = 0xff,
					     .fixed = -1,
					     .offcore = offcore};

	return spmu_driver_add(&host->driver, &request, &last_slot);
}

static uint64_t value_of(struct host *host, uint32_t msr)
{
	uint64_t value = UINT64_MAX;

	CHECK_EQ(spmu_read_msr(host->core, 0, msr, &value), SPMU_DONE);
	return value;
}

/* Checks the two events of a family, whose registers are MSR_OFFCORE_RSP_0 and _1. */
static void writes_registers(const char *model, uint64_t event_0, uint64_t event_1)
{
	struct host host;
	unsigned first;

	make(&host, model);
	CHECK_EQ(add(&host, event_0, 0), SPMU_OK);
	CHECK_EQ(value_of(&host, 0x1a6), 0);
	CHECK_EQ(add(&host, event_0, FIRST), SPMU_OK);
	first = last_slot;
	CHECK_EQ(add(&host, event_1, SECOND), SPMU_OK);
	CHECK_EQ(value_of(&host, 0x1a6), FIRST);
	CHECK_EQ(value_of(&host, 0x1a7), SECOND);

	CHECK_EQ(add(&host, event_0, THIRD), SPMU_E_COUNTER);
	CHECK_EQ(add(&host, event_1, THIRD), SPMU_E_COUNTER);
	CHECK_EQ(value_of(&host, 0x1a6), FIRST);
	CHECK_EQ(value_of(&host, 0x1a7), SECOND);

	/* The register is free when the request is gone. */
	CHECK_EQ(spmu_driver_remove(&host.driver, first), SPMU_OK);
	CHECK_EQ(add(&host, event_0, THIRD), SPMU_OK);
	CHECK_EQ(value_of(&host, 0x1a6), THIRD);
	host_free(&host);
}

static void shares_register(void)
{
	struct host host;
	unsigned first;

	make(&host, "skylake");
	CHECK_EQ(add(&host, 0x1b7, FIRST), SPMU_OK);
	first = last_slot;
	CHECK_EQ(add(&host, 0x1b7, FIRST), SPMU_OK);
	CHECK_EQ(spmu_driver_remove(&host.driver, first), SPMU_OK);
	CHECK_EQ(add(&host, 0x1b7, SECOND), SPMU_OK);
	CHECK_EQ(value_of(&host, 0x1a6), FIRST);
	host_free(&host);
}

static void refuses(void)
{
	struct host host;

	make(&host, "skylake");
	CHECK_EQ(add(&host, 0xc0, FIRST), SPMU_E_ARGUMENT);
	CHECK_EQ(add(&host, 0x2bb, FIRST), SPMU_E_ARGUMENT);
	CHECK_EQ(add(&host, 0x1b7, BAD), SPMU_E_UNAVAILABLE);
	CHECK_EQ(add(&host, 0x1b7, FIRST), SPMU_OK); /* nothing of it is left */
	host_free(&host);

	/* Nehalem has one register; NetBurst has none. */
	make(&host, "nehalem");
	CHECK_EQ(add(&host, 0x1b7, UINT64_C(0x101)), SPMU_OK);
	CHECK_EQ(add(&host, 0x1b7, UINT64_C(0x102)), SPMU_E_COUNTER);
	CHECK_EQ(add(&host, 0x1bb, UINT64_C(0x101)), SPMU_E_UNAVAILABLE);
	host_free(&host);
	make(&host, "netburst");
	CHECK_EQ(add(&host, 0x1b7, FIRST), SPMU_E_ARGUMENT);
	host_free(&host);
}

/* Each counter counts what its register selects, even if both requests name the same event. */
static void counts(uint64_t again)
{
	const struct spmu_tally tallies[] = {
		{.kind = SPMU_TALLY_OFFCORE_DATA_MEMORY, .count = 3},
		{.kind = SPMU_TALLY_OFFCORE_OWN_MEMORY, .count = 5},
	};
	struct host host;
	unsigned first;

	make(&host, "skylake");
	CHECK_EQ(add(&host, 0x1b7, FIRST), SPMU_OK);
	first = last_slot;
	CHECK_EQ(add(&host, again, SECOND), SPMU_OK);
	CHECK_EQ(spmu_driver_start(&host.driver), SPMU_OK);
	(void)spmu_tallies(host.core, 0, tallies, 2, 3);
	CHECK_EQ(spmu_driver_stop(&host.driver), SPMU_OK);
	CHECK_EQ(spmu_driver_read(&host.driver, first), 3);
	CHECK_EQ(spmu_driver_read(&host.driver, last_slot), 5);
	host_free(&host);
}

int main(void)
{
	RUN(writes_registers("skylake", 0x1b7, 0x1bb));
	RUN(writes_registers("alderlake", 0x12a, 0x12b));
	RUN(writes_registers("goldmont", 0x1b7, 0x2b7));
	RUN(shares_register());
	RUN(refuses());
	RUN(counts(0x1bb));
	RUN(counts(0x1b7));
	return test_summary();
}
