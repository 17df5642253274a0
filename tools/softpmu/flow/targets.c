/* SPDX-License-Identifier: MIT */
/* targets.c: the functions at the addresses that calls and jumps went to, each looked up once. */
#include "tools/softpmu/flow/targets.h"

#include <hosts/user/hash.h>
#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/symbols/symbol_file.h"

#define PLACES_FIRST 10

struct targets {
	struct target *table;
	unsigned shift; /* 64 minus the logarithm of the number of places */
	size_t used;
	struct code *code;
	struct exact *exact;
};

static size_t places(const struct targets *targets)
{
	return (size_t)1 << (64 - targets->shift);
}

static void make_table(struct targets *targets, unsigned logarithm)
{
	targets->shift = 64 - logarithm;
	targets->table = tool_alloc(places(targets) * sizeof(*targets->table));
	targets->used = 0;
}

struct targets *targets_new(struct code *code, struct exact *exact)
{
	struct targets *targets = tool_alloc(sizeof(*targets));

	targets->code = code;
	targets->exact = exact;
	make_table(targets, PLACES_FIRST);
	return targets;
}

void targets_free(struct targets *targets)
{
	if (!targets)
		return;
	free(targets->table);
	free(targets);
}

void targets_clear(struct targets *targets)
{
	free(targets->table);
	make_table(targets, PLACES_FIRST);
}

static struct target *probe(const struct targets *targets, uint64_t address)
{
	size_t i = (size_t)(hash_of(address) >> targets->shift), mask = places(targets) - 1;

	while (targets->table[i].address && targets->table[i].address != address)
		i = (i + 1) & mask;
	return &targets->table[i];
}

static void grow(struct targets *targets)
{
	struct targets old = *targets;

	make_table(targets, 64 - old.shift + 1);
	targets->used = old.used;
	for (size_t i = 0; i < places(&old); i++) {
		if (old.table[i].address)
			*probe(targets, old.table[i].address) = old.table[i];
	}
	free(old.table);
}

/* A part of a function that the compiler moved is not a function itself. */
static bool is_part(const char *name)
{
	return name && strstr(name, ".cold");
}

/* An address without a function is a function of its own when it is called. */
static void look_up(struct targets *targets, struct target *target)
{
	uint64_t offset;
	const struct code_function *function;
	uint32_t number = code_function_at(targets->code, target->address, &offset);

	function = code_function(targets->code, number);
	target->at.object =
		exact_object(targets->exact,
			     code_object_at(targets->code, target->address, &target->at.address));
	target->known = function->symbol != NULL;
	target->is_stub = code_is_stub(function->name);
	target->is_resolver = code_is_resolver(function->name);
	target->is_part = is_part(function->name);
	target->is_start = !target->known || !offset;
	if (target->known)
		target->at.address = function->symbol->start;
}

const struct target *targets_find(struct targets *targets, uint64_t address)
{
	struct target *target = probe(targets, address);

	if (target->address)
		return target;
	if (targets->used >= places(targets) / 2) {
		grow(targets);
		target = probe(targets, address);
	}
	targets->used++;
	target->address = address;
	look_up(targets, target);
	return target;
}

struct exact_place targets_place(struct targets *targets, uint64_t address)
{
	struct exact_place at;

	at.object =
		exact_object(targets->exact, code_object_at(targets->code, address, &at.address));
	return at;
}
