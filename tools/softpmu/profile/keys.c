/* SPDX-License-Identifier: MIT */
/* keys.c: the sort keys, with perf's names and titles. */
#include "tools/softpmu/profile/keys.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/profile/processes.h"
#include "tools/softpmu/symbols/demangle.h"

/* Bits of struct perf_branch_entry's flags. */
#define MISPREDICTED  1u
#define PREDICTED     2u
#define CYCLES(flags) ((flags) >> 4 & 0xffff)

const char keys_of_samples[] = "comm,dso,sym";
const char keys_of_branches[] = "comm,dso_from,symbol_from,symbol_to";

/* --- threads ------------------------------------------------------------------------------ */

static void take_comm(struct row_key *key, const struct key_source *source)
{
	key->comm = source->thread->comm;
}

static void comm_text(const struct row_key *key, char *text, size_t bytes)
{
	snprintf(text, bytes, "%s", key->comm);
}

static void take_tid(struct row_key *key, const struct key_source *source)
{
	key->comm = source->thread->comm;
	key->tid = source->thread->tid;
}

static void tid_text(const struct row_key *key, char *text, size_t bytes)
{
	snprintf(text, bytes, "%7" PRIu32 ":%s", key->tid, key->comm);
}

static void take_pid(struct row_key *key, const struct key_source *source)
{
	key->comm = source->thread->comm;
	key->pid = source->thread->pid;
}

static void pid_text(const struct row_key *key, char *text, size_t bytes)
{
	snprintf(text, bytes, "%7" PRIu32 ":%s", key->pid, key->comm);
}

static void take_cpu(struct row_key *key, const struct key_source *source)
{
	key->cpu = source->thread->cpu;
}

static void cpu_text(const struct row_key *key, char *text, size_t bytes)
{
	snprintf(text, bytes, "%03" PRIu32, key->cpu);
}

/* --- places ------------------------------------------------------------------------------- */

static void take_object(struct row_end *end, const struct aggregation_place *place)
{
	end->object = place->object;
}

static void object_text(const struct row_end *end, char *text, size_t bytes)
{
	snprintf(text, bytes, "%s", profile_short(end->object));
}

static void take_symbol(struct row_end *end, const struct aggregation_place *place)
{
	end->symbol = place->symbol;
	end->address = place->symbol ? 0 : place->address;
	end->level = (unsigned char)place->level;
}

static void symbol_text(const struct row_end *end, char *text, size_t bytes)
{
	if (end->symbol)
		snprintf(text, bytes, "[%c] %s", (char)end->level,
			 demangle_name(end->symbol->name));
	else
		snprintf(text, bytes, "[%c] 0x%016" PRIx64, (char)end->level, end->address);
}

static void take_ip(struct row_end *end, const struct aggregation_place *place)
{
	end->ip = place->ip;
}

static void ip_text(const struct row_end *end, char *text, size_t bytes)
{
	snprintf(text, bytes, "%#" PRIx64, end->ip);
}

/* Where no line is known, the function and the offset in it are shown. */
static void take_line(struct row_end *end, const struct aggregation *aggregation,
		      const struct aggregation_place *place)
{
	const char *source;
	char *text;
	int line;

	if (place->file && symbol_file_line(place->file, place->address, &source, &line))
		text = tool_print("%s:%d", profile_short(source), line);
	else if (place->symbol)
		text = tool_print("%s+%#" PRIx64, demangle_name(place->symbol->name),
				  place->address - place->symbol->start);
	else
		text = tool_print("%s[%" PRIx64 "]", profile_short(place->object), place->address);
	end->source = processes_intern(aggregation->profile->processes, text);
	free(text);
}

/* The same key of a sample or the source of a branch, and of the target of a branch. */
#define KEY_OF_PLACE(what)                                                                         \
	static void take_from_##what(struct row_key *key, const struct key_source *source)         \
	{                                                                                          \
		take_##what(&key->from, source->from);                                             \
	}                                                                                          \
	static void from_##what##_text(const struct row_key *key, char *text, size_t bytes)        \
	{                                                                                          \
		what##_text(&key->from, text, bytes);                                              \
	}                                                                                          \
	static void take_to_##what(struct row_key *key, const struct key_source *source)           \
	{                                                                                          \
		take_##what(&key->to, source->to);                                                 \
	}                                                                                          \
	static void to_##what##_text(const struct row_key *key, char *text, size_t bytes)          \
	{                                                                                          \
		what##_text(&key->to, text, bytes);                                                \
	}

KEY_OF_PLACE(object)
KEY_OF_PLACE(symbol)
KEY_OF_PLACE(ip)

static void take_from_line(struct row_key *key, const struct key_source *source)
{
	take_line(&key->from, source->aggregation, source->from);
}

static void from_line_text(const struct row_key *key, char *text, size_t bytes)
{
	snprintf(text, bytes, "%s", key->from.source);
}

static void take_to_line(struct row_key *key, const struct key_source *source)
{
	take_line(&key->to, source->aggregation, source->to);
}

static void to_line_text(const struct row_key *key, char *text, size_t bytes)
{
	snprintf(text, bytes, "%s", key->to.source);
}

/* --- branches ----------------------------------------------------------------------------- */

static void take_prediction(struct row_key *key, const struct key_source *source)
{
	if (source->flags & MISPREDICTED)
		key->prediction = 'Y';
	else if (source->flags & PREDICTED)
		key->prediction = 'N';
}

static void prediction_text(const struct row_key *key, char *text, size_t bytes)
{
	if (key->prediction)
		snprintf(text, bytes, "%c", (char)key->prediction);
	else
		snprintf(text, bytes, "N/A");
}

static void take_cycles(struct row_key *key, const struct key_source *source)
{
	key->cycles = CYCLES(source->flags);
}

static void cycles_text(const struct row_key *key, char *text, size_t bytes)
{
	if (key->cycles)
		snprintf(text, bytes, "%" PRIu64, key->cycles);
	else
		snprintf(text, bytes, "-");
}

/* --- the list ----------------------------------------------------------------------------- */

static const struct key all[] = {
	{"comm", "Command", 0, false, take_comm, comm_text},
	{"pid", "    Pid:Command", AGGREGATION_THREADS, false, take_tid, tid_text},
	{"tid", "    Tid:Command", AGGREGATION_THREADS, false, take_tid, tid_text},
	{"tgid", "   Tgid:Command", AGGREGATION_THREADS, false, take_pid, pid_text},
	{"cpu", "CPU", AGGREGATION_CPUS, false, take_cpu, cpu_text},
	{"dso", "Shared Object", 0, false, take_from_object, from_object_text},
	{"sym", "Symbol", 0, false, take_from_symbol, from_symbol_text},
	{"symbol", "Symbol", 0, false, take_from_symbol, from_symbol_text},
	{"srcline", "Source:Line", AGGREGATION_ADDRESSES, false, take_from_line, from_line_text},
	{"addr", "Address", AGGREGATION_ADDRESSES, false, take_from_ip, from_ip_text},
	{"dso_from", "Source Shared Object", 0, true, take_from_object, from_object_text},
	{"dso_to", "Target Shared Object", 0, true, take_to_object, to_object_text},
	{"symbol_from", "Source Symbol", 0, true, take_from_symbol, from_symbol_text},
	{"symbol_to", "Target Symbol", 0, true, take_to_symbol, to_symbol_text},
	{"srcline_from", "From Source:Line", AGGREGATION_ADDRESSES, true, take_from_line,
	 from_line_text},
	{"srcline_to", "To Source:Line", AGGREGATION_ADDRESSES, true, take_to_line, to_line_text},
	{"addr_from", "Source Address", AGGREGATION_ADDRESSES, true, take_from_ip, from_ip_text},
	{"addr_to", "Target Address", AGGREGATION_ADDRESSES, true, take_to_ip, to_ip_text},
	{"mispredict", "Branch Mispredicted", AGGREGATION_FLAGS, true, take_prediction,
	 prediction_text},
	{"cycles", "Basic Block Cycles", AGGREGATION_FLAGS, true, take_cycles, cycles_text},
};

static const struct key *find(const char *name)
{
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (!strcmp(all[i].name, name))
			return &all[i];
	}
	return NULL;
}

/* Returns a message to free(). */
static char *unknown(const char *word, bool branches)
{
	char *names = tool_copy(""), *longer, *message;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (all[i].of_branches && !branches)
			continue;
		longer = tool_print("%s%s%s", names, *names ? ", " : "", all[i].name);
		free(names);
		names = longer;
	}
	message = tool_print("cannot sort by '%s': keys are %s", word, names);
	free(names);
	return message;
}

static char *add_key(struct keys *keys, const char *word, bool branches)
{
	const struct key *key = find(word);

	if (!key)
		return unknown(word, branches);
	if (key->of_branches && !branches)
		return tool_print("cannot sort samples by '%s', which is of branches; add -b",
				  word);
	for (size_t i = 0; i < keys->count; i++) {
		if (keys->list[i]->take == key->take)
			return tool_print("--sort has '%s' twice", word);
	}
	if (keys->count == KEYS_MAX)
		return tool_print("--sort has more than %d keys", KEYS_MAX);
	keys->list[keys->count++] = key;
	return NULL;
}

char *keys_parse(struct keys *keys, const char *text, bool branches)
{
	char *copy = tool_copy(text), *word, *rest = copy, *wrong = NULL;

	keys->count = 0;
	while (!wrong && (word = strsep(&rest, ",")) != NULL)
		wrong = add_key(keys, word, branches);
	free(copy);
	return wrong;
}

bool keys_are_functions(const struct keys *keys)
{
	bool some = false;

	for (size_t i = 0; i < keys->count; i++) {
		some |= !strcmp(keys->list[i]->name, "sym");
		if (keys->list[i]->needs & (AGGREGATION_ADDRESSES | AGGREGATION_CPUS))
			return false;
	}
	return some;
}

unsigned keys_needs(const struct keys *keys)
{
	unsigned needs = 0;

	for (size_t i = 0; i < keys->count; i++)
		needs |= keys->list[i]->needs;
	return needs;
}

int keys_compare(const struct keys *keys, const struct row_key *a, const struct row_key *b)
{
	char a_text[1024], b_text[1024];
	int order = 0;

	for (size_t i = 0; i < keys->count && !order; i++) {
		keys->list[i]->text(a, a_text, sizeof(a_text));
		keys->list[i]->text(b, b_text, sizeof(b_text));
		order = strcmp(a_text, b_text);
	}
	return order;
}
