/* SPDX-License-Identifier: MIT */
/*
 * flow_active.c: knows which functions are active in a thread.
 *
 * Each thread has a word for each function: how many of its calls have not returned.  Translated
 * code changes the words of calls that are in the log (emit_flow.c).  Calls that the tool has got
 * are in a list here until they return.
 *
 * A word may be too high, for example after longjmp().  It is never too low.
 */
#include "engine/count/flow_active.h"

#include <asm/unistd.h>
#include <linux/mman.h>

#include "engine/count/code_files.h"
#include "engine/rt/context.h"
#include "engine/rt/sys.h"

#define TOLD_MAX   (1u << 16)
#define TOLD_LOOK  256	       /* of the newest calls, where those that return are looked for */
#define SAME_BYTES (64u << 20) /* as far away, it may be on the same stack */
#define ROOT_BYTES 4096 /* before the first instruction of a thread, where its function begins */
#define ROOT_MOST  4

static uint64_t *word_at(uint64_t offset)
{
	return (uint64_t *)((uint64_t)current + offset);
}

static uint64_t *word_of(uint64_t function)
{
	return word_at(CTX_ACTIVE) + flow_words_active(function);
}

void flow_active_add(uint64_t function)
{
	++*word_of(function);
}

void flow_active_subtract(uint64_t function)
{
	--*word_of(function);
}

void flow_active_begin(uint64_t pc)
{
	unsigned found = 0;

	for (uint64_t at = pc; pc - at < ROOT_BYTES && found < ROOT_MOST; at--) {
		if (!code_files_marked(LINK_MARK_START, at))
			continue;
		flow_active_add(at);
		found++;
	}
}

/* Returns the first place of the list.  The one before it is no call. */
static struct flow_told *first_told(void)
{
	if (!current->flow.told)
		current->flow.told = heap_allocate((TOLD_MAX + 1) * sizeof(struct flow_told));
	return current->flow.told + 1;
}

/* The end of the list.  Translated code takes calls away when they return. */
static struct flow_told **end_of_told(void)
{
	struct flow_told **end = (struct flow_told **)word_at(CTX_TOLD);

	if (!*end)
		*end = first_told();
	return end;
}

/* If there are too many, functions of the oldest stay active. */
void flow_active_tell(uint64_t slot, int32_t active)
{
	struct flow_told **end = end_of_told(), *first = first_told();

	if (*end == first + TOLD_MAX) {
		memmove(first, first + TOLD_MAX / 2, TOLD_MAX / 2 * sizeof(*first));
		*end = first + TOLD_MAX / 2;
	}
	*(*end)++ = (struct flow_told){slot, (uint64_t)(active + FLOW_BIAS)};
}

/* Returns whether a stack pointer is that of a call within the one at `slot`, or of that one. */
static bool is_within(uint64_t pointer, uint64_t slot)
{
	return slot - pointer < FLOW_NEAR_BYTES;
}

static bool is_around(uint64_t pointer, uint64_t slot)
{
	return pointer > slot && pointer - slot < SAME_BYTES;
}

/* Calls within that were left in another way have ended, too, as far as they are certainly on the
 * same stack. */
void flow_active_tell_return(uint64_t slot)
{
	struct flow_told **end = end_of_told(), *first = first_told(), *told = *end, *kept;

	while (told > first && *end - told < TOLD_LOOK && !is_around(told[-1].slot, slot))
		told--;
	kept = told;
	for (; told < *end; told++) {
		if (is_within(told->slot, slot))
			--*word_at(told->active);
		else
			*kept++ = *told;
	}
	*end = kept;
}

void flow_active_forget(void)
{
	syscall3(__NR_madvise, (long)word_at(CTX_ACTIVE), CTX_PAIRS - CTX_ACTIVE, MADV_DONTNEED);
}
