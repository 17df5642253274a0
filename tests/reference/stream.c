/* SPDX-License-Identifier: MIT */
/* stream.c: makes the instructions of a run from its seed, the same for all machines. */
#include "program.h"

#include "tests/supply.h"

/* Picks the signals of one instruction: usually plain ones, sometimes one of each other kind. */
static uint64_t pick_signals(struct random *random, bool branch)
{
	uint64_t signals = SPMU_SIGBIT(INSTRUCTIONS);
	uint64_t kind = branch ? 70 + random_below(random, 20) : random_below(random, 100);

	if (kind < 35)
		return signals;
	if (kind < 55)
		return signals | SPMU_SIGBIT(LOADS);
	if (kind < 65)
		return signals | SPMU_SIGBIT(STORES);
	if (kind < 68)
		return signals | SPMU_SIGBIT(LOADS) | SPMU_SIGBIT(STORES) | SPMU_SIGBIT(LOCK_LOADS);
	if (kind < 90) {
		signals |= UINT64_C(1) << (SPMU_SIG_COND_TAKEN + random_below(random, 8));
		if (kind < 73)
			signals |= SPMU_SIGBIT(BRANCH_MISS);
		return signals;
	}
	signals |=
		random_next(random) & random_next(random) & random_next(random) & SPMU_SIGSET_ALL;
	/* An instruction is at most one branch. */
	while (__builtin_popcountll(signals & SPMU_SIGSET_BRANCHES) > 1)
		signals &=
			~(signals & SPMU_SIGSET_BRANCHES & (0 - (signals & SPMU_SIGSET_BRANCHES)));
	return signals;
}

/* The accesses of the instructions of one stream. */
static struct spmu_memory_access accesses[PROGRAM_RUN_MAX][2];
static struct spmu_tally tallies[PROGRAM_RUN_MAX][3];

/* Adds one access, or a load and a store at two places in either order. */
static void put_accesses(struct spmu_insn *insn, unsigned i, uint64_t bits)
{
	struct spmu_memory_access *list = accesses[i];
	uint16_t kind = (insn->signals & SPMU_SIGBIT(LOADS) ? SPMU_ACCESS_LOAD : 0) |
			(insn->signals & SPMU_SIGBIT(STORES) ? SPMU_ACCESS_STORE : 0);

	if (!kind)
		return;
	list[0] = (struct spmu_memory_access){.linear = bits >> 12, .bytes = 8, .kind = kind};
	insn->accesses = list;
	insn->access_count = 1;
	if (kind != SPMU_ACCESS_DATA || !(bits >> 60 & 1))
		return;
	list[0].kind = bits >> 61 & 1 ? SPMU_ACCESS_STORE : SPMU_ACCESS_LOAD;
	list[1] = (struct spmu_memory_access){
		.linear = bits >> 8, .bytes = 8, .kind = list[0].kind ^ SPMU_ACCESS_DATA};
	insn->access_count = 2;
}

/* Adds tallies: rarely many of a kind, and sometimes a kind that the unit does not know. */
static void put_tallies(struct spmu_insn *insn, unsigned at, uint64_t bits)
{
	struct spmu_tally *list = tallies[at];
	unsigned count = bits & 3;

	insn->latency = bits >> 2 & 255;
	insn->data_source = bits >> 10 & 15;
	insn->store_source = bits >> 14 & 31;
	for (unsigned i = 0; i < count; i++) {
		bits >>= 14;
		list[i] = (struct spmu_tally){
			.kind = (uint16_t)(bits % (SUPPLY_TALLIES + 2)),
			.count = bits >> 8 & 7 ? bits >> 11 & 1 : bits >> 5 & 63,
		};
	}
	insn->tallies = list;
	insn->tally_count = (uint16_t)count;
}

void program_stream(const struct program *program, const struct operation *op,
		    struct spmu_insn *insn)
{
	static const uint8_t cpls[] = {3, 0, 3, 0, 3, 1, 3, 2};
	static const uint32_t gaps[] = {0, 0, 1, 1, 1, 2, 3, 200};
	struct random random = {op->value};
	uint8_t cpl = cpls[random_below(&random, 8)];
	uint64_t kinds[16], supplied = program->modelled ? ~UINT64_C(0) : SPMU_SIGSET_ARCHITECTURAL;

	for (unsigned i = 0; i < 16; i++)
		kinds[i] = pick_signals(&random, program->branchy && (i & 3)) & supplied;
	for (unsigned i = 0; i < op->count; i++) {
		uint64_t bits = random_next(&random);

		if (bits >> 32 & 0xff && (bits >> 40 & 0xff) % 100 < program->rings)
			cpl = cpls[bits >> 48 & 7];
		insn[i] = (struct spmu_insn){
			.ip = UINT64_C(0x401000) + 4 * (bits & 15),
			.next_ip = UINT64_C(0x401000) + (bits >> 4 & 0xfff),
			.signals = kinds[bits & 15],
			.cycles = program->clocks ? gaps[bits >> 52 & 7] : 0,
			.cpl = cpl,
			.next_cpl = cpl,
		};
		if ((insn[i].signals & SPMU_SIGBIT(CALL_REL)) && !(bits >> 16 & 7))
			insn[i].next_ip = insn[i].ip + 5; /* the next instruction */
		if (insn[i].signals & SPMU_SIGBIT(FAR))
			insn[i].next_cpl = cpl = cpls[bits >> 56 & 7];
		put_accesses(&insn[i], i, bits);
		if (program->modelled)
			put_tallies(&insn[i], i, random_next(&random));
	}
}
