/* SPDX-License-Identifier: MIT */
/*
 * models.c: makes tables of the models of data/models, and answers what does not need a core. No
 * file of the unit compares a model's name or signature to decide what to do.
 */
#include "src/abi.h"
#include "src/pmu/core.h"
#include "src/pmu/msr.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MSR_ROW(address, name, list, role, index, reset, section)                                  \
	{address, ROLE_##role, index, #name, &field_list_##list, reset, section},

#include "data/models.inc"

#define MODEL_ROW(model) &model,
static const struct spmu_model *const models[] = {MODELS(MODEL_ROW)};

size_t spmu_model_count(void)
{
	return COUNT(models);
}

const struct spmu_model *spmu_model_at(size_t index)
{
	return index < COUNT(models) ? models[index] : NULL;
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool same_name(const char *a, const char *b)
{
	while (*a && lower(*a) == lower(*b)) {
		a++;
		b++;
	}
	return lower(*a) == lower(*b);
}

const struct spmu_model *spmu_model_find(const char *name)
{
	if (!name)
		return NULL;
	for (size_t i = 0; i < COUNT(models); i++) {
		if (same_name(models[i]->name, name))
			return models[i];
		for (size_t a = 0; a < ALIASES_MAX && models[i]->alias[a]; a++)
			if (same_name(models[i]->alias[a], name))
				return models[i];
	}
	return NULL;
}

static uint32_t highest_leaf(const struct spmu_model *model)
{
	if (model->counters->extended_events)
		return 0x23;
	if (model->lbr && model->lbr->ctl)
		return 0x1c;
	return model->counters->version ? 0x0a : 0x01;
}

static struct spmu_model_info describe(const struct spmu_model *model)
{
	const struct counter_layout *counters = model->counters;
	const struct spmu_pebs_layout *pebs = model->ds ? model->ds->pebs : NULL;

	return (struct spmu_model_info){
		.size = sizeof(struct spmu_model_info),
		.name = model->name,
		.title = model->title,
		.section = model->section,
		.pfm = model->pfm,
		.signature = model->signature,
		.perfmon_version = counters->version,
		.counters_ht = counters->counters_ht,
		.counters_single = counters->counters_single,
		.fixed_counters = counters->fixed_counters,
		.counter_bits = counters->counter_bits,
		.fixed_bits = counters->fixed_bits,
		.pebs_fixed = counters->pebs_fixed,
		.programming = (enum spmu_programming)counters->programming,
		.shared = counters->shared,
		.os_cpl = counters->os_cpl,
		.cpuid_leaf = highest_leaf(model),
		.pebs_format = pebs ? (int8_t)pebs->format : (int8_t)-1,
	};
}

enum spmu_status spmu_model_get_info(const struct spmu_model *model, struct spmu_model_info *out)
{
	struct spmu_model_info info;

	if (!model || !out)
		return SPMU_E_ARGUMENT;
	info = describe(model);
	return abi_give(out, &info, sizeof(info)) ? SPMU_OK : SPMU_E_ARGUMENT;
}

const struct spmu_facility *spmu_model_facilities(const struct spmu_model *model)
{
	return model->facilities;
}

/*
 * Entries 8 to 15 of a stack at the lower addresses, which no family has. Families without such a
 * stack have other registers at these addresses.
 */
static bool past_low_stack(const struct spmu_model *model, uint32_t address)
{
	const uint32_t most = 16;

	return model->lbr && model->lbr->from == LBR_LOW_FROM && model->lbr->to &&
	       (address - LBR_LOW_FROM < most || address - LBR_LOW_TO < most);
}

#define IN_RANGE(first, last) || (address >= (first) && address <= (last))
bool msr_in_range(const struct spmu_model *model, uint32_t address)
{
	if (address >= model->foreign.first && address <= model->foreign.last)
		return false;
	if (past_low_stack(model, address))
		return true;
	return false MSR_RANGES(IN_RANGE);
}
