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

#include "engine/count/count.h"
#include "engine/count/flow_log.h"
#include "engine/rt/context.h"
#include "engine/rt/engine.h"
#include "engine/rt/lock.h"
#include "engine/rt/sys.h"
#include "engine/rt/threads.h"

#define MAPPINGS_MAX 4096
#define BLOCK_MOST   4096 /* more than the counters of a few blocks */

static struct edge {
	uint64_t from, to;
} * edge;
static unsigned edges;

/* Newer mappings cover older ones. */
static struct mapping {
	uint64_t start, end;
	bool is_file;
} mapping[MAPPINGS_MAX];
static unsigned mappings;

static bool covers(uint64_t start, uint64_t end)
{
	for (unsigned i = 0; i < mappings; i++)
		if (mapping[i].start < end && start < mapping[i].end)
			return true;
	return false;
}

static bool is_start(uint64_t address)
{
	uint32_t bit = link_flow_start(address);

	return engine_link->flow_start[bit / 8] & 1u << bit % 8;
}

/* Returns whether the tool has said that it can read the file. */
static bool is_readable(const struct link_mmap *map)
{
	for (unsigned i = 0; i < LINK_FLOW_READABLE; i++)
		if (!is_start(link_flow_readable(map) + 4 * i))
			return false;
	return true;
}

/* What the thread has done, the tool learns before the other mapping. */
static void tell_all(void)
{
	flow_edges_drain();
	flow_log_hand_over();
}

void flow_edges_map(const struct link_mmap *map)
{
	uint64_t end = map->start + map->length;

	if (covers(map->start, end)) {
		lock_stop_others();
		threads_all(tell_all);
		lock_resume_others();
	}
	ring_write(&map->header);
	ring_settle();
	/* If there are too many, nothing is counted any more. */
	if (mappings < MAPPINGS_MAX)
		mapping[mappings++] = (struct mapping){map->start, end,
						       link_flow_is_file(map) && is_readable(map)};
}

static bool is_in_file(uint64_t address)
{
	for (unsigned i = mappings; i-- > 0;)
		if (address >= mapping[i].start && address < mapping[i].end)
			return mapping[i].is_file;
	return false;
}

bool flow_edges_in_any_order(void)
{
	return engine_wants(LINK_WANT_SUMS);
}

unsigned flow_edges_counter(uint64_t from, uint64_t to)
{
	if (mappings == MAPPINGS_MAX || edges == EDGES_MAX || !is_in_file(from))
		return 0;
	if (to && (!is_in_file(to) || (!flow_edges_in_any_order() && is_start(to))))
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
		flow_log_next(LINK_FLOW_COUNTED | edge[i].from, edge[i].to, count[i]);
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
