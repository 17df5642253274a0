/* SPDX-License-Identifier: MIT */
/* uarch.c: makes models (uarch.h), and counts what is reported to them. */
#include <softpmu/uarch.h>

#include <string.h>

#include "src/abi.h"
#include "src/uarch/model.h"

/* --- creation --- */

static bool is_power_of_two(uint64_t n)
{
	return n && !(n & (n - 1));
}

static const char *replacement_error(const struct spmu_replacement *r, unsigned ways)
{
	if (r->policy > SPMU_REPLACE_QLRU)
		return "a cache has an unknown replacement policy";
	if (r->policy == SPMU_REPLACE_TREE_PLRU && (!is_power_of_two(ways) || ways > 16))
		return "tree PLRU needs 2, 4, 8 or 16 ways";
	if (r->policy == SPMU_REPLACE_MRU && ways > 32)
		return "MRU has at most 32 ways";
	if (r->hit_from_3 > 2 || r->hit_from_2 > 1 || r->insert > 3 || r->victim > 2 ||
	    r->update > 3 || r->update_on_miss > 1)
		return "a parameter of QLRU is out of range";
	return NULL;
}

static const char *cache_error(const struct spmu_cache_shape *c, unsigned line_bytes)
{
	if (!c->bytes)
		return NULL;
	if (c->line_bytes != line_bytes)
		return "the caches of a machine have lines of one size";
	if (!c->ways || c->bytes % ((uint32_t)c->ways * c->line_bytes))
		return "a cache is not a whole number of sets";
	return replacement_error(&c->replacement, c->ways);
}

static const char *tlb_error(const struct spmu_tlb_shape *t)
{
	if (!t->entries)
		return NULL;
	if (!t->ways || t->entries % t->ways)
		return "a TLB is not a whole number of sets";
	if (!t->page_shifts || t->page_shifts & ~(1u << 12 | 1u << 21 | 1u << 30))
		return "a TLB holds pages of 4 KB, 2 MB and 1 GB (shifts 12, 21 and 30)";
	return NULL;
}

static const char *predictor_error(const struct spmu_predictor_shape *p)
{
	if (p->conditional > SPMU_PREDICT_TAGE)
		return "the predictor of conditional branches is unknown";
	if (p->address_bits > 20 || p->indirect_bits > 14 || p->return_stack > 64)
		return "a table of the predictor is too large";
	if (p->conditional == SPMU_PREDICT_GSELECT && p->address_bits + p->history_bits > 20)
		return "the predictor has more than 20 bits of address and history";
	if (p->conditional == SPMU_PREDICT_GSHARE && p->history_bits > p->address_bits)
		return "the predictor has more bits of history than its index";
	if (p->conditional != SPMU_PREDICT_TAGE)
		return NULL;
	if (!p->tables || p->tables > TAGE_TABLES_MAX || p->table_bits < 4 || p->table_bits > 12 ||
	    p->tag_bits < 4 || p->tag_bits > 12)
		return "TAGE has 1 to 12 tables, with 4 to 12 bits of index and of tag";
	if (p->history_bits < 4 || p->history_bits > TAGE_HISTORY_MAX)
		return "TAGE has a history of 4 to 256 branches";
	return NULL;
}

const char *spmu_machine_error(const struct spmu_machine *machine)
{
	const struct spmu_cache_shape *caches[] = {&machine->l1i, &machine->l1d, &machine->l2,
						   &machine->llc};
	const char *error = NULL;

	if (!machine->l1i.bytes || !machine->l1d.bytes)
		return "a machine needs a first-level instruction cache and data cache";
	if (!is_power_of_two(machine->l1d.line_bytes) || machine->l1d.line_bytes < 8)
		return "the size of a cache line is a power of two, at least 8";
	if (machine->inclusion > SPMU_VICTIM)
		return "the inclusion of the last level is unknown";
	for (unsigned i = 0; !error && i < 4; i++)
		error = cache_error(caches[i], machine->l1d.line_bytes);
	for (unsigned i = 0; !error && i < ITLBS; i++)
		error = tlb_error(&machine->itlb[i]);
	for (unsigned i = 0; !error && i < DTLBS; i++)
		error = tlb_error(&machine->dtlb[i]);
	for (unsigned i = 0; !error && i < STLBS; i++)
		error = tlb_error(&machine->stlb[i]);
	for (unsigned i = 0; !error && i < PAGING_CACHES; i++)
		if (machine->paging[i] > 256)
			error = "a paging-structure cache has more than 256 entries";
	return error ? error : predictor_error(&machine->predictor);
}

/* Returns the shape of a cache of pages for a TLB. */
static struct spmu_cache_shape tlb_as_cache(const struct spmu_tlb_shape *tlb)
{
	return (struct spmu_cache_shape){.bytes = tlb->entries, .ways = tlb->ways, .line_bytes = 1};
}

static size_t tlb_bytes(const struct spmu_tlb_shape *tlbs, unsigned count)
{
	size_t bytes = 0;

	for (unsigned i = 0; i < count; i++) {
		struct spmu_cache_shape shape = tlb_as_cache(&tlbs[i]);

		bytes += cache_bytes(&shape);
	}
	return bytes;
}

static uint8_t *create_tlbs(struct cache *tlbs, uint8_t *memory,
			    const struct spmu_tlb_shape *shapes, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		struct spmu_cache_shape shape = tlb_as_cache(&shapes[i]);

		memory = cache_create(&tlbs[i], memory, &shape);
	}
	return memory;
}

/* Returns whether a machine's last level is that of a model. */
static bool shares_with(const struct spmu_uarch *u, const struct spmu_uarch *peer)
{
	const struct spmu_cache_shape *mine = &u->machine.llc, *its = &peer->machine.llc;

	return mine->bytes == its->bytes && mine->ways == its->ways &&
	       u->machine.l1d.line_bytes == peer->machine.l1d.line_bytes;
}

/* Copies a configuration and its machine. Returns false if one of them is invalid. */
static bool take(struct spmu_uarch *to, const struct spmu_uarch_config *config)
{
	return config && abi_take(&to->config, sizeof(to->config), config) && to->config.machine &&
	       abi_take(&to->machine, sizeof(to->machine), to->config.machine) &&
	       (!to->config.peer || shares_with(to, to->config.peer)) && to->config.threads &&
	       to->config.threads <= SPMU_UARCH_THREADS_MAX && !spmu_machine_error(&to->machine);
}

static size_t model_bytes(const struct spmu_uarch *u)
{
	const struct spmu_machine *m = &u->machine;
	size_t each = sizeof(struct thread) + cache_bytes(&m->l1i) + cache_bytes(&m->l1d) +
		      cache_bytes(&m->l2) + tlb_bytes(m->itlb, ITLBS) + tlb_bytes(m->dtlb, DTLBS) +
		      tlb_bytes(m->stlb, STLBS) + walk_bytes(m) + predictor_bytes(&m->predictor);

	return sizeof(*u) + u->config.threads * each + (u->config.peer ? 0 : cache_bytes(&m->llc));
}

size_t spmu_uarch_bytes(const struct spmu_uarch_config *config)
{
	struct spmu_uarch u;

	return take(&u, config) ? model_bytes(&u) : 0;
}

static uint8_t *create_thread(const struct spmu_machine *m, struct thread *t, uint8_t *memory)
{
	memset(t->count, 0, sizeof(t->count));
	memset(&t->streamer, 0, sizeof(t->streamer));
	memory = cache_create(&t->l1i, memory, &m->l1i);
	memory = cache_create(&t->l1d, memory, &m->l1d);
	memory = cache_create(&t->l2, memory, &m->l2);
	memory = create_tlbs(t->itlb, memory, m->itlb, ITLBS);
	memory = create_tlbs(t->dtlb, memory, m->dtlb, DTLBS);
	memory = create_tlbs(t->stlb, memory, m->stlb, STLBS);
	memory = walk_create(&t->walker, memory, m);
	return predictor_create(&t->predictor, memory, &m->predictor);
}

static void join(struct spmu_uarch *u, struct spmu_uarch *peer)
{
	u->llc = peer->llc;
	u->next = peer->next;
	peer->next = u;
}

/* Returns whether accesses that hit the first levels can be done with little work (near.c). */
static enum near_kind near_kind(const struct spmu_uarch *u)
{
	const struct thread *t = &u->thread[0];

	if (u->config.page_shift || !cache_has_near(&t->l1i) || !cache_has_near(&t->l1d))
		return NEAR_NOT;
	if (!t->itlb[0].ways && !t->dtlb[0].ways)
		return NEAR_UNTRANSLATED;
	return cache_has_near(&t->itlb[0]) && cache_has_near(&t->dtlb[0]) ? NEAR_TRANSLATED
									  : NEAR_NOT;
}

enum spmu_status spmu_uarch_create(void *memory, size_t bytes,
				   const struct spmu_uarch_config *config,
				   struct spmu_uarch **model)
{
	struct spmu_uarch u, *made = (struct spmu_uarch *)memory;
	uint8_t *at;

	if (!memory || !model || (uintptr_t)memory % 64 || !take(&u, config))
		return SPMU_E_ARGUMENT;
	if (bytes < model_bytes(&u))
		return SPMU_E_SPACE;
	u.line_shift = (unsigned)__builtin_ctz(u.machine.l1d.line_bytes);
	u.config.machine = NULL; /* the caller may free it */
	u.thread = (struct thread *)(void *)(made + 1);
	at = (uint8_t *)(u.thread + u.config.threads);
	if (!u.config.peer)
		at = cache_create(&u.own_llc, at, &u.machine.llc);
	for (unsigned i = 0; i < u.config.threads; i++)
		at = create_thread(&u.machine, &u.thread[i], at);
	u.near = near_kind(&u);
	u.next = made;
	u.llc = &made->own_llc;
	u.partial = false;
	*made = u;
	if (u.config.peer)
		join(made, u.config.peer);
	*model = made;
	return SPMU_OK;
}

/* --- what is reported --- */

/* Where an access is: its linear address, and the lines in which it is, in at most two pieces. */
struct extent {
	uint64_t linear;
	uint32_t bytes;
	unsigned shift; /* of tlb_translate() */
	unsigned pieces;
	struct {
		uint64_t first, last;
	} lines[2];
};

/* Adds to the three counts of misses that begin at `first`. */
static void count_misses(struct thread *t, unsigned first, enum spmu_uarch_level level)
{
	t->count[first] += level > SPMU_LEVEL_L1;
	t->count[first + 1] += level > SPMU_LEVEL_L2;
	t->count[first + 2] += level == SPMU_LEVEL_MEMORY;
}

/* Brings the lines of an access to the first level. */
static inline enum spmu_uarch_level reach_pieces(struct spmu_uarch *u, const struct reference *r,
						 const struct extent *at)
{
	enum spmu_uarch_level level, second;

	level = memory_reach(u, r, at->lines[0].first, at->lines[0].last);
	if (at->pieces == 1)
		return level;
	second = memory_reach(u, r, at->lines[1].first, at->lines[1].last);
	return second > level ? second : level;
}

/* The same.  Counts the access among those that another thread had, at `snoops`, if one of its
 * lines was. */
static inline enum spmu_uarch_level reach_all(struct spmu_uarch *u, const struct reference *r,
					      const struct extent *at, unsigned snoops)
{
	uint64_t *count = r->thread->count;
	uint64_t hits = count[SPMU_UARCH_SNOOP_HITS], changed = count[SPMU_UARCH_SNOOP_MODIFIED];
	enum spmu_uarch_level level = reach_pieces(u, r, at);

	if (!has_others(u))
		return level;
	if (count[SPMU_UARCH_SNOOP_MODIFIED] != changed)
		count[snoops + 1]++;
	else if (count[SPMU_UARCH_SNOOP_HITS] != hits)
		count[snoops]++;
	return level;
}

static inline struct extent linear_extent(const struct spmu_uarch *u, uint64_t linear,
					  uint32_t bytes)
{
	return (struct extent){
		.linear = linear,
		.bytes = bytes,
		.pieces = 1,
		.lines = {{linear >> u->line_shift, (linear + bytes - 1) >> u->line_shift}},
	};
}

/* Reports a fetch. */
static inline enum spmu_uarch_level fetch(struct spmu_uarch *u, struct thread *t,
					  const struct extent *at)
{
	struct reference r = {.thread = t, .fetch = true};
	enum spmu_uarch_level level;

	t->count[SPMU_UARCH_FETCHES]++;
	tlb_translate(u, t, true, at->linear, at->bytes, at->shift,
		      &t->count[SPMU_UARCH_ITLB_MISSES], &t->count[SPMU_UARCH_ITLB_WALKS]);
	level = reach_all(u, &r, at, SPMU_UARCH_FETCH_SNOOP_HITS);
	count_misses(t, SPMU_UARCH_FETCH_L1_MISSES, level);
	return level;
}

enum spmu_uarch_level uarch_fetch(struct spmu_uarch *u, struct thread *t, uint64_t linear,
				  uint32_t bytes)
{
	struct extent at = linear_extent(u, linear, bytes);

	return fetch(u, t, &at);
}

/* Reports a prefetch instruction, which counts only if it brings something in. */
static enum spmu_uarch_level prefetch(struct spmu_uarch *u, struct thread *t,
				      const struct extent *at)
{
	struct reference r = {.thread = t};
	uint64_t ignored[2] = {0, 0};
	enum spmu_uarch_level level;

	tlb_translate(u, t, false, at->linear, at->bytes, at->shift, &ignored[0], &ignored[1]);
	level = reach_pieces(u, &r, at);
	t->count[SPMU_UARCH_PREFETCHES] += level != SPMU_LEVEL_L1;
	return level;
}

/* Reports a load or a store. */
static inline enum spmu_uarch_level access_once(struct spmu_uarch *u, struct thread *t,
						const struct extent *at, bool write)
{
	struct reference r = {.thread = t, .write = write};
	enum spmu_uarch_level level;
	bool split = at->pieces > 1 || at->lines[0].first != at->lines[0].last;

	tlb_translate(u, t, false, at->linear, at->bytes, at->shift,
		      &t->count[write ? SPMU_UARCH_DTLB_STORE_MISSES : SPMU_UARCH_DTLB_LOAD_MISSES],
		      &t->count[write ? SPMU_UARCH_DTLB_STORE_WALKS : SPMU_UARCH_DTLB_LOAD_WALKS]);
	level = reach_all(u, &r, at,
			  write ? SPMU_UARCH_STORE_SNOOP_HITS : SPMU_UARCH_LOAD_SNOOP_HITS);
	t->count[write ? SPMU_UARCH_STORES : SPMU_UARCH_LOADS]++;
	t->count[write ? SPMU_UARCH_STORE_SPLITS : SPMU_UARCH_LOAD_SPLITS] += split;
	count_misses(t, write ? SPMU_UARCH_STORE_L1_MISSES : SPMU_UARCH_LOAD_L1_MISSES, level);
	return level;
}

/* Reports an access with SPMU_UARCH_ bits. */
static inline enum spmu_uarch_level access_all(struct spmu_uarch *u, struct thread *t,
					       const struct extent *at, unsigned kind)
{
	enum spmu_uarch_level level = SPMU_LEVEL_L1, stored;

	if (kind & SPMU_UARCH_PREFETCH)
		return prefetch(u, t, at);
	if (kind & SPMU_UARCH_LOAD)
		level = access_once(u, t, at, false);
	if (kind & SPMU_UARCH_STORE) {
		stored = access_once(u, t, at, true);
		if (stored > level)
			level = stored;
	}
	return level;
}

enum spmu_uarch_level uarch_access(struct spmu_uarch *u, struct thread *t, uint64_t linear,
				   uint32_t bytes, unsigned kind)
{
	struct extent at = linear_extent(u, linear, bytes);

	return access_all(u, t, &at, kind);
}

enum spmu_uarch_level uarch_access_line(struct spmu_uarch *u, struct thread *t, uint64_t line,
					bool write)
{
	struct reference r = {.thread = t, .write = write};
	enum spmu_uarch_level level = memory_reach(u, &r, line, line);

	t->count[write ? SPMU_UARCH_STORES : SPMU_UARCH_LOADS]++;
	count_misses(t, write ? SPMU_UARCH_STORE_L1_MISSES : SPMU_UARCH_LOAD_L1_MISSES, level);
	return level;
}

enum spmu_uarch_level spmu_uarch_access_translated(struct spmu_uarch *model, unsigned thread,
						   const struct spmu_uarch_translated *access)
{
	const uint64_t rest = 4096 - access->linear % 4096; /* of the page */
	uint64_t end = access->physical + access->bytes - 1;
	unsigned shift = model->line_shift;
	struct extent at = {.linear = access->linear,
			    .bytes = access->bytes,
			    .shift = access->page_shift,
			    .pieces = 1};

	if (thread >= model->config.threads || !access->bytes)
		return SPMU_LEVEL_L1;
	if (access->bytes > rest) {
		uint64_t last = access->next_page + access->bytes - rest - 1;

		end = access->physical + rest - 1;
		at.pieces = 2;
		at.lines[1].first = access->next_page >> shift;
		at.lines[1].last = last >> shift;
	}
	at.lines[0].first = access->physical >> shift;
	at.lines[0].last = end >> shift;
	return access->kind == SPMU_UARCH_FETCH
		       ? fetch(model, &model->thread[thread], &at)
		       : access_all(model, &model->thread[thread], &at, access->kind);
}

static bool count_branch(struct thread *t, unsigned first, bool missed)
{
	t->count[first]++;
	t->count[first + 1] += missed;
	return missed;
}

bool spmu_uarch_branch(struct spmu_uarch *model, unsigned thread,
		       const struct spmu_executed_branch *branch)
{
	struct predictor *p;
	struct thread *t;
	bool missed;

	if (thread >= model->config.threads)
		return false;
	t = &model->thread[thread];
	p = &t->predictor;
	if (branch->kind == SPMU_BRANCH_CALL || branch->kind == SPMU_BRANCH_INDIRECT_CALL)
		predictor_call(p, branch->next);
	switch (branch->kind) {
	case SPMU_BRANCH_CONDITIONAL:
		missed = predictor_conditional(p, branch->from, branch->taken);
		t->count[SPMU_UARCH_TAKEN_MISSES] += missed && branch->taken;
		return count_branch(t, SPMU_UARCH_CONDITIONALS, missed);
	case SPMU_BRANCH_INDIRECT:
	case SPMU_BRANCH_INDIRECT_CALL:
		missed = predictor_indirect(p, branch->from, branch->to);
		t->count[SPMU_UARCH_CALL_MISSES] +=
			missed && branch->kind == SPMU_BRANCH_INDIRECT_CALL;
		return count_branch(t, SPMU_UARCH_INDIRECTS, missed);
	case SPMU_BRANCH_RETURN:
		return count_branch(t, SPMU_UARCH_RETURNS, predictor_return(p, branch->to));
	default:
		return false;
	}
}

void spmu_uarch_conditionals(struct spmu_uarch *model, unsigned thread,
			     const struct spmu_uarch_outcome *list, size_t count)
{
	uint64_t missed[2] = {0, 0};
	struct thread *t;

	if (thread >= model->config.threads)
		return;
	t = &model->thread[thread];
	predictor_conditionals(&t->predictor, list, count, missed);
	t->count[SPMU_UARCH_CONDITIONALS] += count;
	t->count[SPMU_UARCH_CONDITIONAL_MISSES] += missed[0] + missed[1];
	t->count[SPMU_UARCH_TAKEN_MISSES] += missed[1];
}

void spmu_uarch_set_partial(struct spmu_uarch *model, bool partial)
{
	model->partial = partial;
}

void spmu_uarch_set_load_threshold(struct spmu_uarch *model, uint32_t clocks)
{
	model->config.load_threshold = clocks;
}

const uint64_t *spmu_uarch_counts(const struct spmu_uarch *model, unsigned thread)
{
	return thread < model->config.threads ? model->thread[thread].count : NULL;
}

const char *spmu_uarch_meaning(unsigned count)
{
	static const char *const meanings[] = {
#define SPMU_X(name, meaning) meaning,
		SPMU_UARCH_LIST(SPMU_X)
#undef SPMU_X
	};

	return count < SPMU_UARCH_COUNTS ? meanings[count] : NULL;
}
