/* SPDX-License-Identifier: MIT */
/*
 * near.c: accesses that hit the first levels, with little work.
 *
 * Nearly all accesses change nothing but the order of use of one set of the first level, and
 * nothing in the TLB.  For these, the hint of the line names the way, and one compare checks it.
 * Accesses that miss the first level alone, in one line of a page that the TLB has, need no
 * translation.  All other accesses are reported one by one.
 */
#include "src/uarch/model.h"

/*
 * For each kind of access, in this order:
 *	- the flags that its entry must have
 *	- a mask of the line's number and of the flags that matter
 *	- what it counts: loads, and stores in the higher half
 *	- the flags that it sets
 */
#define STORES_SHIFT 32
#define LINE_MASK    (~UINT64_C(0) << CACHE_FLAG_BITS)
#define NO_FLAG	     8u /* no entry has it */
#define FOR_STORES   0, LINE_MASK | LINE_SHARED
#define NOT_NEAR     NO_FLAG, UINT64_MAX, 0, 0
static const struct near {
	uint64_t flags, mask, counted, set;
} near_of[8] = {
	{NOT_NEAR},
	{0, LINE_MASK, 1, 0},
	{FOR_STORES, UINT64_C(1) << STORES_SHIFT, LINE_CHANGED},
	{FOR_STORES, 1 | UINT64_C(1) << STORES_SHIFT, LINE_CHANGED},
	{NOT_NEAR},
	{NOT_NEAR},
	{NOT_NEAR},
	{NOT_NEAR},
};

/* What the accesses of a list have in common. */
struct list {
	struct spmu_uarch *model;
	struct thread *t;
	unsigned line_shift;
	enum near_kind near;
	uint64_t counted;
};

#define INLINE static inline __attribute__((always_inline))

INLINE struct list list_of(struct spmu_uarch *model, unsigned thread, enum near_kind near)
{
	return (struct list){model, &model->thread[thread], model->line_shift, near, 0};
}

/* Uses the page of an access if it is near.  Otherwise it returns false. */
INLINE bool translate_near(const struct list *l, struct cache *tlb, uint64_t linear)
{
	uint64_t page = linear >> 12;
	struct cache_place place;

	if (l->near == NEAR_UNTRANSLATED || cache_is_newest(tlb, page))
		return true;
	place = cache_near(tlb, page);
	if (cache_line_of(*place.entry) != page)
		return cache_use(tlb, page) != NULL;
	cache_use_near(tlb, page, &place);
	return true;
}

/* Does an access to data if it is near.  Otherwise it returns false. */
INLINE bool do_near(struct list *l, uint64_t linear, uint32_t bytes, unsigned kind)
{
	const struct near *near = &near_of[kind & 7];
	struct cache *first = &l->t->l1d;
	uint64_t line = linear >> l->line_shift;
	struct cache_place place;

	if (l->near == NEAR_NOT)
		return false;
	place = cache_near(first, line);
	if (((*place.entry ^ (line << CACHE_FLAG_BITS | near->flags)) & near->mask) ||
	    (linear + bytes - 1) >> l->line_shift != line ||
	    !translate_near(l, &l->t->dtlb[0], linear))
		return false;
	cache_note_use(first, place.set, place.way);
	*place.entry |= near->set;
	l->counted += near->counted;
	return true;
}

/*
 * Does an access to data that is not near.  One that loads or stores in one line of a page that the
 * TLB has needs no translation.
 */
static __attribute__((noinline)) enum spmu_uarch_level
do_far(struct spmu_uarch *model, struct thread *t, uint64_t linear, uint32_t bytes, unsigned kind)
{
	const struct list l = {model, t, model->line_shift, model->near, 0};
	uint64_t line = linear >> l.line_shift;

	if (l.near == NEAR_NOT || !(kind == SPMU_UARCH_LOAD || kind == SPMU_UARCH_STORE) ||
	    (linear + bytes - 1) >> l.line_shift != line || has_others(model) ||
	    !translate_near(&l, &t->dtlb[0], linear))
		return uarch_access(model, t, linear, bytes, kind);
	return uarch_access_line(model, t, line, kind == SPMU_UARCH_STORE);
}

/* Uses a line of instructions if it is near.  Otherwise it returns false. */
INLINE bool fetch_near(const struct list *l, uint64_t line)
{
	struct cache *first = &l->t->l1i;
	struct cache_place place;

	if (cache_is_newest(first, line))
		return true;
	place = cache_near(first, line);
	if (cache_line_of(*place.entry) != line)
		return false;
	cache_use_near(first, line, &place);
	return true;
}

INLINE void count_near(const struct list *l)
{
	l->t->count[SPMU_UARCH_LOADS] += (uint32_t)l->counted;
	l->t->count[SPMU_UARCH_STORES] += l->counted >> STORES_SHIFT;
}

/* --- one access --- */

enum spmu_uarch_level spmu_uarch_access(struct spmu_uarch *model, unsigned thread, uint64_t linear,
					uint32_t bytes, unsigned kind)
{
	struct list l;

	if (thread >= model->config.threads || !bytes)
		return SPMU_LEVEL_L1;
	l = list_of(model, thread, model->near);
	if (!do_near(&l, linear, bytes, kind))
		return do_far(model, l.t, linear, bytes, kind);
	count_near(&l);
	return SPMU_LEVEL_L1;
}

enum spmu_uarch_level spmu_uarch_fetch(struct spmu_uarch *model, unsigned thread, uint64_t linear,
				       uint32_t bytes)
{
	struct list l;

	if (thread >= model->config.threads || !bytes)
		return SPMU_LEVEL_L1;
	l = list_of(model, thread, model->near);
	if (l.near == NEAR_NOT || (linear + bytes - 1) >> l.line_shift != linear >> l.line_shift ||
	    !fetch_near(&l, linear >> l.line_shift) || !translate_near(&l, &l.t->itlb[0], linear))
		return uarch_fetch(model, l.t, linear, bytes);
	l.t->count[SPMU_UARCH_FETCHES]++;
	return SPMU_LEVEL_L1;
}

/* --- lists --- */

/* Reports a fetch as one fetch, even if it is in several lines. */
INLINE void report_fetch(const struct list *l, uint64_t linear, uint32_t bytes)
{
	uint64_t line = linear >> l->line_shift;

	if (l->near != NEAR_NOT && (linear + bytes - 1) >> l->line_shift == line &&
	    fetch_near(l, line) && translate_near(l, &l->t->itlb[0], linear))
		l->t->count[SPMU_UARCH_FETCHES]++;
	else
		(void)uarch_fetch(l->model, l->t, linear, bytes);
}

INLINE void report_list(struct list l, const struct spmu_uarch_reference *r, size_t count)
{
	for (; count; count--, r++)
		if (r->kind == SPMU_UARCH_FETCH && r->bytes)
			report_fetch(&l, r->linear, r->bytes);
		else if (r->bytes && !do_near(&l, r->linear, r->bytes, r->kind))
			(void)do_far(l.model, l.t, r->linear, r->bytes, r->kind);
	count_near(&l);
}

void spmu_uarch_accesses(struct spmu_uarch *model, unsigned thread,
			 const struct spmu_uarch_reference *list, size_t count)
{
	if (thread >= model->config.threads)
		return;
	if (model->near == NEAR_TRANSLATED)
		report_list(list_of(model, thread, NEAR_TRANSLATED), list, count);
	else if (model->near == NEAR_UNTRANSLATED)
		report_list(list_of(model, thread, NEAR_UNTRANSLATED), list, count);
	else
		report_list(list_of(model, thread, NEAR_NOT), list, count);
}

/* --- blocks --- */

/* Reports the fetch of some instructions, line by line. */
static void report_lines(const struct list l, uint64_t at, uint32_t bytes)
{
	for (uint64_t end = at + bytes, next; at < end; at = next) {
		next = ((at >> l.line_shift) + 1) << l.line_shift;
		if (next > end)
			next = end;
		(void)uarch_fetch(l.model, l.t, at, (uint32_t)(next - at));
	}
}

/* The same, with little work if all lines and the page are near. */
INLINE void report_code(const struct list *l, uint64_t at, uint32_t bytes)
{
	uint64_t end = at + bytes - 1, line = at >> l->line_shift;
	uint64_t lines = (end >> l->line_shift) - line + 1;

	if (l->near == NEAR_NOT || at >> 12 != end >> 12 ||
	    !translate_near(l, &l->t->itlb[0], at)) {
		report_lines(*l, at, bytes);
		return;
	}
	for (uint64_t n = 0; n < lines; n++)
		if (!fetch_near(l, line + n)) {
			uint64_t from = n ? (line + n) << l->line_shift : at;

			l->t->count[SPMU_UARCH_FETCHES] += n;
			report_lines(*l, from, (uint32_t)(end + 1 - from));
			return;
		}
	l->t->count[SPMU_UARCH_FETCHES] += lines;
}

INLINE uint64_t address_of(const struct spmu_uarch_block_access *a, const uint64_t *word,
			   uint64_t segment_base)
{
	uint64_t linear;

	if (!a->form)
		return a->displacement + word[a->word];
	linear = a->displacement + (a->form & SPMU_UARCH_CONSTANT ? 0 : word[a->word]);
	if (a->form & SPMU_UARCH_ADDRESS32)
		linear &= UINT32_MAX;
	return linear + (a->form & SPMU_UARCH_SEGMENT ? segment_base : 0);
}

INLINE void report_block(struct list l, const struct spmu_uarch_block *b, const uint64_t *word,
			 uint64_t segment_base)
{
	const struct spmu_uarch_block_access *a = b->access, *end = a + b->accesses;

	report_code(&l, b->linear, b->bytes);
	for (; a < end; a++) {
		uint64_t linear = address_of(a, word, segment_base);

		if (!do_near(&l, linear, a->bytes, a->kind))
			(void)do_far(l.model, l.t, linear, a->bytes, a->kind);
	}
	count_near(&l);
}

void spmu_uarch_run(struct spmu_uarch *model, unsigned thread, const struct spmu_uarch_block *b,
		    const uint64_t *word, uint64_t segment_base)
{
	if (thread >= model->config.threads)
		return;
	if (model->near == NEAR_TRANSLATED)
		report_block(list_of(model, thread, NEAR_TRANSLATED), b, word, segment_base);
	else if (model->near == NEAR_UNTRANSLATED)
		report_block(list_of(model, thread, NEAR_UNTRANSLATED), b, word, segment_base);
	else
		report_block(list_of(model, thread, NEAR_NOT), b, word, segment_base);
}
