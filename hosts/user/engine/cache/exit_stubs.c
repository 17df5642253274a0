/* SPDX-License-Identifier: MIT */
/*
 * exit_stubs.c: exit stubs, by which translated code returns to the engine to get a target.
 *
 * A stub is a few bytes of code that pass its number to the engine.  A direct branch jumps to a
 * stub until its target is translated.  Then the engine links the branch to the target and frees
 * the stub.  It does so by one store, because other threads may run the branch at that moment.
 *
 * A dropped block jumps to the stub of its key.  That stub in turn jumps to the newest code for
 * the key, or to the engine if there is none.  So old versions of code that changes often all
 * lead to one stub, and not through each other.
 */
#include "engine/cache/cache.h"
#include "engine/cache/parts.h"
#include "engine/cache/persistent.h"
#include "engine/rt/context_words.h"
#include "engine/rt/contexts.h"
#include "engine/rt/sys.h"
#include "engine/x86/emit.h"
#include "engine/x86/opcodes.h"

#define BLOCK_STUBS_MAX 512 /* stubs of what is translated at a time */
#define DROPPED		16384
#define WRITTEN		64 /* stubs written at a time */

uint64_t exit_stubs_reclaimed;

static uint8_t *stubs_code;
static uint32_t stubs_most;
static struct exit_stub *stub;
/* Stubs of dropped blocks by their key.  A stub that loses its entry here continues to work. */
static struct dropped {
	uint64_t key, generation;
	uint32_t number, variant;
} dropped[DROPPED];
static uint64_t generation;		    /* generation of all stubs */
static uint32_t stubs_made, stub_free_list; /* numbers + 1; the list uses the field target */
static uint32_t stubs_written;		    /* stubs whose code exists */
static uint32_t stubs_freed;		    /* at the beginning of that list, at least */

void exit_stubs_place(uint8_t *code, uint32_t count)
{
	stubs_code = code;
	stubs_most = count;
}

void exit_stubs_start(void)
{
	stub = heap_allocate(STUBS_MAX * sizeof(*stub));
}

void exit_stubs_set(uint32_t count, uint32_t free)
{
	stubs_made = stubs_written = count;
	stub_free_list = free;
	stubs_freed = 0;
	generation++;
}

void exit_stubs_get(uint32_t *count, uint32_t *free)
{
	*count = stubs_made;
	*free = stub_free_list;
}

bool exit_stubs_full(void)
{
	return stubs_made > stubs_most - BLOCK_STUBS_MAX && stubs_freed < BLOCK_STUBS_MAX;
}

void exit_stubs_parts(struct blocks_part part[2])
{
	part[0] = (struct blocks_part){stubs_code, stubs_made * STUB_BYTES};
	part[1] = (struct blocks_part){stub, stubs_made * sizeof(*stub)};
}

static uint8_t *code_of(uint32_t number)
{
	return stubs_code + number * STUB_BYTES;
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
	uint32_t end = stubs_written + WRITTEN < stubs_most ? stubs_written + WRITTEN : stubs_most;

	while (stubs_written < end)
		write_leave(stubs_written++);
}

static uint32_t stub_take(void)
{
	uint32_t n = stub_free_list;

	if (n) {
		stub_free_list = (uint32_t)stub[n - 1].target;
		stubs_freed -= stubs_freed != 0;
		return n - 1;
	}
	n = stubs_made++;
	if (n == stubs_written)
		write_more();
	return n;
}

uint64_t exit_stub_new(uint64_t key, uint64_t patch, unsigned variant)
{
	uint32_t n = stub_take();

	stub[n] = (struct exit_stub){key, (uint32_t)patch, (uint8_t)variant, false};
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
		*d = (struct dropped){key, generation, stub_take(), variant};
	write_leave(d->number);
	stub[d->number] = (struct exit_stub){key, own_patch(d->number), (uint8_t)variant, false};
	return (uint64_t)code_of(d->number);
}

uint32_t exit_stub_keep(uint64_t pc)
{
	uint32_t n = stub_take();

	stub[n] = (struct exit_stub){.target = pc};
	return n;
}

struct exit_stub *exit_stub_at(uint32_t number)
{
	return stub + number;
}

bool exit_stub_waits(uint32_t number, uint64_t key, unsigned variant)
{
	const struct exit_stub *s = &stub[number];

	return number < stubs_made && s->target == key && s->patch && !s->linked &&
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
	uint8_t *at = (uint8_t *)(uint64_t)stub[number].patch, bytes[8];
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
	stub[number] = (struct exit_stub){.target = stub_free_list};
	stub_free_list = number + 1;
	stubs_freed++;
}

void exit_stub_free(uint32_t number)
{
	if (contexts_alone() && stub[number].patch != own_patch(number))
		put_in_list(number);
	else
		stub[number].linked = true;
}

static uint64_t target_of_rel32(uint64_t at)
{
	int32_t relative;

	memcpy(&relative, (const void *)at, sizeof(relative));
	return at + sizeof(relative) + (uint64_t)relative;
}

/* A stub that jumps on: what comes to it goes there itself from now on. */
static void shorten(uint32_t number)
{
	uint64_t own = (uint64_t)code_of(number), at = stub[number].patch;

	if (*code_of(number) != OPCODE_JMP_REL32)
		return;
	if (target_of_rel32(at) == own) /* else something else has been written there */
		emit_patch((uint8_t *)at, target_of_rel32(own + 1));
	write_leave(number);
}

bool exit_stubs_reclaim(void)
{
	exit_stubs_reclaimed++;
	for (uint32_t n = 0; n < stubs_made; n++) {
		if (!stub[n].linked || stub[n].patch == own_patch(n))
			continue;
		shorten(n);
		put_in_list(n);
	}
	return stubs_freed > stubs_most / 8;
}
