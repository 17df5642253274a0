/* SPDX-License-Identifier: MIT */
/*
 * uarch_static.c: static clocks of blocks (docs/machine.md).  Those of small blocks follow by hand.
 * On every core, a block has as many as its turn in a loop takes in the model of time.
 */
#include "check.h"
#include "timed_code.h"

static struct spmu_timeline *timeline;
static void *scratch, *memory, *block_memory;

#define COUNT(code) (unsigned)(sizeof(code) / sizeof((code)[0]))

static const struct spmu_timed_block *block_of(const struct spmu_core_shape *core,
					       const struct spmu_code *code, unsigned count)
{
	const struct spmu_timed_block *b =
		spmu_timed_block_create(block_memory, core, AT, code, count);

	CHECK(b != NULL);
	CHECK_EQ(spmu_timeline_create(scratch, core, &timeline), SPMU_OK);
	return b;
}

/* Returns the sum of the parts of a block. */
static unsigned sum_of(const struct spmu_timed_block *b, unsigned count, bool taken)
{
	uint16_t parts[SPMU_TIMED_INSNS_MAX] = {0};
	unsigned sum = 0;

	spmu_timed_block_clocks(b, timeline, taken, NULL, 0, parts);
	for (unsigned i = 0; i < count; i++)
		sum += parts[i];
	return sum;
}

static unsigned parts_of(const char *core_name, const struct spmu_code *code, unsigned count,
			 bool taken)
{
	const struct spmu_core_shape core = shape_of(core_name);

	return sum_of(block_of(&core, code, count), count, taken);
}

static void test_by_hand(void)
{
	const struct spmu_code nop[] = {NOP}, nops[] = {NOP, NOP, NOP, NOP, NOP, NOP};
	const struct spmu_code chain[] = {IMUL_RAX, DEC, JNZ};
	const struct spmu_code cut[] = {XOR_EAX, IMUL_RAX, DEC, JNZ};
	const struct spmu_code port[] = {IMUL_RAX, IMUL_RBX, IMUL_RCX, DEC, JNZ};
	const struct spmu_code chase[] = {CHASE}, returns[] = {RET};
	const struct spmu_core_shape zen = shape_of("zen4"), skylake = shape_of("skylake");

	/* Skylake dispatches four in a clock, and takes one branch. */
	CHECK_EQ(parts_of("skylake", nop, 1, false), SPMU_CLOCK_PARTS / 4);
	CHECK_EQ(parts_of("skylake", nops, 6, false), SPMU_CLOCK_PARTS * 6 / 4);
	CHECK_EQ(parts_of("skylake", nop, 1, true), SPMU_CLOCK_PARTS);
	/* A multiplication takes three clocks, and there is one port for them. */
	CHECK_EQ(parts_of("skylake", chain, COUNT(chain), true), 3 * SPMU_CLOCK_PARTS);
	CHECK_EQ(parts_of("skylake", cut, COUNT(cut), true), SPMU_CLOCK_PARTS);
	CHECK_EQ(parts_of("skylake", port, COUNT(port), true), 3 * SPMU_CLOCK_PARTS);
	/* A load hits the first level. */
	CHECK_EQ(parts_of("skylake", chase, 1, false), skylake.level[0] * SPMU_CLOCK_PARTS);
	CHECK_EQ(parts_of("zen4", returns, 1, true), zen.returned * SPMU_CLOCK_PARTS);
}

/* The clocks are those of the instruction for which retirement waits. */
static void test_shares(void)
{
	const struct spmu_code code[] = {NOP, IMUL_RAX, NOP, NOP};
	const struct spmu_core_shape core = shape_of("skylake");
	const struct spmu_timed_block *b = block_of(&core, code, COUNT(code));
	uint16_t parts[COUNT(code)];

	spmu_timed_block_clocks(b, timeline, false, NULL, 0, parts);
	CHECK(parts[1] >= 2 * SPMU_CLOCK_PARTS);
	CHECK(parts[0] < SPMU_CLOCK_PARTS && parts[2] < SPMU_CLOCK_PARTS);
}

/* What has run before makes no difference. */
static void test_history(void)
{
	const struct spmu_code first[] = {IMUL_RAX, IMUL_RBX, CPUID, STORE, LOCKED};
	const struct spmu_code code[] = {ADD_RAX, LOAD_RBX, IMUL_RBX, STORE, ADDSD, DEC, JNZ};
	const struct spmu_core_shape core = shape_of("skylake");
	uint16_t alone[COUNT(code)], after[COUNT(code)];
	void *other = malloc(spmu_timed_block_bytes(COUNT(first)));
	const struct spmu_timed_block *b = block_of(&core, code, COUNT(code));

	if (!CHECK(other != NULL))
		return;
	spmu_timed_block_clocks(b, timeline, true, NULL, 0, alone);
	CHECK(sum_of(spmu_timed_block_create(other, &core, AT + 64, first, COUNT(first)),
		     COUNT(first), false) > SPMU_CLOCK_PARTS);
	spmu_timed_block_clocks(b, timeline, true, NULL, 0, after);
	CHECK(!memcmp(alone, after, sizeof(alone)));
	free(other);
}

static bool is_within(uint64_t a, uint64_t b, unsigned percent)
{
	return a * 100 <= b * (100 + percent) + 200 && b * 100 <= a * (100 + percent) + 200;
}

/* A load that meets a store of the same place waits for its data.  What has another base, another
 * displacement, or a base that the block changes does not meet it. */
static void test_places(void)
{
	const struct spmu_code change[] = {INC_MEMORY}, moved[] = {STORE, CHASE, LOAD_RBX};
	const struct spmu_timed_place load_store[] = {
		{.base = 6, .kind = SPMU_UARCH_LOAD | SPMU_UARCH_STORE}};
	struct spmu_timed_place three[] = {
		{.base = 6, .insn = 0, .kind = SPMU_UARCH_STORE},
		{.base = 6, .insn = 1, .kind = SPMU_UARCH_LOAD},
		{.base = 6, .insn = 2, .kind = SPMU_UARCH_LOAD},
	};
	const struct spmu_code apart[] = {STORE, LOAD_RAX};
	const struct spmu_core_shape core = shape_of("skylake");
	const struct spmu_timed_block *b = block_of(&core, change, 1);
	uint16_t parts[3], others[3];

	spmu_timed_block_clocks(b, timeline, false, load_store, 1, parts);
	CHECK_EQ(parts[0], (core.renamed + 1u) * SPMU_CLOCK_PARTS);
	spmu_timed_block_clocks(b, timeline, false, NULL, 0, parts);
	CHECK(parts[0] <= SPMU_CLOCK_PARTS);

	b = block_of(&core, moved, 3);
	spmu_timed_block_clocks(b, timeline, false, three, 3, parts);
	spmu_timed_block_clocks(b, timeline, false, NULL, 0, others);
	CHECK(!memcmp(parts, others, sizeof(parts)));

	b = block_of(&core, apart, 2);
	spmu_timed_block_clocks(b, timeline, false, three, 2, parts);
	CHECK_EQ(parts[0] + parts[1], core.renamed * SPMU_CLOCK_PARTS);
	three[1].displacement = 8;
	spmu_timed_block_clocks(b, timeline, false, three, 2, parts);
	CHECK_EQ(parts[0] + parts[1], SPMU_CLOCK_PARTS);
	three[1] = (struct spmu_timed_place){
		.base = SPMU_PLACE_CONSTANT, .insn = 1, .kind = SPMU_UARCH_LOAD};
	spmu_timed_block_clocks(b, timeline, false, three, 2, parts);
	CHECK_EQ(parts[0] + parts[1], SPMU_CLOCK_PARTS);
}

/* Blocks of all kinds of instructions, on each core, against the loop of the model of time.  Few
 * blocks need more turns until they are steady than are looked at. */
static void test_against_loops(void)
{
	static const struct spmu_code kind[] = {ADD_RAX,  ADD_RBX,   IMUL_RAX, IMUL_RCX, LOAD_RAX,
						LOAD_RBX, CHASE,     STORE,    XOR_EAX,	 MOV_RBX,
						NOP,	  CMP,	     ADDSD,    VADDPD,	 ADC,
						LEA,	  LEA_THREE, FADD,     ADD_LOAD};
	struct spmu_code code[12];
	const struct spmu_core_shape *core;
	unsigned blocks = 0, off = 0;
	uint32_t random = 1;

	for (size_t at = 0; (core = spmu_core_shape_at(at)); at++)
		for (unsigned trial = 0; trial < 100; trial++) {
			unsigned count = 1 + trial % COUNT(code);
			const struct spmu_timed_block *b;
			uint64_t loop, parts;

			for (unsigned i = 0; i < count; i++) {
				random = random * 1103515245 + 12345;
				code[i] = kind[(random >> 16) % COUNT(kind)];
			}
			b = block_of(core, code, count);
			parts = sum_of(b, count, true);
			loop = spmu_timed_block_bounds(b, core, memory).loop;
			loop = loop * SPMU_CLOCK_PARTS / 1000;
			blocks++;
			off += !is_within(parts, loop, 6);
			CHECK(is_within(parts, loop, 50));
		}
	CHECK(blocks >= 1000);
	CHECK(off * 100 <= blocks);
}

/* Whatever the bytes are, an instruction alone has at least one part and at most the limit. */
static void test_any_bytes(void)
{
	const struct spmu_core_shape core = shape_of("skylake");
	uint64_t seed = 88172645463325252u;
	uint16_t parts;

	CHECK_EQ(spmu_timeline_create(scratch, &core, &timeline), SPMU_OK);
	for (unsigned i = 0; i < 20000; i++) {
		uint8_t bytes[15];
		struct spmu_code code = {bytes, (uint8_t)(seed % 15 + 1)};
		const struct spmu_timed_block *b;

		for (unsigned k = 0; k < sizeof(bytes); k++) {
			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			bytes[k] = (uint8_t)seed;
		}
		b = spmu_timed_block_create(block_memory, &core, AT, &code, 1);
		spmu_timed_block_clocks(b, timeline, false, NULL, 0, &parts);
		CHECK(parts >= 1 && parts <= SPMU_CLOCK_PARTS_MAX);
	}
}

static void test_supply(void)
{
	struct spmu_supply supply = {.exact = SPMU_SIGBIT(INSTRUCTIONS)};

	spmu_static_clocks_supply(&supply);
	CHECK_EQ(supply.exact, SPMU_SIGBIT(INSTRUCTIONS));
	CHECK_EQ(supply.modelled, SPMU_SIGSET_CLOCKS);
}

int main(void)
{
	size_t bytes = (spmu_timeline_bytes() + 63) & ~(size_t)63;

	scratch = aligned_alloc(64, bytes);
	memory = aligned_alloc(64, bytes);
	block_memory = malloc(spmu_timed_block_bytes(SPMU_TIMED_INSNS_MAX));
	if (!scratch || !memory || !block_memory)
		return 1;
	RUN(test_by_hand());
	RUN(test_shares());
	RUN(test_history());
	RUN(test_places());
	RUN(test_against_loops());
	RUN(test_any_bytes());
	RUN(test_supply());
	free(scratch);
	free(memory);
	free(block_memory);
	return test_summary();
}
