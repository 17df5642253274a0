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
#include "data/uarch/costs_zen5.inc"

#define DIVIDER TIMED_DIVIDER

/* LLVM's resources in the order of its models, as ports of Intel's. */
static const uint8_t haswell_units[64] = {DIVIDER, DIVIDER, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
static const uint8_t sandybridge_units[64] = {DIVIDER, DIVIDER, 0, 1, 4, 5, 2, 3};

#define COSTS(name, units)                                                                         \
	static const struct spmu_core_costs name = {name##_costs, name##_uses, name##_ports,       \
						    name##_rows, units};

COSTS(haswell, haswell_units)
COSTS(icelake, haswell_units)
COSTS(sandybridge, sandybridge_units)
COSTS(silvermont, NULL)
COSTS(skylake, haswell_units)
COSTS(zen4, NULL)
COSTS(zen5, NULL)

#include "data/uarch/cores.inc"

#define CORES (sizeof(cores) / sizeof(cores[0]))

const struct spmu_core_shape *spmu_core_shape_at(size_t index)
{
	return index < CORES ? &cores[index] : NULL;
}

static bool same(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

/* Returns whether `name` is `core`, or has more after a '-'. */
static bool begins_with(const char *name, const char *core)
{
	while (*core && *core == *name)
		core++, name++;
	return !*core && (!*name || *name == '-');
}

const struct spmu_core_shape *spmu_core_shape_find(const char *name)
{
	for (size_t i = 0; name && i < sizeof(core_aliases) / sizeof(core_aliases[0]); i++)
		if (same(core_aliases[i].machine, name))
			name = core_aliases[i].core;
	for (size_t i = 0; name && i < CORES; i++)
		if (same(cores[i].name, name))
			return &cores[i];
	for (size_t i = 0; name && i < CORES; i++)
		if (begins_with(name, cores[i].name))
			return &cores[i];
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
	if (core->entry > 64 || core->jumps > 2 || core->commits > 4)
		return "a core has entries of up to 64 instructions, and in a clock follows up to "
		       "2 taken branches and commits up to 4 stores";
	for (unsigned i = 1; i < sizeof(core->level) / sizeof(core->level[0]); i++)
		if (core->level[i] < core->level[0])
			return "a level of memory is faster than the first one";
	return NULL;
}

bool core_shape_take(struct spmu_core_shape *to, const struct spmu_core_shape *from)
{
	return from && abi_take(to, sizeof(*to), from) && !spmu_core_shape_error(to);
}
