/* SPDX-License-Identifier: MIT */
/*
 * flow_edges.c: counts taken branches.
 *
 * How often each instruction ran follows from how often each branch was taken, in any order.  So a
 * branch to a constant target is only counted.  Translated code has a counter for each place where
 * it takes such a branch.  Each thread has its own counters, after its context.
 *
 * The log has branches whose order matters: those that may begin or end a call.  A jump to the
 * first instruction of a function is a call of it.  The tool tells where functions begin.  The log
 * also has all branches of code that is not a part of a file, because other code may take its
 * place.
 *
 * If the tool only wants sums (LINK_WANT_SUMS), calls and returns are counted, too.
 */
#include "engine/count/flow_edges.h"

#include <asm/unistd.h>
#include <linux/mman.h>

#include "engine/count/code_files.h"
#include "engine/count/count.h"
#include "engine/count/flow_log.h"
#include "engine/count/flow_pairs.h"
#include "engine/count/flow_sums.h"
#include "engine/rt/context.h"
#include "engine/rt/engine.h"
#include "engine/rt/lock.h"
#include "engine/rt/sys.h"
#include "engine/rt/threads.h"

#define BLOCK_MOST 4096 /* more than the counters of a few blocks */

static struct edge {
	uint64_t from, to;
} * edge;
static unsigned edges;

/* What the thread has done, the tool learns before the other mapping.  There, branches go to other
 * places. */
static void tell_all(void)
{
	flow_edges_drain();
	flow_sums_drain();
	flow_log_hand_over();
	flow_pairs_clear();
}

static void tell_all_threads(void)
{
	threads_all(tell_all);
}

void flow_edges_map(const struct link_mmap *map)
{
	code_files_map(map, tell_all_threads);
}

bool flow_edges_in_any_order(void)
{
	return engine_wants(LINK_WANT_SUMS);
}

unsigned flow_edges_counter(uint64_t from, uint64_t to)
{
	if (edges == EDGES_MAX || !code_files_have(from))
		return 0;
	if (to && (!code_files_have(to) ||
		   (!flow_edges_in_any_order() && code_files_marked(LINK_MARK_START, to))))
		return 0;
	if (!edge)
		edge = heap_allocate(EDGES_MAX * sizeof(*edge));
	edge[edges] = (struct edge){from, to};
	return CTX_EDGES + edges++ * 8;
}

bool flow_edges_full(void)
{
	return edges > EDGES_MAX - BLOCK_MOST;
}

void flow_edges_drain(void)
{
	uint64_t *count = context_edges(current);

	for (unsigned i = 0; i < edges; i++) {
		if (!count[i])
			continue;
		flow_log_counted(edge[i].from, edge[i].to, count[i]);
		count[i] = 0;
	}
}

void flow_edges_clear(void)
{
	if (edges)
		syscall3(__NR_madvise, (long)context_edges(current), (long)in_pages(edges * 8u),
			 MADV_DONTNEED);
}

void flow_edges_restart(void)
{
	if (!edges)
		return;
	threads_all(flow_edges_drain);
	edges = 0;
}
