/* SPDX-License-Identifier: MIT */
/* tool.c: what every part of the tool uses: messages, numbers, memory. */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/base/tool.h"

static void begin_message(void)
{
	/* Earlier output, ours or the program's, comes first. */
	fflush(stdout);
	fputs("softpmu: ", stderr);
}

int tool_error(const char *format, ...)
{
	va_list arguments;

	begin_message();
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	return EXIT_TOOL;
}

int tool_usage_error(const char *command, const char *format, ...)
{
	va_list arguments;

	begin_message();
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fprintf(stderr, " (see softpmu %s --help)\n", command);
	return EXIT_BAD_USAGE;
}

/* Returns true for perf's options that observe a running process, or the whole machine. */
static bool is_attaching(const char *command, int option, const char *given)
{
	static const char *const words[] = {"--pid", "--tid", "--all-cpus", "--cpu"};

	if (strcmp(command, "stat") && strcmp(command, "record") && strcmp(command, "trace"))
		return false;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (!strncmp(given, words[i], strlen(words[i])))
			return true;
	}
	return option && strncmp(given, "--", 2) && strchr("aptC", option);
}

int tool_bad_option(const char *command, int option, char **argv)
{
	const char *given = argv[optind - 1];

	if (option == ':')
		return tool_usage_error(command, "option '%s' needs a value", given);
	if (is_attaching(command, optopt, given))
		return tool_usage_error(command,
					"option '%s': softpmu cannot observe what runs already; "
					"name a program to start",
					given);
	/* Several short options can be one word: optopt is the wrong one. */
	if (optopt && strncmp(given, "--", 2))
		return tool_usage_error(command, "unknown option '-%c'", optopt);
	return tool_usage_error(command, "unknown option '%s'", given);
}

const struct spmu_model *tool_model(const char *name)
{
	const struct spmu_model *model = spmu_model_find(name ? name : DEFAULT_MODEL);

	if (!model)
		tool_error("unknown model '%s' (see softpmu models)", name ? name : DEFAULT_MODEL);
	return model;
}

bool tool_number(const char *text, uint64_t *value)
{
	static const char suffixes[] = "KMG";
	const char *suffix;
	char *end;
	unsigned long long number;
	uint64_t scale = 1;

	if (!isdigit((unsigned char)text[0]))
		return false;
	errno = 0;
	number = strtoull(text, &end, text[0] == '0' && tolower(text[1]) == 'x' ? 16 : 10);
	if (errno)
		return false;
	suffix = *end ? strchr(suffixes, toupper((unsigned char)*end)) : NULL;
	if (suffix) {
		end++;
		for (const char *each = suffixes; each <= suffix; each++)
			scale *= 1000;
	}
	return *end == '\0' && !__builtin_mul_overflow((uint64_t)number, scale, value);
}

bool tool_percent(const char *text, double *value)
{
	char *end;

	*value = strtod(text, &end);
	return end != text && !*end && *value >= 0 && *value <= 100;
}

static bool same_letter(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

unsigned tool_distance(const char *a, const char *b)
{
	enum { LONGEST = 80 };
	/* One row for each letter of a; three are kept: the current one and the two before it. */
	unsigned rows[3][LONGEST + 1];
	size_t a_length = strlen(a), b_length = strlen(b);

	if (a_length > LONGEST || b_length > LONGEST)
		return LONGEST;
	for (size_t j = 0; j <= b_length; j++)
		rows[0][j] = (unsigned)j;
	for (size_t i = 1; i <= a_length; i++) {
		unsigned *row = rows[i % 3];
		const unsigned *before = rows[(i + 2) % 3], *older = rows[(i + 1) % 3];

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= b_length; j++) {
			row[j] = least(before[j - 1] + !same_letter(a[i - 1], b[j - 1]),
				       least(before[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) &&
			    same_letter(a[i - 2], b[j - 1]))
				row[j] = least(row[j], older[j - 2] + 1);
		}
	}
	return rows[a_length % 3][b_length];
}

static void *or_end(void *memory)
{
	if (!memory) {
		tool_error("out of memory");
		exit(EXIT_TOOL);
	}
	return memory;
}

void *tool_alloc(size_t bytes)
{
	return or_end(calloc(1, bytes ? bytes : 1));
}

void *tool_grow(void *old, size_t bytes)
{
	return or_end(realloc(old, bytes ? bytes : 1));
}

void *tool_room(void *array, size_t *room, size_t count, size_t element_bytes)
{
	enum { FIRST_ROOM = 32 };

	if (count < *room)
		return array;
	*room = *room ? 2 * *room : FIRST_ROOM;
	return tool_grow(array, *room * element_bytes);
}

char *tool_copy(const char *text)
{
	return or_end(strdup(text));
}

char *tool_print(const char *format, ...)
{
	va_list arguments;
	char *text = NULL;
	int length;

	va_start(arguments, format);
	length = vasprintf(&text, format, arguments);
	va_end(arguments);
	return or_end(length < 0 ? NULL : text);
}
