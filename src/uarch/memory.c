/* SPDX-License-Identifier: MIT */
/*
 * memory.c: the caches of all threads and how lines move between them.
 *
 * A thread has its own first and, if the machine has one, second level.  All threads share the last
 * level.  Lines that more than one thread has are kept coherent by MESI: a store needs the only
 * copy, and a line that another thread has changed comes from there.
 *
 * Simplified: a victim cache gives a line up when it is read.  What a prefetcher asks for arrives
 * at once.
 */
#include "src/uarch/model.h"

static bool writes_back(const struct spmu_uarch *u)
{
	return u->machine.properties & SPMU_MACHINE_WRITE_BACK;
}

/* Removes a line from all caches of a thread.  Returns the flags that it had there. */
static unsigned take_away(struct thread *t, uint64_t line)
{
	struct cache *caches[] = {&t->l1i, &t->l1d, &t->l2};
	unsigned flags = 0;

	for (unsigned i = 0; i < sizeof(caches) / sizeof(caches[0]); i++) {
		uint64_t entry = caches[i]->ways ? cache_remove(caches[i], line) : CACHE_EMPTY;

		if (entry != CACHE_EMPTY)
			flags |= (unsigned)(entry & (LINE_CHANGED | LINE_SHARED));
	}
	return flags;
}

/* Removes a line from the caches of all threads.  Returns the flags that it had there. */
static unsigned take_away_all(struct spmu_uarch *u, uint64_t line)
{
	struct spmu_uarch *peer = u;
	unsigned flags = 0;

	do {
		for (unsigned i = 0; i < peer->config.threads; i++)
			flags |= take_away(&peer->thread[i], line);
		peer = peer->next;
	} while (peer != u);
	return flags;
}

/* Counts a changed line that has left the last cache that could hold it. */
static void write_memory(struct spmu_uarch *u, struct thread *t)
{
	if (writes_back(u))
		t->count[SPMU_UARCH_MEMORY_WRITES]++;
}

/* Handles a line that leaves the last level. */
static void leave_llc(struct spmu_uarch *u, struct thread *cause, uint64_t entry)
{
	unsigned flags = (unsigned)entry;

	if (entry == CACHE_EMPTY)
		return;
	if (u->machine.inclusion == SPMU_INCLUSIVE)
		flags |= take_away_all(u, cache_line_of(entry));
	if (flags & LINE_CHANGED)
		write_memory(u, cause);
}

/* Puts a line into the last level, or changes its flags there. */
static void put_llc_of(struct spmu_uarch *u, struct thread *cause, uint64_t line, unsigned flags)
{
	uint64_t *entry;

	if (!u->llc->ways) {
		if (flags & LINE_CHANGED)
			write_memory(u, cause);
		return;
	}
	entry = cache_find(u->llc, line);
	if (entry)
		*entry |= flags & LINE_CHANGED;
	else
		leave_llc(u, cause, cache_insert(u->llc, line, flags & LINE_CHANGED));
}

/* Handles a line that leaves the second level, or the first if there is no second. */
static void leave_private(struct spmu_uarch *u, struct thread *t, uint64_t entry)
{
	if (entry == CACHE_EMPTY)
		return;
	if (t->l2.ways)
		t->count[entry & LINE_CHANGED ? SPMU_UARCH_L2_WRITEBACKS
					      : SPMU_UARCH_L2_LINES_OUT]++;
	if (u->machine.inclusion == SPMU_VICTIM || (entry & LINE_CHANGED && writes_back(u)))
		put_llc_of(u, t, cache_line_of(entry), (unsigned)entry);
}

static void put_l2(struct spmu_uarch *u, struct thread *t, uint64_t line, unsigned flags)
{
	uint64_t *entry = cache_find(&t->l2, line);

	if (entry)
		*entry |= flags;
	else
		leave_private(u, t, cache_insert(&t->l2, line, flags));
}

/* Handles a line that leaves the first level. */
static void leave_l1(struct spmu_uarch *u, struct thread *t, uint64_t entry)
{
	if (entry == CACHE_EMPTY)
		return;
	if (!t->l2.ways)
		leave_private(u, t, entry);
	else if (entry & LINE_CHANGED && writes_back(u))
		put_l2(u, t, cache_line_of(entry), (unsigned)entry & (LINE_CHANGED | LINE_SHARED));
}

/* The same in the caches of one other thread. */
static unsigned snoop_one(struct thread *other, uint64_t line, bool write)
{
	struct cache *caches[] = {&other->l1i, &other->l1d, &other->l2};
	unsigned found = 0;

	for (unsigned c = 0; c < sizeof(caches) / sizeof(caches[0]); c++) {
		uint64_t *entry = caches[c]->ways ? cache_find(caches[c], line) : NULL;

		if (!entry)
			continue;
		found |= LINE_SHARED | (*entry & LINE_CHANGED);
		*entry = (*entry & ~(uint64_t)LINE_CHANGED) | LINE_SHARED;
	}
	if (write)
		take_away(other, line);
	return found;
}

/*
 * Looks for a line in the caches of the other threads. A read leaves their copies, a write removes
 * them. Returns the flags that the copies had. LINE_SHARED: some thread has a copy.
 */
static unsigned snoop(struct spmu_uarch *u, const struct thread *t, uint64_t line, bool write)
{
	struct spmu_uarch *peer = u;
	unsigned found = 0;

	do {
		for (unsigned i = 0; i < peer->config.threads; i++)
			if (&peer->thread[i] != t)
				found |= snoop_one(&peer->thread[i], line, write);
		peer = peer->next;
	} while (peer != u);
	return found;
}

/* What the caches that threads share, and the other threads, have of a line. */
struct supply {
	enum spmu_uarch_level level;
	unsigned flags;
};

static struct supply from_beyond(struct spmu_uarch *u, struct thread *t, uint64_t line, bool write)
{
	struct supply s = {.level = SPMU_LEVEL_MEMORY};
	unsigned others = has_others(u) ? snoop(u, t, line, write) : 0;
	uint64_t *entry = u->llc->ways ? cache_use(u->llc, line) : NULL;

	if (others && !write)
		s.flags |= LINE_SHARED;
	if (entry) {
		s.level = SPMU_LEVEL_LLC;
		if (u->machine.inclusion == SPMU_VICTIM)
			s.flags |= (unsigned)cache_remove(u->llc, line) & LINE_CHANGED;
	}
	if (!entry && u->partial && u->llc->ways && cache_has_room(u->llc, line)) {
		s.level = SPMU_LEVEL_LLC; /* for all that is known */
		if (u->machine.inclusion != SPMU_VICTIM)
			(void)cache_insert(u->llc, line, 0);
	}
	if (others & LINE_CHANGED) {
		s.level = SPMU_LEVEL_OTHER;
		t->count[SPMU_UARCH_SNOOP_MODIFIED]++;
		put_llc_of(u, t, line, LINE_CHANGED);
	} else if (others) {
		t->count[SPMU_UARCH_SNOOP_HITS]++;
		if (s.level == SPMU_LEVEL_MEMORY)
			s.level = SPMU_LEVEL_LLC;
	}
	if (s.level != SPMU_LEVEL_MEMORY)
		return s;
	t->count[SPMU_UARCH_MEMORY_READS]++;
	if (u->llc->ways && u->machine.inclusion != SPMU_VICTIM)
		leave_llc(u, t, cache_insert(u->llc, line, 0));
	return s;
}

/* Brings a line to the second level, or finds it there. *flags: the flags of the line. */
static enum spmu_uarch_level reach_l2(struct spmu_uarch *u, struct thread *t, uint64_t line,
				      bool write, unsigned *flags)
{
	uint64_t *entry = t->l2.ways ? cache_use(&t->l2, line) : NULL;
	struct supply s;

	if (entry) {
		*flags = (unsigned)*entry & LINE_SHARED;
		return SPMU_LEVEL_L2;
	}
	s = from_beyond(u, t, line, write);
	*flags = s.flags & LINE_SHARED;
	if (t->l2.ways)
		leave_private(u, t, cache_insert(&t->l2, line, s.flags));
	else
		*flags = s.flags;
	return s.level;
}

/* Brings a line that a prefetcher wants to the second level.  It can be the last. */
static void prefetch_l2(struct spmu_uarch *u, struct thread *t, uint64_t line)
{
	struct cache *second = t->l2.ways ? &t->l2 : u->llc;
	unsigned flags;

	if (!second->ways || cache_find(second, line) ||
	    (second == u->llc && u->machine.inclusion == SPMU_VICTIM))
		return;
	t->count[SPMU_UARCH_PREFETCHES]++;
	(void)reach_l2(u, t, line, false, &flags);
}

static void prefetch_l1(struct spmu_uarch *u, struct thread *t, uint64_t line)
{
	unsigned flags;

	if (cache_find(&t->l1d, line))
		return;
	t->count[SPMU_UARCH_PREFETCHES]++;
	(void)reach_l2(u, t, line, false, &flags);
	leave_l1(u, t, cache_insert(&t->l1d, line, flags));
}

static void follow_streams(struct spmu_uarch *u, struct thread *t, uint64_t line)
{
	uint64_t next[STREAMER_AT_ONCE];
	unsigned count = streamer_request(&t->streamer, line, u->line_shift, next);

	for (unsigned i = 0; i < count; i++)
		prefetch_l2(u, t, next[i]);
}

static void run_prefetchers(struct spmu_uarch *u, const struct reference *r, uint64_t line,
			    enum spmu_uarch_level level)
{
	if (u->machine.properties & SPMU_MACHINE_ADJACENT_LINE && level > SPMU_LEVEL_L2)
		prefetch_l2(u, r->thread, line ^ 1);
	if (u->machine.properties & SPMU_MACHINE_STREAMER)
		follow_streams(u, r->thread, line);
	if (u->machine.properties & SPMU_MACHINE_NEXT_LINE && !r->fetch)
		prefetch_l1(u, r->thread, line + 1);
}

/* Removes the copies of other threads before the thread changes a line in its first level. */
static void own(struct spmu_uarch *u, struct thread *t, uint64_t *entry)
{
	if (*entry & LINE_SHARED && has_others(u)) {
		(void)snoop(u, t, cache_line_of(*entry), true);
		*entry &= ~(uint64_t)LINE_SHARED;
	}
	*entry |= LINE_CHANGED;
}

static enum spmu_uarch_level reach(struct spmu_uarch *u, const struct reference *r, uint64_t line)
{
	struct thread *t = r->thread;
	struct cache *first = r->fetch ? &t->l1i : &t->l1d;
	uint64_t *entry = cache_use(first, line);
	enum spmu_uarch_level level = SPMU_LEVEL_L1;
	unsigned flags;

	if (!entry) {
		level = reach_l2(u, t, line, r->write, &flags);
		leave_l1(u, t, cache_insert(first, line, flags));
	}
	if (r->write) {
		entry = cache_find(first, line);
		own(u, t, entry);
	}
	if (level != SPMU_LEVEL_L1 && !r->walk)
		run_prefetchers(u, r, line, level);
	return level;
}

/* Uses adjacent lines in one cache, and inserts those that miss. Returns true if all hit. */
static bool use_all(struct cache *c, uint64_t first, uint64_t last)
{
	bool hit = true;

	for (uint64_t line = first; line <= last; line++) {
		if (cache_use(c, line))
			continue;
		cache_insert(c, line, 0);
		hit = false;
	}
	return hit;
}

/*
 * Accesses all lines in a level if the level before lacks one of them (SPMU_MACHINE_JOINED_SPLITS).
 */
static enum spmu_uarch_level reach_joined(struct spmu_uarch *u, const struct reference *r,
					  uint64_t first, uint64_t last)
{
	struct thread *t = r->thread;

	if (use_all(r->fetch ? &t->l1i : &t->l1d, first, last))
		return SPMU_LEVEL_L1;
	if (t->l2.ways && use_all(&t->l2, first, last))
		return SPMU_LEVEL_L2;
	if (u->llc->ways && use_all(u->llc, first, last))
		return SPMU_LEVEL_LLC;
	t->count[SPMU_UARCH_MEMORY_READS]++;
	return SPMU_LEVEL_MEMORY;
}

enum spmu_uarch_level memory_reach(struct spmu_uarch *u, const struct reference *r, uint64_t first,
				   uint64_t last)
{
	enum spmu_uarch_level farthest = SPMU_LEVEL_L1;

	if (u->machine.properties & SPMU_MACHINE_JOINED_SPLITS)
		return reach_joined(u, r, first, last);
	for (uint64_t line = first;; line++) {
		enum spmu_uarch_level level = reach(u, r, line);

		if (level > farthest)
			farthest = level;
		if (line == last)
			return farthest;
	}
}
