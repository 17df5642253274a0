/* SPDX-License-Identifier: MIT */
/* core_shapes.c: the processor cores that the library knows (data/uarch/cores.inc). */
#include <string.h>

#include "src/abi.h"
#include "src/uarch/timed.h"

#include "data/uarch/costs_haswell.inc"
#include "data/uarch/costs_icelake.inc"
#include "data/uarch/costs_sandybridge.inc"
#include "data/uarch/costs_silvermont.inc"
#include "data/uarch/costs_skylake.inc"
#include "data/uarch/costs_zen4.inc"

#define COSTS(name)                                                                                \
	static const struct spmu_core_costs name = {name##_costs, name##_uses, name##_ports,       \
						    name##_rows};

COSTS(haswell)
COSTS(icelake)
COSTS(sandybridge)
COSTS(silvermont)
COSTS(skylake)
COSTS(zen4)

#include "data/uarch/cores.inc"

#define CORES (sizeof(cores) / sizeof(cores[0]))

const struct spmu_core_shape *spmu_core_shape_at(size_t index)
{
	return index < CORES ? &cores[index] : NULL;
}

const struct spmu_core_shape *spmu_core_shape_find(const char *name)
{
	for (size_t i = 0; name && i < CORES; i++) {
		const char *a = cores[i].name, *b = name;

		while (*a && *a == *b)
			a++, b++;
		if (*a == *b || (!*a && *b == '-'))
			return &cores[i];
	}
	return NULL;
}

static bool is_within(unsigned n, unsigned most)
{
	return n && n <= most;
}

const char *spmu_core_shape_error(const struct spmu_core_shape *core)
{
	if (!core->costs)
		return "a core needs the costs of instructions";
	if (!is_within(core->width, 16) || !is_within(core->retire, 16))
		return "a core dispatches and retires 1 to 16 micro-operations in a clock";
	if (!is_within(core->window, TIMED_WINDOW_MAX))
		return "the reorder buffer has 1 to 512 entries";
	if (!is_within(core->stores, TIMED_STORES_MAX) || !is_within(core->fills, TIMED_FILLS_MAX))
		return "a core has 1 to 128 store buffers and 1 to 64 fill buffers";
	for (unsigned i = 1; i < sizeof(core->level) / sizeof(core->level[0]); i++)
		if (core->level[i] < core->level[0])
			return "a level of memory is faster than the first one";
	return NULL;
}

bool core_shape_take(struct spmu_core_shape *to, const struct spmu_core_shape *from)
{
	return from && abi_take(to, sizeof(*to), from) && !spmu_core_shape_error(to);
}
