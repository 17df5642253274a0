/* SPDX-License-Identifier: MIT */
/*
 * errata.c: the errata of data/errata.inc that a model has: lists them, and switches them on by
 * their index. Other files call has_erratum() where an erratum changes the behaviour.
 */
#include "src/pmu/core.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct spmu_erratum errata[] = {
#define ERRATUM(id, name, number, effect, state) {name, number, effect, SPMU_ERRATUM_##state},
#include "data/errata.inc"
#undef ERRATUM
};
_Static_assert(COUNT(errata) == ERRATUM_COUNT && ERRATUM_COUNT <= 64, "a set of 64 bits");

size_t spmu_erratum_count(const struct spmu_model *model)
{
	size_t count = 0;

	for (uint64_t set = model->errata; set; set &= set - 1)
		count++;
	return count;
}

/* Returns the erratum with this index in a model, or ERRATUM_COUNT if it has fewer. */
static unsigned erratum_of(const struct spmu_model *model, size_t index)
{
	for (unsigned id = 0; id < ERRATUM_COUNT; id++)
		if ((model->errata >> id & 1) && index-- == 0)
			return id;
	return ERRATUM_COUNT;
}

const struct spmu_erratum *spmu_erratum_at(const struct spmu_model *model, size_t index)
{
	unsigned id = erratum_of(model, index);

	return id < ERRATUM_COUNT ? &errata[id] : NULL;
}

bool errata_switch(struct spmu_core *core, uint64_t wanted)
{
	core->errata = core->hold = 0;
	for (unsigned index = 0; index < 64; index++) {
		unsigned id = erratum_of(core->model, index);

		if (!(wanted >> index & 1))
			continue;
		if (id == ERRATUM_COUNT || errata[id].state == SPMU_ERRATUM_ABSENT)
			return false;
		if (errata[id].state == SPMU_ERRATUM_ALWAYS)
			continue;
		core->errata |= UINT64_C(1) << index;
		core->hold |= UINT64_C(1) << id;
	}
	return true;
}
