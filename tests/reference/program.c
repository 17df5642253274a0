/* SPDX-License-Identifier: MIT */
/*
 * program.c: runs one program on the unit in bulk, on the unit one by one and on the reference, and
 * compares the three.
 */
#include "machine.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct machine machine[MACHINES];
static struct spmu_insn stream[PROGRAM_RUN_MAX];
static uint8_t state[3][STATE_BYTES];

static const uint32_t architectural_msrs[] = {
	0x329,	0xc0,	 0xc1,	  0xc2,	   0xc3,    0xc4,   0xc5,   0xc6,   0xc7,   0xc8,   0xc9,
	0x4c0,	0x4c1,	 0x4c2,	  0x4c3,   0x4c4,   0x4c5,  0x4c6,  0x4c7,  0x4c8,  0x4c9,  0x185,
	0x186,	0x187,	 0x188,	  0x189,   0x18a,   0x18b,  0x18c,  0x18d,  0x18e,  0x1a0,  0x1d9,
	0x308,	0x309,	 0x30a,	  0x30b,   0x30c,   0x345,  0x38c,  0x38d,  0x38e,  0x38f,  0x390,
	0x391,	0x392,	 0x393,	  0x40,	   0x43,    0x44,   0x47,   0x48,   0x60,   0x63,   0x67,
	0x1c8,	0x1c9,	 0x1dd,	  0x1de,   0x680,   0x681,  0x682,  0x683,  0x687,  0x68f,  0x690,
	0x69f,	0x6a0,	 0x6c0,	  0x6c1,   0x6c2,   0x6c3,  0x6c7,  0x6cf,  0x6d0,  0x6df,  0x6e0,
	0xdc0,	0xdc1,	 0xdc2,	  0xddf,   0xde0,   0x3f0,  0x3f1,  0x3f2,  0x3f6,  0x3f7,  0x600,
	0x601,	0x107cc, 0x107cf, 0x107d3, 0x107d8, 0x1e0,  0x14ce, 0x14cf, 0x14d0, 0x1200, 0x1207,
	0x1208, 0x121f,	 0x1220,  0x1500,  0x1501,  0x1507, 0x1508, 0x1510, 0x151f, 0x1520, 0x1600,
	0x1601, 0x1607,	 0x1608,  0x161f,  0xca,    0x18f,  0x4ca,  0x1900, 0x1901, 0x1902, 0x1903,
	0x1904, 0x1905,	 0x1924,  0x1925,  0x1980,  0x1982, 0x1984, 0x198c, 0x1210,
};
static const uint32_t legacy_msrs[] = {
	0x10,  0x11,  0x12,  0x13,  0x14,  0x40,  0x41,	 0x42,	0x43,  0x44,  0x45,  0x46,  0x47,
	0x48,  0x60,  0xc0,  0xc1,  0xc2,  0xc3,  0x4c1, 0x185, 0x186, 0x187, 0x188, 0x1a0, 0x1c8,
	0x1c9, 0x1d7, 0x1d8, 0x1d9, 0x1da, 0x1db, 0x1dc, 0x1dd, 0x1de, 0x1df, 0x300, 0x309, 0x345,
	0x360, 0x38d, 0x38e, 0x38f, 0x390, 0x3a0, 0x3f1, 0x3f2, 0x600, 0x680, 0x6c0,
};
static const uint32_t netburst_msrs[] = {
	0x2ff,	 0x300,	  0x301, 0x302, 0x303, 0x304, 0x305,   0x306,	0x307,	 0x308,	  0x309,
	0x30a,	 0x30b,	  0x30c, 0x30d, 0x30e, 0x30f, 0x310,   0x311,	0x312,	 0x35f,	  0x360,
	0x361,	 0x362,	  0x363, 0x364, 0x366, 0x367, 0x368,   0x36a,	0x36b,	 0x36c,	  0x36d,
	0x36e,	 0x36f,	  0x370, 0x371, 0x372, 0x39f, 0x3a0,   0x3a3,	0x3a4,	 0x3a5,	  0x3a6,
	0x3b2,	 0x3b8,	  0x3b9, 0x3ba, 0x3bb, 0x3bc, 0x3bd,   0x3be,	0x3bf,	 0x3c0,	  0x3c2,
	0x3c3,	 0x3c5,	  0x3c6, 0x3c7, 0x3c8, 0x3ca, 0x3cb,   0x3cc,	0x3cd,	 0x3ce,	  0x3df,
	0x3e0,	 0x3e1,	  0x3e2, 0x3f0, 0x3f1, 0x3f2, 0x600,   0x1a0,	0x1d7,	 0x1d8,	  0x1d9,
	0x1da,	 0x1db,	  0x1dc, 0x1dd, 0x1de, 0x1df, 0x345,   0x680,	0x681,	 0x682,	  0x683,
	0x684,	 0x68f,	  0x690, 0x6c0, 0x6c1, 0x6c2, 0x6c3,   0x6c4,	0x6cf,	 0x6d0,	  0xc1,
	0x186,	 0x38e,	  0x38f, 0x11,	0x12,  0x40,  0x107cb, 0x107cc, 0x107d1, 0x107d2, 0x107d3,
	0x107d4, 0x107d8,
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

const uint32_t *program_msrs(const struct family *family, unsigned *count)
{
	if (family->programming == BY_ESCRS) {
		*count = COUNT(netburst_msrs);
		return netburst_msrs;
	}
	*count = family->version ? COUNT(architectural_msrs) : COUNT(legacy_msrs);
	return family->version ? architectural_msrs : legacy_msrs;
}

/*
 * Returns true if the published lists are valid: each meter counts something, and none is
 * overdrawn.
 */
static bool meters_in_order(const struct program *program, const struct machine *m)
{
	for (unsigned lp = 0; m->kind != REFERENCE && lp < program->threads; lp++) {
		const struct spmu_meters *meters = &m->meters[m->side][lp];

		if (meters->count > SPMU_METERS_MAX)
			return false;
		for (unsigned i = 0; i < meters->count; i++)
			if (!(meters->meter[i].signals || meters->meter[i].tallies) ||
			    !meters->meter[i].rings ||
			    meters->meter[i].rings > (SPMU_RING0 | SPMU_RING_USER) ||
			    meters->meter[i].headroom < 0)
				return false;
	}
	return true;
}

static bool fail(struct program_failure *failure, const char *form, ...)
	__attribute__((format(printf, 2, 3)));

static bool fail(struct program_failure *failure, const char *form, ...)
{
	va_list list;

	va_start(list, form);
	vsnprintf(failure->what, sizeof(failure->what), form, list);
	va_end(list);
	return false;
}

/* Compares all that software can see of two machines. */
static bool compare(const struct program *program, struct machine *a, struct machine *b,
		    struct program_failure *failure)
{
	unsigned msrs;
	const uint32_t *msr = program_msrs(family_find(program->model), &msrs);
	const char *what;

	/* A read folds in what passed in bulk, so it comes before the look at the pins. */
	for (unsigned lp = 0; lp < program->threads; lp++) {
		for (unsigned i = 0; i < msrs; i++) {
			uint64_t va, vb;
			enum spmu_outcome oa = machine_read(a, lp, msr[i], &va);
			enum spmu_outcome ob = machine_read(b, lp, msr[i], &vb);

			if (oa != ob || (oa == SPMU_DONE && va != vb))
				return fail(failure, "MSR %x of thread %u: %s %d:%llx, %s %d:%llx",
					    msr[i], lp, machine_name(a), oa, (unsigned long long)va,
					    machine_name(b), ob, (unsigned long long)vb);
		}
		if (machine_read_lvt(a, lp) != machine_read_lvt(b, lp))
			return fail(failure, "LVT of thread %u: %s %x, %s %x", lp, machine_name(a),
				    machine_read_lvt(a, lp), machine_name(b),
				    machine_read_lvt(b, lp));
	}
	what = world_difference(&a->world, &b->world);
	if (!what)
		return true;
	for (unsigned i = 0; i < a->world.pmi_count && i < b->world.pmi_count && i < WORLD_PMIS_MAX;
	     i++) {
		const struct world_pmi *pa = &a->world.pmi[i], *pb = &b->world.pmi[i];

		if (memcmp(pa, pb, sizeof(*pa)))
			return fail(failure, "%s: %s at %llu status %llx, %s at %llu status %llx",
				    what, machine_name(a), (unsigned long long)pa->position,
				    (unsigned long long)pa->status, machine_name(b),
				    (unsigned long long)pb->position,
				    (unsigned long long)pb->status);
	}
	for (unsigned i = 0; i < sizeof(a->world.memory); i++)
		if (a->world.memory[i] != b->world.memory[i])
			return fail(failure, "%s: window %u offset %x: %s %02x, %s %02x", what,
				    i / WORLD_WINDOW_BYTES, i % WORLD_WINDOW_BYTES, machine_name(a),
				    a->world.memory[i], machine_name(b), b->world.memory[i]);
	return fail(failure, "%s: %s, %s", what, machine_name(a), machine_name(b));
}

/* Compares the hidden state of the two cores, which must be the same, too. */
static bool compare_states(struct program_failure *failure)
{
	size_t bytes = spmu_state_bytes(machine[SINGLE].core);
	unsigned lp = 0;
	const char *what;

	if (!machine_reload(NULL, &machine[SINGLE], false, state[0], state[1]))
		return fail(failure, "save and load of the single core");
	if (spmu_save(machine[BULK].core, state[2], bytes) != SPMU_OK)
		return fail(failure, "save of the bulk core");
	what = spmu_state_difference(state[0], state[2], bytes, &lp);
	return what ? fail(failure, "saved state of bulk and single: %s of thread %u", what, lp)
		    : true;
}

static bool compare_all(const struct program *program, struct program_totals *totals,
			struct program_failure *failure)
{
	totals->comparisons++;
	if (!meters_in_order(program, &machine[BULK]) ||
	    !meters_in_order(program, &machine[SINGLE]))
		return fail(failure, "a meter is out of order");
	return compare(program, &machine[SINGLE], &machine[REFERENCE], failure) &&
	       compare(program, &machine[BULK], &machine[SINGLE], failure) &&
	       compare_states(failure);
}

static bool run_all(const struct program *program, const struct operation *op,
		    struct program_totals *totals, struct program_failure *failure)
{
	program_stream(program, op, stream);
	for (unsigned k = 0; k < MACHINES; k++)
		if (!machine_run(program, &machine[k], op, stream))
			return fail(failure, "%s: spmu_retire() returned the wrong set",
				    machine_name(&machine[k]));
	totals->instructions += op->count;
	for (unsigned i = 0; i < op->count; i++) {
		unsigned want = machine[REFERENCE].event[i];

		totals->records += want & SPMU_EV_RECORD ? 1 : 0;
		for (unsigned k = 0; k < REFERENCE; k++)
			if (machine[k].event[i] != want)
				return fail(failure, "instruction %u of the run: %s %s, %s %s", i,
					    machine_name(&machine[k]),
					    (machine[k].event[i] ^ want) & SPMU_EV_RECORD ? "record"
											  : "PMI",
					    machine[k].event[i] > want ? "made" : "missing",
					    "against the reference");
	}
	return true;
}

static bool step(const struct program *program, const struct operation *op,
		 struct program_totals *totals, struct program_failure *failure)
{
	struct answer answer[MACHINES];

	if (op->kind == OP_RUN)
		return run_all(program, op, totals, failure);
	if (op->kind == OP_COMPARE)
		return compare_all(program, totals, failure);
	for (unsigned k = 0; k < MACHINES; k++)
		answer[k] = machine_operate(program, &machine[k], op);
	totals->faults += answer[REFERENCE].outcome == SPMU_GP;
	totals->reloads += op->kind == OP_RELOAD;
	for (unsigned k = 0; k < REFERENCE; k++)
		if (answer[k].outcome != answer[REFERENCE].outcome ||
		    answer[k].value != answer[REFERENCE].value)
			return fail(failure, "%s %d:%llx, reference %d:%llx",
				    machine_name(&machine[k]), answer[k].outcome,
				    (unsigned long long)answer[k].value, answer[REFERENCE].outcome,
				    (unsigned long long)answer[REFERENCE].value);
	return true;
}

bool program_run(const struct program *program, enum reference_defect defect,
		 struct program_totals *totals, struct program_failure *failure)
{
	static struct program_totals scratch;
	bool agree = true;

	if (!totals)
		totals = &scratch;
	for (unsigned k = 0; k < MACHINES; k++)
		machine_start(program, &machine[k], (enum machine_kind)k, defect);
	for (failure->op = 0; failure->op < program->ops && agree; failure->op++)
		agree = step(program, &program->op[failure->op], totals, failure);
	if (!agree)
		failure->op--;
	else
		agree = compare_all(program, totals, failure);
	totals->programs++;
	totals->bulk_instructions += machine[BULK].bulk;
	totals->silent += machine[SINGLE].silent;
	totals->bulk_branches += machine[BULK].tapped;
	totals->stored_branches += machine[BULK].stored;
	totals->pmis += machine[REFERENCE].world.pmi_count;
	totals->accesses += machine[SINGLE].world.accesses;
	return agree;
}
