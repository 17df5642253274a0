/* SPDX-License-Identifier: MIT */
/*
 * smaps.c: what smaps (proc(5)) shows about the memory of a mapping: lines of a key and a number
 * of kB, and the kernel's flags of the mapping.  This file only knows how to add the lines up.
 *
 * Simplified: where the kernel has one mapping for several of the program's, the first of them
 * gets as much of each figure as it can have.
 */
#include "engine/linux/smaps.h"

#include "engine/rt/sys.h"

#define FIGURE_DIGITS 8 /* at least */

struct figure_line {
	const char *key, *number, *end; /* ':' follows the key */
};

static struct figure_line line_at(const char *c)
{
	struct figure_line line = {.key = c};

	while (*c && *c != ':' && *c != '\n')
		c++;
	line.number = *c == ':' ? c + 1 : c;
	while (*c && *c != '\n')
		c++;
	line.end = c;
	return line;
}

static bool has_key(const struct figure_line *line, const char *key)
{
	size_t n = strlen(key);

	return (size_t)(line->number - line->key) == n && !memcmp(line->key, key, n);
}

/* Returns whether the kilobytes can be added up, unlike the size of a page. */
static bool is_sum(const struct figure_line *line)
{
	return line->end > line->number + 3 && !memcmp(line->end - 3, " kB", 3) &&
	       !has_key(line, "Size:") && !has_key(line, "KernelPageSize:") &&
	       !has_key(line, "MMUPageSize:");
}

static uint64_t number_of(const struct figure_line *line)
{
	const char *c = line->number;
	uint64_t value = 0;

	while (*c == ' ')
		c++;
	for (; *c >= '0' && *c <= '9'; c++)
		value = value * 10 + (uint64_t)(*c - '0');
	return value;
}

void smaps_take(const char **at, struct smaps_counters *f)
{
	f->text = *at;
	f->n = 0;
	while (**at >= 'A' && **at <= 'Z') {
		struct figure_line line = line_at(*at);

		if (f->n < SMAPS_MAX)
			f->kb[f->n++] = is_sum(&line) ? number_of(&line) : 0;
		*at = line.end + (*line.end == '\n');
	}
}

void smaps_clear(struct smaps_counters *f)
{
	memset(f->kb, 0, sizeof(f->kb));
}

void smaps_add(struct smaps_counters *f, const struct smaps_counters *other)
{
	if (!f->n)
		*f = *other;
	else
		for (unsigned i = 0; i < f->n; i++)
			f->kb[i] += other->kb[i];
}

struct smaps_counters smaps_split(struct smaps_counters *rest, uint64_t bytes)
{
	struct smaps_counters part = *rest;

	for (unsigned i = 0; i < part.n; i++) {
		if (part.kb[i] > bytes / 1024)
			part.kb[i] = bytes / 1024;
		rest->kb[i] -= part.kb[i];
	}
	return part;
}

static uint64_t value_of_line(const struct smaps_counters *f, const struct figure_line *same)
{
	const char *at = f->text;

	for (unsigned i = 0; i < f->n; i++) {
		struct figure_line line = line_at(at);

		if (!memcmp(line.key, same->key, (size_t)(same->number - same->key)))
			return f->kb[i];
		at = line.end + 1;
	}
	return 0;
}

static uint64_t value_of(const struct smaps_counters *f, const char *key)
{
	struct figure_line line = line_at(key);

	return value_of_line(f, &line);
}

uint64_t smaps_of_files(const struct smaps_counters *f)
{
	uint64_t pss = value_of(f, "Pss:"), anonymous = value_of(f, "Anonymous:");

	return pss > anonymous ? pss - anonymous : 0;
}

void smaps_sum(struct smaps_counters *f, const struct smaps_counters *all, uint64_t files,
	       uint64_t shared)
{
	const char *at = f->text;

	for (unsigned i = 0; i < f->n; i++) {
		struct figure_line line = line_at(at);

		if (has_key(&line, "Pss_Anon:"))
			f->kb[i] = value_of(all, "Pss:") - files - shared;
		else if (has_key(&line, "Pss_File:"))
			f->kb[i] = files;
		else if (has_key(&line, "Pss_Shmem:"))
			f->kb[i] = shared;
		else
			f->kb[i] = value_of_line(all, &line);
		at = line.end + 1;
	}
}

static char *put_text(char *to, const char *from, const char *end)
{
	memcpy(to, from, (size_t)(end - from));
	return to + (end - from);
}

/* Writes the number in the columns of the line. */
static char *put_number(char *to, const struct figure_line *line, uint64_t value)
{
	char digits[20];
	const char *column = line->end - 3;
	unsigned n = 0;

	for (unsigned i = 0; column > line->number && (i < FIGURE_DIGITS || column[-1] != ' '); i++)
		column--;

	do
		digits[n++] = (char)('0' + value % 10);
	while (value /= 10);
	to = put_text(to, line->key, column);
	for (unsigned i = n; i < FIGURE_DIGITS; i++)
		*to++ = ' ';
	while (n)
		*to++ = digits[--n];
	return to;
}

/* Writes flags of two letters each.  The first three are the rights, in this order. */
static char *put_flags(char *to, const struct figure_line *line, const char *rights)
{
	static const char own[][5] = {" rd", " wr", " ex"};
	const char *c = line->number;

	to = put_text(to, line->key, line->number);
	for (unsigned i = 0; i < 3; i++)
		if (rights[i] != '-')
			to = put_text(to, own[i], own[i] + 3);
	for (unsigned i = 0; i < 3; i++)
		if (!memcmp(c, own[i], 3))
			c += 3;
	return put_text(to, c, line->end);
}

char *smaps_put(char *to, const struct smaps_counters *f, uint64_t bytes, const char *rights)
{
	const char *at = f->text;

	for (unsigned i = 0; i < f->n; i++) {
		struct figure_line line = line_at(at);
		bool sum = is_sum(&line);

		if (sum || has_key(&line, "Size:"))
			to = put_text(put_number(to, &line, sum ? f->kb[i] : bytes / 1024),
				      line.end - 3, line.end);
		else if (has_key(&line, "VmFlags:"))
			to = put_flags(to, &line, rights);
		else
			to = put_text(to, line.key, line.end);
		*to++ = '\n';
		at = line.end + 1;
	}
	return to;
}
