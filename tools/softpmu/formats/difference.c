/* SPDX-License-Identifier: MIT */
/* difference.c: adds up the rows of two profiles by the texts of their keys, and lists changes. */
#include "tools/softpmu/formats/difference.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/base/tool.h"

#define TEXT_BYTES 4096

/* A row of one or both profiles. */
struct change {
	char *texts[KEYS_MAX];
	uint64_t count[2]; /* before and after */
};

struct changes {
	const struct keys *keys;
	struct change *list;
	size_t count, room;
	struct numbering numbers;
	uint64_t whole[2];
};

static bool same_texts(const void *list, uint32_t number, const void *thing)
{
	const struct change *a = (const struct change *)list + number, *b = thing;

	for (size_t i = 0; i < KEYS_MAX && b->texts[i]; i++) {
		if (strcmp(a->texts[i], b->texts[i]))
			return false;
	}
	return true;
}

/* Returns the change with the texts of the row, and adds it if there is none. */
static struct change *find(struct changes *changes, const struct row *row)
{
	struct change like = {.count = {0, 0}};
	char text[TEXT_BYTES];
	uint64_t hash = 0;
	uint32_t number;

	for (size_t i = 0; i < changes->keys->count; i++) {
		changes->keys->list[i]->text(&row->key, text, sizeof(text));
		like.texts[i] = tool_copy(text);
		for (const char *at = text; *at; at++)
			hash = numbering_mix(hash, (unsigned char)*at);
	}
	number = numbering_find(&changes->numbers, hash, same_texts, changes->list, &like);
	if (number == changes->count) {
		changes->list = tool_room(changes->list, &changes->room, changes->count,
					  sizeof(*changes->list));
		changes->list[changes->count++] = like;
	} else {
		for (size_t i = 0; i < changes->keys->count; i++)
			free(like.texts[i]);
	}
	return &changes->list[number];
}

/* Adds an event of a profile: side 0 is before, 1 after. */
static void add(struct changes *changes, const struct aggregation *aggregation, size_t event,
		bool children, unsigned side)
{
	bool known = !aggregation->events[event].exact || keys_are_functions(changes->keys);
	struct rows rows = rows_of_samples(aggregation, event, changes->keys,
					   children && known ? ROWS_CHILDREN : 0);

	changes->whole[side] = rows.whole;
	for (size_t i = 0; i < rows.count; i++)
		find(changes, &rows.rows[i])->count[side] += rows.rows[i].total;
	rows_free(&rows);
}

static uint64_t distance(const struct change *change)
{
	return change->count[0] > change->count[1] ? change->count[0] - change->count[1]
						   : change->count[1] - change->count[0];
}

/* Puts the largest change first, and equal ones in the order of their texts. */
static int larger(const void *one, const void *other)
{
	const struct change *a = one, *b = other;

	if (distance(a) != distance(b))
		return distance(a) > distance(b) ? -1 : 1;
	for (size_t i = 0; i < KEYS_MAX && a->texts[i]; i++) {
		int order = strcmp(a->texts[i], b->texts[i]);

		if (order)
			return order;
	}
	return 0;
}

/* --- text --------------------------------------------------------------------------------- */

/* Writes "+20.00%", or "new" or "gone". */
static void percent_text(const uint64_t count[2], char *text, size_t bytes)
{
	if (!count[0])
		snprintf(text, bytes, "%s", count[1] ? "new" : "");
	else if (!count[1])
		snprintf(text, bytes, "gone");
	else
		snprintf(text, bytes, "%+.2f%%",
			 100 * ((double)count[1] - (double)count[0]) / (double)count[0]);
}

static void print_change(const struct changes *changes, const struct change *change,
			 const int widths[], FILE *to)
{
	size_t last = changes->keys->count - 1;
	char percent[32];

	percent_text(change->count, percent, sizeof(percent));
	fprintf(to, "%14" PRIu64 "  %14" PRIu64 "  %+14" PRId64 "  %10s", change->count[0],
		change->count[1], (int64_t)(change->count[1] - change->count[0]), percent);
	for (size_t c = 0; c <= last; c++)
		fprintf(to, "  %-*s", c < last ? widths[c] : 0, change->texts[c]);
	putc('\n', to);
}

/* Returns how many of the sorted changes are large enough. */
static size_t count_shown(const struct changes *changes, double percent_limit)
{
	double least = (double)changes->whole[0] * percent_limit / 100;
	size_t shown = 0;

	while (shown < changes->count && distance(&changes->list[shown]) &&
	       (double)distance(&changes->list[shown]) >= least)
		shown++;
	return shown;
}

static void print(struct changes *changes, const char *event,
		  const struct difference_options *options, FILE *to)
{
	const struct keys *keys = changes->keys;
	int widths[KEYS_MAX] = {0};
	char percent[32];
	size_t large, shown;

	if (changes->count)
		qsort(changes->list, changes->count, sizeof(*changes->list), larger);
	large = count_shown(changes, options->percent_limit);
	shown = options->most && options->most < large ? options->most : large;
	percent_text(changes->whole, percent, sizeof(percent));
	fprintf(to, "# Event '%s': %" PRIu64 " before, %" PRIu64 " after%s%s\n#\n", event,
		changes->whole[0], changes->whole[1], *percent ? ", " : "", percent);
	if (!shown) {
		fputs("# Nothing has changed.\n\n\n", to);
		return;
	}
	for (size_t c = 0; c < keys->count; c++) {
		widths[c] = (int)strlen(keys->list[c]->title);
		for (size_t i = 0; i < shown; i++) {
			const char *text = changes->list[i].texts[c]; /* NOLINT: i < count */
			int width = (int)strlen(text);

			widths[c] = width > widths[c] ? width : widths[c];
		}
	}
	fputs("#       Before           After          Change     Percent", to);
	for (size_t c = 0; c < keys->count; c++)
		fprintf(to, "  %-*s", c + 1 < keys->count ? widths[c] : 0, keys->list[c]->title);
	fputs("\n#\n", to);
	for (size_t i = 0; i < shown; i++)
		print_change(changes, &changes->list[i], widths, to);
	if (shown < large)
		fprintf(to, "#\n# %zu smaller changes are not shown.\n", large - shown);
	fputs("\n\n", to);
}

static void free_changes(struct changes *changes)
{
	for (size_t i = 0; i < changes->count; i++) {
		for (size_t c = 0; c < changes->keys->count; c++)
			free(changes->list[i].texts[c]);
	}
	free(changes->list);
	numbering_free(&changes->numbers);
}

/* Returns the event's index in the other profile, or its number of events. */
static size_t find_event(const struct aggregation *aggregation, const char *name)
{
	size_t i = 0;

	while (i < aggregation->event_count && strcmp(aggregation->events[i].name, name))
		i++;
	return i;
}

bool difference_write(struct profile *before, struct profile *after,
		      const struct difference_options *options, FILE *to)
{
	unsigned parts = AGGREGATION_SAMPLES | keys_needs(&options->keys) |
			 (options->children ? AGGREGATION_CALLERS : 0);
	struct aggregation *old = aggregation_new(before, parts);
	struct aggregation *new = aggregation_new(after, parts);
	bool some = false;

	for (size_t i = 0; i < old->event_count; i++) {
		struct changes changes = {.keys = &options->keys};
		size_t other = find_event(new, old->events[i].name);

		if (other == new->event_count)
			continue;
		some = true;
		add(&changes, old, i, options->children, 0);
		add(&changes, new, other, options->children, 1);
		print(&changes, old->events[i].name, options, to);
		free_changes(&changes);
	}
	aggregation_free(old);
	aggregation_free(new);
	return some;
}
