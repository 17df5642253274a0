/* SPDX-License-Identifier: MIT */
/*
 * exit_stubs.c: exit stubs: a few bytes of code that return to the engine with their own number.
 *
 * A direct branch whose target is not translated yet jumps to a stub.  One store links the
 * branch when the target exists, because other threads may run the branch meanwhile.  The stub
 * is free again then.
 *
 * Blocks that have been dropped jump to a stub of their key.  It jumps on when there is code for
 * the key again, and returns to the engine again when that code is dropped.  So code that
 * changes often does not become a chain of jumps from each version to the next.
 */
#include "engine/cache/cache.h"
#include "engine/cache/parts.h"
#include "engine/cache/persistent.h"
#include "engine/rt/context_words.h"
#include "engine/rt/contexts.h"
#include "engine/rt/sys.h"
#include "engine/x86/emit.h"
#include "engine/x86/opcodes.h"

#define BLOCK_SLOTS_MAX 512 /* stubs of what is translated at a time */
#define DROPPED		16384
#define WRITTEN		64 /* stubs written at a time */

uint64_t exit_slots_reclaims;

static uint8_t *slots_code;
static uint32_t slots_most;
static struct exit_stub *slot;
/* Stubs of dropped blocks by their key.  A stub that loses its entry here continues to work. */
static struct dropped {
	uint64_t key, generation;
	uint32_t number, variant;
} dropped[DROPPED];
static uint64_t generation;		    /* generation of all stubs */
static uint32_t slots_made, slot_free_list; /* numbers + 1; the list uses the field target */
static uint32_t slots_written;		    /* stubs whose code exists */
static uint32_t slots_freed;		    /* at the beginning of that list, at least */

void exit_stubs_place(uint8_t *code, uint32_t count)
{
	slots_code = code;
	slots_most = count;
}

void exit_stubs_start(void)
{
	slot = heap_allocate(STUBS_MAX * sizeof(*slot));
}

void exit_stubs_set(uint32_t count, uint32_t free)
{
	slots_made = slots_written = count;
	slot_free_list = free;
	slots_freed = 0;
	generation++;
}

void exit_stubs_get(uint32_t *count, uint32_t *free)
{
	*count = slots_made;
	*free = slot_free_list;
}

bool exit_stubs_full(void)
{
	return slots_made > slots_most - BLOCK_SLOTS_MAX && slots_freed < BLOCK_SLOTS_MAX;
}

void exit_stubs_parts(struct blocks_part part[2])
{
	part[0] = (struct blocks_part){slots_code, slots_made * STUB_BYTES};
	part[1] = (struct blocks_part){slot, slots_made * sizeof(*slot)};
}

static uint8_t *code_of(uint32_t number)
{
	return slots_code + number * STUB_BYTES;
}

static void write_leave(uint32_t number)
{
	struct emit e = {code_of(number)};

	emit_leave(&e, EXIT_LINK, number);
}

/* Writes many stubs at a time: a store into a cache line that has just run costs hundreds of
 * clocks. */
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
		slots_freed -= slots_freed != 0;
		return n - 1;
	}
	n = slots_made++;
	if (n == slots_written)
		write_more();
	return n;
}

uint64_t exit_stub_new(uint64_t key, uint64_t patch, unsigned variant)
{
	uint32_t n = slot_take();

	slot[n] = (struct exit_stub){key, (uint32_t)patch, (uint8_t)variant, false};
	return (uint64_t)code_of(n);
}

/* Returns the address of the stub's own branch. */
static uint32_t own_patch(uint32_t number)
{
	return (uint32_t)(uint64_t)code_of(number) + 1;
}

uint64_t exit_stub_dropped(uint64_t key, unsigned variant)
{
	struct dropped *d = &dropped[(key + variant) % DROPPED];

	if (d->key != key || d->variant != variant || d->generation != generation)
		*d = (struct dropped){key, generation, slot_take(), variant};
	write_leave(d->number);
	slot[d->number] = (struct exit_stub){key, own_patch(d->number), (uint8_t)variant, false};
	return (uint64_t)code_of(d->number);
}

uint32_t exit_stub_keep(uint64_t pc)
{
	uint32_t n = slot_take();

	slot[n] = (struct exit_stub){.target = pc};
	return n;
}

struct exit_stub *exit_stub_at(uint32_t number)
{
	return slot + number;
}

bool exit_stub_waits(uint32_t number, uint64_t key, unsigned variant)
{
	const struct exit_stub *s = &slot[number];

	return number < slots_made && s->target == key && s->patch && !s->linked &&
	       s->variant == variant;
}

/* Stores the 8 aligned bytes at `to` in one store, because other threads may run them. */
static void store_code(uint64_t to, const uint8_t *bytes)
{
	uint64_t word;

	memcpy(&word, bytes, sizeof(word));
	__atomic_store_n((uint64_t *)to, word, __ATOMIC_RELEASE);
}

void exit_stub_link(uint32_t number, uint64_t code)
{
	uint8_t *at = (uint8_t *)(uint64_t)slot[number].patch, bytes[8];
	uint8_t *aligned = (uint8_t *)((uint64_t)at & ~UINT64_C(7));
	uint8_t *own = code_of(number);
	bool is_own = at == own + 1;
	uint32_t relative;

	if (contexts_alone() && !is_own) {
		emit_patch(at, code);
		return;
	}
	if (is_own || at + 4 > aligned + 8) { /* the stub jumps on */
		at = own + 1;
		aligned = own;
	}
	relative = (uint32_t)(code - ((uint64_t)at + 4));
	memcpy(bytes, aligned, sizeof(bytes));
	if (aligned == own)
		bytes[0] = OPCODE_JMP_REL32;
	memcpy(bytes + (at - aligned), &relative, sizeof(relative));
	store_code((uint64_t)aligned, bytes);
}

static void put_in_list(uint32_t number)
{
	slot[number] = (struct exit_stub){.target = slot_free_list};
	slot_free_list = number + 1;
	slots_freed++;
}

void exit_stub_free(uint32_t number)
{
	if (contexts_alone() && slot[number].patch != own_patch(number))
		put_in_list(number);
	else
		slot[number].linked = true;
}

static uint64_t target_of_rel32(uint64_t at)
{
	int32_t relative;

	memcpy(&relative, (const void *)at, sizeof(relative));
	return at + sizeof(relative) + (uint64_t)relative;
}

/* A slot that jumps on: what comes to it goes there itself from now on. */
static void shorten(uint32_t number)
{
	uint64_t own = (uint64_t)code_of(number), at = slot[number].patch;

	if (*code_of(number) != OPCODE_JMP_REL32)
		return;
	if (target_of_rel32(at) == own) /* else something else has been written there */
		emit_patch((uint8_t *)at, target_of_rel32(own + 1));
	write_leave(number);
}

bool exit_stubs_reclaim(void)
{
	exit_slots_reclaims++;
	for (uint32_t n = 0; n < slots_made; n++) {
		if (!slot[n].linked || slot[n].patch == own_patch(n))
			continue;
		shorten(n);
		put_in_list(n);
	}
	return slots_freed > slots_most / 8;
}
