/* SPDX-License-Identifier: MIT */
/* machine_check.c: whether the parameters of a machine fit together. */
#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/machine/parameter.h"

static char *check_policy(const char *name, const struct spmu_cache_shape *c)
{
	if (c->replacement.policy == SPMU_REPLACE_TREE_PLRU &&
	    (c->ways & (c->ways - 1) || c->ways > 16))
		return tool_print("%s.ways is 1, 2, 4, 8 or 16 with the policy plru, not %u; "
				  "%s.policy=lru takes any number",
				  name, c->ways, name);
	if (c->replacement.policy == SPMU_REPLACE_MRU && c->ways > 32)
		return tool_print("%s.ways is at most 32 with the policy mru, not %u; "
				  "%s.policy=lru takes any number",
				  name, c->ways, name);
	return NULL;
}

static char *check_cache(const char *name, const struct spmu_cache_shape *c, bool needed)
{
	uint32_t way = (uint32_t)c->ways * c->line_bytes;

	if (!c->bytes)
		return needed ? tool_print("%s.size is missing: a machine needs this cache", name)
			      : NULL;
	if (!c->ways)
		return tool_print("%s.ways is missing", name);
	if (c->bytes % way)
		return tool_print("%s.size is a multiple of %s.ways times the line "
				  "(%u * %u = %u bytes), not %u",
				  name, name, c->ways, c->line_bytes, way, c->bytes);
	return check_policy(name, c);
}

static char *check_tlb(const char *name, const struct spmu_tlb_shape *t)
{
	if (!t->entries)
		return NULL;
	if (!t->ways)
		return tool_print("%s.ways is missing", name);
	if (t->entries % t->ways)
		return tool_print("%s.entries is a multiple of %s.ways (%u), not %u", name, name,
				  t->ways, t->entries);
	if (!t->page_shifts)
		return tool_print("%s.pages is missing", name);
	return NULL;
}

char *machine_check(const struct spmu_machine *m)
{
	const struct {
		const char *name;
		const struct spmu_cache_shape *shape;
	} caches[] = {{"l1i", &m->l1i}, {"l1d", &m->l1d}, {"l2", &m->l2}, {"llc", &m->llc}};
	const struct {
		const char *name;
		const struct spmu_tlb_shape *shape;
	} tlbs[] = {{"itlb0", &m->itlb[0]}, {"itlb1", &m->itlb[1]}, {"dtlb0", &m->dtlb[0]},
		    {"dtlb1", &m->dtlb[1]}, {"dtlb2", &m->dtlb[2]}, {"stlb0", &m->stlb[0]},
		    {"stlb1", &m->stlb[1]}};
	char *message = NULL;
	const char *error;

	for (unsigned i = 0; !message && i < sizeof(caches) / sizeof(caches[0]); i++)
		message = check_cache(caches[i].name, caches[i].shape, i < 2);
	for (unsigned i = 0; !message && i < sizeof(tlbs) / sizeof(tlbs[0]); i++)
		message = check_tlb(tlbs[i].name, tlbs[i].shape);
	if (message)
		return message;
	/* What is left is the predictor. */
	error = spmu_machine_error(m);
	return error ? tool_print("predictor: %s", error) : NULL;
}
