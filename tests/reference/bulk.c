/* SPDX-License-Identifier: MIT */
/*
 * bulk.c: a host that does what unit.h says about meters and the branch tap, and no more. It does
 * not read registers to find out whether it may run in bulk.
 */
#include "machine.h"

#include <string.h>

/* Returns the occurrences in an instruction that a meter counts (unit.h). */
static int64_t occurrences(const struct spmu_meter *meter, const struct spmu_insn *insn)
{
	int64_t n = __builtin_popcountll(insn->signals & meter->signals);

	for (unsigned i = 0; meter->tallies && i < insn->tally_count; i++)
		if (spmu_tally_set_has(meter->tallies, insn->tallies[i].kind))
			n += insn->tallies[i].count;
	return n;
}

static unsigned ring(unsigned cpl)
{
	return cpl ? SPMU_RING_USER : SPMU_RING0;
}

/* Subtracts from the meters (unit.h). If one goes below zero, gives all back and returns false. */
static bool pass(const struct program *program, struct spmu_meters *meters,
		 const struct spmu_insn *insn, unsigned count, enum reference_defect defect)
{
	unsigned system = family_find(program->model)->system_cpl;
	int64_t taken[SPMU_METERS_MAX];
	bool room = true;

	for (unsigned i = 0; i < meters->count; i++) {
		struct spmu_meter *meter = &meters->meter[i];

		taken[i] = 0;
		for (unsigned k = 0; k < count; k++)
			if (meter->rings & ring(insn[k].cpl > system))
				taken[i] += occurrences(meter, &insn[k]);
		meter->headroom -= taken[i];
		if (meter->headroom < (defect == REFERENCE_HOST_ONE_TOO_MANY ? -1 : 0))
			room = false;
	}
	if (defect == REFERENCE_HOST_IGNORES_HEADROOM)
		return true;
	if (defect == REFERENCE_HOST_KEEPS_TAKEN)
		return room;
	if (!room)
		for (unsigned i = 0; i < meters->count; i++)
			meters->meter[i].headroom += taken[i];
	return room;
}

/*
 * Returns true if the tap wants the branch. A far branch between rings is wanted if one of the two
 * is.
 */
static bool wanted(const struct spmu_branch_tap *tap, const struct spmu_insn *insn)
{
	uint64_t taken = insn->signals & SPMU_SIGSET_TAKEN & tap->signals;
	unsigned rings = ring(insn->cpl);

	if (taken & SPMU_SIGBIT(FAR))
		rings |= ring(insn->next_cpl);
	return taken && (tap->rings & rings);
}

static void gather(struct machine *m, const struct spmu_insn *insn)
{
	uint64_t taken = insn->signals & SPMU_SIGSET_TAKEN;

	m->gathered[m->gathered_count++] = (struct spmu_branch){
		.from = insn->ip,
		.to = insn->next_ip,
		.signal = (uint8_t)__builtin_ctzll(taken),
		.cpl = insn->cpl,
		.next_cpl = taken & SPMU_SIGBIT(FAR) ? insn->next_cpl : insn->cpl,
		.flags = insn->signals & SPMU_SIGBIT(BRANCH_MISS) ? SPMU_BRANCH_MISPREDICTED : 0,
	};
}

/*
 * Stores BTS records as a host does itself. Returns false if its memory refuses, or if a branch
 * begins in another ring.
 */
static bool store(struct machine *m, uint64_t next, unsigned rings)
{
	for (unsigned i = 0; i < m->gathered_count; i++)
		if (!(rings & ring(m->gathered[i].cpl)))
			return false;
	for (unsigned i = 0; i < m->gathered_count; i++) {
		uint8_t record[24] = {0};

		reference_put(record, 8, m->gathered[i].from);
		reference_put(record + 8, 8, m->gathered[i].to);
		if (!world_store(&m->world, next + i * sizeof(record), record, sizeof(record)))
			return false;
	}
	return true;
}

/*
 * Returns how many older branches may be dropped. Those that end in a wanted ring count. Only whole
 * rounds of the stack are dropped, so that TOS stays the same.
 */
static unsigned droppable(const struct machine *m, const struct spmu_branch_tap *tap)
{
	unsigned kept = 0, first = m->gathered_count;

	if (!tap->keep_last)
		return 0;
	while (first && kept < tap->keep_last)
		kept += (tap->rings & ring(m->gathered[--first].next_cpl)) != 0;
	for (unsigned i = kept = 0; i < first; i++)
		kept += (tap->rings & ring(m->gathered[i].next_cpl)) != 0;
	for (kept %= SPMU_LBR_DEPTH_MAX; kept; kept--)
		do
			first--;
		while (!(tap->rings & ring(m->gathered[first].next_cpl)));
	return first;
}

bool machine_is_silent(const struct program *program, const struct machine *m, unsigned lp,
		       const struct spmu_insn *insn)
{
	const struct spmu_meters *meters = &m->meters[m->side][lp];
	unsigned system = family_find(program->model)->system_cpl;
	bool past = false;

	if (wanted(&meters->tap, insn))
		return false;
	for (unsigned i = 0; i < meters->count; i++) {
		const struct spmu_meter *meter = &meters->meter[i];
		int64_t over = -meter->headroom;

		if (meter->rings & ring(insn->cpl > system))
			over += occurrences(meter, insn);
		if (over > meter->silent)
			return false;
		past |= over > 0;
	}
	return past;
}

/*
 * Returns true if memory may be read but not written. It can refuse the index after the records
 * were stored. What is then after the index depends on how many records come at a time, and no rule
 * defines it. So records are handed over one by one.
 */
static bool is_guarded(const struct world *world)
{
	for (unsigned g = 0; g < WORLD_GRANULES; g++)
		if (world->guard[g] & WORLD_NO_WRITE)
			return true;
	return false;
}

/*
 * Returns true for a branch trace buffer over its own management area. Its records write base,
 * index and maximum, and the result depends on how many come at a time.
 */
static bool is_over_itself(struct machine *m, unsigned lp)
{
	const uint64_t area_bytes = 0x180;
	uint64_t area;

	if (machine_read(m, lp, 0x600, &area) != SPMU_DONE)
		return false;
	for (unsigned field = 4; field <= 8; field += 4) {
		uint64_t base = world_peek(&m->world, area, field);
		uint64_t most = world_peek(&m->world, area + 2ull * field, field);

		if (base < most && base - area < area_bytes)
			return true;
		if (base < most && area - base < most - base)
			return true;
	}
	return false;
}

bool machine_hand_over(const struct program *program, struct machine *m, unsigned lp,
		       unsigned *events)
{
	const struct spmu_branch_tap *tap = &m->meters[m->side][lp].tap;
	uint64_t pmis = m->world.pmi_count, epoch = machine_epochs(m), debugctl = 0;
	unsigned count = m->gathered_count, first = 0, got;
	struct spmu_insn last = {0};

	*events = 0;
	if (!count)
		return true;
	m->tapped += count;
	/* If the host stores, last branch records have no flags, so they cannot be compared. */
	bool guarded = is_guarded(&m->world) || is_over_itself(m, lp);
	bool stores = tap->bts_next && !guarded && (program->seed & 1) &&
		      machine_read(m, lp, 0x1d9, &debugctl) == SPMU_DONE && !(debugctl & 1);

	last.next_ip = m->gathered[count - 1].to;
	m->world.insn = &last;
	if (stores && store(m, tap->bts_next, tap->rings)) {
		m->stored += count;
		got = spmu_branches_stored(m->core, lp, count);
	} else {
		if ((program->seed & 2) && !guarded)
			first = droppable(m, tap);
		got = 0;
		for (; guarded && first + 1 < count; first++)
			got |= spmu_branches(m->core, lp, m->gathered + first, 1);
		got |= spmu_branches(m->core, lp, m->gathered + first, count - first);
	}
	m->world.insn = NULL;
	m->gathered_count = 0;
	*events = got & (SPMU_EV_PMI | SPMU_EV_RECORD);
	return machine_is_told(m, got, pmis, epoch);
}

/*
 * Returns true if the branch tap can be used. A host that runs in bulk without counting clocks
 * loses the clocks between branches. One that supplies clocks reports each instruction while the
 * unit wants branches.
 */
static bool may_tap(const struct program *program, const struct spmu_branch_tap *tap)
{
	return !tap->signals || !program->modelled;
}

/*
 * Returns true for a buffer over the fields that describe the branch trace. The fields then depend
 * on when each record is stored, so each branch is reported at once.
 */
static bool is_overlaid(const struct program *program, struct machine *m, unsigned lp)
{
	const struct family_area *layout = family_find(program->model)->area;
	unsigned field = layout ? layout->field : 0;
	uint64_t area, base, maximum;

	if (!layout || machine_read(m, lp, 0x600, &area) != SPMU_DONE)
		return false;
	for (unsigned first = 0; first < 8; first += 4) {
		base = world_peek(&m->world, area + first * field, field);
		maximum = world_peek(&m->world, area + (first + 2) * field, field);
		if (base < area + 8 * field && maximum > area)
			return true;
	}
	return false;
}

/*
 * Reports the tallies of passed instructions a second time: gives their charge back and reports
 * them afterwards. They fit the headroom, so this has no consequence.
 */
static bool tally_late(const struct program *program, struct machine *m, unsigned lp,
		       const struct spmu_insn *insn, unsigned count)
{
	struct spmu_meters *meters = &m->meters[m->side][lp];
	unsigned system = family_find(program->model)->system_cpl, events = 0;

	for (unsigned k = 0; k < count; k++) {
		const struct spmu_insn tallies = {.tallies = insn[k].tallies,
						  .tally_count = insn[k].tally_count};

		for (unsigned i = 0; i < meters->count; i++)
			if (meters->meter[i].rings & ring(insn[k].cpl > system))
				meters->meter[i].headroom +=
					occurrences(&meters->meter[i], &tallies);
		events |= spmu_tallies(m->core, lp, insn[k].tallies, insn[k].tally_count,
				       insn[k].cpl);
	}
	return events == 0;
}

unsigned machine_bulk(const struct program *program, struct machine *m, unsigned lp,
		      const struct spmu_insn *insn, unsigned most, unsigned *event, bool *good)
{
	struct spmu_meters *meters = &m->meters[m->side][lp];
	const struct spmu_branch_tap *tap = &meters->tap;
	unsigned count = 0, branches = m->gathered_count;
	bool full = false;

	*good = true;
	if (!may_tap(program, tap) || (tap->signals && is_overlaid(program, m, lp)))
		return 0;
	/* It ends at the branch that uses up the room. */
	while (count < most && !full) {
		branches += wanted(tap, &insn[count++]);
		full = branches > m->gathered_count &&
		       (branches >= tap->headroom || branches == GATHERED_MAX);
	}
	if (!pass(program, meters, insn, count, m->reference.defect))
		return 0;
	if (program->seed & 4)
		*good = tally_late(program, m, lp, insn, count);
	for (unsigned i = 0; i < count; i++)
		if (wanted(tap, &insn[i]))
			gather(m, &insn[i]);
	m->bulk += count;
	m->world.position += count;
	if (!full)
		return count;
	m->world.position--; /* the interrupt belongs to the last of them */
	*good &= machine_hand_over(program, m, lp, &event[count - 1]);
	m->world.position++;
	machine_service(program, m);
	return count;
}
