/* SPDX-License-Identifier: MIT */
/*
 * uarch_core_rules.c: rules of single cores in the model of time: memory renaming, lines of code
 * that are fetched, and returns (docs/machine.md).  The clocks follow by hand.
 */
#include "check.h"
#include "timed_code.h"

static void *memory, *block_memory;

/* Returns the clocks of TURNS turns of a store and something that loads from there. */
static uint64_t run_forwarding(const struct spmu_core_shape *core, struct spmu_code load,
			       struct spmu_code last)
{
	const struct spmu_code code[] = {STORE, load, last};
	const struct spmu_timed_access both[] = {
		{.linear = DATA, .kind = SPMU_UARCH_STORE},
		{.linear = DATA, .insn = 1, .kind = SPMU_UARCH_LOAD},
	};
	const struct spmu_timed_block *b = spmu_timed_block_create(block_memory, core, AT, code, 3);
	struct spmu_timeline *t;

	if (!CHECK(b != NULL) || !CHECK(spmu_timeline_create(memory, core, &t) == SPMU_OK))
		return 0;
	for (unsigned i = 0; i < TURNS; i++)
		spmu_timeline_run(t, b, 3, SPMU_LEVEL_L1, both, 2);
	return spmu_timeline_clocks(t);
}

/* Returns the clocks of TURNS turns of a block that begins at `linear`. */
static uint64_t run_at(const struct spmu_core_shape *core, const struct spmu_code *code,
		       unsigned count, uint64_t linear)
{
	const struct spmu_timed_block *b =
		spmu_timed_block_create(block_memory, core, linear, code, count);
	struct spmu_timeline *t;

	if (!CHECK(b != NULL) || !CHECK(spmu_timeline_create(memory, core, &t) == SPMU_OK))
		return 0;
	for (unsigned i = 0; i < TURNS; i++)
		spmu_timeline_run(t, b, count, SPMU_LEVEL_L1, NULL, 0);
	return spmu_timeline_clocks(t);
}

/* Returns the clocks of TURNS turns of an instruction that changes or loads the same place. */
static uint64_t run_access(struct spmu_timeline *t, const struct spmu_core_shape *core,
			   struct spmu_code code, uint8_t kind)
{
	const struct spmu_timed_access access = {.linear = DATA, .kind = kind};
	const struct spmu_timed_block *b =
		spmu_timed_block_create(block_memory, core, AT, &code, 1);
	uint64_t before = spmu_timeline_clocks(t);

	if (!CHECK(b != NULL))
		return 0;
	for (unsigned i = 0; i < TURNS; i++)
		spmu_timeline_run(t, b, 1, SPMU_LEVEL_L1, &access, 1);
	return spmu_timeline_clocks(t) - before;
}

/* What changes memory takes its operand from the store before it, but not if it is locked.  A store
 * of long ago is forgotten. */
static void test_changes(void)
{
	const unsigned change = SPMU_UARCH_LOAD | SPMU_UARCH_STORE;
	const struct spmu_code increment = INC_MEMORY, locked = LOCKED, chase = CHASE;
	struct spmu_core_shape core = shape_of("zen4");
	struct spmu_timeline *t;

	if (!CHECK(spmu_timeline_create(memory, &core, &t) == SPMU_OK))
		return;
	CHECK(run_access(t, &core, increment, change) < TURNS * 3 / 2);
	CHECK(run_access(t, &core, locked, change) >= TURNS * core.level[0]);
	spmu_timeline_wait(t, 1000);
	CHECK(is_about(run_access(t, &core, chase, SPMU_UARCH_LOAD), TURNS * core.level[0]));
}

/* A MOV takes the data from a recent store, and no time.  An ADD waits as long as on others. */
static void test_renaming(void)
{
	const struct spmu_code load = LOAD_RAX, load_add = ADD_LOAD, add = ADD_RAX, nop = NOP;
	const struct spmu_code chase[] = {CHASE};
	struct spmu_core_shape core = shape_of("zen4");

	CHECK(is_about(run_forwarding(&core, load, add), TURNS));
	CHECK(is_about(run_forwarding(&core, load_add, nop), TURNS * (core.forward + 1u)));
	/* Where nothing has been stored, a load takes its time. */
	CHECK(is_about(run_at(&core, chase, 1, AT), TURNS * core.level[0]));
}

static void test_fetching(void)
{
	const struct spmu_code loop[] = {DEC, JNZ}, returns[] = {RET};
	struct spmu_core_shape core = shape_of("zen4");

	/* A loop in two lines of code takes a clock more for each turn. */
	CHECK(is_about(run_at(&core, loop, 2, AT), TURNS));
	CHECK(is_about(run_at(&core, loop, 2, AT + 62), TURNS * 2));
	core = shape_of("skylake");
	CHECK(is_about(run_at(&core, loop, 2, AT + 62), TURNS));
	/* What a return goes to comes a clock later than the target of a jump. */
	core = shape_of("zen4");
	CHECK(run_at(&core, returns, 1, AT) >= TURNS * core.returned);
	core.returned = 0;
	CHECK(run_at(&core, returns, 1, AT) < TURNS * core.taken + 10);
}

int main(void)
{
	memory = aligned_alloc(64, (spmu_timeline_bytes() + 63) & ~(size_t)63);
	block_memory = malloc(spmu_timed_block_bytes(SPMU_TIMED_INSNS_MAX));
	if (!memory || !block_memory)
		return 1;
	RUN(test_renaming());
	RUN(test_changes());
	RUN(test_fetching());
	free(memory);
	free(block_memory);
	return test_summary();
}
