/* SPDX-License-Identifier: MIT */
/* stream.c: the instructions of a run: from its seed, the same for all machines. */
#include "program.h"

/* Signals of one instruction: mostly plain ones, some of each other kind. */
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
	signals |= random_next(random) & random_next(random) & random_next(random) &
		   ((UINT64_C(1) << SPMU_SIGNALS) - 1);
	/* An instruction is one branch at most. */
	while (__builtin_popcountll(signals & SPMU_SIGSET_BRANCHES) > 1)
		signals &=
			~(signals & SPMU_SIGSET_BRANCHES & (0 - (signals & SPMU_SIGSET_BRANCHES)));
	return signals;
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
		if (insn[i].signals & (SPMU_SIGBIT(LOADS) | SPMU_SIGBIT(STORES)))
			insn[i].data_address = bits >> 12;
		if ((insn[i].signals & SPMU_SIGBIT(LOADS)) &&
		    (insn[i].signals & SPMU_SIGBIT(STORES)) && (bits >> 60 & 1))
			insn[i].store_address = bits >> 8;
	}
}
