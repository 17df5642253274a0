/* SPDX-License-Identifier: MIT */
/*
 * explain: finds where two runs of a program did not execute the same instructions.
 *
 * One is the single-stepper's trace of a native run, every instruction; the other is a softpmu
 * recording of instructions:upp with period 1, which has every second one.  Modules may be at
 * other addresses, so a file and an offset identify an instruction.  The program walks both lists
 * side by side.  Where they differ, it searches the nearest point from which they agree again for
 * WINDOW records.  It reports the instructions that only one of them has.
 *
 * usage: explain TRACE MAPS < `perf script --show-mmap-events -F ip,sym`
 * The last line is "difference N": native minus softpmu, in instructions, up to the last record.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "steps.h"

#define WINDOW	32
#define REACH	20000 /* instructions to look ahead */
#define MODULES 256

struct mapping {
	uint64_t start, end, page_offset;
	unsigned module;
};

struct layout {
	struct mapping map[1024];
	size_t count;
};

struct place {
	uint64_t offset;
	unsigned module;
};

static char module_name[MODULES][256];
static unsigned module_count;
static struct layout native_layout, soft_layout;
static struct step *steps;
static struct place *soft;
static char (*symbol)[64];
static size_t step_count, soft_count;

static void *grow(void *old, size_t *room, size_t bytes)
{
	*room = *room ? *room * 2 : 1 << 16;
	old = realloc(old, *room * bytes);
	if (!old)
		exit(2);
	return old;
}

static unsigned module_of(const char *path)
{
	const char *name = strrchr(path, '/');
	unsigned n;

	name = name ? name + 1 : path;
	for (n = 0; n < module_count; n++)
		if (strcmp(module_name[n], name) == 0)
			return n;
	if (module_count == MODULES)
		exit(2);
	snprintf(module_name[module_count], sizeof(module_name[0]), "%s", name);
	return module_count++;
}

static void add_mapping(struct layout *l, uint64_t start, uint64_t end, uint64_t page_offset,
			const char *path)
{
	if (l->count < sizeof(l->map) / sizeof(l->map[0]))
		l->map[l->count++] = (struct mapping){start, end, page_offset, module_of(path)};
}

/* The newest mapping at the address is the valid one. */
static struct place place_of(const struct layout *l, uint64_t ip)
{
	size_t n;

	for (n = l->count; n-- > 0;)
		if (ip >= l->map[n].start && ip < l->map[n].end)
			return (struct place){ip - l->map[n].start + l->map[n].page_offset,
					      l->map[n].module};
	return (struct place){ip, MODULES};
}

static void read_native(const char *trace, const char *maps)
{
	FILE *f = fopen(trace, "re");
	char line[5000], path[4096];
	uint64_t start, end, page_offset;
	size_t room = 0, got;

	if (!f)
		exit(2);
	do {
		steps = grow(steps, &room, sizeof(*steps));
		got = fread(steps + step_count, sizeof(*steps), room - step_count, f);
		step_count += got;
	} while (step_count == room);
	fclose(f);
	f = fopen(maps, "re");
	if (!f)
		exit(2);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %4095s", &start, &end, &page_offset,
			   path) == 4)
			add_mapping(&native_layout, start, end,
				    strcmp(path, "[vdso]") ? page_offset : 0, path);
	fclose(f);
}

static void read_soft(void)
{
	char line[5000], path[4096];
	uint64_t start, length, page_offset, ip;
	size_t room = 0;

	while (fgets(line, sizeof(line), stdin)) {
		char *at = strstr(line, "PERF_RECORD_MMAP");

		if (at) {
			at = strchr(at, '[');
			if (at && sscanf(at, "[%lx(%lx) @ %lx %*[^:]:%*[^:]: %*s %4095s", &start,
					 &length, &page_offset, path) == 4)
				add_mapping(&soft_layout, start, start + length,
					    strcmp(path, "[vdso]") ? page_offset : 0, path);
			else if (at && sscanf(at, "[%lx(%lx) @ %lx%*[^]]]: %*s %4095s", &start,
					      &length, &page_offset, path) == 4)
				add_mapping(&soft_layout, start, start + length,
					    strcmp(path, "[vdso]") ? page_offset : 0, path);
			continue;
		}
		path[0] = '\0';
		if (sscanf(line, "%lx %63s", &ip, path) < 1)
			continue;
		if (soft_count == room) {
			size_t same = room;

			soft = grow(soft, &room, sizeof(*soft));
			symbol = grow(symbol, &same, sizeof(*symbol));
		}
		snprintf(symbol[soft_count], sizeof(symbol[0]), "%.63s", path);
		soft[soft_count++] = place_of(&soft_layout, ip);
	}
}

static bool agree(size_t i, size_t j)
{
	struct place n = place_of(&native_layout, steps[i].ip);

	return n.module == soft[j].module && n.offset == soft[j].offset;
}

static bool agree_from(size_t i, size_t j)
{
	size_t k;

	for (k = 0; k < WINDOW && i + 2 * k < step_count && j + k < soft_count; k++)
		if (!agree(i + 2 * k, j + k))
			return false;
	return k > 0;
}

/* Finds the nearest (a, b) such that both agree from a native instructions and b records further
 * on. */
static bool resume(size_t i, size_t j, size_t *a, size_t *b)
{
	size_t far;

	for (far = 1; far < REACH; far++)
		for (*b = 0; *b * 2 <= far; ++*b) {
			*a = far - *b * 2;
			if (agree_from(i + *a, j + *b))
				return true;
		}
	return false;
}

static void print_place(struct place p)
{
	printf("%s+0x%lx", p.module < MODULES ? module_name[p.module] : "?", p.offset);
}

int main(int argc, char **argv)
{
	size_t i = 1, j = 0, a, b;
	long difference = 0;

	if (argc != 3)
		return 2;
	read_native(argv[1], argv[2]);
	read_soft();
	if (!step_count || !soft_count) {
		printf("nothing to compare: %zu steps, %zu records\n", step_count, soft_count);
		return 2;
	}
	while (i < step_count && j < soft_count) {
		if (agree(i, j)) {
			i += 2;
			j++;
			continue;
		}
		printf("instruction %zu: in %s at ", i + 1, j ? symbol[j - 1] : "?");
		print_place(place_of(&native_layout, steps[i].ip));
		printf(", softpmu at ");
		print_place(soft[j]);
		if (!resume(i, j, &a, &b)) {
			printf(": the runs do not meet again\n");
			return 1;
		}
		printf(": native runs %zu, softpmu %zu\n", a, b * 2);
		difference += (long)a - (long)(b * 2);
		i += a;
		j += b;
	}
	printf("difference %ld\n", difference);
	return 0;
}
