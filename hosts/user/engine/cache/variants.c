/* SPDX-License-Identifier: MIT */
/*
 * variants.c: the variants of translated code, one for each list of meters that it charges.
 *
 * All variants are in one code cache.  A thread finds only the code of its own list: each
 * variant has its own table and its own tables of indirect targets (lookup.c).  So threads with
 * different lists do not disturb each other, and a thread that returns to an earlier list finds
 * its earlier code.
 *
 * There are few variants.  When all are in use, those whose lists no thread has are given up,
 * together with all translations.  A list without a variant has no code: it runs as single
 * steps.
 */
#include "engine/cache/cache.h"
#include "engine/cache/parts.h"
#include "engine/cache/persistent.h"
#include "engine/count/meter_list.h"
#include "engine/rt/context.h"
#include "engine/rt/context_words.h"
#include "engine/rt/lock.h"
#include "engine/rt/sys.h"
#include "engine/rt/threads.h"

#define TRIES 4096 /* while all are in use, one attempt in this many recycles them */

static struct meter_list *list_of[VARIANTS_MAX];

/* Makes indirect targets that came from a file usable. */
static void open_persistent_targets(void)
{
	for (unsigned i = 0; i < persistent.saved_modules; i++)
		if (persistent.saved[i].taken)
			lookup_take_targets(persistent.target + persistent.saved[i].first_target,
					    persistent.saved[i].targets);
}

static bool take_free(struct meter_list *list)
{
	unsigned i = 0;

	while (i < cache_sizes->variants && list_of[i] != list)
		i++; /* saved code of the list is there */
	if (i == cache_sizes->variants)
		for (i = 0; i < cache_sizes->variants && list_of[i];)
			i++;
	if (i == cache_sizes->variants)
		return false;
	list_of[i] = list;
	lookup_open(i);
	open_persistent_targets();
	__atomic_store_n(&list->variant, (uint8_t)i, __ATOMIC_RELEASE);
	return true;
}

static void give_up(unsigned variant)
{
	if (list_of[variant])
		list_of[variant]->variant = NO_VARIANT;
	list_of[variant] = NULL;
}

static void give_up_all(void)
{
	for (unsigned i = 0; i < VARIANTS_MAX; i++)
		give_up(i);
}

/* Gives up variants whose lists no thread has.  Returns true if there were some. */
static bool recycle(void)
{
	bool any = false;

	lock_stop_others();
	for (unsigned i = 0; i < cache_sizes->variants; i++) {
		if (threads_have_list(list_of[i]))
			continue;
		give_up(i);
		any = true;
	}
	if (any)
		blocks_flush();
	lock_resume_others();
	return any;
}

bool variant_take(void)
{
	static unsigned tries;
	struct meter_list *list = current->list;
	bool taken;

	if (list->variant != NO_VARIANT)
		return true;
	if (__atomic_load_n(&tries, __ATOMIC_RELAXED) &&
	    __atomic_sub_fetch(&tries, 1, __ATOMIC_RELAXED))
		return false;
	lock_take();
	taken = list->variant != NO_VARIANT || take_free(list) || (recycle() && take_free(list));
	if (!taken)
		__atomic_store_n(&tries, TRIES, __ATOMIC_RELAXED);
	lock_release();
	return taken;
}

void variants_move(void)
{
	lock_stop_others();
	give_up_all();
	blocks_move();
	lock_resume_others();
}

/* --- the persistent code cache (persist.c) --- */

void variants_get(union meter_list_room *list)
{
	for (unsigned i = 0; i < VARIANTS_MAX; i++) {
		const struct meter_list *from = list_of[i];

		memset(&list[i], 0, sizeof(list[i]));
		list[i].list.meters = UINT32_MAX;
		if (!from)
			continue;
		memcpy(&list[i], from, meter_list_bytes(from->meters));
		list[i].list.next = NULL;
	}
}

static bool set(const union meter_list_room *list)
{
	for (unsigned i = 0; i < VARIANTS_MAX; i++) {
		if (list[i].list.meters == UINT32_MAX)
			continue;
		if (i >= cache_sizes->variants || list[i].list.meters > SHARDED_METERS)
			return false;
		list_of[i] = meter_list_find(&list[i].list);
	}
	return true;
}

bool variants_set(const union meter_list_room *list)
{
	give_up_all();
	if (set(list))
		return true;
	for (unsigned i = 0; i < VARIANTS_MAX; i++)
		list_of[i] = NULL;
	return false;
}
