/* SPDX-License-Identifier: MIT */
/*
 * branches: compares branch records with those of an independent single-step (singlestep -t).
 *
 * usage: branches trace STEPS       standard input: `softpmu trace --list`
 *        branches stack STEPS DISTANCE DEPTH SIGNALS NEXT
 *                                   standard input: `perf script -F ip,brstack`
 *
 * trace (17.4.9): the records are the taken near branches, all of them, in order.
 * stack (17.4.8): the k-th sample is instruction k * DISTANCE.  Its stack holds the newest DEPTH
 * taken branches of the kinds in SIGNALS (hexadecimal), newest first.  They include the branch of
 * that instruction.  If NEXT is 1, a sample has the address of the next instruction, as
 * records of formats 0 and 1 do (18.4.4).
 *
 * Prints what is wrong and ends with 1; otherwise prints how many branches were compared.  An empty
 * list is wrong.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "steps.h"

static struct step *step;
static size_t steps;
static unsigned long compared;

static void wrong(const char *what, unsigned long number, uint64_t is, uint64_t must)
{
	printf("%s %lu: %#" PRIx64 ", must be %#" PRIx64 "\n", what, number, is, must);
	exit(1);
}

static void read_steps(const char *path)
{
	FILE *file = fopen(path, "rb");
	long bytes;

	if (!file || fseek(file, 0, SEEK_END) || (bytes = ftell(file)) < 0 ||
	    !(step = malloc((size_t)bytes + 1))) {
		perror(path);
		exit(2);
	}
	rewind(file);
	steps = fread(step, sizeof(*step), (size_t)bytes / sizeof(*step), file);
	fclose(file);
}

/* Returns whether step i took a near branch of one of these kinds.  The last step has no
 * successor. */
static bool takes(size_t i, uint64_t kinds)
{
	return i + 1 < steps && step[i].signals & kinds & SPMU_SIGSET_TAKEN & ~SPMU_SIGBIT(FAR);
}

static void check_trace(void)
{
	char line[8192];
	size_t i = 0;

	while (fgets(line, sizeof(line), stdin)) {
		const char *arrow = strstr(line, " -> ");
		uint64_t from, to;

		if (line[0] != '0' || !arrow)
			continue;
		from = strtoull(line, NULL, 16);
		to = strtoull(arrow + 4, NULL, 16);
		while (i < steps && !takes(i, UINT64_MAX))
			i++;
		compared++;
		if (i == steps)
			wrong("one too many, from", compared, from, 0);
		if (from != step[i].ip)
			wrong("from", compared, from, step[i].ip);
		if (to != step[i + 1].ip)
			wrong("to", compared, to, step[i + 1].ip);
		i++;
	}
	while (i < steps && !takes(i, UINT64_MAX))
		i++;
	if (i < steps)
		wrong("missing, branches seen", compared, 0, step[i].ip);
}

/* One sample: its address, then FROM/TO/flags... for each entry. */
static void check_sample(char *line, size_t at, unsigned long depth, uint64_t kinds, size_t shift)
{
	char *end, *word = strtok(line, " \n");
	uint64_t ip = word ? strtoull(word, NULL, 16) : 0;
	unsigned long entries = 0;
	size_t i = at + 1;

	if (at + shift < steps && ip != step[at + shift].ip)
		wrong("sample's instruction", at, ip, step[at + shift].ip);
	while ((word = strtok(NULL, " \n"))) {
		uint64_t from = strtoull(word, &end, 16);
		uint64_t to = strtoull(end + 1, NULL, 16);

		while (i > 0 && !takes(i - 1, kinds))
			i--;
		if (i == 0)
			wrong("an entry too many, from", at, from, 0);
		i--;
		if (from != step[i].ip)
			wrong("entry's from", at, from, step[i].ip);
		if (to != step[i + 1].ip)
			wrong("entry's to", at, to, step[i + 1].ip);
		entries++;
		compared++;
	}
	while (entries < depth && i > 0 && !takes(i - 1, kinds))
		i--;
	if (entries < depth && i > 0)
		wrong("entries missing; there are", at, entries, depth);
}

/* A sample at each distance-th instruction. */
static void check_stacks(unsigned long distance, unsigned long depth, uint64_t kinds, size_t shift)
{
	static char line[65536];
	size_t at = distance - 1;

	while (fgets(line, sizeof(line), stdin)) {
		if (at >= steps)
			wrong("a sample after the end", at, at, steps);
		check_sample(line, at, depth, kinds, shift);
		at += distance;
	}
	if (at < steps)
		wrong("samples missing from", at, 0, step[at].ip);
}

int main(int argc, char **argv)
{
	if (argc >= 3)
		read_steps(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "trace"))
		check_trace();
	else if (argc == 7 && !strcmp(argv[1], "stack"))
		check_stacks(strtoul(argv[3], NULL, 10), strtoul(argv[4], NULL, 10),
			     strtoull(argv[5], NULL, 16), strtoul(argv[6], NULL, 10));
	else
		return 2;
	if (!compared) {
		printf("nothing to compare\n");
		return 1;
	}
	printf("%lu\n", compared);
	return 0;
}
