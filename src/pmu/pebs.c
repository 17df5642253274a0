/* SPDX-License-Identifier: MIT */
/*
 * pebs.c: the unit writes a PEBS record into the DS save area (18.8.1.1, 18.13.1).
 *
 * The order is: read the management area, check the bounds, write the record, advance the index,
 * reload the counters. If an access is refused or the bounds are wrong, software sees no change,
 * except bytes after the index. The area is read and the index is written in one access each, so no
 * part of them is lost.
 *
 * Formats 0 to 2 reload each counter that has overflowed and is enabled for PEBS, whether or not
 * its own event made the record (18.8.1.1). Their records show the overflow status, so software
 * sees which counters a record is for. A record of format 3 or 4 names the applicable counters,
 * whose event made it, and the status is cleared "according to Applicable Counters" (18.7.1.3). So
 * it reloads only these.
 */
#include <string.h>

#include "src/pmu/core.h"
#include "src/pmu/records.h"

/*
 * NetBurst has two bits: one for the thread that reads or writes them, one for the other thread
 * (18.16.3). The register is kept as thread 0 sees it. Each thread has one counter.
 */
#define ENABLE_0 FIELD(PEBS_ENABLE_NETBURST, ENABLE_PEBS_MY_THR)
#define ENABLE_1 FIELD(PEBS_ENABLE_NETBURST, ENABLE_PEBS_OTH_THR)

static uint32_t enabled_by_thread(const struct spmu_core *core, uint64_t enable)
{
	uint32_t all = core->model->counters->pebs_counters;
	uint32_t first = all & -all;

	return (enable & ENABLE_0 ? first : 0) |
	       (enable & ENABLE_1 && core->threads > 1 ? all & ~first : 0);
}

/* Exchanges the two bits: what thread 1 sees. */
uint64_t pebs_other_view(uint64_t enable)
{
	return (enable & ~(ENABLE_0 | ENABLE_1)) | (enable & ENABLE_0 ? ENABLE_1 : 0) |
	       (enable & ENABLE_1 ? ENABLE_0 : 0);
}

/* Returns the register without PEBS for thread lp. What it tags on replay stays. */
uint64_t pebs_off(const struct spmu_core *core, unsigned lp, uint64_t enable)
{
	if (!core->model->counters->shared)
		return 0;
	return enable & ~(lp ? ENABLE_1 : ENABLE_0);
}

/* Returns the threads for which this counter makes records, if threads share the counters. */
uint8_t pebs_threads(const struct spmu_core *core, uint64_t enable, unsigned counter)
{
	uint32_t all = core->model->counters->pebs_counters;

	if (!(enabled_by_thread(core, enable) >> counter & 1))
		return 0;
	return all & ((1u << counter) - 1) ? 2 : 1;
}

/* Returns the counters that IA32_PEBS_ENABLE names. Its other bits are LL_EN and PS_ENABLE. */
uint32_t pebs_enabled(const struct spmu_core *core, uint64_t enable)
{
	const struct counter_layout *layout = core->model->counters;

	if (layout->shared)
		return enabled_by_thread(core, enable);
	return ((uint32_t)enable & layout->pebs_counters) |
	       ((uint32_t)(enable >> 32) & layout->pebs_fixed) << GENERAL_MAX;
}

/* Counters as a record names them: fixed ones from bit 32 on. */
uint64_t pebs_applicable(uint32_t counters)
{
	return (counters & ((1u << GENERAL_MAX) - 1)) |
	       (uint64_t)(counters >> GENERAL_MAX) << FIELD_LOW(GLOBAL_STATUS, Ovf_FIXED_CTR0);
}

/*
 * Returns the counters that are served by a record that `triggered` made. NetBurst's counters have
 * no common status, and each thread has one with PEBS.
 */
static uint32_t covered(const struct spmu_core *core, const struct spmu_ds_layout *layout,
			const struct thread_state *state, uint32_t triggered)
{
	uint32_t overflowed = (uint32_t)state->reg[SLOT_GLOBAL_STATUS];

	if (core->model->counters->version < 2 || layout->pebs->format >= 3)
		return triggered;
	return triggered | (overflowed & pebs_enabled(core, state->reg[SLOT_PEBS_ENABLE]));
}

/*
 * Returns the counters that overflowed by an event that is not precise. Their record is made "at
 * the next opportunity": by the next instruction of a ring in which they count (18.7.1).
 */
uint32_t pebs_due(const struct thread *thread, unsigned lp, unsigned ring)
{
	uint32_t due = 0;

	for (uint32_t set = thread->next & thread->state.pebs_armed; set;) {
		unsigned c = take_lowest(&set);

		if (thread->counter[c].rings[lp] & ring)
			due |= 1u << c;
	}
	return due;
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

/* The stack as its registers hold it, newest entry first, frozen or not. */
static void fill_branches(const struct spmu_core *core, const struct thread *thread,
			  struct spmu_pebs_record *record)
{
	const struct spmu_lbr_layout *lbr = core->model->lbr;
	const uint64_t *reg = thread->state.reg;

	for (unsigned i = 0; lbr && i < lbr_depth(lbr, &thread->state); i++) {
		unsigned n = lbr_entry(lbr, &thread->state, i);
		struct spmu_lbr_entry entry = {
			.from = reg[SLOT_LBR_FROM + n],
			.to = reg[SLOT_LBR_TO + n],
			.info = reg[SLOT_LBR_INFO + n],
		};

		spmu_lbr_decode(lbr, &entry, &record->branch[i]);
		record->branch_log[i] = spmu_lbr_log(&entry);
		record->branch_count = i + 1;
	}
}

/* XMM8 to XMM15 are there in IA-32e mode only. */
static void fill_vectors(struct spmu_core *core, unsigned lp, struct spmu_pebs_record *record)
{
	memset(record->xmm, 0, sizeof(record->xmm));
	if (core->host.vectors)
		core->host.vectors(core->host.opaque, lp, record->xmm);
	if (!core->thread[lp].state.ia32e)
		memset(record->xmm[8], 0, 8 * sizeof(record->xmm[8]));
}

/*
 * Returns the address of the first load, or of the first store if stores are meant or there is no
 * load.
 */
static uint64_t address_of(const struct spmu_insn *insn, bool of_store)
{
	const uint32_t first = of_store ? SPMU_ACCESS_STORE : SPMU_ACCESS_LOAD;
	const uint32_t kinds[] = {first, SPMU_ACCESS_DATA};

	for (unsigned k = 0; k < 2; k++)
		for (unsigned i = 0; i < insn->access_count; i++)
			if (insn->accesses[i].kind & kinds[k])
				return insn->accesses[i].linear;
	return 0;
}

/*
 * Sets the fields of the first counter that has them. The status of a precise store says whether it
 * was locked; the host may know whether it hit the caches (18.9.4.3).
 */
static void fill_address(const struct thread *thread, const struct spmu_insn *insn,
			 uint32_t counters, struct spmu_pebs_record *record)
{
	uint32_t addressed = thread->addressed & counters;
	const struct counter *counter = &thread->counter[take_lowest(&addressed)];

	record->data_address = address_of(insn, counter->of_store);
	record->latency = counter->of_store ? 0 : insn->latency;
	record->data_source = counter->of_store ? insn->store_source : insn->data_source;
	if (counter->store_status && (insn->signals & SPMU_SIGBIT(LOCK_LOADS)))
		record->data_source |= SPMU_STORE_LOCKED;
}

static void fill(struct spmu_core *core, unsigned lp, const struct spmu_ds_layout *layout,
		 const struct spmu_insn *insn, uint32_t counters, uint64_t data_cfg,
		 struct spmu_pebs_record *record)
{
	const struct thread *thread = &core->thread[lp];
	uint64_t addresses = thread->state.ia32e ? UINT64_MAX : UINT32_MAX;

	memset(record, 0, offsetof(struct spmu_pebs_record, xmm));
	if (core->host.registers)
		core->host.registers(core->host.opaque, lp, &record->regs);
	if (!thread->state.ia32e && !core->model->counters->pebs_whole)
		narrow(&record->regs);
	if (core->host.tsc)
		record->tsc = core->host.tsc(core->host.opaque, lp);
	/* Before format 3: the status before the record (18.8.1.1, 18.13.1.1). */
	record->applicable = layout->pebs->format < 3 ? thread->state.reg[SLOT_GLOBAL_STATUS]
						      : pebs_applicable(counters);
	record->eventing_ip = insn->ip & addresses;
	if (thread->addressed & counters) {
		fill_address(thread, insn, counters, record);
		record->data_address &= addresses;
	}
	if (data_cfg & SPMU_PEBS_XMM)
		fill_vectors(core, lp, record);
	if (data_cfg & SPMU_PEBS_LBR)
		fill_branches(core, thread, record);
}

/* Returns true if the index is in the buffer and a whole record fits below the maximum. */
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

/*
 * Returns true if this record interrupts: the index after it has reached the threshold. With the
 * erratum the index before it is compared, so that the next event interrupts, stored or not.
 */
static bool reached(const struct spmu_core *core, const struct spmu_ds_area *area,
		    uint64_t record_bytes)
{
	uint64_t index = area->pebs_index;

	if (has_erratum(core, ERRATUM_PEBS_LATE_PMI))
		index -= record_bytes;
	return index >= area->pebs_threshold;
}

/*
 * Says why there is no record. An index before the base is wrong, but the buffer is not full; some
 * families report that (18.7.1.3).
 */
static enum pebs_result refused(const struct spmu_core *core, const struct spmu_ds_area *area)
{
	if (core->model->counters->pebs_outside &&
	    (area->pebs_index < area->pebs_base || area->pebs_index > area->pebs_maximum))
		return PEBS_OUTSIDE;
	if (area->pebs_index < area->pebs_base)
		return PEBS_SKIPPED;
	if (has_erratum(core, ERRATUM_PEBS_LATE_PMI) && area->pebs_index >= area->pebs_threshold)
		return PEBS_LATE;
	return PEBS_FULL;
}

/*
 * Reloads a counter. A counter without a slot in the area counts on from its value. If threads
 * share the counters, each thread has one with PEBS and an area with one slot.
 */
static void reload(const struct spmu_core *core, struct thread_state *state,
		   const struct spmu_ds_layout *layout, const struct spmu_ds_area *area,
		   uint32_t counters)
{
	while (counters) {
		unsigned c = take_lowest(&counters);
		unsigned fixed = c - SLOT_FIXED_CTR;
		unsigned slot = core->model->counters->shared ? 0 : c;

		if (slot < layout->resets && c < SLOT_FIXED_CTR)
			state->reg[c] = area->reset[slot] & counter_mask(core, c);
		else if (c >= SLOT_FIXED_CTR && fixed < layout->fixed_resets)
			state->reg[c] = area->fixed_reset[fixed] & counter_mask(core, c);
	}
}

/*
 * Writes a record into the area of thread lp for the counters of `holder` in *counters. After a
 * record, *counters has the counters that it reloaded.
 */
enum pebs_result pebs_write(struct spmu_core *core, unsigned lp, struct thread *holder,
			    const struct spmu_insn *insn, uint32_t *counters)
{
	struct thread_state *state = &core->thread[lp].state;
	const struct spmu_ds_layout *layout = thread_ds(core, &core->thread[lp]);
	/* A record has only the basic group unless its counter is adaptive. */
	uint64_t data_cfg =
		core->thread[lp].adaptive & *counters ? state->reg[SLOT_PEBS_DATA_CFG] : 0;
	uint8_t bytes[PEBS_RECORD_BYTES_MAX];
	size_t record_bytes = spmu_pebs_record_bytes(layout, data_cfg);
	struct spmu_pebs_record record;
	struct spmu_ds_area area;

	if (!record_bytes || !read_area(core, lp, layout, &area))
		return PEBS_SKIPPED;
	if (!fits(&area, record_bytes))
		return refused(core, &area);
	fill(core, lp, layout, insn, *counters, data_cfg, &record);
	if (spmu_pebs_encode(layout, data_cfg, &record, bytes, sizeof(bytes)) != SPMU_OK ||
	    !core->host.write(core->host.opaque, lp, area.pebs_index, bytes, record_bytes))
		return PEBS_SKIPPED;
	area.pebs_index += record_bytes;
	if (!core->host.write(core->host.opaque, lp,
			      state->reg[SLOT_DS_AREA] +
				      (uint64_t)DS_AREA_pebs_index * layout->field_bytes,
			      &area.pebs_index, layout->field_bytes))
		return PEBS_SKIPPED;
	*counters = covered(core, layout, &holder->state, *counters);
	reload(core, &holder->state, layout, &area, *counters);
	return reached(core, &area, record_bytes) ? PEBS_THRESHOLD : PEBS_WRITTEN;
}
