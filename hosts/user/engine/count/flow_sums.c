/* SPDX-License-Identifier: MIT */
/* flow_sums.c: the sums of calls that have returned: how often, and what they have cost. */
#include "engine/count/flow_sums.h"

#include <asm/unistd.h>
#include <linux/mman.h>

#include "engine/count/code_files.h"
#include "engine/count/flow_log.h"
#include "engine/count/flow_pairs.h"
#include "engine/count/flow_places.h"
#include "engine/rt/context.h"
#include "engine/rt/engine.h"
#include "engine/rt/sys.h"

static uint64_t *sums_at(uint32_t place)
{
	return (uint64_t *)((uint64_t)current + place);
}

/* Logs the calls, and the returns from them. */
static void log_calls(const struct flow_call *call, const uint64_t *sums)
{
	int64_t *cost = flow_log_next(LINK_FLOW_CALLED | call->from, call->to, sums[0]);

	memcpy(cost, sums + 1, current->flow.meters * sizeof(*cost));
	if (call->returns_to)
		flow_log_counted(0, call->returns_to, sums[0]);
}

/* A call of a linkage table has become one of a function.  Only that the program was in the table
 * is left of it. */
static void drain(const struct flow_call *call, uint32_t place)
{
	uint64_t *sums = sums_at(place);

	if (!sums[0])
		return;
	if (code_files_marked(LINK_MARK_STUB, call->to))
		flow_log_counted(0, call->to, sums[0]);
	else
		log_calls(call, sums);
	memset(sums, 0, engine_flow_bytes());
}

void flow_sums_drain(void)
{
	flow_places_each(drain);
	flow_pairs_drain(flow_log_counted, true);
}

void flow_sums_clear(void)
{
	if (flow_places_any())
		syscall3(__NR_madvise, (long)sums_at(CTX_CALLS),
			 (long)in_pages(FLOW_CALLS_END(engine_flow_bytes()) - CTX_CALLS),
			 MADV_DONTNEED);
	flow_pairs_clear();
}
