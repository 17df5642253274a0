/* SPDX-License-Identifier: MIT */
/*
 * baseline_line.c: one line of a baseline: a JSON object without nested objects.
 */
#define _GNU_SOURCE
#include "tools/softpmu/counts/baseline_line.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/base/tool.h"

const char *baseline_line_skip_blanks(const char *at)
{
	while (isspace((unsigned char)*at))
		at++;
	return at;
}

/* Returns the character of an escape.  Of \u the low byte is enough for names. */
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

/* Reads a string after its first quote, and moves *at after the last one.  NULL: there is no
 * last. */
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

/* Reads a string, a number or a word.  Returns NULL for an array or an object. */
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

/* Stores the value in its member, or frees it. */
static void keep(struct baseline_line *line, const char *key, char *value)
{
	char **place = NULL;

	if (!strcmp(key, "event"))
		place = &line->event;
	else if (!strcmp(key, "counter-value"))
		place = &line->value;
	else if (!strcmp(key, "model"))
		place = &line->model;
	else if (!strcmp(key, "command"))
		place = &line->command;
	else if (!strcmp(key, "version"))
		place = &line->version;
	else if (!strcmp(key, "label"))
		place = &line->label;
	else if (!strcmp(key, "region"))
		place = &line->region;
	if (place && !*place)
		*place = value;
	else
		free(value);
}

bool baseline_line_parse(const char *at, struct baseline_line *line)
{
	at = baseline_line_skip_blanks(at);
	if (*at++ != '{')
		return false;
	do {
		char *key, *value = NULL;

		at = baseline_line_skip_blanks(at);
		if (*at++ != '"')
			return false;
		key = take_string(&at);
		if (!key)
			return false;
		at = baseline_line_skip_blanks(at);
		if (*at == ':') {
			at = baseline_line_skip_blanks(at + 1);
			value = take_value(&at);
		}
		if (value)
			keep(line, key, value);
		free(key);
		if (!value)
			return false;
		at = baseline_line_skip_blanks(at);
	} while (*at++ == ',');
	return at[-1] == '}' && !*baseline_line_skip_blanks(at) && line->event && line->value;
}

void baseline_line_forget(struct baseline_line *line)
{
	free(line->event);
	free(line->value);
	free(line->model);
	free(line->command);
	free(line->version);
	free(line->label);
	free(line->region);
	*line = (struct baseline_line){0};
}
