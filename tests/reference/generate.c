/* SPDX-License-Identifier: MIT */
/*
 * generate.c: random programs from a seed. They begin with a setup, as software would or should not
 * do it. Then come runs of instructions with accesses between them.
 *
 * Counters start shortly before their overflow and reload values are small. So most programs do
 * often what real ones rarely do.
 */
#include "generate.h"

#include "tests/supply.h"

#define EN   (UINT64_C(1) << 22)
#define INT  (UINT64_C(1) << 20)
#define PC   (UINT64_C(1) << 19)
#define ANY  (UINT64_C(1) << 21)
#define EDGE (UINT64_C(1) << 18)
#define INV  (UINT64_C(1) << 23)
#define EQ   (UINT64_C(1) << 36)

struct operation *generate_append(struct generator *g, enum operation_kind kind, unsigned lp)
{
	static struct operation overflow;

	if (g->program->ops == PROGRAM_OPS_MAX)
		return &overflow;
	struct operation *op = &g->program->op[g->program->ops++];
	*op = (struct operation){.kind = (uint8_t)kind, .lp = (uint8_t)lp};
	return op;
}

void generate_wrmsr(struct generator *g, unsigned lp, uint32_t msr, uint64_t value)
{
	struct operation *op = generate_append(g, OP_WRMSR, lp);

	op->number = msr;
	op->value = value;
}

static void poke(struct generator *g, uint64_t address, uint64_t value)
{
	struct operation *op = generate_append(g, OP_POKE, 0);

	op->address = address;
	op->value = value;
}

/* Writes a field of the area of 4 or 8 bytes. Two stores of 8 bytes do not overlap wrongly. */
void generate_poke_field(struct generator *g, unsigned lp, unsigned field, uint64_t value)
{
	unsigned bytes = g->family->area->field;

	poke(g, PROGRAM_AREA(lp) + (uint64_t)field * bytes, value);
}

/* Returns a counter value `span` or less before the overflow. */
uint64_t generate_before_overflow(struct generator *g, uint64_t span)
{
	return (0 - (1 + below(g, span))) & family_mask(g->family);
}

uint64_t generate_span_of(struct generator *g)
{
	static const uint64_t span[] = {2, 8, 40, 300};

	if (g->style == STYLE_PLAIN)
		return 50 + below(g, 900);
	return span[below(g, 4)];
}

/* Picks an event that software may choose: one that signals or tallies describe. */
const struct spmu_event *generate_event(struct generator *g, bool precise)
{
	size_t count = spmu_event_count(g->model), fit = 0;

	for (unsigned pass = 0; pass < 2; pass++) {
		size_t wanted = pass ? below(g, fit) : 0;

		for (size_t i = 0; i < count; i++) {
			const struct spmu_event *event = spmu_event_at(g->model, i);

			if (!(event->signals || event->tally) || event->tally > SUPPLY_TALLIES ||
			    (precise && !event->pebs_counters))
				continue;
			if (!pass)
				fit++;
			else if (!wanted--)
				return event;
		}
	}
	return NULL;
}

static uint64_t rings_of(struct generator *g)
{
	static const uint64_t rings[] = {1, 1, 3, 2, 3, 1, 3, 0};

	return rings[below(g, g->style == STYLE_WILD ? 8 : 7)] << 16;
}

/* Picks a threshold that clocks reach, or sometimes one that they cannot. */
static uint64_t pick_threshold(struct generator *g)
{
	uint64_t threshold = chance(g, 20) ? 14 + below(g, 4) : below(g, 4);

	return threshold << 24 | (chance(g, 40) ? EDGE : 0) | (chance(g, 40) ? INV : 0) |
	       (g->family->version_6 && chance(g, 40) ? EQ : 0);
}

static uint64_t pick_select(struct generator *g, bool precise)
{
	const struct spmu_event *event = generate_event(g, precise);
	uint64_t select = event->code | rings_of(g) | EN;

	if (chance(g, 50))
		select |= INT;
	if (g->program->threads == 2 && g->family->any_thread && g->style != STYLE_CLOCKS &&
	    chance(g, 15))
		select |= ANY;
	if (g->family->adaptive && chance(g, 50))
		select |= UINT64_C(1) << 34;
	if (g->family->lbr && g->family->lbr->logs && chance(g, 50))
		select |= UINT64_C(1) << 35;
	if (g->style == STYLE_CLOCKS ||
	    (g->style == STYLE_WILD && g->program->threads == 1 && chance(g, 15))) {
		select |= pick_threshold(g);
		if (g->family->uops && chance(g, 10))
			select = (select & ~UINT64_C(0xffff)) | g->family->uops;
	}
	if (chance(g, 20))
		select |= PC;
	if (g->family->enable_first && chance(g, 30))
		select ^= EN;
	if (g->style == STYLE_WILD) {
		if (chance(g, 10))
			select ^= UINT64_C(1) << below(g, 24);
		if (chance(g, 5))
			select ^= UINT64_C(1) << (34 + below(g, 30));
	}
	return select;
}

/* Picks an address that a guest should not use but may write. */
static uint64_t hostile_address(struct generator *g)
{
	switch (below(g, 6)) {
	case 0:
		return below(g, 4096);
	case 1:
		return 0 - below(g, 4096);
	case 2:
		return PROGRAM_AREA(0) + below(g, 0x200);
	case 3:
		return WORLD_MIDDLE + 4096 - below(g, 256);
	case 4:
		return random_next(&g->random);
	default:
		return PROGRAM_PEBS(0) + 8 * below(g, 256);
	}
}

static unsigned record_bytes(const struct generator *g, uint64_t config)
{
	static const unsigned bytes[] = {0x90, 0xb0, 0xc0, 0xc8, 0x20};

	if (g->family->pebs_format < 0)
		return 8;
	if (g->family->pebs_format < 4)
		return bytes[g->family->pebs_format];
	return 0x20 + (config & 1 ? 0x20 : 0) + (config & 2 ? 0x90 : 0) + (config & 4 ? 0x100 : 0) +
	       (config & 8 ? 24 * (config >> 29 ? 32 : 1 + (unsigned)(config >> 24 & 0x1f)) : 0);
}

static void set_up_pebs(struct generator *g, unsigned lp)
{
	static const uint64_t configs[] = {0, 2, 3, 7, 0x80000008, 8, 0x0300000b, 0x1f000008};
	uint64_t config = g->family->adaptive ? configs[below(g, 8)] : 0;
	uint64_t base = PROGRAM_PEBS(lp), size = record_bytes(g, config);
	uint64_t records = 1 + below(g, 7);
	uint64_t maximum = base + size * records;

	while (maximum > base + 0x600)
		maximum -= size;
	if (g->family->adaptive)
		generate_wrmsr(g, lp, 0x3f2, config);
	generate_poke_field(g, lp, 4, base);
	generate_poke_field(g, lp, 5, base + (chance(g, 20) ? size * below(g, 3) : 0));
	generate_poke_field(g, lp, 6, maximum + (chance(g, 20) ? below(g, 2 * size) - size : 0));
	generate_poke_field(g, lp, 7, base + size * (1 + below(g, records + 1)));
}

static void set_up_bts(struct generator *g, unsigned lp)
{
	uint64_t size = g->family->area->bts_bytes, base = PROGRAM_BTS(lp);
	uint64_t records = 1 + below(g, 10);

	/* Some are long enough for many branches at a time, in the lowest or highest memory. */
	if (g->style == STYLE_BRANCHES && chance(g, 25)) {
		base = lp && g->family->area->field == 8 ? WORLD_TOP : 0x200;
		records = 64 + below(g, 90);
	}
	uint64_t maximum = base + size * records;

	generate_poke_field(g, lp, 0, base);
	generate_poke_field(g, lp, 1, base + (chance(g, 30) ? size * below(g, 4) : 0));
	generate_poke_field(g, lp, 2, maximum + (chance(g, 25) ? below(g, 2 * size) - size : 0));
	generate_poke_field(g, lp, 3,
			    base + size * (1 + below(g, records + 1)) + (chance(g, 20) ? 5 : 0));
}

static void set_up_area(struct generator *g, unsigned lp)
{
	const struct family_area *area = g->family->area;
	uint64_t start = PROGRAM_AREA(lp);

	set_up_bts(g, lp);
	set_up_pebs(g, lp);
	for (unsigned n = 0; n < area->resets; n++)
		poke(g, start + area->reset_at + 8 * n,
		     chance(g, 90) ? 0 - (1 + below(g, generate_span_of(g)))
				   : random_next(&g->random));
	for (unsigned n = 0; n < area->fixed_resets; n++)
		poke(g, start + area->fixed_reset_at + 8 * n,
		     0 - (1 + below(g, generate_span_of(g))));
	if (g->style == STYLE_WILD && chance(g, 30))
		for (unsigned i = 0; i < 2; i++)
			generate_poke_field(g, lp, (unsigned)below(g, 8), hostile_address(g));
	generate_wrmsr(g, lp, 0x600,
		       g->style == STYLE_WILD && chance(g, 15) ? hostile_address(g) : start);
}

uint32_t generate_pick_lvt(struct generator *g)
{
	static const uint32_t lvt[] = {0x400, 0x400, 0xee, 0x220, 0x10400, 0x4f0};

	if (g->style == STYLE_WILD && chance(g, 15))
		return (uint32_t)random_next(&g->random) & ~(chance(g, 70) ? 0x10000u : 0);
	return lvt[below(g, 6)];
}

static uint64_t fixed_control(struct generator *g)
{
	uint64_t control = 0;

	for (unsigned n = 0; n < g->family->fixed; n++) {
		control |= below(g, 16) << (4 * n);
		if (!g->family->any_thread || g->program->threads == 1)
			control &= ~(UINT64_C(4) << (4 * n));
		if (g->family->adaptive && chance(g, 50))
			control |= UINT64_C(1) << (32 + 4 * n);
	}
	return control;
}

static void set_up_fixed(struct generator *g, unsigned lp, uint64_t span, bool precise,
			 uint64_t *pebs)
{
	generate_wrmsr(g, lp, 0x38d, fixed_control(g));
	for (unsigned n = 0; n < g->family->fixed; n++) {
		if (chance(g, 50))
			generate_wrmsr(g, lp, 0x309 + n, generate_before_overflow(g, span));
		if (precise && (g->family->pebs_fixed >> n & 1) && chance(g, 40))
			*pebs |= UINT64_C(1) << (32 + n);
	}
}

void generate_write_counter(struct generator *g, unsigned lp, unsigned n, uint64_t span)
{
	if (g->family->programming != BY_SELECTS)
		generate_wrmsr(g, lp, (g->family->programming == BY_CESR ? 0x12 : 0x300) + n,
			       generate_before_overflow(g, span));
	else if (g->family->full_width && chance(g, 50))
		generate_wrmsr(g, lp, g->family->version_6 ? 0x1900 + 4 * n : 0x4c1 + n,
			       generate_before_overflow(g, span));
	else if (chance(g, 90))
		generate_wrmsr(g, lp, 0xc1 + n, 0xffffffff - below(g, span));
}

/* Picks IA32_DEBUGCTL as software writes it for freezes, last branches or a branch trace. */
uint64_t generate_pick_debugctl(struct generator *g)
{
	uint64_t value = chance(g, 40) ? below(g, 4) << 11 : 0;

	if (g->style == STYLE_BRANCHES || g->style == STYLE_WILD || chance(g, 20)) {
		value |= chance(g, 60) ? 1 : 0;
		value |= chance(g, 60) ? 0xc0 : 0;
		value |= chance(g, 50) ? 1 << 8 : 0;
		value |= chance(g, 30) ? below(g, 4) << 9 : 0;
		value |= chance(g, 20) ? 1 << 14 : 0;
		value |= chance(g, 10) ? 2 : 0;
	}
	return family_debugctl(g->family, value & g->family->debugctl);
}

void generate_set_up_branches(struct generator *g, unsigned lp)
{
	const struct family_lbr *lbr = g->family->lbr;

	if (lbr && lbr->select && chance(g, 50))
		generate_wrmsr(g, lp, lbr->select,
			       lbr->call_stack && chance(g, 50)
				       ? 0x3c4
				       : below(g, lbr->call_stack ? 1024 : 512) & below(g, 1024));
	if (lbr && lbr->ctl && chance(g, 20))
		generate_wrmsr(g, lp, lbr->depth_msr, UINT64_C(8) << below(g, 4));
	if (lbr && lbr->ctl)
		generate_wrmsr(g, lp, lbr->ctl,
			       ((chance(g, 70) ? 0x7f0007 : below(g, 0x800000)) & 0x7f0007) |
				       (chance(g, 30) ? 8 : 0));
	generate_wrmsr(g, lp, 0x1d9, generate_pick_debugctl(g));
}

/* Chooses a counter and programs it. Returns the bit of IA32_PEBS_ENABLE that it needs. */
uint64_t generate_set_up_counter(struct generator *g, unsigned lp, bool precise, uint64_t span)
{
	unsigned n = (unsigned)below(g, g->generals);
	bool here = precise && (g->family->pebs_generals >> n & 1) && chance(g, 70);

	switch ((enum family_programming)g->family->programming) {
	case BY_CESR:
		generate_cesr(g, lp);
		break;
	case BY_ESCRS:
		return generate_escr(g, lp, precise, span);
	default:
		generate_wrmsr(g, lp,
			       g->family->version_6 && chance(g, 50) ? 0x1901 + 4 * n : 0x186 + n,
			       pick_select(g, here));
		break;
	}
	generate_write_counter(g, lp, n, span);
	return here ? UINT64_C(1) << n : 0;
}

static void set_up_counters(struct generator *g, unsigned lp, bool precise)
{
	uint64_t span = generate_span_of(g), pebs = 0;
	unsigned most = g->generals < 8 ? g->generals : 8;
	unsigned used = 1 + (unsigned)below(g, g->style == STYLE_PLAIN ? 3 : most);

	for (unsigned i = 0; i < used; i++)
		pebs |= generate_set_up_counter(g, lp, precise, span);
	if (g->family->fixed && chance(g, 40))
		set_up_fixed(g, lp, span, precise, &pebs);
	if (pebs)
		generate_wrmsr(g, lp, 0x3f1, pebs);
	if (g->style == STYLE_BRANCHES || chance(g, 40))
		generate_set_up_branches(g, lp);
}

uint64_t generate_all_enables(const struct generator *g)
{
	return ((UINT64_C(1) << g->generals) - 1) | ((UINT64_C(1) << g->family->fixed) - 1) << 32;
}

static void set_up(struct generator *g)
{
	bool precise = g->family->pebs_format >= 0 && (g->style == STYLE_PEBS || chance(g, 40));

	for (unsigned lp = 0; lp < g->program->threads; lp++) {
		if (g->family->area && (precise || g->style == STYLE_BRANCHES))
			set_up_area(g, lp);
		set_up_counters(g, lp, precise);
		generate_append(g, OP_LVT, lp)->value = generate_pick_lvt(g);
		generate_append(g, OP_IA32E, lp)->value = chance(g, 80);
		if (g->family->version >= 2)
			generate_wrmsr(g, lp, 0x38f,
				       chance(g, 80)
					       ? generate_all_enables(g)
					       : random_next(&g->random) & generate_all_enables(g));
	}
}

/* Picks a model. family.c must have every model (tests/scenarios/run.sh checks it). */
static const struct spmu_model *pick_model(struct generator *g)
{
	for (;;) {
		const struct spmu_model *model = spmu_model_at(below(g, spmu_model_count()));

		if (family_find(spmu_model_describe(model).name))
			return model;
	}
}

void program_generate(struct program *program, enum program_style style, uint64_t seed)
{
	struct generator g = {
		.program = program, .random = {seed * STYLES + style}, .style = style};

	program->seed = seed;
	g.model = pick_model(&g);
	program->model = spmu_model_describe(g.model).name;
	g.family = family_find(program->model);
	program->ops = 0;
	program->threads = 1 + (unsigned)below(&g, 2);
	program->service = chance(&g, 60);
	program->modelled = chance(&g, 70);
	program->hide_absent = chance(&g, 30);
	program->clocks = style == STYLE_CLOCKS || chance(&g, 50);
	program->block_max = 1 + (unsigned)below(&g, 64);
	program->rings = (unsigned)below(&g, 4) * 3;
	g.generals = program->threads == 2 ? g.family->generals_ht : g.family->generals;
	program->enables = generate_all_enables(&g);
	program->branchy = style == STYLE_BRANCHES && chance(&g, 40);
	set_up(&g);
	for (unsigned runs = 1 + (unsigned)below(&g, style == STYLE_PLAIN ? 4 : 6); runs; runs--) {
		unsigned lp = (unsigned)below(&g, program->threads);
		struct operation *op = generate_append(&g, OP_RUN, lp);

		op->value = random_next(&g.random);
		op->count = 1 + (uint32_t)below(&g, style == STYLE_PLAIN ? 400
						    : program->branchy	 ? 500
									 : 100);
		for (unsigned n = (unsigned)below(&g, 5); n; n--)
			generate_between(&g, (unsigned)below(&g, program->threads));
	}
}
