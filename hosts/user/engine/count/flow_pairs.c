/* SPDX-License-Identifier: MIT */
/*
 * flow_pairs.c: learns where the indirect branches of a thread go, from those that were logged.
 *
 * Translated code looks in a table of pairs of a branch and a target, which are in sets of two.  A
 * jump within a function is only counted there.
 */
#include "engine/count/flow_pairs.h"

#include <asm/unistd.h>
#include <linux/mman.h>

#include "engine/count/code_files.h"
#include "engine/count/flow_places.h"
#include "engine/rt/context.h"
#include "engine/rt/sys.h"

#define FORGOTTEN_MAX 64

/* What a thread has besides the table. */
struct flow_pairs {
	uint32_t listed[2u << PAIR_BITS]; /* places in the table that count jumps */
	unsigned listed_count;
	/* Counts that made room for others. */
	struct forgotten {
		uint64_t from, to, times;
	} forgotten[FORGOTTEN_MAX];
	unsigned forgotten_count;
	bool evict_second;
};

static struct flow_pairs *own(void)
{
	if (!current->flow.pairs)
		current->flow.pairs = heap_allocate(sizeof(struct flow_pairs));
	return current->flow.pairs;
}

static struct flow_pair *table(void)
{
	return (struct flow_pair *)((uint64_t)current + CTX_PAIRS);
}

static void forget(struct flow_pairs *p, struct flow_pair *pair)
{
	if (pair->times)
		p->forgotten[p->forgotten_count++] =
			(struct forgotten){flow_places_of_site(pair->id), pair->to, pair->times};
	*pair = (struct flow_pair){.listed = pair->listed};
}

/* Returns a free place for the pair, or NULL if it has one. */
static struct flow_pair *make_room(struct flow_pairs *p, uint32_t id, uint64_t to)
{
	struct flow_pair *set = table() + 2 * flow_words_set(id, to), *pair = set;

	for (unsigned i = 0; i < 2; i++)
		if (set[i].id == id && set[i].to == to)
			return NULL;
	if (set[0].id && (!set[1].id || p->evict_second))
		pair = set + 1;
	if (pair->id)
		p->evict_second = !p->evict_second;
	forget(p, pair);
	return pair;
}

static void learn_pair(uint32_t id, uint64_t to, struct flow_open open)
{
	struct flow_pairs *p = own();
	struct flow_pair *pair;

	if (p->forgotten_count == FORGOTTEN_MAX)
		return;
	pair = make_room(p, id, to);
	if (!pair)
		return;
	if (!open.call && !pair->listed) {
		p->listed[p->listed_count++] = (uint32_t)(pair - table());
		pair->listed = 1;
	}
	pair->to = to;
	pair->id = id;
	pair->open = open;
}

static void learn_function(uint32_t id, const struct flow_call *call)
{
	uint32_t place = flow_places_get(call);

	if (place)
		learn_pair(id, call->to, (struct flow_open){place, flow_words_place(call->to)});
}

static bool is_resolver(uint64_t address)
{
	return code_files_marked(LINK_MARK_RESOLVER, address);
}

void flow_pairs_learn(uint64_t from, uint64_t to, bool is_call)
{
	uint64_t returns_to;
	uint32_t id = flow_places_find_site(from, &returns_to);

	if (!id || !code_files_have(from) || !code_files_have(to) || is_resolver(from) ||
	    is_resolver(to))
		return;
	if (code_files_marked(LINK_MARK_START, to))
		learn_function(id, &(struct flow_call){from, to, returns_to});
	else if (!is_call)
		learn_pair(id, to, (struct flow_open){0});
}

void flow_pairs_learn_stub(uint32_t place, uint64_t from, uint64_t to)
{
	struct flow_call call = *flow_places_call(place);

	if (!code_files_have(from) || !code_files_have(to) ||
	    !code_files_marked(LINK_MARK_START, to) || code_files_marked(LINK_MARK_STUB, to) ||
	    is_resolver(to))
		return;
	call.to = to;
	learn_function(place, &call);
}

static void drain_listed(struct flow_pairs *p, flow_pairs_log *log)
{
	for (unsigned i = 0; i < p->listed_count; i++) {
		struct flow_pair *pair = table() + p->listed[i];
		uint64_t times = pair->times;

		pair->times = 0;
		if (times)
			log(flow_places_of_site(pair->id), pair->to, times);
	}
}

void flow_pairs_drain(flow_pairs_log *log, bool all)
{
	struct flow_pairs *p = current->flow.pairs;

	while (p && p->forgotten_count) {
		const struct forgotten *f = &p->forgotten[--p->forgotten_count];

		log(f->from, f->to, f->times);
	}
	if (p && all)
		drain_listed(p, log);
}

void flow_pairs_clear(void)
{
	struct flow_pairs *p = current->flow.pairs;

	if (!p)
		return;
	syscall3(__NR_madvise, (long)table(), CTX_CALLS - CTX_PAIRS, MADV_DONTNEED);
	p->listed_count = p->forgotten_count = 0;
}
