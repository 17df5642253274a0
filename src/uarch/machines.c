/* SPDX-License-Identifier: MIT */
/* machines.c: the machines that the library knows (data/uarch). */
#include <softpmu/uarch.h>

#include "data/uarch/machines.inc"

#define MACHINES (sizeof(machines) / sizeof(machines[0]))

const struct spmu_machine *spmu_machine_at(size_t index)
{
	return index < MACHINES ? &machines[index] : NULL;
}

const struct spmu_machine *spmu_machine_find(const char *name)
{
	for (size_t i = 0; name && i < MACHINES; i++) {
		const char *a = machines[i].name, *b = name;

		while (*a && *a == *b)
			a++, b++;
		if (*a == *b)
			return &machines[i];
	}
	return NULL;
}
