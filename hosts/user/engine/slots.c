/* SPDX-License-Identifier: MIT */
/*
 * slots.c: exit slots: a few bytes of code that tell the engine their own number.  A direct branch
 * whose target is not yet translated jumps to one, and the slot is free again when the branch has
 * been linked: by one store, as others may run the branch meanwhile.
 *
 * Blocks that have been dropped jump to a slot of their key.  It jumps on when there is code for
 * the key again, and leaves again when that is dropped, so that code that often changes does not
 * become a chain of jumps from each version to the next.
 */
#include "cache.h"
#include "emit.h"
#include "engine.h"
#include "keep.h"
#include "sys.h"
#include "threads.h"

#define BLOCK_SLOTS_MAX 512 /* of what is translated at a time */
#define DROPPED		1024
#define WRITTEN		64 /* at a time */

static uint8_t *slots_code;
static uint32_t slots_most;
static struct exit_slot *slot;
/* Slots of keys whose block was dropped, by the key; one that loses its place here goes on as it
 * is. */
static struct dropped {
	uint64_t key, flushes;
	uint32_t number;
} dropped[DROPPED];
static uint32_t slots_made, slot_free_list; /* numbers + 1; the list runs through target */
static uint32_t slots_written;		    /* their code is there */

void slots_place(uint8_t *code, uint32_t count)
{
	slots_code = code;
	slots_most = count;
}

void slots_start(void)
{
	slot = engine_memory(SLOTS_MAX * sizeof(*slot));
}

void slots_set(uint32_t count, uint32_t free)
{
	slots_made = slots_written = count;
	slot_free_list = free;
}

void slots_get(uint32_t *count, uint32_t *free)
{
	*count = slots_made;
	*free = slot_free_list;
}

bool slots_full(void)
{
	return slots_made > slots_most - BLOCK_SLOTS_MAX;
}

void slots_parts(struct blocks_part part[2])
{
	part[0] = (struct blocks_part){slots_code, slots_made * SLOT_BYTES};
	part[1] = (struct blocks_part){slot, slots_made * sizeof(*slot)};
}

static uint8_t *code_of(uint32_t number)
{
	return slots_code + number * SLOT_BYTES;
}

static void write_leave(uint32_t number)
{
	struct emit e = {code_of(number)};

	emit_leave(&e, EXIT_LINK, number);
}

/* Many at a time: a store into a cache line that has run just now costs hundreds of clocks. */
static void write_more(void)
{
	uint32_t end = slots_written + WRITTEN < slots_most ? slots_written + WRITTEN : slots_most;

	while (slots_written < end)
		write_leave(slots_written++);
}

static uint32_t slot_take(void)
{
	uint32_t n = slot_free_list;

	if (n) {
		slot_free_list = (uint32_t)slot[n - 1].target;
		return n - 1;
	}
	n = slots_made++;
	if (n == slots_written)
		write_more();
	return n;
}

uint64_t exit_slot_new(uint64_t key, uint64_t patch)
{
	uint32_t n = slot_take();

	slot[n] = (struct exit_slot){key, (uint32_t)patch};
	return (uint64_t)code_of(n);
}

/* The branch is the slot's own. */
static uint32_t own_patch(uint32_t number)
{
	return (uint32_t)(uint64_t)code_of(number) + 1;
}

uint64_t exit_slot_dropped(uint64_t key)
{
	struct dropped *d = &dropped[key % DROPPED];

	if (d->key != key || d->flushes != blocks_flushes)
		*d = (struct dropped){key, blocks_flushes, slot_take()};
	write_leave(d->number);
	slot[d->number] = (struct exit_slot){key, own_patch(d->number)};
	return (uint64_t)code_of(d->number);
}

uint32_t exit_slot_keep(uint64_t pc)
{
	uint32_t n = slot_take();

	slot[n] = (struct exit_slot){.target = pc};
	return n;
}

struct exit_slot *exit_slot_at(uint32_t number)
{
	return slot + number;
}

/* The 8 aligned bytes at `to`, in one store: others may run them. */
static void store_code(uint64_t to, const uint8_t *bytes)
{
	uint64_t word;

	memcpy(&word, bytes, sizeof(word));
	__atomic_store_n((uint64_t *)to, word, __ATOMIC_RELEASE);
}

void exit_slot_link(uint32_t number, uint64_t code)
{
	uint8_t *at = (uint8_t *)(uint64_t)slot[number].patch, bytes[8];
	uint8_t *aligned = (uint8_t *)((uint64_t)at & ~UINT64_C(7));
	uint8_t *own = code_of(number);
	bool is_own = at == own + 1;
	uint32_t relative;

	if (threads_alone() && !is_own) {
		emit_patch(at, code);
		return;
	}
	if (is_own || at + 4 > aligned + 8) { /* the slot jumps on */
		at = own + 1;
		aligned = own;
	}
	relative = (uint32_t)(code - ((uint64_t)at + 4));
	memcpy(bytes, aligned, sizeof(bytes));
	if (aligned == own)
		bytes[0] = 0xe9; /* JMP rel32 */
	memcpy(bytes + (at - aligned), &relative, sizeof(relative));
	store_code((uint64_t)aligned, bytes);
}

void exit_slot_free(uint32_t number)
{
	if (!threads_alone() || slot[number].patch == own_patch(number)) {
		slot[number].patch = 0;
		return;
	}
	slot[number].target = slot_free_list;
	slot[number].patch = 0;
	slot_free_list = number + 1;
}
