/* SPDX-License-Identifier: MIT */
/* parameter.c: the parameters of a machine by name: one table, which reads and writes them. */
#include "tools/softpmu/machine/parameter.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/machine/values.h"

enum kind {
	SIZE, /* uint32_t, in bytes */
	LINE, /* the line size of all caches */
	NUMBER8,
	NUMBER16,
	POLICY, /* struct spmu_replacement */
	PAGES,	/* uint32_t, of page shifts */
	WORD,	/* uint8_t, an enumeration */
	SWITCH, /* a bit of the properties */
};

struct key {
	const char *name;
	enum kind kind;
	size_t offset;
	uint32_t least, most;	  /* SWITCH: `least` is the bit */
	const char *const *words; /* WORD */
};

#define AT(field) offsetof(struct spmu_machine, field)
#define CACHE_KEYS(name, field)                                                                    \
	{name ".size", SIZE, AT(field.bytes), 0, 512u << 20, NULL},                                \
		{name ".ways", NUMBER16, AT(field.ways), 1, 1024, NULL},                           \
	{                                                                                          \
		name ".policy", POLICY, AT(field.replacement), 0, 0, NULL                          \
	}
#define TLB_KEYS(name, field)                                                                      \
	{name ".entries", NUMBER16, AT(field.entries), 0, 32768, NULL},                            \
		{name ".ways", NUMBER16, AT(field.ways), 1, 1024, NULL},                           \
	{                                                                                          \
		name ".pages", PAGES, AT(field.page_shifts), 0, 0, NULL                            \
	}
#define PREDICTOR_KEY(field, kind, least, most)                                                    \
	{                                                                                          \
		"predictor." #field, kind, AT(predictor.field), least, most, NULL                  \
	}

static const struct key keys[] = {
	CACHE_KEYS("l1i", l1i),
	CACHE_KEYS("l1d", l1d),
	CACHE_KEYS("l2", l2),
	CACHE_KEYS("llc", llc),
	{"line", LINE, AT(l1d.line_bytes), 8, 4096, NULL},
	{"inclusion", WORD, AT(inclusion), 0, 0, values_inclusion_words},
	TLB_KEYS("itlb0", itlb[0]),
	TLB_KEYS("itlb1", itlb[1]),
	TLB_KEYS("dtlb0", dtlb[0]),
	TLB_KEYS("dtlb1", dtlb[1]),
	TLB_KEYS("dtlb2", dtlb[2]),
	TLB_KEYS("stlb0", stlb[0]),
	TLB_KEYS("stlb1", stlb[1]),
	{"walk_reads", SWITCH, 0, SPMU_MACHINE_WALK_READS, 0, NULL},
	{"paging.pde", NUMBER16, AT(paging[0]), 0, 256, NULL},
	{"paging.pdpte", NUMBER16, AT(paging[1]), 0, 256, NULL},
	{"paging.pml4e", NUMBER16, AT(paging[2]), 0, 256, NULL},
	{"stlb_for_data", SWITCH, 0, SPMU_MACHINE_STLB_FOR_DATA, 0, NULL},
	{"predictor.conditional", WORD, AT(predictor.conditional), 0, 0, values_conditional_words},
	PREDICTOR_KEY(address_bits, NUMBER8, 0, 20),
	PREDICTOR_KEY(history_bits, NUMBER16, 0, 256),
	PREDICTOR_KEY(tables, NUMBER8, 0, 12),
	PREDICTOR_KEY(table_bits, NUMBER8, 0, 12),
	PREDICTOR_KEY(tag_bits, NUMBER8, 0, 12),
	PREDICTOR_KEY(indirect_bits, NUMBER8, 0, 14),
	PREDICTOR_KEY(indirect_history, NUMBER8, 0, 12),
	PREDICTOR_KEY(return_stack, NUMBER8, 0, 64),
	{"prefetch.streamer", SWITCH, 0, SPMU_MACHINE_STREAMER, 0, NULL},
	{"prefetch.next_line", SWITCH, 0, SPMU_MACHINE_NEXT_LINE, 0, NULL},
	{"prefetch.adjacent_line", SWITCH, 0, SPMU_MACHINE_ADJACENT_LINE, 0, NULL},
	{"write_back", SWITCH, 0, SPMU_MACHINE_WRITE_BACK, 0, NULL},
	{"joined_splits", SWITCH, 0, SPMU_MACHINE_JOINED_SPLITS, 0, NULL},
};

#define KEYS (sizeof(keys) / sizeof(keys[0]))

static const struct key *find(const char *name)
{
	for (size_t i = 0; i < KEYS; i++)
		if (!strcasecmp(keys[i].name, name))
			return &keys[i];
	return NULL;
}

static char *unknown(const char *name)
{
	const char *nearest = keys[0].name;

	for (size_t i = 1; i < KEYS; i++)
		if (tool_distance(keys[i].name, name) < tool_distance(nearest, name))
			nearest = keys[i].name;
	if (tool_distance(nearest, name) > 3)
		return tool_print("no key '%s'; softpmu explain machine lists the keys", name);
	return tool_print("no key '%s'; did you mean '%s'? softpmu explain machine lists the keys",
			  name, nearest);
}

/* --- reading ---------------------------------------------------------------------------- */

static void set_line(struct spmu_machine *m, uint16_t bytes)
{
	struct spmu_cache_shape *caches[] = {&m->l1i, &m->l1d, &m->l2, &m->llc};

	for (unsigned i = 0; i < 4; i++)
		caches[i]->line_bytes = bytes;
}

static char *set_size(const struct key *key, void *at, const char *value)
{
	uint64_t bytes;

	if (!values_size_read(value, &bytes) || bytes > key->most)
		return tool_print("%s is a size such as 256K or 4M, at most %uM, not '%s'",
				  key->name, key->most >> 20, value);
	*(uint32_t *)at = (uint32_t)bytes;
	return NULL;
}

static char *set_number(const struct key *key, void *at, const char *value)
{
	uint64_t n;

	if (!values_size_read(value, &n) || n < key->least || n > key->most)
		return tool_print("%s is a number from %u to %u, not '%s'", key->name, key->least,
				  key->most, value);
	if (key->kind == NUMBER8)
		*(uint8_t *)at = (uint8_t)n;
	else
		*(uint16_t *)at = (uint16_t)n;
	return NULL;
}

/* Returns which word it is, or -1 and a message. */
static int read_word(const struct key *key, const char *const *words, const char *value,
		     char **message)
{
	int word = values_word_find(words, value);
	char *list;

	if (word >= 0)
		return word;
	list = values_words_text(words);
	*message = tool_print("%s is %s, not '%s'", key->name, list, value);
	free(list);
	return -1;
}

static char *set_switch(struct spmu_machine *m, const struct key *key, const char *value)
{
	char *message = NULL;
	int word = read_word(key, values_switch_words, value, &message);

	if (word >= 0)
		m->properties = (m->properties & ~key->least) | (word ? key->least : 0);
	return message;
}

char *parameter_set(struct spmu_machine *machine, const char *name, const char *value)
{
	const struct key *key = find(name);
	char *message = NULL;
	uint64_t bytes;
	void *at;
	int word;

	if (!key)
		return unknown(name);
	at = (uint8_t *)machine + key->offset;
	switch (key->kind) {
	case SIZE:
		return set_size(key, at, value);
	case LINE:
		if (!values_size_read(value, &bytes) || bytes < key->least || bytes > key->most ||
		    bytes & (bytes - 1))
			return tool_print("%s is a power of two from %u to %u, not '%s'", key->name,
					  key->least, key->most, value);
		set_line(machine, (uint16_t)bytes);
		return NULL;
	case NUMBER8:
	case NUMBER16:
		return set_number(key, at, value);
	case POLICY:
		if (!values_policy_read(value, at))
			return tool_print("%s is " MACHINE_POLICIES ", not '%s'", key->name, value);
		return NULL;
	case PAGES:
		if (!values_pages_read(value, at))
			return tool_print("%s is " MACHINE_PAGES ", not '%s'", key->name, value);
		return NULL;
	case WORD:
		word = read_word(key, key->words, value, &message);
		if (word >= 0)
			*(uint8_t *)at = (uint8_t)word;
		return message;
	case SWITCH:
		return set_switch(machine, key, value);
	}
	return NULL;
}

/* --- writing ---------------------------------------------------------------------------- */

char *parameter_value(const struct spmu_machine *machine, const char *name)
{
	const struct key *key = find(name);
	const void *at;

	if (!key)
		return NULL;
	at = (const uint8_t *)machine + key->offset;
	switch (key->kind) {
	case SIZE:
		return values_size_text(*(const uint32_t *)at);
	case LINE:
	case NUMBER16:
		return tool_print("%u", *(const uint16_t *)at);
	case NUMBER8:
		return tool_print("%u", *(const uint8_t *)at);
	case POLICY:
		return values_policy_text(at);
	case PAGES:
		return values_pages_text(*(const uint32_t *)at);
	case WORD:
		return tool_copy(key->words[*(const uint8_t *)at]);
	case SWITCH:
		return tool_copy(values_switch_words[(machine->properties & key->least) != 0]);
	}
	return NULL;
}

const char *parameter_at(size_t index)
{
	return index < KEYS ? keys[index].name : NULL;
}

bool parameter_is_size(const char *name)
{
	const struct key *key = find(name);

	return key && (key->kind == SIZE || key->kind == LINE);
}

bool parameter_is_number(const char *name)
{
	const struct key *key = find(name);

	return key && (key->kind == NUMBER8 || key->kind == NUMBER16);
}
