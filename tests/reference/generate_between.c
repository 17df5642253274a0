/* SPDX-License-Identifier: MIT */
/*
 * generate_between.c: what happens between the runs of a random program: accesses to registers,
 * valid or not; reads that must not change anything; exceptions, system management, reset.
 */
#include "generate.h"

static uint32_t pick_msr(struct generator *g)
{
	unsigned count;
	const uint32_t *msrs = program_msrs(g->family, &count);

	return msrs[below(g, count)];
}

static void random_register(struct generator *g, unsigned lp)
{
	uint32_t msr = pick_msr(g);
	uint64_t value = random_next(&g->random);

	switch (below(g, 4)) {
	case 0:
		value &=
			random_next(&g->random) & random_next(&g->random) & random_next(&g->random);
		break;
	case 1:
		value = UINT64_C(1) << (value & 63);
		break;
	case 2:
		value &= 0xff;
		break;
	}
	generate_wrmsr(g, lp, msr, value);
}

/* Makes a valid access, as a driver does. */
static void tame_register(struct generator *g, unsigned lp)
{
	const struct family *f = g->family;
	unsigned n = (unsigned)below(g, g->generals);
	bool global = f->version >= 2;

	switch (below(g, 10)) {
	case 0:
		(void)generate_set_up_counter(g, lp, g->style == STYLE_PEBS, generate_span_of(g));
		break;
	case 1:
		generate_write_counter(g, lp, n, generate_span_of(g));
		break;
	case 2:
		if (f->fixed)
			generate_wrmsr(g, lp, 0x309 + (uint32_t)below(g, f->fixed),
				       generate_before_overflow(g, generate_span_of(g)));
		break;
	case 3:
		if (global)
			generate_wrmsr(g, lp, 0x38f,
				       random_next(&g->random) & generate_all_enables(g));
		break;
	case 4:
		if (global)
			generate_wrmsr(g, lp, 0x390,
				       random_next(&g->random) &
					       (generate_all_enables(g) | UINT64_C(1) << 62));
		break;
	case 5:
		if (f->pebs_format >= 0)
			generate_wrmsr(g, lp, 0x3f1, random_next(&g->random) & f->pebs_enable);
		break;
	case 6:
		generate_wrmsr(g, lp, 0x1d9, generate_pick_debugctl(g));
		break;
	case 7:
		generate_append(g, OP_LVT, lp)->value = generate_pick_lvt(g);
		break;
	case 8:
		if (f->area) {
			generate_poke_field(g, lp, 5, PROGRAM_PEBS(lp));
			generate_poke_field(g, lp, 1, PROGRAM_BTS(lp));
		}
		break;
	case 9:
		generate_set_up_branches(g, lp);
		break;
	}
}

static void look(struct generator *g, unsigned lp)
{
	struct operation *op;

	switch (below(g, 4)) {
	case 0:
		generate_append(g, OP_RDMSR, lp)->number = pick_msr(g);
		break;
	case 1:
		op = generate_append(g, OP_RDPMC, lp);
		op->number = (uint32_t)below(g, g->generals + g->family->bus_counters + 2) |
			     (chance(g, 30) ? 0x40000000u : 0) | (chance(g, 20) ? 0x80000000u : 0);
		if (chance(g, 5))
			op->number = (uint32_t)random_next(&g->random);
		op->value = chance(g, 50) ? 4 : below(g, 16);
		break;
	case 2:
		generate_append(g, OP_SYNC, lp);
		break;
	case 3:
		op = generate_append(g, OP_CPUID, lp);
		op->number = chance(g, 80) ? (chance(g, 50) ? 1 : 10) : (uint32_t)below(g, 32);
		op->value = random_next(&g->random);
		break;
	}
}

/* Makes an exception, system management or a reset. */
static void befall(struct generator *g, unsigned lp)
{
	struct operation *op;

	switch (below(g, 9)) {
	case 0:
	case 1:
	case 2:
		op = generate_append(g, OP_EVENT, lp);
		op->value = UINT64_C(0x401000) + below(g, 4096);
		op->address = UINT64_C(0x8000) + below(g, 4096);
		op->number = (uint32_t)below(g, 16);
		break;
	case 3:
		generate_append(g, OP_SMM, lp)->value = below(g, 2);
		break;
	case 4:
		generate_append(g, OP_DEBUG, lp);
		break;
	case 5:
		generate_append(g, OP_HALT, lp)->value = below(g, 2);
		break;
	case 6:
		generate_append(g, OP_MACHINE_CHECK, lp);
		break;
	case 7:
		generate_append(g, OP_DEEP_SLEEP, lp);
		break;
	default:
		generate_append(g, OP_IA32E, lp)->value = below(g, 2);
		break;
	}
}

void generate_between(struct generator *g, unsigned lp)
{
	struct operation *op;
	uint64_t what = below(g, 100);

	if (what < 30) {
		look(g, lp);
	} else if (what < 55) {
		if (g->style == STYLE_WILD && chance(g, 50))
			random_register(g, lp);
		else if (g->style != STYLE_PLAIN)
			tame_register(g, lp);
	} else if (what < 65) {
		generate_append(g, OP_COMPARE, 0);
	} else if (what < 72) {
		generate_append(g, OP_RELOAD, 0)->value = below(g, 2);
	} else if (what < 80) {
		op = generate_append(g, OP_CLOCKS, lp);
		op->number = (uint32_t)below(g, 4) | 4 | (chance(g, 50) ? 8 : 0);
		op->value = chance(g, 5) ? random_next(&g->random) >> (14 + below(g, 50))
					 : below(g, 60);
	} else if (what < 84 && g->style == STYLE_WILD) {
		op = generate_append(g, OP_GUARD, lp);
		op->number = 64 + (uint32_t)below(g, 64);
		op->value = below(g, 4);
	} else if (what < 86 && g->style == STYLE_WILD) {
		generate_append(g, chance(g, 50) ? OP_RESET : OP_INIT, lp);
	} else if (what >= 86 && what < 89) {
		op = generate_append(g, OP_TALLY, lp);
		op->number = 1 + (uint32_t)below(g, SPMU_TALLIES);
		op->count = (uint32_t)below(g, chance(g, 10) ? UINT32_MAX : 8);
		op->value = below(g, 4);
	} else if (what >= 90 && (g->style == STYLE_BRANCHES || g->style == STYLE_WILD)) {
		befall(g, lp);
	}
}
