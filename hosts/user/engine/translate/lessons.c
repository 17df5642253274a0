/* SPDX-License-Identifier: MIT */
/*
 * lessons.c: code that forked children come to, translated by their parent.
 *
 * A forked child runs code that its parent may never run: the other way after fork(2), and on to
 * exit(2) or execve(2).  To translate this code and to link jumps to it, the child writes to some
 * thirty pages.  The kernel copies them for this child alone, and again for the next child.  So a
 * child notes each place where it left translated code for the engine.  The notes are in memory
 * that it shares with its parent and with all processes that have been forked since.  Before the
 * next fork the parent does at these places what the child did.  Exit stubs then get the same
 * numbers, unless the parent has translated something else meanwhile.  In that case the parent
 * translates without linking, and another child notes the jump that is not linked.
 *
 * A note is only a hint.  What it names is looked at as if the parent came there itself, and code
 * that may change is left until it runs.
 */
#include "engine/translate/lessons.h"

#include "engine/cache/cache.h"
#include "engine/count/meter_list.h"
#include "engine/rt/context.h"
#include "engine/rt/sys.h"
#include "engine/translate/translate.h"
#include "engine/watch/watch.h"

#define LESSONS_MAX 1000
#define WAITS_MAX   16 /* children that find an entry waiting, until it is translated as it is */

enum lesson_kind {
	LESSON_NONE, /* not written yet */
	LESSON_JUMP,
	LESSON_BRANCH,
	LESSON_RETURN,
	LESSON_CODE,
	LESSON_WAIT,
};

struct lesson {
	uint64_t key;
	uint32_t stub;
	uint8_t variant; /* of the code, whose stub it is */
	uint8_t kind;	 /* stored last */
	uint16_t times;	 /* LESSON_WAIT */
};

static struct lessons {
	uint32_t count; /* may exceed the maximum */
	struct lesson lesson[LESSONS_MAX];
} * lessons;
static uint64_t flushes; /* of the cache that the notes are for */
static uint32_t learnt;	 /* notes that this process, or one that it was forked from, has seen */
static bool notes;	 /* the process does */

static uint32_t written(void)
{
	uint32_t count = __atomic_load_n(&lessons->count, __ATOMIC_RELAXED);

	return count < LESSONS_MAX ? count : LESSONS_MAX;
}

/* --- in a child --- */

static struct lesson *find(uint64_t key, uint32_t stub, enum lesson_kind kind)
{
	uint32_t count = written();

	for (uint32_t i = 0; i < count; i++) {
		struct lesson *l = &lessons->lesson[i];

		if (__atomic_load_n(&l->kind, __ATOMIC_ACQUIRE) == kind && l->key == key &&
		    l->stub == stub && l->variant == current->list->variant)
			return l;
	}
	return NULL;
}

/* Returns NULL if there is no room, or the notes are for an earlier cache. */
static struct lesson *note(uint64_t key, uint32_t stub, enum lesson_kind kind)
{
	struct lesson *l;
	uint32_t i;

	if (!notes || flushes != cache_flushes)
		return NULL;
	l = find(key, stub, kind);
	if (l || written() == LESSONS_MAX)
		return l;
	i = __atomic_fetch_add(&lessons->count, 1, __ATOMIC_RELAXED);
	if (i >= LESSONS_MAX)
		return NULL;
	l = &lessons->lesson[i];
	l->key = key;
	l->stub = stub;
	l->variant = current->list->variant;
	__atomic_store_n(&l->kind, kind, __ATOMIC_RELEASE);
	return l;
}

void lessons_note_jump(uint32_t stub, uint64_t key)
{
	note(key, stub, LESSON_JUMP);
}

void lessons_note_target(uint64_t key, bool of_return)
{
	note(key, 0, of_return ? LESSON_RETURN : LESSON_BRANCH);
}

void lessons_note_code(uint64_t key)
{
	note(key, 0, LESSON_CODE);
}

void lessons_note_wait(uint32_t stub, uint64_t key)
{
	struct lesson *l = note(key, stub, LESSON_WAIT);

	if (l && ++l->times == WAITS_MAX)
		note(key, stub, LESSON_JUMP);
}

void lessons_begin_process(void)
{
	notes = lessons != NULL;
}

/* --- in a parent --- */

static void learn(const struct lesson *l, enum lesson_kind kind)
{
	if (!watch_is_constant(pc_of_key(l->key)) || l->variant != current->list->variant)
		return;
	switch (kind) {
	case LESSON_JUMP:
		if (exit_stub_waits(l->stub, l->key, l->variant)) {
			translate_link(l->stub, *exit_stub_at(l->stub));
			return;
		}
		__attribute__((fallthrough));
	case LESSON_CODE:
		if (!lookup_code(l->key))
			translate_block(l->key);
		return;
	case LESSON_BRANCH:
	case LESSON_RETURN:
		translate_target(l->key, kind == LESSON_RETURN);
		return;
	default:
		return;
	}
}

static void start(void)
{
	lessons = heap_allocate_shared(sizeof(*lessons));
	flushes = cache_flushes;
	learnt = 0;
}

void lessons_learn(void)
{
	uint32_t count;

	if (lessons && flushes != cache_flushes) {
		heap_release(lessons, sizeof(*lessons));
		lessons = NULL;
	}
	if (!lessons) {
		start();
		return;
	}
	for (count = written(); learnt < count && flushes == cache_flushes; learnt++) {
		const struct lesson *l = &lessons->lesson[learnt];

		learn(l, __atomic_load_n(&l->kind, __ATOMIC_ACQUIRE));
	}
}
