/* SPDX-License-Identifier: MIT */
/*
 * contexts.c: the list of the program's threads.  Each is a thread of the kernel, with a context
 * of its own in GS.  Translated code is the same for all.  Memory of threads that have ended is
 * reused.  The owner of the lock changes the list.
 */
#include "engine/rt/contexts.h"

#include <asm/errno.h>
#include <asm/unistd.h>

#include "engine/rt/context.h"
#include "engine/rt/descriptor_table.h"
#include "engine/rt/dispositions.h"
#include "engine/rt/engine.h"
#include "engine/rt/filter_chain.h"
#include "engine/rt/reach.h"
#include "engine/rt/sys.h"

uint32_t contexts_live;
struct context *contexts;

static struct context *unused;

/* Returns true if the task is dead.  (A dead task has no memory to read, even before its parent
 * has waited for it.  Number 0: it has not begun yet.) */
bool context_is_dead(uint32_t tid)
{
	uint8_t byte = 0;

	return tid && reach_read(tid, (uint64_t)&byte, &byte, sizeof(byte)) == -ESRCH;
}

uint64_t context_bytes(void)
{
	return engine_wants(LINK_WANT_FLOW) ? FLOW_CALLS_END(engine_flow_bytes()) : THREAD_BYTES;
}

/* The mapping is large enough to contain an aligned piece. */
struct context *context_map(void)
{
	uint64_t bytes = context_bytes(), at = (uint64_t)heap_allocate(bytes + THREAD_BYTES);
	uint64_t start = (at + THREAD_BYTES - 1) & ~(uint64_t)(THREAD_BYTES - 1);

	if (start != at)
		heap_release((void *)at, start - at);
	heap_release((void *)(start + bytes), at + THREAD_BYTES - start);
	return (struct context *)start;
}

void context_enlist(struct context *c)
{
	c->self = c;
	c->in_use = 1;
	c->next = contexts;
	contexts = c;
	__atomic_add_fetch(&contexts_live, 1, __ATOMIC_RELAXED);
}

void context_take_out(struct context *c)
{
	struct context **at = &contexts;

	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	__atomic_sub_fetch(&contexts_live, 1, __ATOMIC_RELAXED);
}

/* Moves the context from the list to the unused ones. */
void context_retire(struct context *c)
{
	context_take_out(c);
	dispositions_leave(c->signals.process);
	filter_leave(c->filters);
	descriptor_table_leave(c->descriptors);
	c->next = unused;
	unused = c;
}

/* Returns a context whose thread has released it, or has ended with its process; NULL: there is
 * none. */
struct context *context_take_unused(void)
{
	for (struct context **at = &unused; *at; at = &(*at)->next) {
		struct context *c = *at;

		if (__atomic_load_n(&c->in_use, __ATOMIC_ACQUIRE) && !context_is_dead(c->tid))
			continue;
		*at = c->next;
		return c;
	}
	return NULL;
}

bool context_is_other(const struct context *c, bool everybody)
{
	return c != current && (everybody || c->pid == current->pid);
}

void contexts_free_unused(void)
{
	for (struct context *c = unused; c; c = c->next)
		c->in_use = 0;
}
