/* SPDX-License-Identifier: MIT */
/* branch_clocks.c: static clocks from one branch to the next, for last branch records
 * (17.4.8.1). */
#include "engine/count/branch_clocks.h"

#include <softpmu/uarch_time.h>

#include "engine/count/units.h"
#include "engine/rt/context.h"

static branch_clocks_code *code_between;

void branch_clocks_use(branch_clocks_code *between)
{
	code_between = between;
}

/* Returns the whole clocks of what has passed, and keeps the rest. */
static unsigned whole(struct counting *c, unsigned parts)
{
	parts += c->branch.parts;
	c->branch.parts = parts % SPMU_CLOCK_PARTS;
	return parts / SPMU_CLOCK_PARTS;
}

void branch_clocks_begin(uint64_t pc)
{
	struct counting *c = current->counting;

	c->branch.at = pc;
	c->branch.parts = 0;
}

uint32_t branch_clocks_to(uint64_t from, uint64_t to)
{
	struct counting *c = current->counting;
	unsigned parts = code_between(c->branch.at, from, true);

	c->branch.at = to;
	return whole(c, parts);
}

uint32_t branch_clocks_rest(uint64_t pc)
{
	struct counting *c = current->counting;

	return whole(c, code_between(c->branch.at, pc, false));
}
