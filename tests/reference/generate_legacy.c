/* SPDX-License-Identifier: MIT */
/*
 * generate_legacy.c: random setups of the counters before the architectural ones: CESR (18.23.1),
 * ESCR and CCCR with their tagging events (18.15.5, 18.15.6).
 */
#include "generate.h"

#define CCCR_ENABLE  (UINT64_C(1) << 12)
#define CCCR_COMPARE (UINT64_C(1) << 18)
#define CCCR_FORCE   (UINT64_C(1) << 25)
#define CCCR_CASCADE (UINT64_C(1) << 30)
#define TAG_ENABLE   (UINT64_C(1) << 4)

void generate_cesr(struct generator *g, unsigned lp)
{
	static const uint64_t controls[] = {1, 2, 3, 3, 3, 7, 5, 6, 0, 4};
	uint64_t value = 0;

	for (unsigned n = 0; n < 2; n++) {
		const struct spmu_event *event = generate_event(g, false);
		uint64_t control = controls[below(g, 10)];

		if (g->style != STYLE_CLOCKS && g->style != STYLE_WILD)
			control &= 3;
		value |= ((event->code & 0x3f) | control << 6 | below(g, 2) << 9) << (16 * n);
	}
	if (g->style == STYLE_WILD && chance(g, 10))
		value ^= UINT64_C(1) << below(g, 64);
	generate_wrmsr(g, lp, 0x11, value);
}

/* Picks one of the ESCRs that can select the event. There are at most two. */
static const struct family_escr *pick_escr(struct generator *g, uint32_t code)
{
	const struct family_escr *found = NULL;

	for (uint32_t msr = FAMILY_ESCR_FIRST; msr <= FAMILY_ESCR_LAST; msr++) {
		const struct family_escr *escr = family_escr(g->family, msr);
		unsigned block = code >> 12 & 3;
		uint32_t counters = block == 3 ? 0x3f000u : 15u << (4 * block);

		if (escr && escr->select == (code >> 8 & 7) && (escr->counters & counters) &&
		    (!found || chance(g, 50)))
			found = escr;
	}
	return found;
}

static unsigned pick_counter(struct generator *g, uint32_t counters)
{
	unsigned n;

	do
		n = (unsigned)below(g, 18);
	while (!(counters >> n & 1));
	return n;
}

/* Picks T0 and T1, USR and OS: usually all flags of the thread that runs. */
static uint64_t pick_qualifiers(struct generator *g)
{
	return chance(g, 50) ? 15 : below(g, 16);
}

/* Sets up tags: uop_type, a floating-point event with a tag value, metrics of replays. */
static void set_up_tags(struct generator *g, unsigned lp)
{
	static const uint64_t events[] = {0x08, 0x0c, 0x0a, 0x0e, 0x04};

	if (chance(g, 60))
		generate_wrmsr(g, lp, 0x3bc + (uint32_t)below(g, 2),
			       UINT64_C(2) << 25 | below(g, 4) << 10 | pick_qualifiers(g));
	if (chance(g, 60))
		generate_wrmsr(g, lp, 0x3a4 + (uint32_t)below(g, 2),
			       events[below(g, 5)] << 25 | UINT64_C(1) << 24 | below(g, 16) << 5 |
				       TAG_ENABLE | pick_qualifiers(g));
	if (chance(g, 40))
		generate_wrmsr(g, lp, 0x3f2, chance(g, 40) ? 0x10 : below(g, 32));
}

static uint64_t pick_cccr(struct generator *g, const struct family_escr *escr)
{
	uint64_t cccr = CCCR_ENABLE | (uint64_t)escr->select << 13;

	cccr |= (chance(g, 85) ? 3 : below(g, 4)) << 16;
	cccr |= chance(g, 50) ? (1 + below(g, 3)) << 26 : 0;
	if (g->style != STYLE_PLAIN && chance(g, 10))
		cccr |= CCCR_FORCE;
	if (chance(g, 30)) {
		cccr |= CCCR_CASCADE;
		cccr &= chance(g, 80) ? ~CCCR_ENABLE : ~UINT64_C(0);
	}
	if (g->style == STYLE_CLOCKS || (g->style == STYLE_WILD && chance(g, 15)))
		cccr |= CCCR_COMPARE | (chance(g, 20) ? 15 : below(g, 4)) << 20 |
			below(g, 2) << 19 | below(g, 2) << 24;
	if (g->style == STYLE_WILD && chance(g, 10))
		cccr ^= UINT64_C(1) << below(g, 40);
	return cccr;
}

/* Returns the bits that IA32_PEBS_ENABLE needs for it. */
uint64_t generate_escr(struct generator *g, unsigned lp, bool precise, uint64_t span)
{
	const struct spmu_event *event = generate_event(g, precise && chance(g, 70));
	const struct family_escr *escr = pick_escr(g, event->code);
	bool tagged = event->pebs_counters != 0;
	uint64_t value, cccr;
	unsigned n;

	if (!escr)
		return 0;
	n = tagged && precise ? 16u + (escr->msr & 1u) : pick_counter(g, escr->counters);
	cccr = pick_cccr(g, escr);
	value = (uint64_t)(event->code & 0x3f) << 25 | (uint64_t)(event->code >> 16) << 9 |
		pick_qualifiers(g);
	if (chance(g, 20))
		value |= below(g, 65536) << 9;
	if (tagged)
		set_up_tags(g, lp);
	if ((n == 12 || n >= 15) && chance(g, 25))
		cccr |= UINT64_C(1) << 11;
	if (g->style == STYLE_WILD && chance(g, 10))
		value ^= UINT64_C(1) << below(g, 36);
	generate_wrmsr(g, lp, escr->msr, value);
	generate_wrmsr(g, lp, 0x360 + n, cccr);
	if (chance(g, 90))
		generate_wrmsr(g, lp, 0x300 + n, generate_before_overflow(g, span));
	return tagged && precise ? UINT64_C(1) << (25 + below(g, 2)) |
					   (chance(g, 50) ? UINT64_C(0x1018000) | below(g, 8) : 0)
				 : 0;
}
