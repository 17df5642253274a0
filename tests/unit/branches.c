/* SPDX-License-Identifier: MIT */
/*
 * branches.c: taken branches reach the unit in three ways, and the result is the same (Vol. 3B
 * 17.4.2, 17.4.5). The host retires them one by one, passes many in a call, or follows the tap.
 * With the tap it drops the branches that do not matter and stores trace records itself. Branches,
 * registers and save areas are random, on every model. BRANCHES_SEEDS sets how many programs run on
 * each.
 */
#include "tests/unit/unit_host.h"

#define BRANCHES_MAX 200
#define STEPS	     12

enum way { RETIRED, MANY, TAPPED, WAYS };

static uint64_t state;

static uint64_t draw(uint64_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state >> 11) % below;
}

static void by_retired(struct unit_host *host, const struct spmu_branch *branches, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct spmu_insn insn = {
			.ip = branches[i].from,
			.next_ip = branches[i].to,
			.signals = UINT64_C(1) << branches[i].signal | SPMU_SIGBIT(INSTRUCTIONS),
			.cpl = branches[i].cpl,
			.next_cpl = branches[i].next_cpl,
		};

		spmu_retire(host->core, 0, &insn);
	}
}

static bool wants(const struct spmu_branch_tap *tap, const struct spmu_branch *branch)
{
	unsigned rings = (branch->cpl ? SPMU_RING_USER : SPMU_RING0) |
			 (branch->next_cpl ? SPMU_RING_USER : SPMU_RING0);

	return (tap->signals >> branch->signal & 1) && (tap->rings & rings);
}

/* Stores records where the tap says. Returns false if the host's memory does not reach there. */
static bool store(struct unit_host *host, const struct spmu_branch *branches, size_t count)
{
	uint64_t at = host->meters[0].tap.bts_next;

	if (!host_inside(host, at, count * 24))
		return false;
	for (size_t i = 0; i < count; i++) {
		const uint64_t record[3] = {branches[i].from, branches[i].to, 0};

		memcpy(host->memory + (at - host->base) + 24 * i, record, sizeof(record));
	}
	spmu_branches_stored(host->core, 0, count);
	return true;
}

/* Passes branches as unit.h says for struct spmu_branch_tap. */
static void by_tap(struct unit_host *host, const struct spmu_branch *branches, size_t count)
{
	const struct spmu_branch_tap *tap = &host->meters[0].tap;
	struct spmu_branch gathered[BRANCHES_MAX];

	while (count) {
		size_t n = 0, first = 0;
		bool far = false;

		for (; count && n < tap->headroom; branches++, count--)
			if (wants(tap, branches)) {
				far = far || branches->cpl != branches->next_cpl;
				gathered[n++] = *branches;
			} else if (!tap->signals) {
				break;
			}
		if (!tap->signals)
			return;
		if (tap->keep_last && n > tap->keep_last && tap->rings == 3)
			first = n - tap->keep_last;
		if (!tap->bts_next || far || !store(host, gathered, n))
			spmu_branches(host->core, 0, gathered + first, n - first);
	}
}

/* Draws a save area, usually with a buffer that can be used. */
static void draw_area(struct unit_host host[WAYS], const struct spmu_ds_layout *layout)
{
	uint64_t base = host->base + 0x400 + draw(64);
	uint64_t bytes = draw(8) ? 200 + draw(3000) : draw(60);
	struct spmu_ds_area area = {
		.bts_base = base,
		.bts_index = base + (draw(4) ? 0 : draw(bytes + 60)),
		.bts_maximum = base + bytes,
		.bts_threshold = base + draw(bytes + 2000),
	};

	if (!draw(10))
		area.bts_index = draw(2) ? base - 1 : UINT64_MAX - draw(50);
	for (unsigned way = 0; way < WAYS; way++)
		CHECK_EQ(spmu_ds_encode(layout, &area, host[way].memory, MEMORY_BYTES), SPMU_OK);
}

static void write_all(struct unit_host host[WAYS], uint32_t msr, uint64_t value)
{
	enum spmu_outcome outcome = spmu_write_msr(host[0].core, 0, msr, value);

	for (unsigned way = 1; way < WAYS; way++)
		CHECK_EQ(spmu_write_msr(host[way].core, 0, msr, value), outcome);
}

/*
 * Returns the index of the newest entry. P6 has one entry and no register for the index (17.14.2).
 */
static uint64_t newest(const struct spmu_lbr_layout *lbr, struct unit_host *host)
{
	return lbr->tos ? RDMSR(host, lbr->tos) : 0;
}

/* Returns true if memory, interrupts and entries are equal, the entries from the newest on. */
static bool alike(const struct spmu_lbr_layout *lbr, struct unit_host *a, struct unit_host *b)
{
	if (memcmp(a->memory, b->memory, MEMORY_BYTES) != 0 || a->pmis != b->pmis ||
	    RDMSR(a, DEBUGCTL) != RDMSR(b, DEBUGCTL))
		return false;
	for (unsigned n = 0; n < lbr->depth; n++) {
		uint32_t in_a = (uint32_t)(newest(lbr, a) - n) & (lbr->depth - 1u);
		uint32_t in_b = (uint32_t)(newest(lbr, b) - n) & (lbr->depth - 1u);

		if (RDMSR(a, lbr->from + in_a) != RDMSR(b, lbr->from + in_b) ||
		    (lbr->to && RDMSR(a, lbr->to + in_a) != RDMSR(b, lbr->to + in_b)))
			return false;
	}
	return true;
}

/* Draws bits 6 to 12 of IA32_DEBUGCTL. MSR_DEBUGCTLA has them lower, and none for the freeze. */
static uint64_t draw_trace(void)
{
	return (draw(3) ? 0xc0 : draw(4) << 6) | draw(2) << 8 | (draw(3) ? 0 : draw(16) << 9);
}

static void step(struct unit_host host[WAYS], const struct spmu_lbr_layout *lbr, unsigned shift)
{
	static const uint8_t kinds[] = {SPMU_SIG_COND_TAKEN, SPMU_SIG_CALL_REL,	  SPMU_SIG_CALL_IND,
					SPMU_SIG_RET_NEAR,   SPMU_SIG_JMP_REL,	  SPMU_SIG_JMP_IND,
					SPMU_SIG_FAR,	     SPMU_SIG_COND_NTAKEN};
	struct spmu_branch branches[BRANCHES_MAX];
	size_t count = 1 + draw(BRANCHES_MAX), at = 0;
	unsigned cpl = draw(4) ? 3 : 0;

	write_all(host, DEBUGCTL, draw(2) | (shift ? draw_trace() >> shift & 0x7f : draw_trace()));
	if (lbr->select)
		write_all(host, lbr->select, draw(2) ? 0 : draw(2) ? 0x3c4 : draw(1024));
	for (size_t i = 0; i < count; i++) {
		branches[i] = (struct spmu_branch){.from = 0x1000 + draw(1u << 24),
						   .to = 0x1000 + draw(1u << 24),
						   .signal = kinds[draw(draw(3) ? 6 : 8)],
						   .cpl = (uint8_t)cpl};
		if (branches[i].signal == SPMU_SIG_FAR)
			cpl = draw(2) ? 3 : 0;
		branches[i].next_cpl = (uint8_t)cpl;
	}
	by_retired(&host[RETIRED], branches, count);
	while (at < count) {
		size_t n = 1 + draw(count - at);

		spmu_branches(host[MANY].core, 0, branches + at, n);
		at += n;
	}
	by_tap(&host[TAPPED], branches, count);
}

static bool program(const struct spmu_model *model, uint64_t seed, bool ia32e)
{
	static struct unit_host host[WAYS];
	const struct spmu_lbr_layout *lbr = spmu_model_lbr_layout(model);
	const struct spmu_ds_layout *layout = spmu_model_ds_layout(model, ia32e);
	unsigned shift = lbr->tos == 0x1da ? 4 : 0; /* NetBurst: MSR_DEBUGCTLA (17.11.1) */
	bool same = true;

	state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	for (unsigned way = 0; way < WAYS; way++) {
		host_create(&host[way], spmu_model_describe(model).name, 1, SUPPLY_EXECUTION);
		spmu_set_ia32e(host[way].core, 0, ia32e);
		host[way].base = layout && layout->field_bytes == 8 && ia32e ? MEMORY_BASE : 0;
	}
	write_all(host, DS_AREA_MSR, host->base);
	for (unsigned n = 0; same && n < STEPS; n++) {
		if (layout && (!n || !draw(3)))
			draw_area(host, layout);
		for (unsigned way = 0; way < WAYS; way++)
			spmu_write_lvt(host[way].core, 0, LVT_NMI);
		step(host, lbr, shift);
		same = alike(lbr, &host[RETIRED], &host[MANY]) &&
		       newest(lbr, &host[RETIRED]) == newest(lbr, &host[MANY]) &&
		       alike(lbr, &host[RETIRED], &host[TAPPED]);
	}
	for (unsigned way = 0; way < WAYS; way++)
		host_destroy(&host[way]);
	return same;
}

int main(void)
{
	const char *seeds = getenv("BRANCHES_SEEDS");
	unsigned programs = seeds ? (unsigned)strtoul(seeds, NULL, 10) : 200;

	for (size_t m = 0; m < spmu_model_count(); m++) {
		const struct spmu_model *model = spmu_model_at(m);

		if (!spmu_model_lbr_layout(model))
			continue;
		for (unsigned seed = 1; seed <= programs; seed++)
			if (!CHECK(program(model, seed, seed % 4 != 0)))
				printf("model %s, seed %u\n", spmu_model_describe(model).name,
				       seed);
	}
	return test_summary();
}
