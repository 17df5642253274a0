/* SPDX-License-Identifier: MIT */
/*
 * pebs.c: the unit writes a PEBS record into the DS save area (18.8.1.1, 18.13.1).
 *
 * The order is: read the management area, check the bounds, write the record, advance the
 * index, reload the counters.  When any access is refused or the bounds fail,
 * nothing that software can see has changed but bytes past the index.
 * The area is read and the index written in one access each, so a refusal is whole.
 */
#include <string.h>

#include "data/ds/layout.h"
#include "src/pmu/core.h"

/* Whether an event with a data address takes part (18.13.1.3). */
static bool has_data_address(const struct spmu_core *core, const struct thread_state *state,
			     uint32_t counters)
{
	while (counters) {
		unsigned c = take_lowest(&counters);
		const struct spmu_event *event =
			spmu_event_by_code(core->model, (uint16_t)state->reg[SLOT_PERFEVTSEL + c]);

		if (event && event->data_address)
			return true;
	}
	return false;
}

static void fill(struct spmu_core *core, unsigned lp, const struct spmu_insn *insn,
		 uint32_t counters, struct spmu_pebs_record *record)
{
	memset(record, 0, sizeof(*record));
	if (core->host.registers)
		core->host.registers(core->host.opaque, lp, &record->regs);
	if (core->host.tsc)
		record->tsc = core->host.tsc(core->host.opaque, lp);
	record->applicable = counters;
	record->eventing_ip = insn->ip;
	if (has_data_address(core, &core->thread[lp].state, counters))
		record->data_address = insn->data_address;
}

/* The index must stand in the buffer and a whole record fit below the maximum. */
static bool fits(const struct spmu_ds_area *area, uint64_t record_bytes)
{
	return area->pebs_index >= area->pebs_base && area->pebs_index <= area->pebs_maximum &&
	       area->pebs_maximum - area->pebs_index >= record_bytes;
}

static bool read_area(struct spmu_core *core, unsigned lp, struct spmu_ds_area *area)
{
	uint8_t bytes[DS_AREA_BYTES_MAX];
	const struct spmu_ds_layout *layout = core->model->ds;

	return layout->bytes <= sizeof(bytes) && core->host.read && core->host.write &&
	       core->host.read(core->host.opaque, lp, core->thread[lp].state.reg[SLOT_DS_AREA],
			       bytes, layout->bytes) &&
	       spmu_ds_decode(layout, bytes, layout->bytes, area) == SPMU_OK;
}

#define INDEX_OFFSET(offset, member)                                                               \
	+(offsetof(struct spmu_ds_area, member) == offsetof(struct spmu_ds_area, pebs_index)       \
		  ? (offset)                                                                       \
		  : 0)

enum pebs_result pebs_write(struct spmu_core *core, unsigned lp, const struct spmu_insn *insn,
			    uint32_t counters)
{
	struct thread_state *state = &core->thread[lp].state;
	uint8_t bytes[PEBS_RECORD_BYTES_MAX];
	size_t record_bytes = spmu_pebs_record_bytes(core->model);
	struct spmu_pebs_record record;
	struct spmu_ds_area area;

	if (!read_area(core, lp, &area))
		return PEBS_SKIPPED;
	if (!fits(&area, record_bytes)) /* an index before the base is wrong, but not full */
		return area.pebs_index >= area.pebs_base ? PEBS_FULL : PEBS_SKIPPED;
	fill(core, lp, insn, counters, &record);
	if (spmu_pebs_encode(core->model, &record, bytes, sizeof(bytes)) != SPMU_OK ||
	    !core->host.write(core->host.opaque, lp, area.pebs_index, bytes, record_bytes))
		return PEBS_SKIPPED;
	area.pebs_index += record_bytes;
	if (!core->host.write(core->host.opaque, lp,
			      state->reg[SLOT_DS_AREA] + (0 DS_AREA_64(INDEX_OFFSET)),
			      &area.pebs_index, core->model->ds->field_bytes))
		return PEBS_SKIPPED;
	while (counters) {
		unsigned c = take_lowest(&counters);

		if (c < core->model->ds->resets)
			state->reg[c] = area.reset[c] & counter_mask(core, c);
	}
	return area.pebs_index >= area.pebs_threshold ? PEBS_THRESHOLD : PEBS_WRITTEN;
}
