/* SPDX-License-Identifier: MIT */
/*
 * uarch_time.c: the model of time (uarch_time.h), with loops whose clocks follow by hand from
 * widths, ports and latencies. Loops are bound by dispatch, ports or chains. Misses overlap or do
 * not. Others test mispredictions, forwarding, fusion and idioms.
 */
#include <stdlib.h>

#include <softpmu/uarch_time.h>

#include "check.h"
#include "timed_code.h"

static void *memory, *block_memory;

static const struct spmu_timed_block *block_of(const struct spmu_core_shape *core,
					       const struct spmu_code *code, unsigned count)
{
	const struct spmu_timed_block *b =
		spmu_timed_block_create(block_memory, core, AT, code, count);

	CHECK(b != NULL);
	return b;
}

/* --- loops --- */

struct loop_row {
	int line;
	const char *core;
	struct spmu_code code[10];
	uint32_t loop, front, ports, chain;
};
#define ROW(core, loop, front, ports, chain, ...)                                                  \
	{                                                                                          \
		__LINE__, core, {__VA_ARGS__}, loop, front, ports, chain                           \
	}

/*
 * Skylake dispatches 4 micro-operations in a clock.  DEC and JNZ are one, on ports 0 and 6.  ADD
 * has ports 0, 1, 5 and 6.  IMUL has port 1 and takes 3 clocks.  A load has ports 2 and 3 and takes
 * 4 clocks, a store has port 4.
 */
static const struct loop_row loops[] = {
	ROW("skylake", 2000, 2000, 2000, 1000, ADD_RAX, ADD_RBX, ADD_RCX, ADD_RDX, ADD_R8, ADD_R9,
	    ADD_R10, DEC, JNZ),
	ROW("skylake", 3000, 1000, 1000, 3000, ADD_RAX, ADD_RAX, ADD_RAX, DEC, JNZ),
	ROW("skylake", 6000, 750, 2000, 6000, IMUL_RAX, IMUL_RAX, DEC, JNZ),
	ROW("skylake", 3000, 1000, 3000, 3000, IMUL_RAX, IMUL_RBX, IMUL_RCX, DEC, JNZ),
	ROW("skylake", 2000, 1250, 2000, 1000, LOAD_RAX, LOAD_RBX, LOAD_RAX, LOAD_RBX, DEC, JNZ),
	ROW("skylake", 4000, 500, 500, 4000, CHASE, DEC, JNZ),
	ROW("skylake", 3000, 1000, 3000, 1000, STORE, STORE, STORE, DEC, JNZ),
	ROW("skylake", 8000, 750, 1000, 8000, ADDSD, ADDSD, DEC, JNZ),
	ROW("skylake", 8000, 750, 1000, 8000, VADDPD, VADDPD, DEC, JNZ),
	ROW("skylake", 8000, 750, 1000, 8000, EVADDPD, EVADDPD, DEC, JNZ),
	ROW("skylake", 2000, 750, 1500, 2000, ADC, ADC, DEC, JNZ),
	ROW("skylake", 1000, 500, 500, 1000, LEA, DEC, JNZ),
	/* A jump that needs CF does not fuse with DEC, one that needs SF not with CMP. */
	ROW("skylake", 1000, 500, 500, 1000, DEC, JB),
	ROW("skylake", 1000, 500, 500, 0, CMP, JS),
	ROW("skylake", 1000, 250, 500, 0, CMP, JB),
	/* AMD's fuse with all jumps, and need the ports of both: two jumps in a clock. */
	ROW("zen4", 1000, 166, 500, 1000, DEC, JS),
	ROW("zen4", 1500, 500, 1500, 1000, CMP, JB, CMP, JB, DEC, JNZ),
	ROW("silvermont", 1000, 1000, 1000, 1000, DEC, JNZ),
	/* XOR EAX, EAX needs nothing, and does not execute; nor do moves. */
	ROW("skylake", 1000, 750, 500, 1000, XOR_EAX, ADD_RAX, DEC, JNZ),
	ROW("skylake", 1000, 1000, 500, 1000, MOV_RBX, MOV_RAX, ADD_RAX, DEC, JNZ),
	ROW("icelake", 3000, 800, 1000, 3000, MOV_RBX, MOV_RAX, ADD_RAX, DEC, JNZ),
	/* A LEA with three parts is slow on Skylake, one with a scaled index on Zen 4. */
	ROW("skylake", 3000, 500, 500, 3000, LEA_THREE, DEC, JNZ),
	ROW("zen4", 1000, 333, 500, 1000, LEA_THREE, DEC, JNZ),
	ROW("zen4", 2000, 333, 500, 2000, LEA_SCALED, DEC, JNZ),
	ROW("skylake", 3000, 500, 1000, 3000, FADD, DEC, JNZ),
	/* AH is a part of RAX. */
	ROW("skylake", 2000, 750, 750, 2000, MOV_AH, ADD_RAX, DEC, JNZ),
	/* A NOP has no port.  On Zen 4 two of them take one of the six places in a clock. */
	ROW("skylake", 2000, 2000, 500, 1000, NOP, NOP, NOP, NOP, NOP, NOP, NOP, DEC, JNZ),
	ROW("zen4", 1000, 833, 500, 1000, NOP, NOP, NOP, NOP, NOP, NOP, NOP, DEC, JNZ),
	ROW("zen4", 4000, 333, 500, 4000, CHASE, DEC, JNZ),
	ROW("haswell", 5000, 1000, 1000, 5000, IMUL_RAX, LEA, ADD_RAX, DEC, JNZ),
};

static void test_loops(void)
{
	for (size_t i = 0; i < sizeof(loops) / sizeof(loops[0]); i++) {
		const struct loop_row *row = &loops[i];
		struct spmu_core_shape core = shape_of(row->core);
		struct spmu_block_bounds b;
		unsigned count = 0;

		while (count < 10 && row->code[count].bytes)
			count++;
		b = spmu_timed_block_bounds(block_of(&core, row->code, count), &core, memory);
		CHECK_ROW_EQ(row->line, b.loop / 10, row->loop / 10);
		CHECK_ROW_EQ(row->line, b.front, row->front);
		CHECK_ROW_EQ(row->line, b.ports, row->ports);
		CHECK_ROW_EQ(row->line, b.chain, row->chain);
	}
}

/* --- misses --- */

/* Runs a block TURNS times, with the same access to line after line.  Returns the clocks. */
static uint64_t run(const struct spmu_core_shape *core, const struct spmu_code *code,
		    unsigned count, struct spmu_timed_access access, uint64_t stride,
		    bool mispredicted)
{
	const struct spmu_timed_block *b = block_of(core, code, count);
	struct spmu_timeline *t;

	if (!CHECK(spmu_timeline_create(memory, core, &t) == SPMU_OK))
		return 0;
	for (unsigned i = 0; i < TURNS; i++) {
		spmu_timeline_run(t, b, count, SPMU_LEVEL_L1, &access, access.kind != 0);
		access.linear += stride;
		if (mispredicted)
			spmu_timeline_mispredict(t);
	}
	return spmu_timeline_clocks(t);
}

static void test_misses(void)
{
	const struct spmu_code load[] = {LOAD_RAX}, chase[] = {CHASE}, store[] = {STORE};
	const struct spmu_timed_access miss = {
		.linear = DATA, .kind = SPMU_UARCH_LOAD, .level = SPMU_LEVEL_MEMORY};
	const struct spmu_timed_access stored = {
		.linear = DATA, .kind = SPMU_UARCH_STORE, .level = SPMU_LEVEL_MEMORY};
	struct spmu_timed_access walked = miss;
	struct spmu_core_shape core = shape_of("skylake");

	core.line = 0;
	/* Each load needs the one before. */
	CHECK(is_about(run(&core, chase, 1, miss, 4096, false), TURNS * core.level[4]));
	/* As many at a time as there are fill buffers. */
	core.fills = 10;
	CHECK(is_about(run(&core, load, 1, miss, 4096, false), TURNS / 10 * core.level[4]));
	core.fills = 1;
	CHECK(is_about(run(&core, load, 1, miss, 4096, false), TURNS * core.level[4]));
	CHECK(is_about(run(&core, store, 1, stored, 4096, false),
		       core.stores < TURNS ? (TURNS - core.stores) * core.level[4] : 0));
	/* As many as the window has places. */
	core.fills = 64;
	core.window = 4;
	CHECK(is_about(run(&core, load, 1, miss, 4096, false), TURNS / 4 * core.level[4]));
	/* One line after the other comes from memory. */
	core.window = 224;
	core.line = 40;
	CHECK(is_about(run(&core, load, 1, miss, 4096, false), TURNS * 40 + core.level[4]));
	/* A page walk comes before the access. */
	walked.walk = true;
	walked.level = SPMU_LEVEL_L1;
	CHECK(is_about(run(&core, chase, 1, walked, 4096, false), TURNS * (4 + core.walk)));
}

/* A load of a line that is on its way waits for it. */
static void test_pending(void)
{
	const struct spmu_code loads[] = {LOAD_RAX, LOAD_RBX, ADD_RBX};
	const struct spmu_timed_access accesses[] = {
		{.linear = DATA, .kind = SPMU_UARCH_LOAD, .level = SPMU_LEVEL_MEMORY},
		{.linear = DATA + 8, .insn = 1, .kind = SPMU_UARCH_LOAD},
	};
	const struct spmu_core_shape core = shape_of("skylake");
	struct spmu_timeline *t;

	if (!CHECK(spmu_timeline_create(memory, &core, &t) == SPMU_OK))
		return;
	spmu_timeline_run(t, block_of(&core, loads, 3), 3, SPMU_LEVEL_L1, accesses, 2);
	CHECK_EQ(spmu_timeline_clocks(t), core.level[4] + 2u); /* one is the fetch's */
}

/* Runs a loop of two loads and what waits for them, as blocks or instruction by instruction. */
static struct spmu_timeline *run_loads(const struct spmu_core_shape *core, bool account, bool apart)
{
	const struct spmu_code code[] = {LOAD_RAX, LOAD_RBX, ADD_RBX, JNZ};
	const struct spmu_timed_block *b = block_of(core, code, 4);
	struct spmu_timeline *t;

	if (!CHECK(spmu_timeline_create(memory, core, &t) == SPMU_OK))
		exit(1);
	if (account) {
		spmu_timeline_account(t);
		spmu_timeline_follow_front(t);
	}
	for (unsigned n = 0; n < TURNS; n++) {
		const struct spmu_timed_access access[] = {
			{.linear = DATA + n * 256, .kind = SPMU_UARCH_LOAD, .level = n % 5},
			{.linear = DATA + n * 8, .insn = 1, .kind = SPMU_UARCH_LOAD, .walk = n & 1},
		};
		enum spmu_uarch_level fetch = n % 7 ? SPMU_LEVEL_L1 : SPMU_LEVEL_L2;

		if (!apart)
			spmu_timeline_run(t, b, 4, fetch, access, 2);
		for (unsigned i = 0; i < 4 && apart; i++)
			spmu_timeline_run_one(t, b, i, 4, fetch, &access[i < 2 ? i : 0], i < 2);
		if (n % 11 == 0)
			spmu_timeline_mispredict(t);
	}
	return t;
}

/* Blocks that run an instruction at a time take as long, and account for the same. */
static void test_one_by_one(void)
{
	static const char *const names[] = {"skylake", "zen5"};

	for (unsigned i = 0; i < 4; i++) {
		const struct spmu_core_shape core = shape_of(names[i / 2]);
		bool account = i % 2;
		uint64_t tallies[SPMU_TALLIES], clocks;
		struct spmu_timeline *t = run_loads(&core, account, false);

		clocks = spmu_timeline_clocks(t);
		CHECK(clocks > TURNS);
		for (unsigned k = 1; k < SPMU_TALLIES; k++)
			tallies[k] = spmu_tally_is_timed(k) ? spmu_timeline_tally(t, k) : 0;
		t = run_loads(&core, account, true);
		CHECK_EQ(spmu_timeline_clocks(t), clocks);
		for (unsigned k = 1; k < SPMU_TALLIES; k++)
			CHECK_EQ(spmu_tally_is_timed(k) ? spmu_timeline_tally(t, k) : 0,
				 tallies[k]);
	}
}

static void test_others(void)
{
	const struct spmu_code forward[] = {STORE, LOAD_RAX}, jump[] = {DEC, JNZ},
			       lock[] = {LOCKED}, cpuid[] = {CPUID}, add[] = {ADD_RAX};
	const struct spmu_timed_access both[] = {
		{.linear = DATA, .kind = SPMU_UARCH_STORE},
		{.linear = DATA, .insn = 1, .kind = SPMU_UARCH_LOAD},
	};
	const struct spmu_timed_access none = {.kind = 0};
	struct spmu_core_shape core = shape_of("skylake");
	uint64_t alone;
	struct spmu_timeline *t;

	/* A quarter of a clock to dispatch, one to execute, and to fill the front end. */
	CHECK(is_about(run(&core, jump, 2, none, 0, true), TURNS * (core.refill + 1) + TURNS / 4));
	/* The way from the store to the load. */
	if (!CHECK(spmu_timeline_create(memory, &core, &t) == SPMU_OK))
		return;
	for (unsigned i = 0; i < TURNS; i++)
		spmu_timeline_run(t, block_of(&core, forward, 2), 2, SPMU_LEVEL_L1, both, 2);
	CHECK(is_about(spmu_timeline_clocks(t), TURNS * core.forward));
	/* What is not fetched from the first level delays dispatch. */
	if (!CHECK(spmu_timeline_create(memory, &core, &t) == SPMU_OK))
		return;
	spmu_timeline_run(t, block_of(&core, add, 1), 1, SPMU_LEVEL_L2, NULL, 0);
	CHECK_EQ(spmu_timeline_clocks(t), core.level[1] + 1u);
	spmu_timeline_wait(t, 1000);
	CHECK_EQ(spmu_timeline_clocks(t), core.level[1] + 1001u);
	/* A locked instruction takes longer than core.locked; CPUID waits for what came before. */
	CHECK(run(&core, lock, 1, none, 0, false) > TURNS * core.locked);
	alone = run(&core, cpuid, 1, none, 0, false);
	core.width = 16;
	core.retire = 16;
	CHECK(run(&core, cpuid, 1, none, 0, false) + TURNS * 3 > alone);
}

/* --- bad input --- */

static void test_bad(void)
{
	const struct spmu_code code[] = {ADD_RAX};
	const struct spmu_core_shape good = shape_of("skylake");
	struct spmu_core_shape core = good;
	struct spmu_timeline *t = NULL;

	CHECK(!spmu_core_shape_find("nothing") && !spmu_core_shape_find(NULL));
	CHECK(spmu_core_shape_find("skylake-server") == spmu_core_shape_find("skylake"));
	CHECK(!spmu_core_shape_find("skylakes"));
	for (size_t i = 0; spmu_core_shape_at(i); i++) {
		CHECK(!spmu_core_shape_error(spmu_core_shape_at(i)));
		CHECK(spmu_core_shape_find(spmu_core_shape_at(i)->name) == spmu_core_shape_at(i));
	}
#define BAD(field, value)                                                                          \
	core = good;                                                                               \
	core.field = value;                                                                        \
	CHECK(spmu_core_shape_error(&core) != NULL);                                               \
	CHECK_EQ(spmu_timeline_create(memory, &core, &t), SPMU_E_ARGUMENT);                        \
	CHECK(!spmu_timed_block_create(block_memory, &core, AT, code, 1))
	BAD(costs, NULL);
	BAD(width, 0);
	BAD(width, 17);
	BAD(retire, 0);
	BAD(window, 513);
	BAD(stores, 0);
	BAD(fills, 65);
	BAD(level[2], 3);
	BAD(entry, 65);
	BAD(jumps, 3);
	BAD(commits, 5);
	CHECK(!spmu_timed_block_create(block_memory, &good, AT, code, 0));
	CHECK(!spmu_timed_block_create(NULL, &good, AT, code, 1));
	CHECK(!spmu_timed_block_create(block_memory, NULL, AT, code, 1));
	CHECK_EQ(spmu_timeline_create(NULL, &good, &t), SPMU_E_ARGUMENT);
	CHECK_EQ(spmu_timeline_create((uint8_t *)memory + 8, &good, &t), SPMU_E_ARGUMENT);
	CHECK(t == NULL);
}

/* Any bytes make a block, which takes some time. */
static void test_any_bytes(void)
{
	const struct spmu_core_shape core = shape_of("zen4");
	uint64_t seed = 88172645463325252u;
	struct spmu_timeline *t;

	if (!CHECK(spmu_timeline_create(memory, &core, &t) == SPMU_OK))
		return;
	for (unsigned i = 0; i < 200000; i++) {
		uint8_t bytes[15];
		struct spmu_code code = {bytes, (uint8_t)(seed % 15 + 1)};

		for (unsigned k = 0; k < sizeof(bytes); k++) {
			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			bytes[k] = (uint8_t)seed;
		}
		spmu_timeline_run(t, block_of(&core, &code, 1), 1, SPMU_LEVEL_L1, NULL, 0);
	}
	CHECK(spmu_timeline_clocks(t) > 200000 / core.retire);
}

int main(void)
{
	memory = aligned_alloc(64, (spmu_timeline_bytes() + 63) & ~(size_t)63);
	block_memory = malloc(spmu_timed_block_bytes(SPMU_TIMED_INSNS_MAX));
	if (!memory || !block_memory)
		return 1;
	RUN(test_loops());
	RUN(test_misses());
	RUN(test_pending());
	RUN(test_one_by_one());
	RUN(test_others());
	RUN(test_bad());
	RUN(test_any_bytes());
	free(memory);
	free(block_memory);
	return test_summary();
}
