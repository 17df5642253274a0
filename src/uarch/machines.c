/* SPDX-License-Identifier: MIT */
/* machines.c: the machines that the library knows (data/uarch). */
#include <softpmu/uarch.h>

#include "data/uarch/machines.inc"

#define COUNT_OF(list) (sizeof(list) / sizeof((list)[0]))

static bool same(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

const struct spmu_machine *spmu_machine_at(size_t index)
{
	return index < COUNT_OF(machines) ? &machines[index] : NULL;
}

const struct spmu_machine *spmu_machine_find(const char *name)
{
	for (size_t i = 0; name && i < COUNT_OF(machines); i++)
		if (same(machines[i].name, name))
			return &machines[i];
	return NULL;
}

const struct spmu_machine *spmu_machine_of_model(const char *model)
{
	for (size_t i = 0; model && i < COUNT_OF(models); i++)
		if (same(models[i].model, model))
			return spmu_machine_find(models[i].machine);
	return NULL;
}
