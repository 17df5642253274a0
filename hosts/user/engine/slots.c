/* SPDX-License-Identifier: MIT */
/*
 * slots.c: exit slots: a few bytes of code that tell the engine their own number.  A direct branch
 * whose target is not yet translated jumps to one, and the slot is free again when the branch has
 * been linked: by one store, as others may run the branch meanwhile.
 */
#include "cache.h"
#include "emit.h"
#include "engine.h"
#include "keep.h"
#include "sys.h"
#include "threads.h"

#define BLOCK_SLOTS_MAX 512 /* of what is translated at a time */

static uint8_t *slots_code;
static struct exit_slot *slot;
static uint32_t slots_made, slot_free_list; /* numbers + 1; the list runs through target */

void slots_start(uint8_t *code)
{
	slots_code = code;
	slot = engine_memory(SLOTS_MAX * sizeof(*slot));
}

void slots_set(uint32_t count, uint32_t free)
{
	slots_made = count;
	slot_free_list = free;
}

void slots_get(uint32_t *count, uint32_t *free)
{
	*count = slots_made;
	*free = slot_free_list;
}

bool slots_full(void)
{
	return slots_made > SLOTS_MAX - BLOCK_SLOTS_MAX;
}

void slots_parts(struct blocks_part part[2])
{
	part[0] = (struct blocks_part){slots_code, slots_made * SLOT_BYTES};
	part[1] = (struct blocks_part){slot, slots_made * sizeof(*slot)};
}

static uint32_t slot_take(void)
{
	uint32_t n = slot_free_list;
	struct emit e;

	if (n) {
		slot_free_list = (uint32_t)slot[n - 1].target;
		return n - 1;
	}
	n = slots_made++;
	e.at = slots_code + n * SLOT_BYTES;
	emit_leave(&e, EXIT_LINK, n);
	return n;
}

uint64_t exit_slot_new(uint64_t key, uint64_t patch, bool closes_loop)
{
	uint32_t n = slot_take();

	slot[n] = (struct exit_slot){key, (uint32_t)patch, closes_loop};
	return (uint64_t)(slots_code + n * SLOT_BYTES);
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
	struct emit e = {slots_code + number * SLOT_BYTES};
	uint32_t relative;

	if (threads_alone()) {
		emit_patch(at, code);
		return;
	}
	if (at + 4 > aligned + 8) { /* the slot jumps on */
		at = e.at + 1;
		aligned = e.at;
	}
	relative = (uint32_t)(code - ((uint64_t)at + 4));
	memcpy(bytes, aligned, sizeof(bytes));
	if (aligned == e.at)
		bytes[0] = 0xe9; /* JMP rel32 */
	memcpy(bytes + (at - aligned), &relative, sizeof(relative));
	store_code((uint64_t)aligned, bytes);
}

void exit_slot_free(uint32_t number)
{
	if (!threads_alone()) {
		slot[number].patch = 0;
		return;
	}
	slot[number].target = slot_free_list;
	slot[number].patch = 0;
	slot_free_list = number + 1;
}
