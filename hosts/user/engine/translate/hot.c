/* SPDX-License-Identifier: MIT */
/*
 * hot.c: finds code that runs often, and makes traces of it.
 *
 * Bulk code gets headroom in sampling quanta (shards.c).  When a quantum is used up, the code
 * returns to the engine.  The block where that happens is a sample of what runs.  The second
 * sample in the same block starts a record: the engine runs a few instructions as precise steps
 * and stores their addresses.  A trace begins at the first block of the record that is not a
 * trace yet.  It follows the recorded path, and replaces that block.
 *
 * A record and its trace cost as much as about 100,000 instructions.  A program whose code all
 * runs equally rarely would never regain that.  So the number of records is limited.  There may be
 * a few at the start, unless a persistent code cache already has the traces of an earlier run.
 * Later records depend on the headroom used and on the samples that came from traces.  When
 * samples find nothing new, the quanta grow.
 */
#include "engine/cache/cache.h"
#include "engine/cache/persistent.h"
#include "engine/count/count.h"
#include "engine/rt/context.h"
#include "engine/rt/lock.h"
#include "engine/translate/path.h"
#include "engine/translate/translate.h"

#define RECORDED      (BLOCK_INSNS_MAX + 16) /* instructions */
#define SEEN	      4096
#define PATIENCE      32 /* samples that find nothing new */
#define TIMES	      2
#define FIRST_RECORDS 32
#define PAID_BY	      64		  /* samples from traces */
#define ROOM_PAYS     (UINT64_C(1) << 21) /* headroom for each record */
#define KEPT_PAYS     (UINT64_C(1) << 23) /* the same with a persistent code cache */

/* One thread records at a time, and owns the rest. */
static struct context *recorder;
static uint64_t recorded[RECORDED];
static unsigned count;
static uint32_t first; /* the block in which the record began */
static uint64_t changes;

/* How often samples have come from a block, and how often they must. */
static struct seen {
	uint32_t block;
	uint16_t times, wanted;
} seen[SEEN];
static unsigned in_vain, records, paid;
static uint64_t handed_out; /* headroom for each record */

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
	if (shards_quantum < SHARDS_QUANTUM_MAX)
		shards_quantum *= 2;
}

static bool may_record(void)
{
	uint64_t most = persistent_is_used() ? handed_out / KEPT_PAYS
					     : FIRST_RECORDS + handed_out / ROOM_PAYS;

	return records < most + paid / PAID_BY;
}

unsigned hot_sample(const struct block *b)
{
	struct seen *s = seen_of(block_number(b));
	struct context *nobody = NULL;

	if (current->list->activity)
		return 0; /* a trace would have to log where it is left */
	paid += b->trace;
	handed_out += (uint64_t)shards_quantum;
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
	changes = cache_changes;
	current->run.recording = true;
	return RECORDED;
}

void hot_note(uint64_t pc)
{
	if (count < RECORDED)
		recorded[count++] = pc;
}

/* Returns where the record first comes to a block that is not a trace; `count`: nowhere. */
static unsigned find_head(void)
{
	static struct path p; /* under the lock */
	const struct block *b = block_at(first);
	unsigned i = 0, k = b->check_at;

	for (;;) {
		uint64_t code;

		side_table_path(&p, b);
		while (k < p.n && i < count && recorded[i] == p.pc[k])
			i++, k++;
		if (i == count || !k)
			return count;
		code = lookup_code(recorded[i]);
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
	lock_take();
	head = cache_changes == changes && !blocks_full() ? find_head() : count;
	if (head < count && translate_recorded(recorded + head, count - head)) {
		in_vain = 0;
		if (shards_quantum > SHARDS_QUANTUM_MIN)
			shards_quantum /= 2;
	} else {
		nothing_new();
	}
	lock_release();
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
