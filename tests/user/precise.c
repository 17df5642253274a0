/* SPDX-License-Identifier: MIT */
/*
 * precise: are the samples of a run those that the arming rule names?
 *
 * A counter that starts at -P overflows at occurrence P, which arms PEBS; occurrence P + 1 makes
 * the record and reloads the counter (Vol. 3B 18.4.4, 17.4.9).  So the k-th record's eventing IP
 * is that of occurrence k * (P + 1).  Without PEBS the interrupt comes with occurrence k * P and
 * the sample's IP is that of the instruction after it.
 *
 * usage: precise TRACE KEY PERIOD pebs|interrupt|address|registers < `perf script -F ip,...`
 *   TRACE  of the single-stepper; KEY as in steps.h
 *   Lines are `IP`, `ADDRESS IP` for "address", or `IP ... IP:0x...` for "registers", where the
 *   second is the register after the instruction.
 *
 * Addresses of the program's own data must agree exactly; those on its stack up to one constant
 * distance, since the stacks of two runs may start at different addresses.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "steps.h"

#define STACK_ABOVE UINT64_C(0x100000000)

struct sample {
	uint64_t ip, address, after;
};

enum mode { PEBS, INTERRUPT, ADDRESS, REGISTERS };

static struct step *steps;
static size_t step_count;
static bool have_distance;
static uint64_t distance;

static void read_trace(const char *path)
{
	FILE *f = fopen(path, "re");
	size_t room = 0, got;

	if (!f) {
		perror(path);
		exit(2);
	}
	do {
		room = room ? room * 2 : 1 << 16;
		steps = realloc(steps, room * sizeof(*steps));
		if (!steps)
			exit(2);
		got = fread(steps + step_count, sizeof(*steps), room - step_count, f);
		step_count += got;
	} while (step_count == room);
	fclose(f);
}

static bool read_sample(enum mode mode, struct sample *s)
{
	char line[4096], *at;

	while (fgets(line, sizeof(line), stdin)) {
		if (mode == ADDRESS && sscanf(line, "%lx %lx", &s->address, &s->ip) == 2)
			return true;
		if (mode != ADDRESS && sscanf(line, "%lx", &s->ip) == 1) {
			at = strstr(line, " IP:0x");
			s->after = at ? strtoul(at + 4, NULL, 16) : 0;
			return true;
		}
		if (strspn(line, " \t\n") != strlen(line)) {
			printf("not a sample: %s", line);
			exit(1);
		}
	}
	return false;
}

static bool same_address(uint64_t expected, uint64_t actual)
{
	if (expected < STACK_ABOVE || actual < STACK_ABOVE)
		return expected == actual;
	if (!have_distance) {
		have_distance = true;
		distance = actual - expected;
	}
	return actual - expected == distance;
}

static const char *wrong(enum mode mode, const struct sample *s, size_t at)
{
	uint64_t after = at + 1 < step_count ? steps[at + 1].ip : s->after;

	if (s->ip != (mode == INTERRUPT ? after : steps[at].ip))
		return "address of the instruction";
	if (mode == ADDRESS && !same_address(steps[at].data_address, s->address))
		return "data address";
	if (mode == REGISTERS && s->after != after)
		return "RIP after the instruction";
	return NULL;
}

static uint64_t signals_of(const char *key)
{
	const struct step_event *e;

	for (e = step_events; e->key; e++)
		if (strcmp(e->key, key) == 0)
			return e->signals;
	fprintf(stderr, "precise: no event %s\n", key);
	exit(2);
}

static enum mode mode_of(const char *name)
{
	static const char *const names[] = {"pebs", "interrupt", "address", "registers"};
	unsigned n;

	for (n = 0; n < 4; n++)
		if (strcmp(names[n], name) == 0)
			return (enum mode)n;
	fprintf(stderr, "precise: no mode %s\n", name);
	exit(2);
}

int main(int argc, char **argv)
{
	uint64_t signals, distance_events, occurrences = 0, records = 0, left = 0;
	struct sample s = {0};
	enum mode mode;
	size_t at;

	if (argc != 5)
		return 2;
	read_trace(argv[1]);
	signals = signals_of(argv[2]);
	mode = mode_of(argv[4]);
	distance_events = strtoul(argv[3], NULL, 10) + (mode != INTERRUPT);
	for (at = 0; at < step_count; at++) {
		const char *what;

		if (!(steps[at].signals & signals) || ++occurrences % distance_events)
			continue;
		if (!read_sample(mode, &s)) {
			printf("%lu records, but occurrence %lu should make another\n", records,
			       occurrences);
			return 1;
		}
		records++;
		what = wrong(mode, &s, at);
		if (what) {
			printf("record %lu (occurrence %lu, instruction %zu): %s: ", records,
			       occurrences, at + 1, what);
			printf("expected ip %lx data %lx, is ip %lx data %lx after %lx\n",
			       steps[at].ip, steps[at].data_address, s.ip, s.address, s.after);
			return 1;
		}
	}
	while (read_sample(mode, &s))
		left++;
	if (left) {
		printf("%lu records more than %lu\n", left, records);
		return 1;
	}
	printf("%lu records of %lu occurrences\n", records, occurrences);
	return 0;
}
