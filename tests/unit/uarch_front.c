/* SPDX-License-Identifier: MIT */
/*
 * uarch_front.c: where a front end takes micro-operations from, machine clears, and instructions by
 * their kind (uarch_time.h): programs whose counts follow by hand.
 */
#include <stdlib.h>

#include <softpmu/uarch_time.h>

#include "check.h"

#define AT     UINT64_C(0x401000)
#define DATA   UINT64_C(0x10000000)
#define TURNS  1000u
#define WINDOW 32u
#define INSNS  32u

#define CODE(text)                                                                                 \
	{                                                                                          \
		(const uint8_t *)(text), sizeof(text) - 1                                          \
	}
#define NOP	   CODE("\x90")
#define CPUID	   CODE("\x0f\xa2")
#define STORE	   CODE("\x48\x89\x06")	    /* MOV [RSI], RAX */
#define LOAD	   CODE("\x48\x8b\x1f")	    /* MOV RBX, [RDI] */
#define IMUL	   CODE("\x48\x0f\xaf\xf6") /* IMUL RSI, RSI */
#define ADD16	   CODE("\x66\x05\x34\x12") /* ADD AX, 1234H */
#define MOV16	   CODE("\x66\xb8\x34\x12") /* MOV AX, 1234H */
#define PAUSE	   CODE("\xf3\x90")
#define NTA	   CODE("\x0f\x18\x06") /* PREFETCHNTA [RSI] */
#define T0	   CODE("\x0f\x18\x0e")
#define T1	   CODE("\x0f\x18\x16")
#define T2	   CODE("\x0f\x18\x1e")
#define W	   CODE("\x0f\x0d\x0e")		    /* PREFETCHW [RSI] */
#define XBEGIN	   CODE("\xc7\xf8\x00\x00\x00\x00") /* XBEGIN, to the next instruction */
#define VADDPS	   CODE("\xc5\xfc\x58\xc1")	    /* VADDPS YMM0, YMM0, YMM1 */
#define ADDPS	   CODE("\x0f\x58\xc1")		    /* ADDPS XMM0, XMM1 */
#define VZEROUPPER CODE("\xc5\xf8\x77")
#define LOCKED	   CODE("\xf0\x48\xff\x06") /* LOCK INC [RSI] */

static void *memory;
static uint64_t room[1024];

/* A block of instructions that runs again and again, and its accesses. */
struct program {
	struct spmu_code code[INSNS];
	unsigned count;
	struct spmu_timed_access access[2];
	unsigned accesses;
};

static struct spmu_timeline *begin(const struct spmu_core_shape *core, bool front)
{
	struct spmu_timeline *t;

	if (!CHECK(spmu_timeline_create(memory, core, &t) == SPMU_OK))
		exit(1);
	spmu_timeline_account(t);
	if (front)
		spmu_timeline_follow_front(t);
	return t;
}

static struct spmu_timeline *run_on(const struct spmu_core_shape *core, const struct program *p,
				    bool front)
{
	struct spmu_timed_block *b = spmu_timed_block_create(room, core, AT, p->code, p->count);
	struct spmu_timeline *t = begin(core, front);

	if (!CHECK(b != NULL))
		exit(1);
	for (unsigned i = 0; i < TURNS; i++)
		spmu_timeline_run(t, b, p->count, SPMU_LEVEL_L1, p->access, p->accesses);
	return t;
}

static struct spmu_timeline *run(const char *core, const struct program *p)
{
	return run_on(spmu_core_shape_find(core), p, true);
}

#define TALLY(t, name) spmu_timeline_tally(t, SPMU_TALLY_##name)

/* Fills a program with NOPs. */
static struct program nops(unsigned count)
{
	struct program p = {.count = count};

	for (unsigned i = 0; i < count; i++)
		p.code[i] = (struct spmu_code)NOP;
	return p;
}

/* --- sources --- */

/* What is decoded once comes from the cache of decoded instructions, six in a clock. */
static void test_cached(void)
{
	const struct program p = nops(8);
	const struct spmu_timeline *t = run("skylake", &p);

	CHECK_EQ(TALLY(t, UOPS_MITE), 8);
	CHECK_EQ(TALLY(t, UOPS_DSB), 8 * (TURNS - 1));
	CHECK_EQ(TALLY(t, UOPS_MS), 0);
	CHECK_EQ(TALLY(t, UOPS_LSD), 0);
	CHECK_EQ(TALLY(t, UOPS_IDQ), 8 * TURNS);
	CHECK_EQ(TALLY(t, CLOCKS_MITE), 2);
	CHECK_EQ(TALLY(t, CLOCKS_MITE_FULL), 2);
	CHECK_EQ(TALLY(t, CLOCKS_DSB), 2 * (TURNS - 1) - 1); /* the last one has not ended */
	CHECK_EQ(TALLY(t, CLOCKS_DSB_FULL), TURNS - 1);
	CHECK_EQ(TALLY(t, DSB_MISSES), 1);
	CHECK_EQ(TALLY(t, DSB_SWITCHES), 0);
	CHECK_EQ(TALLY(t, DECODED_INSNS), 8);
	CHECK_EQ(TALLY(t, RESTEERS), 1);
	CHECK_EQ(TALLY(t, CLEARS), 0);
	t = run("sandybridge", &p); /* four in a clock, until the loop buffer has it */
	CHECK_EQ(TALLY(t, UOPS_DSB), 16);
	CHECK_EQ(TALLY(t, CLOCKS_DSB), 4);
}

/* After two equal turns a loop comes from the loop buffer, as many in a clock as the core is
 * wide. */
static void test_loop(void)
{
	struct program p = nops(8);
	const struct spmu_timeline *t = run("haswell", &p);

	CHECK_EQ(TALLY(t, UOPS_MITE), 8);
	CHECK_EQ(TALLY(t, UOPS_DSB), 16);
	CHECK_EQ(TALLY(t, UOPS_LSD), 8 * (TURNS - 3));
	CHECK_EQ(TALLY(t, CLOCKS_LSD), 2 * (TURNS - 3) - 1);
	CHECK_EQ(TALLY(t, CLOCKS_LSD_FULL), 2 * (TURNS - 3) - 1);
	CHECK_EQ(TALLY(t, UOPS_IDQ), 24);
	p = nops(29);
	CHECK_EQ(TALLY(run("nehalem", &p), UOPS_LSD), 0); /* it has 28 */
	p = nops(28);
	CHECK_EQ(TALLY(run("nehalem", &p), UOPS_LSD), 28 * (TURNS - 3));
	p.code[3] = (struct spmu_code)CPUID; /* microcode is not for it */
	CHECK_EQ(TALLY(run("haswell", &p), UOPS_LSD), 0);
}

/* Code that needs more than three ways for 32 bytes is never kept. */
static void test_dense(void)
{
	struct program p = nops(18);

	CHECK_EQ(TALLY(run("skylake", &p), UOPS_MITE), 18);
	p = nops(19);
	CHECK_EQ(TALLY(run("skylake", &p), UOPS_MITE), 19 * TURNS);
	CHECK_EQ(TALLY(run("skylake", &p), DSB_MISSES), TURNS);
}

/* 32 sets of eight ways: each set has the ways of two dense windows, but not of four. */
static void test_capacity(void)
{
	const struct spmu_core_shape *core = spmu_core_shape_find("skylake");
	const struct program p = nops(18);

	for (unsigned windows = 64; windows <= 128; windows *= 2) {
		struct spmu_timeline *t = begin(core, true);

		for (unsigned i = 0; i < 10 * windows; i++) {
			struct spmu_timed_block *b = spmu_timed_block_create(
				room, core, AT + i % windows * WINDOW, p.code, p.count);

			spmu_timeline_run(t, b, p.count, SPMU_LEVEL_L1, NULL, 0);
		}
		CHECK_EQ(TALLY(t, UOPS_MITE), 18 * windows * (windows == 64 ? 1 : 10));
		CHECK_EQ(TALLY(t, UOPS_DSB), 18 * windows * (windows == 64 ? 9 : 0));
		CHECK_EQ(TALLY(t, DSB_SWITCHES), 0);
		CHECK_EQ(TALLY(t, RESTEERS), windows); /* each of them jumps to the next one */
	}
}

static void test_microcode(void)
{
	const struct program p = {.code = {NOP, CPUID, NOP}, .count = 3};
	const struct spmu_timeline *t = run("skylake", &p);
	uint64_t all = TALLY(t, SLOTS_RETIRED), each = all / TURNS - 2;

	CHECK(each > 4);
	CHECK_EQ(TALLY(t, UOPS_MS), each * TURNS);
	CHECK_EQ(TALLY(t, UOPS_MS_MITE), each);
	CHECK_EQ(TALLY(t, UOPS_MS_DSB), each * (TURNS - 1));
	CHECK_EQ(TALLY(t, MS_SWITCHES), TURNS);
	CHECK_EQ(TALLY(t, MS_DSB_SWITCHES), TURNS - 1);
	CHECK_EQ(TALLY(t, CLOCKS_MS), (each + 3) / 4 * TURNS);
	CHECK_EQ(TALLY(t, CLOCKS_MS_DSB) + TALLY(t, CLOCKS_MS_MITE), TALLY(t, CLOCKS_MS));
	CHECK_EQ(TALLY(t, UOPS_ANY_DSB) + TALLY(t, UOPS_ANY_MITE), all);
	CHECK_EQ(TALLY(t, CLOCKS_ANY_DSB) - TALLY(t, CLOCKS_DSB), TALLY(t, CLOCKS_MS_DSB));
	CHECK_EQ(TALLY(t, UOPS_IDQ), all);
}

/* A prefix that changes the length of an immediate operand holds up the decoders. */
static void test_length(void)
{
	const struct program add = {.code = {ADD16}, .count = 1},
			     mov = {.code = {MOV16}, .count = 1};

	CHECK_EQ(TALLY(run("core2", &add), CLOCKS_LENGTH), 6 * TURNS);
	CHECK_EQ(TALLY(run("skylake", &add), CLOCKS_LENGTH), 3); /* it is decoded once */
	CHECK_EQ(TALLY(run("core2", &mov), CLOCKS_LENGTH), 0);
}

/* On each core: nothing is lost, and no clock changes. */
static void test_sums(void)
{
	const struct program p = {
		.code = {VADDPS, IMUL, NOP, CPUID, LOAD, STORE, ADD16, LOCKED},
		.count = 8,
	};

	for (size_t i = 0; spmu_core_shape_at(i); i++) {
		const struct spmu_core_shape *core = spmu_core_shape_at(i);
		uint64_t clocks = spmu_timeline_clocks(run_on(core, &p, false));
		const struct spmu_timeline *t = run_on(core, &p, true);
		struct spmu_supply supply = {0};

		spmu_timeline_supplies(core, &supply);
		CHECK_EQ(spmu_timeline_clocks(t), clocks);
		CHECK_EQ(TALLY(t, UOPS_IDQ) + TALLY(t, UOPS_LSD),
			 core->front.decoders ? TALLY(t, SLOTS_RETIRED) : 0);
		CHECK_EQ(spmu_tally_set_has(&supply.modelled_tallies, SPMU_TALLY_UOPS_MITE),
			 core->front.decoders != 0);
		CHECK_EQ(spmu_tally_set_has(&supply.modelled_tallies, SPMU_TALLY_UOPS_DSB),
			 core->front.sets != 0);
		CHECK_EQ(spmu_tally_set_has(&supply.modelled_tallies, SPMU_TALLY_UOPS_LSD),
			 core->front.loop != 0);
	}
}

/* --- machine clears --- */

static void test_code_clears(void)
{
	struct program p = {
		.code = {NOP, STORE},
		.count = 2,
		.access = {{.linear = AT + 60, .insn = 1, .kind = SPMU_UARCH_STORE, .bytes = 8}},
		.accesses = 1,
	};

	CHECK_EQ(TALLY(run("skylake", &p), CLEARS_CODE), TURNS);
	CHECK_EQ(TALLY(run("skylake", &p), CLEARS), TURNS);
	p.access[0].linear = AT + 64;
	CHECK_EQ(TALLY(run("skylake", &p), CLEARS_CODE), 0);
	p.access[0].linear = AT + 512 * 64; /* its place has another line */
	CHECK_EQ(TALLY(run("skylake", &p), CLEARS_CODE), 0);
}

/* A load starts before the address of an older store is known.  In one of `every` turns it is the
 * same address. */
static uint64_t order_clears(unsigned every)
{
	const struct spmu_core_shape *core = spmu_core_shape_find("skylake");
	const struct spmu_code code[] = {IMUL, IMUL, STORE, LOAD};
	struct spmu_timed_block *b = spmu_timed_block_create(room, core, AT, code, 4);
	struct spmu_timeline *t = begin(core, true);

	for (unsigned i = 1; i <= TURNS; i++) {
		struct spmu_timed_access access[] = {
			{.linear = DATA, .insn = 2, .kind = SPMU_UARCH_STORE, .bytes = 8},
			{.linear = DATA + 64, .insn = 3, .kind = SPMU_UARCH_LOAD, .bytes = 8},
		};

		if (i % every == 0)
			access[1].linear = DATA;
		spmu_timeline_run(t, b, 4, SPMU_LEVEL_L1, access, 2);
	}
	CHECK_EQ(TALLY(t, CLEARS), TALLY(t, CLEARS_ORDER));
	return TALLY(t, CLEARS_ORDER);
}

static void test_order_clears(void)
{
	CHECK_EQ(order_clears(1), 0); /* the core has learned to wait */
	CHECK_EQ(order_clears(15), 0);
	CHECK_EQ(order_clears(16), TURNS / 16);
	CHECK_EQ(order_clears(50), TURNS / 50);
	CHECK_EQ(order_clears(TURNS + 1), 0);
}

/* --- instructions --- */

static void test_kinds(void)
{
	const struct program p = {
		.code = {PAUSE, NTA, T0, T1, T2, T2, W, XBEGIN, NOP},
		.count = 9,
		.access = {{.linear = DATA,
			    .insn = 1,
			    .kind = SPMU_UARCH_PREFETCH,
			    .level = SPMU_LEVEL_L2},
			   {.linear = DATA + 64,
			    .insn = 2,
			    .kind = SPMU_UARCH_PREFETCH,
			    .level = SPMU_LEVEL_MEMORY}},
		.accesses = 2,
	};
	const struct spmu_timeline *t = run("pentium", &p); /* a core without a front end */

	CHECK_EQ(TALLY(t, PAUSES), TURNS);
	CHECK_EQ(TALLY(t, PREFETCHES_NTA), TURNS);
	CHECK_EQ(TALLY(t, PREFETCHES_T0), TURNS);
	CHECK_EQ(TALLY(t, PREFETCHES_T1_T2), 3 * TURNS);
	CHECK_EQ(TALLY(t, PREFETCHES_W), TURNS);
	CHECK_EQ(TALLY(t, PREFETCHES), 6 * TURNS);
	CHECK_EQ(TALLY(t, TRANSACTIONS), TURNS);
	CHECK_EQ(TALLY(t, PREFETCH_L2_HITS), TURNS);
	CHECK_EQ(TALLY(t, PREFETCH_L2_MISSES), TURNS);
	CHECK_EQ(TALLY(t, PREFETCH_L2_REFERENCES), 2 * TURNS);
	CHECK_EQ(TALLY(t, BLENDS), 0);
}

static void test_upper_halves(void)
{
	struct program p = {.code = {VADDPS, ADDPS, ADDPS, NOP}, .count = 4};
	const struct spmu_timeline *t = run("skylake", &p);

	CHECK_EQ(TALLY(t, BLENDS), 2 * TURNS);
	CHECK_EQ(TALLY(t, AVX_TO_SSE), TURNS);
	CHECK_EQ(TALLY(t, SSE_TO_AVX), TURNS - 1);
	p = (struct program){.code = {VADDPS, VZEROUPPER, ADDPS}, .count = 3};
	t = run("skylake", &p);
	CHECK_EQ(TALLY(t, BLENDS), 0);
	CHECK_EQ(TALLY(t, AVX_TO_SSE), 0);
	CHECK_EQ(TALLY(t, SSE_TO_AVX), 0);
}

static void test_split_locks(void)
{
	struct program p = {
		.code = {LOCKED},
		.count = 1,
		.access = {{.linear = DATA + 57,
			    .kind = SPMU_UARCH_LOAD | SPMU_UARCH_STORE,
			    .bytes = 8}},
		.accesses = 1,
	};

	CHECK_EQ(TALLY(run("skylake", &p), SPLIT_LOCKS), TURNS);
	p.access[0].linear--;
	CHECK_EQ(TALLY(run("skylake", &p), SPLIT_LOCKS), 0);
}

int main(void)
{
	memory = aligned_alloc(64, (spmu_timeline_bytes() + 63) / 64 * 64);
	RUN(test_cached());
	RUN(test_loop());
	RUN(test_dense());
	RUN(test_capacity());
	RUN(test_microcode());
	RUN(test_length());
	RUN(test_sums());
	RUN(test_code_clears());
	RUN(test_order_clears());
	RUN(test_kinds());
	RUN(test_upper_halves());
	RUN(test_split_locks());
	free(memory);
	return test_summary();
}
