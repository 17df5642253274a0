/* SPDX-License-Identifier: MIT */
/*
 * state.c: save, load and compare. A loaded unit continues like the original, and a state that no
 * write could have made is refused (state.h). Also what creation refuses.
 */
#include "tests/unit/unit_host.h"

#define BLOCK_MAX 8192
#define JUMP	  SPMU_SIGBIT(JMP_REL)

/* Makes a unit busy: armed, within a clock, halfway through a count. */
static void busy(struct unit_host *host)
{
	static const uint64_t reset[4] = {MAX48 - 20, 0, 0, 0};

	host_create(host, "skylake", 2, SUPPLY_ALL);
	host_ds(host, 16, 16, reset);
	spmu_write_lvt(host->core, 0, 0xe1);
	WRMSR(host, EVTSEL0, COUNT_ALL | 0x20c4);
	WRMSR(host, A_PMC0, MAX48);
	WRMSR(host, PEBS_ENABLE, 1);
	WRMSR(host, EVTSEL0 + 1, COUNT_ALL | CMASK(2) | SELECT_E | 0xc4);
	WRMSR(host, EVTSEL0 + 2, COUNT_ALL | SELECT_ANY | 0xc0);
	WRMSR_LP(host, 1, FIXED_CTRL, 0xb3);
	WRMSR_LP(host, 1, GLOBAL_CTRL, UINT64_C(0x300000000));
	for (unsigned n = 0; n < 5; n++)
		retire_lp(host, 1, n, SPMU_SIGBIT(INSTRUCTIONS), 3, 1);
	retire(host, 1, JUMP);
	retire_lp(host, 0, 2, SPMU_SIGBIT(INSTRUCTIONS), 3, 0);
}

/* Does the same work on both units. Their states must stay equal. */
static void go_on(struct unit_host *host)
{
	for (unsigned n = 0; n < 60; n++) {
		retire_lp(host, 0, n, SPMU_SIGBIT(INSTRUCTIONS) | (n % 3 ? JUMP : 0), n % 4, n % 2);
		retire_lp(host, 1, n, SPMU_SIGBIT(INSTRUCTIONS), 3, 1);
	}
}

static const char *difference(struct unit_host *a, struct unit_host *b)
{
	static uint8_t one[BLOCK_MAX], two[BLOCK_MAX];
	size_t bytes = spmu_state_bytes(a->core);
	unsigned lp;

	CHECK_EQ(spmu_save(a->core, one, sizeof(one)), SPMU_OK);
	CHECK_EQ(spmu_save(b->core, two, sizeof(two)), SPMU_OK);
	return spmu_state_difference(one, two, bytes, &lp);
}

static void round_trip(void)
{
	struct unit_host a, b;
	uint8_t block[BLOCK_MAX];
	size_t bytes;

	busy(&a);
	host_create(&b, "skylake", 2, SUPPLY_ALL);
	bytes = spmu_state_bytes(a.core);
	CHECK(bytes <= BLOCK_MAX);
	CHECK(difference(&a, &b) != NULL);
	CHECK_EQ(spmu_save(a.core, block, bytes), SPMU_OK);
	CHECK_EQ(spmu_load(b.core, block, bytes), SPMU_OK);
	CHECK(difference(&a, &b) == NULL);
	CHECK_EQ(a.meters[0].count, b.meters[0].count);
	memcpy(b.memory, a.memory, MEMORY_BYTES);
	b.tsc = a.tsc;
	go_on(&a);
	CHECK(difference(&a, &b) != NULL);
	go_on(&b);
	CHECK(difference(&a, &b) == NULL);
	CHECK(host_records(&a) > 0);
	CHECK(!memcmp(a.memory, b.memory, MEMORY_BYTES));
	host_destroy(&a);
	host_destroy(&b);
}

/* Checks that a saved state includes the headroom that the host has used. */
static void saves_synced(void)
{
	struct unit_host a, b;
	uint8_t block[BLOCK_MAX];

	host_create(&a, "skylake", 1, SUPPLY_EXECUTION);
	host_create(&b, "skylake", 1, SUPPLY_EXECUTION);
	WRMSR(&a, EVTSEL0, COUNT_ALL | 0xc0);
	a.meters[0].meter[0].headroom -= 77;
	CHECK_EQ(spmu_save(a.core, block, sizeof(block)), SPMU_OK);
	CHECK_EQ(spmu_load(b.core, block, spmu_state_bytes(b.core)), SPMU_OK);
	CHECK_EQ(RDMSR(&b, PMC0), 77);
	host_destroy(&a);
	host_destroy(&b);
}

/*
 * Changes each register in turn, and checks that the comparison names the register and its thread.
 */
static void names_differences(void)
{
	struct unit_host host;
	uint8_t one[BLOCK_MAX], two[BLOCK_MAX];
	size_t bytes;
	unsigned lp;

	host_create(&host, "skylake", 2, SUPPLY_EXECUTION);
	bytes = spmu_state_bytes(host.core);
	CHECK_EQ(spmu_save(host.core, one, bytes), SPMU_OK);
	WRMSR_LP(&host, 1, DEBUGCTL, 1);
	CHECK_EQ(spmu_save(host.core, two, bytes), SPMU_OK);
	CHECK(!strcmp(spmu_state_difference(one, two, bytes, &lp), "IA32_DEBUGCTL"));
	CHECK_EQ(lp, 1);
	WRMSR_LP(&host, 0, A_PMC0 + 3, 9);
	CHECK_EQ(spmu_save(host.core, two, bytes), SPMU_OK);
	CHECK(!strcmp(spmu_state_difference(one, two, bytes, &lp), "IA32_PMC3"));
	CHECK_EQ(lp, 0);
	memcpy(two, one, bytes);
	CHECK(spmu_state_difference(one, two, bytes, &lp) == NULL);
	two[12] = 1;
	CHECK(!strcmp(spmu_state_difference(one, two, bytes, &lp), "threads"));
	CHECK(!strcmp(spmu_state_difference(one, one, bytes - 8, &lp), "length"));
	for (size_t at = STATE_HEADER; at < bytes; at++) { /* nothing is overlooked */
		memcpy(two, one, bytes);
		two[at] ^= 0x10;
		CHECK(spmu_state_difference(one, two, bytes, &lp) != NULL);
	}
	host_destroy(&host);
}

static void refuses(void)
{
	struct unit_host host, other;
	uint8_t good[BLOCK_MAX], bad[BLOCK_MAX];
	size_t bytes;
	unsigned refused = 0;

	busy(&host);
	bytes = spmu_state_bytes(host.core);
	CHECK_EQ(spmu_save(host.core, NULL, bytes), SPMU_E_ARGUMENT);
	CHECK_EQ(spmu_save(host.core, good, bytes - 1), SPMU_E_SPACE);
	CHECK_EQ(spmu_save(host.core, good, bytes), SPMU_OK);
	CHECK_EQ(spmu_load(host.core, NULL, bytes), SPMU_E_ARGUMENT);
	CHECK_EQ(spmu_load(host.core, good, 10), SPMU_E_CORRUPT);
	CHECK_EQ(spmu_load(host.core, good, bytes - 1), SPMU_E_CORRUPT);
	memcpy(bad, good, bytes);
	bad[8] = SPMU_STATE_VERSION + 1;
	CHECK_EQ(spmu_load(host.core, bad, bytes), SPMU_E_VERSION);
	host_create(&other, "skylake", 1, SUPPLY_ALL);
	CHECK_EQ(spmu_load(other.core, good, bytes), SPMU_E_VERSION);
	host_destroy(&other);
	host_create(&other, "skylake-server", 2, SUPPLY_ALL);
	CHECK_EQ(spmu_load(other.core, good, bytes), SPMU_E_VERSION);
	host_destroy(&other);

	/* Any single bit: the state is refused, or saves as the same block again. */
	for (size_t bit = 8 * STATE_HEADER; bit < 8 * bytes; bit++) {
		uint8_t again[BLOCK_MAX];
		enum spmu_status status;

		memcpy(bad, good, bytes);
		bad[bit / 8] ^= (uint8_t)(1u << bit % 8);
		status = spmu_load(host.core, bad, bytes);
		CHECK(status == SPMU_OK || status == SPMU_E_CORRUPT);
		refused += status == SPMU_E_CORRUPT;
		CHECK_EQ(spmu_save(host.core, again, bytes), SPMU_OK);
		CHECK(!memcmp(again, status == SPMU_OK ? bad : good, bytes));
		CHECK_EQ(spmu_load(host.core, good, bytes), SPMU_OK);
	}
	CHECK(refused > 500);
	host_destroy(&host);
}

/* Checks that bits of the LVT entry that no write can set are refused. */
static void refuses_lvt(void)
{
	struct unit_host host;
	uint8_t one[BLOCK_MAX], two[BLOCK_MAX];
	size_t bytes, at = 0;

	host_create(&host, "skylake", 1, SUPPLY_EXECUTION);
	bytes = spmu_state_bytes(host.core);
	CHECK_EQ(spmu_save(host.core, one, bytes), SPMU_OK);
	spmu_write_lvt(host.core, 0, 0x10001);
	CHECK_EQ(spmu_save(host.core, two, bytes), SPMU_OK);
	while (at < bytes && one[at] == two[at])
		at++;
	for (unsigned bit = 0; bit < 32; bit++) {
		memcpy(two, one, bytes);
		two[at + bit / 8] ^= (uint8_t)(1u << bit % 8);
		CHECK_EQ(spmu_load(host.core, two, bytes),
			 0x107ffu >> bit & 1 ? SPMU_OK : SPMU_E_CORRUPT);
	}
	host_destroy(&host);
}

static void creation(void)
{
	static struct spmu_meters meters;
	struct spmu_host callbacks = {.size = sizeof(struct spmu_host), .supply = SUPPLY_ALL};
	struct spmu_core_config config = {.size = sizeof(struct spmu_core_config),
					  .model = spmu_model_find("skylake"),
					  .threads = 1,
					  .meters = {&meters}};
	struct spmu_core_config wrong = config;
	size_t bytes = spmu_core_bytes();
	uint8_t *memory = aligned_alloc(64, bytes + 64);
	struct spmu_core *core;

	CHECK_EQ(bytes % 64, 0);
	CHECK_EQ(spmu_core_create(memory, bytes, &config, &callbacks, &core), SPMU_OK);
	CHECK_EQ(spmu_core_create(memory, bytes - 1, &config, &callbacks, &core), SPMU_E_SPACE);
	CHECK_EQ(spmu_core_create(memory + 8, bytes, &config, &callbacks, &core), SPMU_E_ARGUMENT);
	CHECK_EQ(spmu_core_create(NULL, bytes, &config, &callbacks, &core), SPMU_E_ARGUMENT);
	wrong.model = NULL;
	CHECK_EQ(spmu_core_create(memory, bytes, &wrong, &callbacks, &core), SPMU_E_ARGUMENT);
	wrong = config;
	wrong.threads = 2; /* without meters for the second */
	CHECK_EQ(spmu_core_create(memory, bytes, &wrong, &callbacks, &core), SPMU_E_ARGUMENT);
	wrong.threads = 3;
	CHECK_EQ(spmu_core_create(memory, bytes, &wrong, &callbacks, &core), SPMU_E_ARGUMENT);
	wrong.threads = 0;
	CHECK_EQ(spmu_core_create(memory, bytes, &wrong, &callbacks, &core), SPMU_E_ARGUMENT);
	for (int status = 0; status <= SPMU_E_FAULT; status++)
		CHECK(strlen(spmu_status_text((enum spmu_status)status)) > 3);
	CHECK(!strcmp(spmu_version(), SPMU_VERSION_STRING));
	free(memory);
}

int main(void)
{
	RUN(round_trip());
	RUN(saves_synced());
	RUN(names_differences());
	RUN(refuses());
	RUN(refuses_lvt());
	RUN(creation());
	return test_summary();
}
