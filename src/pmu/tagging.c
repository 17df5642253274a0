/* SPDX-License-Identifier: MIT */
/*
 * tagging.c: what NetBurst counts at retirement because it was tagged before (18.15.6).
 *
 * front_end_event, execution_event and replay_event count micro-operations with a tag. An ESCR that
 * selects uop_type tags in the front end. An ESCR with TAG_ENABLE puts its tag value on what its
 * event counts. IA32_PEBS_ENABLE and MSR_PEBS_MATRIX_VERT choose what is tagged on replay. An ESCR
 * tags without a counter. Tags are put on in the rings of the ESCR that tags, and counted in the
 * rings of the ESCR that counts. If several ESCRs tag for one counter, the union of their rings is
 * used for all.
 *
 * A host reports instructions, so a tagged micro-operation is an instruction with a signal, or an
 * occurrence of a tally (cache and TLB misses). There are no bogus ones.
 *
 * instr_retired distinguishes instructions that were tagged in the front end (NBOGUSTAG) from
 * others (NBOGUSNTAG). While something is tagged, signals do not say how many the others are. Then
 * NBOGUSNTAG counts only together with NBOGUSTAG. NBOGUSTAG alone counts only if all tags come with
 * one signal.
 */
#include "src/pmu/core.h"
#include "src/pmu/counters.h"
#include "src/pmu/escr.h"

#define NBOGUS	   1u	/* of the mask of front_end_event and replay_event */
#define NBOGUS_TAG 0xfu /* of execution_event: by tag */

/* Signals that carry a tag, and where they got it. */
struct tags {
	uint64_t signals;
	uint8_t rings[SPMU_THREADS_MAX];
};

static void add_rings(struct tags *tags, const struct escr_selection *by)
{
	for (unsigned lp = 0; lp < SPMU_THREADS_MAX; lp++)
		tags->rings[lp] |= by->rings[lp];
}

static void add(struct tags *tags, uint64_t signals, const struct escr_selection *by)
{
	if (!signals)
		return;
	tags->signals |= signals;
	add_rings(tags, by);
}

static uint64_t known(const struct spmu_core *core, uint64_t signals)
{
	return signals & (core->host.supply.exact | core->host.supply.modelled);
}

static struct tags front_end(const struct spmu_core *core)
{
	const struct escr_layout *layout = core->model->counters->escrs;
	struct tags tags = {0};

	for (unsigned i = 0; i < ESCR_MAX; i++) {
		struct escr_selection by = escr_selection(core, i);

		for (unsigned t = 0; t < layout->front_end_tags; t++) {
			const struct front_end_tag *tag = &layout->front_end_tag[t];

			if ((tag->code & UINT16_MAX) == by.code && (tag->code >> 16 & by.mask))
				add(&tags, known(core, tag->signals), &by);
		}
	}
	return tags;
}

/* Tags by any of these tag values. */
static struct tags execution(const struct spmu_core *core, uint32_t values)
{
	const struct escr_layout *layout = core->model->counters->escrs;
	struct tags tags = {0};

	for (unsigned i = 0; i < ESCR_MAX; i++) {
		struct escr_selection by = escr_selection(core, i);
		struct counter counted = {0};

		if (!(by.tag & values))
			continue;
		escr_count(core, &by, layout->escr[i].counters, &counted);
		add(&tags, counted.signals, &by);
	}
	return tags;
}

/*
 * No ESCR takes part in it, so it counts in all rings. A metric that the host does not supply has
 * rings, too, so that the counter is among the absent ones. The counter gets the tallies here.
 */
static struct tags replay(const struct spmu_core *core, struct counter *counter)
{
	const struct escr_layout *layout = core->model->counters->escrs;
	const uint64_t *reg = core->thread[0].state.reg;
	const struct escr_selection everywhere = {
		.rings = {SPMU_RING0 | SPMU_RING_USER, SPMU_RING0 | SPMU_RING_USER}};
	struct tags tags = {0};

	if (!(reg[SLOT_PEBS_ENABLE] & FIELD(PEBS_ENABLE_NETBURST, UOP_TAG)))
		return tags;
	for (unsigned t = 0; t < layout->replay_tags; t++) {
		const struct replay_tag *tag = &layout->replay_tag[t];

		if ((tag->enable & ~reg[SLOT_PEBS_ENABLE]) ||
		    (tag->matrix & ~reg[SLOT_PEBS_MATRIX_VERT]))
			continue;
		add_rings(&tags, &everywhere);
		tags.signals |= known(core, tag->signals);
		if (tag->tally && tally_supplied(core, tag->tally))
			counter_adds_tally(counter, tag->tally);
	}
	return tags;
}

bool tagging_counts(const struct spmu_core *core, const struct escr_selection *selection)
{
	const struct escr_layout *layout = core->model->counters->escrs;

	return selection->code == layout->front_end || selection->code == layout->execution ||
	       selection->code == layout->replay;
}

void tagging_select(const struct spmu_core *core, struct escr_selection *selection,
		    struct counter *counter)
{
	const struct escr_layout *layout = core->model->counters->escrs;
	struct tags tags = {0};

	if (selection->code == layout->front_end && (selection->mask & NBOGUS))
		tags = front_end(core);
	if (selection->code == layout->execution)
		tags = execution(core, selection->mask & NBOGUS_TAG);
	if (selection->code == layout->replay && (selection->mask & NBOGUS))
		tags = replay(core, counter);
	for (unsigned lp = 0; lp < SPMU_THREADS_MAX; lp++)
		selection->rings[lp] &= tags.rings[lp];
	counter->signals = tags.signals;
}

uint64_t tagging_splits(const struct spmu_core *core, struct escr_selection *selection)
{
	const struct escr_layout *layout = core->model->counters->escrs;
	uint32_t untagged = layout->untagged >> 16, tagged = layout->tagged >> 16;
	uint32_t selected = selection->mask & (untagged | tagged);
	struct tags tags;

	if (selection->code != (layout->tagged & UINT16_MAX) || selected == (untagged | tagged))
		return 0;
	tags = front_end(core);
	if (!tags.signals)
		return 0;
	selection->mask &= ~selected;
	if (selected != tagged || (tags.signals & (tags.signals - 1)))
		return 0;
	for (unsigned lp = 0; lp < SPMU_THREADS_MAX; lp++)
		selection->rings[lp] &= tags.rings[lp];
	return tags.signals;
}
