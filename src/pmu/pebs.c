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

/* Outside IA-32e mode there are eight registers, of 32 bits (18.4.4, 17.4.9.1). */
static void narrow(struct spmu_registers *regs)
{
	uint64_t *const wide[] = {&regs->rflags, &regs->rip, &regs->rax, &regs->rbx, &regs->rcx,
				  &regs->rdx,	 &regs->rsi, &regs->rdi, &regs->rbp, &regs->rsp};
	uint64_t *const absent[] = {&regs->r8,	&regs->r9,  &regs->r10, &regs->r11,
				    &regs->r12, &regs->r13, &regs->r14, &regs->r15};

	for (size_t i = 0; i < sizeof(wide) / sizeof(wide[0]); i++)
		*wide[i] = (uint32_t)*wide[i];
	for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); i++)
		*absent[i] = 0;
}

static void fill(struct spmu_core *core, unsigned lp, const struct spmu_insn *insn,
		 uint32_t counters, struct spmu_pebs_record *record)
{
	memset(record, 0, offsetof(struct spmu_pebs_record, xmm));
	if (core->host.registers)
		core->host.registers(core->host.opaque, lp, &record->regs);
	if (!core->thread[lp].state.ia32e)
		narrow(&record->regs);
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

static bool read_area(struct spmu_core *core, unsigned lp, const struct spmu_ds_layout *layout,
		      struct spmu_ds_area *area)
{
	uint8_t bytes[DS_AREA_BYTES_MAX];

	return core->host.read && core->host.write &&
	       core->host.read(core->host.opaque, lp, core->thread[lp].state.reg[SLOT_DS_AREA],
			       bytes, layout->bytes) &&
	       spmu_ds_decode(layout, bytes, layout->bytes, area) == SPMU_OK;
}

enum pebs_result pebs_write(struct spmu_core *core, unsigned lp, const struct spmu_insn *insn,
			    uint32_t counters)
{
	struct thread_state *state = &core->thread[lp].state;
	const struct spmu_ds_layout *layout = thread_ds(core, &core->thread[lp]);
	uint64_t data_cfg = state->reg[SLOT_PEBS_DATA_CFG];
	uint8_t bytes[PEBS_RECORD_BYTES_MAX];
	size_t record_bytes = spmu_pebs_record_bytes(layout, data_cfg);
	struct spmu_pebs_record record;
	struct spmu_ds_area area;

	if (!record_bytes || !read_area(core, lp, layout, &area))
		return PEBS_SKIPPED;
	if (!fits(&area, record_bytes)) /* an index before the base is wrong, but not full */
		return area.pebs_index >= area.pebs_base ? PEBS_FULL : PEBS_SKIPPED;
	fill(core, lp, insn, counters, &record);
	if (spmu_pebs_encode(layout, data_cfg, &record, bytes, sizeof(bytes)) != SPMU_OK ||
	    !core->host.write(core->host.opaque, lp, area.pebs_index, bytes, record_bytes))
		return PEBS_SKIPPED;
	area.pebs_index += record_bytes;
	if (!core->host.write(core->host.opaque, lp,
			      state->reg[SLOT_DS_AREA] +
				      (uint64_t)DS_AREA_pebs_index * layout->field_bytes,
			      &area.pebs_index, layout->field_bytes))
		return PEBS_SKIPPED;
	while (counters) {
		unsigned c = take_lowest(&counters);

		if (c < layout->resets)
			state->reg[c] = area.reset[c] & counter_mask(core, c);
	}
	return area.pebs_index >= area.pebs_threshold ? PEBS_THRESHOLD : PEBS_WRITTEN;
}
