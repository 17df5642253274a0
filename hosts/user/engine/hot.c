/* SPDX-License-Identifier: MIT */
/*
 * hot.c: code that runs often becomes traces along the way that it was seen to take.
 *
 * Headroom is handed out in portions (lanes.c), so bulk code comes back now and then, wherever it
 * is: a sample of what runs.  The second time in the same block a few instructions are
 * run one by one and their addresses kept.  Where they first come to a block that is no such trace
 * yet, a trace begins, which replaces the block.  When samples find nothing new, portions grow.
 *
 * A record and its trace cost as much as some 100,000 instructions.  Where all code runs equally
 * seldom that is lost: beyond a first few, which earlier runs have made where translations were
 * kept, there may be one for so much headroom that was handed out, and for so many samples that
 * came from traces.
 */
#include "keep.h"
#include "path.h"
#include "sys.h"
#include "threads.h"

#define RECORDED      (BLOCK_INSNS_MAX + 16) /* instructions */
#define SEEN	      4096
#define PORTION	      (INT64_C(1) << 16)
#define PATIENCE      32 /* samples that find nothing new */
#define TIMES	      2
#define FIRST_RECORDS 32
#define PAID_BY	      64		  /* samples from traces */
#define ROOM_PAYS     (UINT64_C(1) << 21) /* headroom */
#define KEPT_PAYS     (UINT64_C(1) << 23) /* headroom, where translations were kept */

/* One thread records at a time; the rest is its. */
static struct context *recorder;
static uint64_t recorded[RECORDED];
static unsigned count;
static uint32_t first; /* the block in which it began */
static uint64_t changes;

int64_t hot_portion = PORTION;

/* How often samples have come from a block, and how often they must. */
static struct seen {
	uint32_t block;
	uint16_t times, wanted;
} seen[SEEN];
static unsigned in_vain, records, paid;
static uint64_t handed_out; /* headroom */

static struct seen *seen_of(uint32_t number)
{
	struct seen *s = &seen[number % SEEN];

	if (s->block != number || !s->wanted)
		*s = (struct seen){.block = number, .wanted = TIMES};
	return s;
}

static void nothing_new(void)
{
	if (++in_vain < PATIENCE)
		return;
	in_vain = 0;
	if (hot_portion < HOT_PORTION_MAX)
		hot_portion *= 2;
}

static bool may_record(void)
{
	uint64_t most =
		keep_is_used() ? handed_out / KEPT_PAYS : FIRST_RECORDS + handed_out / ROOM_PAYS;

	return records < most + paid / PAID_BY;
}

unsigned hot_sample(const struct block *b)
{
	struct seen *s = seen_of(block_number(b));
	struct context *nobody = NULL;

	paid += b->trace;
	handed_out += (uint64_t)hot_portion;
	if (++s->times < s->wanted || b->pc > UINT32_MAX || !may_record()) {
		nothing_new();
		return 0;
	}
	if (!__atomic_compare_exchange_n(&recorder, &nobody, current, false, __ATOMIC_ACQUIRE,
					 __ATOMIC_RELAXED))
		return 0;
	records++;
	s->times = 0;
	if (s->wanted < UINT16_MAX / 2)
		s->wanted *= 2;
	count = 0;
	first = block_number(b);
	changes = blocks_changes;
	current->run.recording = true;
	return RECORDED;
}

void hot_note(uint64_t pc)
{
	if (count < RECORDED)
		recorded[count++] = pc;
}

/* Where the record first comes to a block that is no trace; `count`: nowhere. */
static unsigned find_head(void)
{
	static struct path p; /* under the lock */
	const struct block *b = block_at(first);
	unsigned i = 0, k = b->check_at;

	for (;;) {
		uint64_t code;

		block_path(&p, b);
		while (k < p.n && i < count && recorded[i] == p.pc[k])
			i++, k++;
		if (i == count || !k)
			return count;
		code = blocks_lookup(recorded[i]);
		b = code ? block_of_code(code) : NULL;
		if (!b)
			return count;
		if (!b->trace)
			return i;
		k = 0;
	}
}

void hot_end(void)
{
	unsigned head;

	if (!current->run.recording)
		return;
	current->run.recording = false;
	current->run.steps_due = 0;
	engine_lock();
	head = blocks_changes == changes && !blocks_full() ? find_head() : count;
	if (head < count && translate_recorded(recorded + head, count - head)) {
		in_vain = 0;
		if (hot_portion > PORTION)
			hot_portion /= 2;
	} else {
		nothing_new();
	}
	engine_unlock();
	__atomic_store_n(&recorder, NULL, __ATOMIC_RELEASE);
}

void hot_abandon(void)
{
	if (recorder == current)
		__atomic_store_n(&recorder, NULL, __ATOMIC_RELEASE);
}

void hot_forget(void)
{
	recorder = NULL;
	current->run.recording = false;
}
