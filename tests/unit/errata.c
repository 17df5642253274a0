/* SPDX-License-Identifier: MIT */
/*
 * errata.c: the errata of models: they are listed, switched on at creation, and part of a saved
 * state. tests/scenarios/errata-*.scenario shows the effect of each. Here is what scenarios cannot
 * show.
 */
#include "tests/unit/unit_host.h"

#define BLOCK_MAX 8192

/* Checks that names are unique in a model and that each row has an effect and a state. */
static void listed(void)
{
	size_t all = 0, switched = 0;

	for (size_t m = 0; m < spmu_model_count(); m++) {
		const struct spmu_model *model = spmu_model_at(m);
		size_t count = spmu_erratum_count(model);

		CHECK(count < 64 && spmu_erratum_at(model, count) == NULL);
		for (size_t i = 0; i < count; i++) {
			const struct spmu_erratum *erratum = spmu_erratum_at(model, i);

			all++;
			switched += erratum->state == SPMU_ERRATUM_SWITCHED;
			CHECK(erratum->name[0] && erratum->number[0] && erratum->effect[0]);
			for (size_t k = 0; k < i; k++)
				CHECK(strcmp(spmu_erratum_at(model, k)->name, erratum->name) != 0);
		}
	}
	CHECK(all > 20 && switched > 10);
	CHECK_EQ(spmu_erratum_count(spmu_model_find("skylake")), 0);
	CHECK(erratum_bit("core2", "pebs-status") != 0);
	CHECK_EQ(erratum_bit("core2-45nm", "pebs-status"), 0);
}

static enum spmu_status create(const struct spmu_model *model, uint64_t errata)
{
	static struct spmu_meters meters;
	struct spmu_host callbacks = {.size = sizeof(struct spmu_host), .supply = SUPPLY_EXECUTION};
	struct spmu_core_config config = {.size = sizeof(struct spmu_core_config),
					  .model = model,
					  .threads = 1,
					  .meters = {&meters},
					  .errata = errata};
	void *memory = aligned_alloc(64, spmu_core_bytes());
	struct spmu_core *core;
	enum spmu_status status =
		spmu_core_create(memory, spmu_core_bytes(), &config, &callbacks, &core);

	free(memory);
	return status;
}

/*
 * Checks each bit of each model: an erratum that is modelled can be switched on, and nothing else.
 */
static void switched_on(void)
{
	for (size_t m = 0; m < spmu_model_count(); m++) {
		const struct spmu_model *model = spmu_model_at(m);

		for (size_t i = 0; i < 64; i++) {
			const struct spmu_erratum *erratum = spmu_erratum_at(model, i);
			bool good = erratum && erratum->state != SPMU_ERRATUM_ABSENT;

			CHECK_EQ(create(model, UINT64_C(1) << i), good ? SPMU_OK : SPMU_E_ARGUMENT);
		}
		CHECK_EQ(create(model, 0), SPMU_OK);
	}
}

/* Checks that a state with other errata is refused. CPUID's own bits do not matter. */
static void saved(void)
{
	static const struct {
		int line;
		const char *model, *erratum;
		bool differs;
	} rows[] = {
		{__LINE__, "core2", "pebs-status", true},
		{__LINE__, "nehalem", "lbr-calls", true},
		{__LINE__, "goldmont", "far-instructions", true},
		{__LINE__, "nehalem", "cpuid-misses", false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct unit_host with, without;
		uint8_t one[BLOCK_MAX], two[BLOCK_MAX];
		const char *difference;
		size_t bytes;
		unsigned lp;

		host_create(&without, rows[i].model, 1, SUPPLY_EXECUTION);
		host_create_with(&with, rows[i].model, 1, SUPPLY_EXECUTION,
				 erratum_bit(rows[i].model, rows[i].erratum));
		bytes = spmu_state_bytes(with.core);
		CHECK_EQ(spmu_save(with.core, one, bytes), SPMU_OK);
		CHECK_EQ(spmu_save(without.core, two, bytes), SPMU_OK);
		difference = spmu_state_difference(one, two, bytes, &lp);
		CHECK_ROW(rows[i].line, rows[i].differs
						? difference && !strcmp(difference, "errata")
						: !difference);
		CHECK_ROW_EQ(rows[i].line, spmu_load(without.core, one, bytes),
			     rows[i].differs ? SPMU_E_VERSION : SPMU_OK);
		CHECK_ROW_EQ(rows[i].line, spmu_load(with.core, one, bytes), SPMU_OK);
		host_destroy(&with);
		host_destroy(&without);
	}
}

/*
 * Checks 17.9 and "lbr-sign": an entry has no flags of transactions, but keeps that of prediction.
 */
static void without_transactions(bool erratum)
{
	const struct spmu_branch branch = {
		.from = 0x401000,
		.to = 0x402000,
		.signal = SPMU_SIG_JMP_REL,
		.cpl = 3,
		.next_cpl = 3,
		.flags = SPMU_BRANCH_MISPREDICTED | SPMU_BRANCH_IN_TX | SPMU_BRANCH_ABORT,
	};
	struct unit_host host;

	host_create_with(&host, "haswell", 1, SUPPLY_EXECUTION,
			 erratum ? erratum_bit("haswell", "lbr-sign") : 0);
	WRMSR(&host, DEBUGCTL, 1);
	spmu_branches(host.core, 0, &branch, 1);
	CHECK_EQ(RDMSR(&host, LBR_FROM + 1) >> 61, erratum ? 4 : 7);
	host_destroy(&host);
}

/* Checks "far-instructions": a host that runs in bulk must count far transfers, too. */
static void far_in_bulk(void)
{
	struct unit_host host;

	host_create_with(&host, "goldmont", 1, SUPPLY_EXECUTION,
			 erratum_bit("goldmont", "far-instructions"));
	WRMSR(&host, EVTSEL0, COUNT_ALL | 0xc0);
	CHECK_EQ(host.meters[0].count, 1);
	CHECK_EQ(host.meters[0].meter[0].signals, SPMU_SIGBIT(INSTRUCTIONS) | SPMU_SIGBIT(FAR));
	host.meters[0].meter[0].headroom -= 11; /* nine instructions, two of them far */
	CHECK_EQ(RDMSR(&host, PMC0), 11);
	host_destroy(&host);
}

int main(void)
{
	RUN(listed());
	RUN(switched_on());
	RUN(saved());
	RUN(without_transactions(false));
	RUN(without_transactions(true));
	RUN(far_in_bulk());
	return test_summary();
}
