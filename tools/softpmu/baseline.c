/* SPDX-License-Identifier: MIT */
/*
 * baseline.c: counts of an earlier run, as `stat -j` wrote them, to compare with.
 *
 * A JSON object a line; of its keys "event", "counter-value" and "model" matter, so that what
 * perf's own `stat -j` wrote can be a baseline, too.  A count that is missing on one side
 * only is a mistake of the gate and not a change of 0: it is refused.
 */
#define _GNU_SOURCE
#include "tools/softpmu/baseline.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/commands.h"

/* A line of the file; texts to free(). */
struct line {
	char *event, *value, *model;
};

bool threshold_parse(const char *text, struct stat_threshold *threshold)
{
	char *end;

	threshold->only_more = *text == '+';
	text += threshold->only_more;
	if (!isdigit((unsigned char)*text) && *text != '.')
		return false;
	threshold->percent = strtod(text, &end);
	if (*end == '%')
		end++;
	return !*end && isfinite(threshold->percent);
}

/* --- one JSON object ------------------------------------------------------------------------- */

static const char *skip_blanks(const char *at)
{
	while (isspace((unsigned char)*at))
		at++;
	return at;
}

/* The character that an escape stands for; of \u the low byte, which names need no more than. */
static char unescape(const char **at)
{
	char digits[5] = "";

	switch (**at) {
	case 'n':
		return '\n';
	case 't':
		return '\t';
	case 'u':
		if (strspn(*at + 1, "0123456789abcdefABCDEF") < 4)
			return '?';
		memcpy(digits, *at + 1, 4);
		*at += 4;
		return (char)strtoul(digits, NULL, 16);
	default:
		return **at;
	}
}

/* A string behind its first quote; NULL when it does not end.  *at is left behind it. */
static char *take_string(const char **at)
{
	char *text = tool_alloc(strlen(*at) + 1);
	size_t length = 0;

	for (; **at && **at != '"'; ++*at) {
		if (**at == '\\' && (*at)[1]) {
			++*at;
			text[length++] = unescape(at);
		} else {
			text[length++] = **at;
		}
	}
	if (**at != '"') {
		free(text);
		return NULL;
	}
	++*at;
	return text;
}

/* A string, a number or a word; nothing that holds others. */
static char *take_value(const char **at)
{
	size_t length = strcspn(*at, ",} \t\r\n");
	char *text;

	if (**at == '"') {
		++*at;
		return take_string(at);
	}
	if (!length || strpbrk(*at, "[{") == *at)
		return NULL;
	text = tool_print("%.*s", (int)length, *at);
	*at += length;
	return text;
}

/* Put the value where it belongs, or away. */
static void keep(struct line *line, const char *key, char *value)
{
	char **place = NULL;

	if (!strcmp(key, "event"))
		place = &line->event;
	else if (!strcmp(key, "counter-value"))
		place = &line->value;
	else if (!strcmp(key, "model"))
		place = &line->model;
	if (place && !*place)
		*place = value;
	else
		free(value);
}

static bool parse_line(const char *at, struct line *line)
{
	at = skip_blanks(at);
	if (*at++ != '{')
		return false;
	do {
		char *key, *value = NULL;

		at = skip_blanks(at);
		if (*at++ != '"')
			return false;
		key = take_string(&at);
		if (!key)
			return false;
		at = skip_blanks(at);
		if (*at == ':') {
			at = skip_blanks(at + 1);
			value = take_value(&at);
		}
		if (value)
			keep(line, key, value);
		free(key);
		if (!value)
			return false;
		at = skip_blanks(at);
	} while (*at++ == ',');
	return at[-1] == '}' && !*skip_blanks(at) && line->event && line->value;
}

static void forget(struct line *line)
{
	free(line->event);
	free(line->value);
	free(line->model);
	*line = (struct line){0};
}

/* --- the file ----------------------------------------------------------------------------------
 */

/* Its number, false when it has none: "<not supported>". */
static bool number_of(const struct line *line, double *number)
{
	char *end;

	if (!isdigit((unsigned char)line->value[0]))
		return false;
	*number = strtod(line->value, &end);
	return !*end && isfinite(*number);
}

/* Every event of that name gets it. */
static bool take_line(struct stat_table *table, const char *path, const struct line *line)
{
	const char *model = spmu_model_info(table->model).name;
	double number;

	if (line->model && strcmp(line->model, model)) {
		tool_error("%s: counts of the model '%s', not of %s", path, line->model, model);
		return false;
	}
	for (size_t i = 0; i < table->events.count; i++) {
		struct stat_count *count = &table->counts[i];

		if (strcmp(table->events.event[i].name, line->event))
			continue;
		count->has_baseline = number_of(line, &number);
		if (count->has_baseline)
			count->baseline = number;
	}
	return true;
}

/* Each number has one to be compared with, and there is one at all. */
static bool is_complete(const struct stat_table *table, const char *path)
{
	bool some = false;

	for (size_t i = 0; i < table->events.count; i++) {
		const struct event *event = &table->events.event[i];
		bool counted = event->fidelity != SPMU_ABSENT;
		bool known = table->counts[i].has_baseline;

		some |= known;
		if (counted == known)
			continue;
		if (known)
			tool_error("%s: has a count of '%s', which is absent now", path,
				   event->name);
		else
			tool_error("%s: has no count of '%s'", path, event->name);
		return false;
	}
	if (!some)
		tool_error("%s: there is nothing to compare: all events are absent", path);
	return some;
}

static bool read_lines(struct stat_table *table, const char *path, FILE *file)
{
	struct line line = {0};
	char *text = NULL;
	size_t room = 0, number = 0;
	bool good = true;

	while (good && getline(&text, &room, file) >= 0) {
		number++;
		if (!*skip_blanks(text))
			continue;
		good = parse_line(text, &line);
		if (!good)
			tool_error("%s:%zu: not a line of 'softpmu stat -j'", path, number);
		else
			good = take_line(table, path, &line);
		forget(&line);
	}
	free(text);
	return good;
}

bool baseline_read(struct stat_table *table, const char *path)
{
	FILE *file = fopen(path, "re");
	bool good;

	if (!file) {
		tool_error("cannot read %s: %s", path, strerror(errno));
		return false;
	}
	errno = 0;
	good = read_lines(table, path, file);
	if (good && ferror(file)) {
		tool_error("cannot read %s: %s", path, strerror(errno));
		good = false;
	}
	fclose(file);
	table->baseline = path;
	return good && is_complete(table, path);
}
