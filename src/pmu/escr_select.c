/* SPDX-License-Identifier: MIT */
/*
 * escr_select.c: what an ESCR of NetBurst selects (18.15.1; two threads: 18.16.1): events of a
 * class and, for each thread, the rings in which they count.  escr.c and tagging.c use it.
 *
 */
#include "src/pmu/core.h"
#include "src/pmu/counters.h"
#include "src/pmu/escr.h"

/* BPU, MS, FLAME, IQ: four counters each, and six (table 18-63). */
static unsigned block_of(unsigned counter)
{
	return counter / 4 < 3 ? counter / 4 : 3;
}

/*
 * Returns what an ESCR selects, as an event code without the mask. The result for an absent ESCR
 * has no meaning.
 */
static uint32_t code_of(const struct escr *escr, uint64_t value)
{
	unsigned first = (unsigned)__builtin_ctz(escr->counters);

	return block_of(first) << 12 | (uint32_t)escr->select << 8 |
	       (uint32_t)((value & FIELD(ESCR, EVENT_SELECT)) >> FIELD_LOW(ESCR, EVENT_SELECT));
}

/*
 * Table 18-67: an event that cannot be qualified by thread counts for both threads, in the rings
 * that the flags of either thread name.
 */
static void ignore_threads(const struct spmu_core *core, struct escr_selection *selection)
{
	const struct escr_layout *layout = core->model->counters->escrs;

	for (unsigned i = 0; i < layout->independents; i++)
		if (layout->independent[i] == selection->code)
			selection->rings[0] = selection->rings[1] |= selection->rings[0];
}

struct escr_selection escr_selection(const struct spmu_core *core, unsigned number)
{
	uint64_t value = core->thread[0].state.reg[SLOT_ESCR + number];
	struct escr_selection selection = {
		.code = code_of(&core->model->counters->escrs->escr[number], value),
		.mask = (uint32_t)((value & FIELD(ESCR, EVENT_MASK)) >>
				   FIELD_LOW(ESCR, EVENT_MASK)),
		.rings = {(uint8_t)((value & FIELD(ESCR, T0_OS) ? SPMU_RING0 : 0) |
				    (value & FIELD(ESCR, T0_USR) ? SPMU_RING_USER : 0)),
			  (uint8_t)((value & FIELD(ESCR, T1_OS) ? SPMU_RING0 : 0) |
				    (value & FIELD(ESCR, T1_USR) ? SPMU_RING_USER : 0))},
	};

	if (value & FIELD(ESCR, TAG_ENABLE))
		selection.tag =
			(uint8_t)((value & FIELD(ESCR, TAG_VALUE)) >> FIELD_LOW(ESCR, TAG_VALUE));
	if (core->threads < 2)
		selection.rings[1] = 0;
	else
		ignore_threads(core, &selection);
	return selection;
}

/* The counter counts each event whose mask bits are all selected. */
void escr_count(const struct spmu_core *core, const struct escr_selection *selection,
		uint32_t counters, struct counter *counter)
{
	for (unsigned p = 0; p < EVENT_PARTS_MAX; p++) {
		const struct event_part *part = &core->model->events->part[p];

		for (size_t i = 0; i < part->count; i++) {
			const struct spmu_event *event = &part->event[i];

			if ((event->code & UINT16_MAX) == selection->code &&
			    !(event->code >> 16 & ~selection->mask) &&
			    (event->counters & counters) && event_supplied(core, event)) {
				event_counts(core, event, event->signals, counter);
			}
		}
	}
}
