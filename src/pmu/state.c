/* SPDX-License-Identifier: MIT */
/*
 * state.c: a core's state as one plain block: save, load, compare (state.h).
 *
 * The layout is little-endian and has no holes: a header, then for each thread its registers by
 * slot, the LVT entry, and what PEBS and the counters of clocks remember. A register that the
 * configuration does not have is saved as 0.
 */
#include <string.h>

#include <softpmu/state.h>

#include "src/pmu/counters.h"
#include "src/pmu/msr.h"
#include "src/pmu/pmi.h"
#include "src/pmu/records.h"

#define STATE_MAGIC UINT64_C(0x65746174756d7073) /* "spmutate" */
#define MODEL_BYTES 32

struct state_header {
	uint64_t magic;
	uint32_t version;
	uint32_t threads;
	char model[MODEL_BYTES];
	uint64_t errata;
};
_Static_assert(sizeof(struct state_header) == 56, "no holes");
_Static_assert(sizeof(struct thread_state) ==
		       8 * SLOT_COUNT + 4 * (8 + SPMU_THREADS_MAX * (1 + COUNTERS_MAX)) + 32,
	       "no holes");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the block is little-endian");

static size_t block_bytes(unsigned threads)
{
	return sizeof(struct state_header) + threads * sizeof(struct thread_state);
}

size_t spmu_state_bytes(const struct spmu_core *core)
{
	return block_bytes(core->threads);
}

static void model_name(const struct spmu_model *model, char name[MODEL_BYTES])
{
	memset(name, 0, MODEL_BYTES);
	for (unsigned i = 0; i < MODEL_BYTES - 1 && model->name[i]; i++)
		name[i] = model->name[i];
}

enum spmu_status spmu_save(struct spmu_core *core, void *to, size_t bytes)
{
	struct state_header header = {
		.magic = STATE_MAGIC,
		.version = SPMU_STATE_VERSION,
		.threads = core->threads,
		.errata = core->errata,
	};
	uint8_t *out = to;

	if (!to)
		return SPMU_E_ARGUMENT;
	if (bytes < spmu_state_bytes(core))
		return SPMU_E_SPACE;
	spmu_sync(core);
	model_name(core->model, header.model);
	memcpy(out, &header, sizeof(header));
	out += sizeof(header);
	for (unsigned lp = 0; lp < core->threads; lp++) {
		memcpy(out, &core->thread[lp].state, sizeof(struct thread_state));
		out += sizeof(struct thread_state);
	}
	return SPMU_OK;
}

/* Returns whether a register may hold this: what reset or some write puts there. */
static bool register_valid(const struct spmu_core *core, const struct msr *msr, uint64_t kept)
{
	const struct role_row *role = msr_role(msr);
	uint64_t fixed = ~(msr->list->writable | msr_reserved(core, msr));
	uint64_t value = msr_shown(core, 0, role, kept);

	if (msr_kept(core, 0, role, value) != kept)
		return false;
	if (role->holds)
		return role->holds(core, msr, value);
	return !(value & msr_reserved(core, msr)) && !((value ^ msr->reset) & fixed);
}

/* Checks what an SMI froze as if it were the value of the register. */
static bool frozen_valid(const struct spmu_core *core, const struct thread_state *thread)
{
	const struct msr_map *map = core->model->msrs;

	if (thread->frozen > thread->smm)
		return false;
	if (thread->smm_lbr_ctl && (!thread->smm || !lbr_architectural(core) ||
				    thread->smm_lbr_ctl != FIELD(LBR_CTL, LBREn)))
		return false;
	if (!thread->frozen)
		return !thread->smm_debugctl && !thread->smm_global_ctrl;
	for (size_t i = 0; i < map->count; i++) {
		const struct msr *msr = &map->msr[i];

		if (msr->role == ROLE_DEBUGCTL && !register_valid(core, msr, thread->smm_debugctl))
			return false;
		if (msr->role == ROLE_GLOBAL_CTRL &&
		    !register_valid(core, msr, thread->smm_global_ctrl))
			return false;
	}
	return thread->frozen == 1;
}

/* Only counters with a threshold or edge detection remember anything of a clock. */
static bool clocks_valid(const struct spmu_core *core, const struct thread_state *thread)
{
	uint32_t clocked = counters_clocked(core, thread);

	for (unsigned lp = 0; lp < SPMU_THREADS_MAX; lp++) {
		if (thread->clock_held[lp] & ~(lp < core->threads ? clocked : 0))
			return false;
		for (unsigned c = 0; c < COUNTERS_MAX; c++)
			if (thread->clock_count[lp][c] >
			    (lp < core->threads && (clocked >> c & 1) ? CLOCK_COUNT_MAX : 0))
				return false;
	}
	return true;
}

/* Returns true if thread lp keeps this register. */
static bool keeps(struct spmu_core *core, unsigned lp, const struct msr *msr)
{
	return msr_slot(msr) != SLOT_NONE && msr_exists(core, msr_role(msr), msr) &&
	       msr_holder(core, lp, msr_role(msr)) == &core->thread[lp];
}

static bool registers_valid(struct spmu_core *core, unsigned lp, const struct thread_state *thread)
{
	const struct msr_map *map = core->model->msrs;
	bool seen[SLOT_COUNT] = {false};

	for (size_t i = 0; i < map->count; i++) {
		const struct msr *msr = &map->msr[i];

		if (!keeps(core, lp, msr))
			continue;
		seen[msr_slot(msr)] = true;
		if (!register_valid(core, msr, thread->reg[msr_slot(msr)]))
			return false;
	}
	for (unsigned i = 0; i < core->model->counters->metrics; i++) {
		seen[SLOT_METRIC + i] = true;
		if (thread->reg[SLOT_METRIC + i] & ~counter_mask(core, SLOT_METRIC + i))
			return false;
	}
	if (lbr_architectural(core)) {
		seen[SLOT_LBR_TOS] = true;
		if (thread->reg[SLOT_LBR_TOS] >= thread->reg[SLOT_LBR_DEPTH])
			return false;
	}
	for (unsigned slot = 0; slot < SLOT_COUNT; slot++)
		if (!seen[slot] && thread->reg[slot])
			return false;
	return true;
}

/* Checks what counters remember besides their registers. */
static bool counters_valid(const struct spmu_core *core, const struct thread_state *thread)
{
	uint32_t late = core->model->counters->programming == SPMU_PROGRAM_ESCR
				? escr_flagged(core, thread)
				: 0;

	return !(thread->pebs_armed & ~pebs_enabled(core, thread->reg[SLOT_PEBS_ENABLE])) &&
	       !(thread->pmi_due & ~late) && clocks_valid(core, thread);
}

static bool thread_valid(struct spmu_core *core, unsigned lp, const struct thread_state *thread)
{
	return registers_valid(core, lp, thread) && counters_valid(core, thread) &&
	       !(thread->lvt & ~LVT_WRITABLE) && thread->ia32e <= 1 && thread->halted <= 1 &&
	       thread->smm <= 1 && lbr_clocks_valid(core, thread->lbr_clocks) &&
	       lbr_log_valid(core, thread->lbr_log) && frozen_valid(core, thread);
}

enum spmu_status spmu_load(struct spmu_core *core, const void *from, size_t bytes)
{
	struct thread_state saved[SPMU_THREADS_MAX];
	struct state_header header;
	char name[MODEL_BYTES];

	if (!from)
		return SPMU_E_ARGUMENT;
	if (bytes < sizeof(header))
		return SPMU_E_CORRUPT;
	memcpy(&header, from, sizeof(header));
	model_name(core->model, name);
	if (header.magic != STATE_MAGIC)
		return SPMU_E_CORRUPT;
	if (header.version != SPMU_STATE_VERSION || header.threads != core->threads ||
	    header.errata != core->errata || memcmp(header.model, name, MODEL_BYTES) != 0)
		return SPMU_E_VERSION;
	if (bytes != block_bytes(core->threads))
		return SPMU_E_CORRUPT;
	memcpy(saved, (const uint8_t *)from + sizeof(header), bytes - sizeof(header));
	for (unsigned lp = 0; lp < core->threads; lp++)
		if (!thread_valid(core, lp, &saved[lp]))
			return SPMU_E_CORRUPT;

	for (unsigned lp = 0; lp < core->threads; lp++)
		memcpy(&core->thread[lp].state, &saved[lp], sizeof(saved[lp]));
	counters_update(core);
	return SPMU_OK;
}

/* Returns the name of the register in a slot, for the model that was saved. */
static const char *slot_name(const struct state_header *header, unsigned slot)
{
	for (size_t m = 0; m < spmu_model_count(); m++) {
		const struct spmu_model *model = spmu_model_at(m);
		char name[MODEL_BYTES];

		model_name(model, name);
		if (memcmp(name, header->model, MODEL_BYTES) != 0)
			continue;
		for (size_t i = 0; i < model->msrs->count; i++)
			if (msr_slot(&model->msrs->msr[i]) == slot)
				return model->msrs->msr[i].name;
	}
	return "register";
}

static const char *header_difference(const struct state_header *a, const struct state_header *b)
{
	if (a->magic != b->magic)
		return "magic";
	if (a->version != b->version)
		return "version";
	if (a->threads != b->threads)
		return "threads";
	if (memcmp(a->model, b->model, MODEL_BYTES) != 0)
		return "model";
	return a->errata != b->errata ? "errata" : NULL;
}

static const char *thread_difference(const struct state_header *header,
				     const struct thread_state *a, const struct thread_state *b)
{
	for (unsigned slot = 0; slot < SLOT_COUNT; slot++)
		if (a->reg[slot] != b->reg[slot])
			return slot_name(header, slot);
	if (a->lvt != b->lvt)
		return "LVT";
	if (a->pebs_armed != b->pebs_armed)
		return "PEBS armed";
	if (a->pmi_due != b->pmi_due)
		return "interrupt due";
	if (a->halted != b->halted)
		return "halted";
	if (a->ia32e != b->ia32e)
		return "IA-32e mode";
	if (a->lbr_clocks != b->lbr_clocks)
		return "clocks since the last branch record";
	if (a->lbr_log != b->lbr_log)
		return "events since the last branch record";
	if (a->smm != b->smm)
		return "in SMM";
	if (a->frozen != b->frozen || a->smm_debugctl != b->smm_debugctl ||
	    a->smm_global_ctrl != b->smm_global_ctrl || a->smm_lbr_ctl != b->smm_lbr_ctl)
		return "frozen in SMM";
	return memcmp(a, b, sizeof(*a)) != 0 ? "clock" : NULL;
}

const char *spmu_state_difference(const void *a, const void *b, size_t bytes, unsigned *lp)
{
	struct state_header header[2];
	struct thread_state thread[2];
	const char *name;

	*lp = 0;
	if (bytes < sizeof(header[0]))
		return "length";
	memcpy(&header[0], a, sizeof(header[0]));
	memcpy(&header[1], b, sizeof(header[1]));
	name = header_difference(&header[0], &header[1]);
	if (name)
		return name;
	if (header[0].threads > SPMU_THREADS_MAX || bytes != block_bytes(header[0].threads))
		return "length";
	for (*lp = 0; *lp < header[0].threads; (*lp)++) {
		size_t offset = block_bytes(*lp);

		memcpy(&thread[0], (const uint8_t *)a + offset, sizeof(thread[0]));
		memcpy(&thread[1], (const uint8_t *)b + offset, sizeof(thread[1]));
		name = thread_difference(&header[0], &thread[0], &thread[1]);
		if (name)
			return name;
	}
	*lp = 0;
	return NULL;
}
