/* SPDX-License-Identifier: MIT */
/*
 * uarch_core_rules.c: rules of single cores in the model of time: memory renaming, lines and
 * entries of code that are fetched, returns, stores in a clock, and the scheduler
 * (docs/machine.md).  The clocks follow by hand, or were measured on a processor.
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

#define MOST_INSNS 40u

/* Returns the clocks of TURNS turns of `count` instructions that begin at `linear`. */
static uint64_t run_many(const struct spmu_core_shape *core, struct spmu_code insn, unsigned count,
			 uint64_t linear)
{
	struct spmu_code code[MOST_INSNS];

	for (unsigned i = 0; i < count; i++)
		code[i] = insn;
	return run_at(core, code, count, linear);
}

/* Zen 5: loops of NOPs that were measured (two instructions for the loop are one more NOP here). */
static void test_entries(void)
{
	static const struct {
		unsigned insns, quarters; /* of a clock */
	} lines[] = {{8, 4}, {12, 6}, {13, 12}, {19, 12}, {24, 12}, {25, 20}, {31, 20}, {36, 20}};
	const struct spmu_code nop = NOP, long_nop = {(const uint8_t *)"\x0f\x1f\x40\x08", 4};
	struct spmu_core_shape core = shape_of("zen5");

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		CHECK_ROW((int)i, is_about(run_many(&core, nop, lines[i].insns, AT),
					   TURNS * lines[i].quarters / 4));
	/* A line of 16 takes three clocks before the next one, a line of 12 no time of its own. */
	CHECK(is_about(run_many(&core, long_nop, 17, AT), TURNS * 4));
	CHECK(is_about(run_many(&core, long_nop, 24, AT + 16), TURNS * 3));
	core.entry = 0;
	CHECK(is_about(run_many(&core, nop, 32, AT), TURNS * 4));
}

/* Runs two blocks of a NOP in turns, whose second one can be a return. */
static uint64_t run_two(const struct spmu_core_shape *core, struct spmu_code second)
{
	const struct spmu_code nop = NOP;
	void *other = malloc(spmu_timed_block_bytes(1));
	const struct spmu_timed_block *a = spmu_timed_block_create(block_memory, core, AT, &nop, 1);
	const struct spmu_timed_block *b =
		other ? spmu_timed_block_create(other, core, AT + 256, &second, 1) : NULL;
	struct spmu_timeline *t;
	uint64_t clocks = 0;

	if (CHECK(a && b) && CHECK(spmu_timeline_create(memory, core, &t) == SPMU_OK)) {
		for (unsigned i = 0; i < TURNS; i++) {
			spmu_timeline_run(t, a, 1, SPMU_LEVEL_L1, NULL, 0);
			spmu_timeline_run(t, b, 1, SPMU_LEVEL_L1, NULL, 0);
		}
		clocks = spmu_timeline_clocks(t);
	}
	free(other);
	return clocks;
}

static void test_jumps(void)
{
	const struct spmu_code nop = NOP, ret = RET;
	struct spmu_core_shape core = shape_of("zen5");

	/* Two taken branches are followed in a clock, but not one to the same place again. */
	CHECK(is_about(run_two(&core, nop), TURNS));
	CHECK(is_about(run_many(&core, nop, 1, AT), TURNS));
	/* Nor after a return, which itself takes three. */
	CHECK(is_about(run_two(&core, ret), TURNS * (core.returned + 1u)));
	core.jumps = 0;
	CHECK(is_about(run_two(&core, nop), TURNS * 2));
}

static void test_commits(void)
{
	const struct spmu_code store = STORE;
	struct spmu_core_shape core = shape_of("zen5");

	core.stores = 4;
	CHECK(is_about(run_many(&core, store, 4, AT), TURNS * 2));
	core.commits = 0;
	CHECK(is_about(run_many(&core, store, 4, AT), TURNS * 4));
}

/* Chains of eight multiplications that begin anew: the scheduler limits how many overlap. */
static void test_scheduler(void)
{
	const struct spmu_code chain[] = {XOR_EAX,  IMUL_RAX, IMUL_RAX, IMUL_RAX, IMUL_RAX,
					  IMUL_RAX, IMUL_RAX, IMUL_RAX, IMUL_RAX};
	struct spmu_core_shape core = shape_of("zen5");

	core.scheduler = 0;
	CHECK(run_at(&core, chain, 9, AT) < TURNS * 4);
	/* With four places the next chain begins when this one has five instructions left. */
	core.scheduler = 4;
	CHECK(run_at(&core, chain, 9, AT) > TURNS * 12);
	CHECK(run_at(&core, chain, 9, AT) < TURNS * 24);
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
	RUN(test_entries());
	RUN(test_jumps());
	RUN(test_commits());
	RUN(test_scheduler());
	free(memory);
	free(block_memory);
	return test_summary();
}
