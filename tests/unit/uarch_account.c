/* SPDX-License-Identifier: MIT */
/*
 * uarch_account.c: what a timeline spends its clocks on (uarch_time.h): programs whose slots,
 * ports, stalls and outstanding accesses follow by hand.
 */
#include <stdlib.h>

#include <softpmu/model.h>
#include <softpmu/uarch_time.h>

#include "check.h"

#define AT    UINT64_C(0x401000)
#define DATA  UINT64_C(0x10000000)
#define TURNS 40000u

#define CODE(text)                                                                                 \
	{                                                                                          \
		(const uint8_t *)(text), sizeof(text) - 1                                          \
	}
#define NOP	 CODE("\x90")
#define IMUL	 CODE("\x48\x0f\xaf\xc6") /* IMUL RAX, RSI */
#define LOAD	 CODE("\x48\x8b\x06")	  /* MOV RAX, [RSI] */
#define LOAD_RBX CODE("\x48\x8b\x1e")	  /* MOV RBX, [RSI] */
#define CHASE	 CODE("\x48\x8b\x36")	  /* MOV RSI, [RSI] */
#define STORE	 CODE("\x48\x89\x06")	  /* MOV [RSI], RAX */
#define PREFETCH CODE("\x0f\x18\x0e")	  /* PREFETCHT0 [RSI] */
#define DEC	 CODE("\x48\xff\xcf")
#define JNZ	 CODE("\x75\x80")
#define DIVSD	 CODE("\xf2\x0f\x5e\xc1")     /* DIVSD XMM0, XMM1 */
#define LEA	 CODE("\x48\x8d\x44\x18\x01") /* LEA RAX, [RAX+RBX+1] */
#define MOV	 CODE("\x48\x89\xc3")	      /* MOV RBX, RAX */
#define MOVAPS	 CODE("\x0f\x28\xc1")	      /* MOVAPS XMM0, XMM1 */
#define CPUID	 CODE("\x0f\xa2")
#define FADD	 CODE("\xd8\xc1")
#define LOCKED	 CODE("\xf0\x48\xff\x06") /* LOCK INC [RSI] */

static void *memory;

static struct spmu_core_shape shape_of(const char *name)
{
	return *spmu_core_shape_find(name);
}

/* What a program does in each turn, and how it differs from turn to turn. */
struct program {
	struct spmu_core_shape core;
	struct spmu_code code[10];
	unsigned count;
	struct spmu_timed_access access[2];
	unsigned accesses;
	uint64_t stride;
	enum spmu_uarch_level fetch;
	bool fetch_walk, mispredicted, jumps;
};

/* Runs a program.  Returns its timeline, with or without an account. */
static struct spmu_timeline *run(const struct program *p, bool account)
{
	static uint64_t room[512];
	struct spmu_timed_access access[2] = {p->access[0], p->access[1]};
	struct spmu_timed_block *b = spmu_timed_block_create(room, &p->core, AT, p->code, p->count);
	struct spmu_timeline *t;

	if (!CHECK(b && spmu_timeline_create(memory, &p->core, &t) == SPMU_OK))
		exit(1);
	if (account)
		spmu_timeline_account(t);
	for (unsigned i = 0; i < TURNS; i++) {
		if (p->fetch_walk)
			spmu_timeline_fetch_walk(t);
		spmu_timeline_run(t, b, p->count, p->fetch, access, p->accesses);
		access[0].linear += p->stride;
		access[1].linear += p->stride;
		if (p->mispredicted)
			spmu_timeline_mispredict(t);
	}
	return t;
}

static uint64_t tally(const struct spmu_timeline *t, enum spmu_tally_kind kind)
{
	return spmu_timeline_tally(t, kind);
}

#define TALLY(t, name) tally(t, SPMU_TALLY_##name)

/* Returns whether two counts differ by what is in flight at most: a window of 40000 turns. */
static bool is_about(uint64_t a, uint64_t b)
{
	const uint64_t flight = 400 + b / 78;

	return a + flight >= b && b + flight >= a;
}

#define CHECK_ABOUT(a, b)                                                                          \
	do {                                                                                       \
		if (!CHECK(is_about(a, b)))                                                        \
			printf("  %llu, not about %llu\n", (unsigned long long)(a),                \
			       (unsigned long long)(b));                                           \
	} while (0)

static struct program programs[] = {
	{.code = {NOP, NOP, NOP, NOP, NOP, NOP, NOP, NOP}, .count = 8},
	{.code = {IMUL}, .count = 1},
	{.code = {CHASE},
	 .count = 1,
	 .access = {{.linear = DATA, .kind = SPMU_UARCH_LOAD, .level = SPMU_LEVEL_MEMORY}},
	 .accesses = 1,
	 .stride = 4096},
	{.code = {LOAD, IMUL, STORE},
	 .count = 3,
	 .access = {{.linear = DATA, .kind = SPMU_UARCH_LOAD, .level = SPMU_LEVEL_LLC},
		    {.linear = DATA + 64,
		     .insn = 2,
		     .kind = SPMU_UARCH_STORE,
		     .level = SPMU_LEVEL_MEMORY,
		     .walk = true}},
	 .accesses = 2,
	 .stride = 128},
	{.code = {IMUL, DEC, JNZ}, .count = 3, .mispredicted = true},
	{.code = {IMUL, CPUID, NOP}, .count = 3, .fetch = SPMU_LEVEL_L2, .fetch_walk = true},
};

/* The parts are the whole, on each core, and an account changes no clock. */
static void test_sums(void)
{
	for (size_t i = 0; spmu_core_shape_at(i); i++)
		for (size_t p = 0; p < sizeof(programs) / sizeof(programs[0]); p++) {
			const struct spmu_timeline *t;
			uint64_t clocks, slots;

			programs[p].core = *spmu_core_shape_at(i);
			t = run(&programs[p], false);
			clocks = spmu_timeline_clocks(t);
			CHECK_EQ(TALLY(t, SLOTS), 0);
			t = run(&programs[p], true);
			slots = TALLY(t, SLOTS);
			CHECK_EQ(spmu_timeline_clocks(t), clocks);
			CHECK_EQ(TALLY(t, CLOCKS), clocks);
			CHECK_EQ(slots / programs[p].core.width, clocks);
			CHECK_EQ(TALLY(t, SLOTS_RETIRED) + TALLY(t, SLOTS_BAD_SPECULATION) +
					 TALLY(t, SLOTS_FRONTEND) + TALLY(t, SLOTS_BACKEND),
				 slots);
			CHECK_EQ(TALLY(t, SLOTS_FETCH_LATENCY) + TALLY(t, SLOTS_FETCH_BANDWIDTH),
				 TALLY(t, SLOTS_FRONTEND));
			CHECK_EQ(TALLY(t, SLOTS_MEMORY) + TALLY(t, SLOTS_CORE),
				 TALLY(t, SLOTS_BACKEND));
			CHECK_ABOUT(TALLY(t, CLOCKS_EXECUTED_0) + TALLY(t, CLOCKS_EXECUTED_1),
				    clocks);
			CHECK_EQ(TALLY(t, CLOCKS_PORTS_1) + TALLY(t, CLOCKS_PORTS_2) +
					 TALLY(t, CLOCKS_PORTS_3) + TALLY(t, CLOCKS_PORTS_4),
				 TALLY(t, CLOCKS_EXECUTED_1));
			CHECK_EQ(TALLY(t, CLOCKS_RETIRED) + TALLY(t, CLOCKS_NOT_RETIRED), clocks);
		}
}

/* Every model's machine has a core. */
static void test_models(void)
{
	for (size_t m = 0; m < spmu_model_count(); m++) {
		const char *model = spmu_model_describe(spmu_model_at(m)).name;
		const struct spmu_machine *machine = spmu_machine_of_model(model);

		if (!CHECK(machine && spmu_core_shape_find(machine->name)))
			printf("  %s\n", model);
	}
	CHECK(spmu_core_shape_find("tigerlake") == spmu_core_shape_find("icelake"));
	CHECK(spmu_core_shape_find("pentium-m") != spmu_core_shape_find("pentium"));
	CHECK(spmu_core_shape_find("pentium-mmx") == spmu_core_shape_find("pentium"));
}

/* --- slots --- */

static void test_retiring(void)
{
	struct program p = programs[0];
	const struct spmu_timeline *t;

	p.core = shape_of("skylake");
	p.core.taken = 0;
	t = run(&p, true);
	CHECK_EQ(TALLY(t, SLOTS_RETIRED), 8 * TURNS);
	CHECK_EQ(TALLY(t, UOPS_ISSUED), 8 * TURNS);
	CHECK_EQ(TALLY(t, UOPS_EXECUTED), 0);
	CHECK_ABOUT(TALLY(t, SLOTS_BACKEND), 0);
	CHECK_ABOUT(TALLY(t, CLOCKS_RETIRED), 2 * TURNS);
	CHECK_ABOUT(TALLY(t, CLOCKS_NOT_ISSUED), 0);
}

static void test_core_bound(void)
{
	struct program p = programs[1];
	const struct spmu_timeline *t;

	p.core = shape_of("skylake");
	t = run(&p, true); /* three clocks for each multiplication */
	CHECK_ABOUT(TALLY(t, SLOTS_CORE), 11 * TURNS);
	CHECK_EQ(TALLY(t, SLOTS_MEMORY), 0);
	CHECK_ABOUT(TALLY(t, CLOCKS_EXECUTED_0), 2 * TURNS);
	CHECK_ABOUT(TALLY(t, CLOCKS_PORTS_1), TURNS);
	CHECK_EQ(TALLY(t, CLOCKS_LOAD), 0);
	CHECK_EQ(TALLY(t, UOPS_PORT_1), TURNS);
	CHECK_ABOUT(TALLY(t, CLOCKS_STALLED_WINDOW), 11 * (TURNS - p.core.window) / 4);
}

static void test_front_end(void)
{
	struct program p = {.core = shape_of("skylake"), .code = {NOP}, .count = 1};
	const struct spmu_timeline *t;

	p.fetch = SPMU_LEVEL_LLC;
	t = run(&p, true);
	CHECK_ABOUT(TALLY(t, SLOTS_FETCH_LATENCY), 4 * p.core.level[SPMU_LEVEL_LLC] * TURNS);
	CHECK_ABOUT(TALLY(t, CLOCKS_CODE_CACHE), p.core.level[SPMU_LEVEL_LLC] * TURNS);
	CHECK_EQ(TALLY(t, CLOCKS_CODE_OFFCORE), p.core.level[SPMU_LEVEL_LLC] * TURNS);
	CHECK_ABOUT(TALLY(t, CLOCKS_DELIVERED_0), p.core.level[SPMU_LEVEL_LLC] * TURNS);
	p.fetch = SPMU_LEVEL_L1;
	p.fetch_walk = true;
	t = run(&p, true);
	CHECK_EQ(TALLY(t, CLOCKS_CODE_WALK), p.core.walk * TURNS);
	/* A taken branch in two clocks: seven of eight slots are lost. */
	p.fetch_walk = false;
	p.core.taken = 2;
	t = run(&p, true);
	CHECK_ABOUT(TALLY(t, SLOTS_FETCH_BANDWIDTH), 7 * TURNS);
	CHECK_ABOUT(TALLY(t, CLOCKS_DELIVERED_0), TURNS);
	CHECK_ABOUT(TALLY(t, CLOCKS_DELIVERED_1), 2 * TURNS);
	CHECK_ABOUT(TALLY(t, CLOCKS_DELIVERED_3), 2 * TURNS);
}

static void test_bad_speculation(void)
{
	struct program p = programs[4];
	const struct spmu_timeline *t;
	uint64_t wrong;

	p.core = shape_of("skylake");
	t = run(&p, true);
	wrong = TALLY(t, UOPS_ISSUED) - TALLY(t, SLOTS_RETIRED);
	CHECK_EQ(TALLY(t, SLOTS_RETIRED), 2 * TURNS);
	CHECK_EQ(TALLY(t, UOPS_MACRO_FUSED), TURNS);
	CHECK(wrong > TURNS);
	CHECK_EQ(TALLY(t, CLOCKS_RESTEER), 12 * TURNS);
	CHECK_EQ(TALLY(t, CLOCKS_RECOVERY), (p.core.refill - 12u) * TURNS);
	CHECK_EQ(TALLY(t, SLOTS_BAD_SPECULATION), wrong + 4 * (p.core.refill - 12u) * TURNS);
	CHECK_ABOUT(TALLY(t, SLOTS_FETCH_LATENCY), 4 * 12 * TURNS);
}

/* --- execution --- */

static void test_ports(void)
{
	static const struct {
		const char *core;
		unsigned store, load, load_too;
	} rows[] = {{"sandybridge", 4, 2, 3}, {"haswell", 4, 2, 3}, {"skylake", 4, 2, 3}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct program p = {.core = shape_of(rows[i].core), .code = {STORE}, .count = 1};
		const struct spmu_timeline *t = run(&p, true);

		CHECK_EQ(tally(t, SPMU_TALLY_UOPS_PORT_0 + rows[i].store), TURNS);
		CHECK_EQ(TALLY(t, UOPS_EXECUTED), 2 * TURNS);
		p.code[0] = (struct spmu_code)LOAD;
		t = run(&p, true);
		CHECK_EQ(tally(t, SPMU_TALLY_UOPS_PORT_0 + rows[i].load) +
				 tally(t, SPMU_TALLY_UOPS_PORT_0 + rows[i].load_too),
			 TURNS);
		CHECK_EQ(TALLY(t, UOPS_EXECUTED), TURNS);
	}
}

static void test_instructions(void)
{
	struct program p = {.core = shape_of("skylake"), .code = {LEA, MOV, MOVAPS}, .count = 3};
	const struct spmu_timeline *t = run(&p, true);

	CHECK_EQ(TALLY(t, UOPS_SLOW_LEA), TURNS);
	CHECK_EQ(TALLY(t, MOVES_GENERAL), TURNS);
	CHECK_EQ(TALLY(t, MOVES_VECTOR), TURNS);
	p = (struct program){.core = p.core, .code = {DIVSD}, .count = 1};
	t = run(&p, true);
	CHECK_EQ(TALLY(t, CLOCKS_DIVIDER), 4 * TURNS);
	CHECK_EQ(TALLY(t, UOPS_PORT_0), TURNS);
	p = (struct program){.core = p.core, .code = {FADD}, .count = 1};
	CHECK_EQ(TALLY(run(&p, true), UOPS_X87), TURNS);
	p = (struct program){.core = p.core, .code = {LOCKED}, .count = 1};
	CHECK(TALLY(run(&p, true), CLOCKS_LOCKED) >= p.core.locked * TURNS);
	p = programs[5];
	p.core = shape_of("skylake");
	CHECK(TALLY(run(&p, true), CLOCKS_STALLED_SERIAL) >= TURNS);
}

/* --- memory --- */

static void test_levels(void)
{
	static const enum spmu_tally_kind pending[] = {
		SPMU_TALLY_CLOCKS_LOAD, SPMU_TALLY_CLOCKS_L1D_MISS, SPMU_TALLY_CLOCKS_L2_MISS,
		SPMU_TALLY_CLOCKS_L3_MISS};
	static const struct {
		enum spmu_uarch_level level;
		unsigned reaches; /* entries of `pending` */
	} rows[] = {{SPMU_LEVEL_L1, 1},
		    {SPMU_LEVEL_L2, 2},
		    {SPMU_LEVEL_LLC, 3},
		    {SPMU_LEVEL_MEMORY, 4}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct program p = programs[2];
		const struct spmu_timeline *t;
		uint64_t clocks;

		p.core = shape_of("skylake");
		p.access[0].level = rows[i].level;
		t = run(&p, true);
		clocks = (uint64_t)p.core.level[rows[i].level] * TURNS;
		CHECK_ABOUT(TALLY(t, CLOCKS), clocks);
		for (unsigned k = 0; k < 4; k++) {
			CHECK_ABOUT(tally(t, pending[k]), k < rows[i].reaches ? clocks : 0);
			CHECK_ABOUT(tally(t, pending[k] + SPMU_TALLY_STALLS_LOAD -
						     SPMU_TALLY_CLOCKS_LOAD),
				    k < rows[i].reaches ? clocks - TURNS : 0);
		}
		CHECK_EQ(TALLY(t, L1D_PENDING), rows[i].reaches > 1 ? clocks : 0);
		CHECK_EQ(TALLY(t, OFFCORE_LOADS_PENDING), rows[i].reaches > 2 ? clocks : 0);
		CHECK_EQ(TALLY(t, MEMORY_LOADS_PENDING), rows[i].reaches > 3 ? clocks : 0);
		/* The window is full of waiting loads but for the first ones. */
		CHECK(TALLY(t, SLOTS_MEMORY) * 10 > TALLY(t, SLOTS) * 6);
	}
}

static void test_stores(void)
{
	struct program p = {
		.core = shape_of("skylake"),
		.code = {STORE},
		.count = 1,
		.access = {{.linear = DATA, .kind = SPMU_UARCH_STORE, .level = SPMU_LEVEL_MEMORY}},
		.accesses = 1,
		.stride = 64,
	};
	const struct spmu_timeline *t;

	p.core.fills = 1;
	t = run(&p, true);
	CHECK(TALLY(t, CLOCKS_STALLED_STORES) * 10 > TALLY(t, CLOCKS) * 8);
	CHECK(TALLY(t, CLOCKS_BOUND_ON_STORES) * 10 > TALLY(t, CLOCKS) * 8);
	CHECK_EQ(TALLY(t, OFFCORE_STORES_PENDING),
		 (uint64_t)p.core.level[SPMU_LEVEL_MEMORY] * TURNS);
	p.access[0].level = SPMU_LEVEL_L1;
	p.access[0].walk = true;
	t = run(&p, true);
	CHECK_EQ(TALLY(t, STORE_WALKS_PENDING), (uint64_t)p.core.walk * TURNS);
	CHECK_EQ(TALLY(t, CLOCKS_STALLED_WINDOW), 0);
}

static void test_loads(void)
{
	struct program p = programs[2];
	const struct spmu_timeline *t;

	p.core = shape_of("skylake");
	p.access[0].level = SPMU_LEVEL_L1;
	p.access[0].walk = true;
	t = run(&p, true);
	CHECK_EQ(TALLY(t, LOAD_WALKS_PENDING), (uint64_t)p.core.walk * TURNS);
	CHECK_EQ(TALLY(t, CLOCKS_LOAD_WALK), (uint64_t)p.core.walk * TURNS);
	/* One fill buffer: the second load of two waits for the first. */
	p = (struct program){
		.core = p.core,
		.code = {LOAD, LOAD_RBX},
		.count = 2,
		.access = {{.linear = DATA, .kind = SPMU_UARCH_LOAD, .level = SPMU_LEVEL_L2},
			   {.linear = DATA + 8, .insn = 1, .kind = SPMU_UARCH_LOAD}},
		.accesses = 2,
		.stride = 64,
	};
	t = run(&p, true);
	CHECK_EQ(TALLY(t, LOAD_BUFFER_HITS), TURNS);
	CHECK_EQ(TALLY(t, LOAD_HITS_PREFETCH), 0);
	p.core.fills = 1;
	CHECK(TALLY(run(&p, true), CLOCKS_FILL_FULL) > 10 * TURNS);
	p.core.fills = 12;
	p.code[0] = (struct spmu_code)PREFETCH;
	p.access[0].kind = SPMU_UARCH_PREFETCH;
	CHECK_EQ(TALLY(run(&p, true), LOAD_HITS_PREFETCH), TURNS);
}

/* A load of `bytes` at a distance from a store of eight bytes. */
static void test_meetings(void)
{
	static const struct {
		int line;
		int64_t distance;
		uint16_t bytes;
		bool alias, blocked;
	} rows[] = {
		{__LINE__, 0, 8, false, false},	       {__LINE__, 4, 4, false, false},
		{__LINE__, 8, 8, false, false},	       {__LINE__, 4, 8, false, true},
		{__LINE__, -4, 8, false, true},	       {__LINE__, -8, 8, false, false},
		{__LINE__, 4096, 8, true, false},      {__LINE__, 8192 + 4, 8, true, false},
		{__LINE__, 4096 + 8, 8, false, false}, {__LINE__, -4096 - 4, 8, true, false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct program p = {
			.core = shape_of("skylake"),
			.code = {STORE, LOAD_RBX},
			.count = 2,
			.access = {{.linear = DATA + 1024, .kind = SPMU_UARCH_STORE, .bytes = 8},
				   {.linear = DATA + 1024 + (uint64_t)rows[i].distance,
				    .insn = 1,
				    .kind = SPMU_UARCH_LOAD,
				    .bytes = rows[i].bytes}},
			.accesses = 2,
		};
		const struct spmu_timeline *t = run(&p, true);

		/* The first store is in its cache before the load begins. */
		CHECK_ROW_EQ(rows[i].line, TALLY(t, LOAD_ALIASES), rows[i].alias ? TURNS - 1 : 0);
		CHECK_ROW_EQ(rows[i].line, TALLY(t, LOAD_BLOCKED), rows[i].blocked ? TURNS - 1 : 0);
	}
}

static void test_supply(void)
{
	struct spmu_supply time = {0}, machine = {0};
	struct program p = programs[1];
	const struct spmu_timeline *t;

	p.core = shape_of("silvermont"); /* its ports have no numbers */
	spmu_timeline_supplies(&p.core, &time);
	CHECK(spmu_tally_set_has(&time.modelled_tallies, SPMU_TALLY_SLOTS));
	CHECK(!spmu_tally_set_has(&time.modelled_tallies, SPMU_TALLY_UOPS_PORT_0));
	CHECK(!spmu_tally_set_has(&time.modelled_tallies, SPMU_TALLY_CLOCKS_DIVIDER));
	p.core = shape_of("skylake");
	spmu_timeline_supplies(&p.core, &time);
	spmu_uarch_supplies(&machine);
	t = run(&p, true);
	for (unsigned k = 1; k < SPMU_TALLIES; k++) {
		/* Microcode switches Skylake's loop buffer off (erratum SKL150). */
		CHECK_EQ(spmu_tally_set_has(&time.modelled_tallies, k),
			 spmu_tally_is_timed(k) &&
				 (k < SPMU_TALLY_UOPS_LSD || k > SPMU_TALLY_CLOCKS_LSD_FULL));
		CHECK(!spmu_tally_set_has(&machine.modelled_tallies, k) || !spmu_tally_is_timed(k));
		if (!spmu_tally_is_timed(k))
			CHECK_EQ(tally(t, k), 0);
	}
}

int main(void)
{
	memory = aligned_alloc(64, (spmu_timeline_bytes() + 63) & ~(size_t)63);
	if (!memory)
		return 1;
	RUN(test_sums());
	RUN(test_models());
	RUN(test_retiring());
	RUN(test_core_bound());
	RUN(test_front_end());
	RUN(test_bad_speculation());
	RUN(test_ports());
	RUN(test_instructions());
	RUN(test_levels());
	RUN(test_stores());
	RUN(test_loads());
	RUN(test_meetings());
	RUN(test_supply());
	free(memory);
	return test_summary();
}
