/* SPDX-License-Identifier: MIT */
/* valgrind_summary.c: the summary of a run, with the lines of callgrind and cachegrind. */
#include <inttypes.h>
#include <string.h>

#include "tools/softpmu/commands/valgrind.h"

static uint64_t sum_of(const struct valgrind_costs *v, const char *name)
{
	for (size_t e = 0; e < v->events; e++) {
		if (!strcmp(v->name[e], name))
			return v->sum[e];
	}
	return 0;
}

/* Writes 1234567 as 1,234,567. */
static void put_commas(uint64_t number, FILE *file)
{
	if (number >= 1000) {
		put_commas(number / 1000, file);
		fprintf(file, ",%03" PRIu64, number % 1000);
	} else {
		fprintf(file, "%" PRIu64, number);
	}
}

static void put(const struct valgrind_costs *v, const char *what, uint64_t number, FILE *file)
{
	fprintf(file, "==%d== %-14s ", v->front.pid, what);
	put_commas(number, file);
	fputc('\n', file);
}

/* Writes a sum, and the two numbers that it is the sum of. */
static void put_two(const struct valgrind_costs *v, const char *what, const char *unit_a,
		    uint64_t a, const char *unit_b, uint64_t b, FILE *file)
{
	fprintf(file, "==%d== %-14s ", v->front.pid, what);
	put_commas(a + b, file);
	fputs("  (", file);
	put_commas(a, file);
	fprintf(file, " %s + ", unit_a);
	put_commas(b, file);
	fprintf(file, " %s)\n", unit_b);
}

static void put_rate(const struct valgrind_costs *v, const char *what, uint64_t part, uint64_t all,
		     FILE *file)
{
	fprintf(file, "==%d== %-14s %.2f%%\n", v->front.pid, what,
		all ? 100.0 * (double)part / (double)all : 0.0);
}

static void put_caches(const struct valgrind_costs *v, FILE *file)
{
	uint64_t ir = sum_of(v, "Ir"), dr = sum_of(v, "Dr"), dw = sum_of(v, "Dw");
	uint64_t i1 = sum_of(v, "I1mr"), il = sum_of(v, "ILmr");
	uint64_t d1r = sum_of(v, "D1mr"), d1w = sum_of(v, "D1mw");
	uint64_t dlr = sum_of(v, "DLmr"), dlw = sum_of(v, "DLmw");

	put(v, "I1  misses:", i1, file);
	put(v, "LLi misses:", il, file);
	put_rate(v, "I1  miss rate:", i1, ir, file);
	put_rate(v, "LLi miss rate:", il, ir, file);
	fprintf(file, "==%d== \n", v->front.pid);
	put_two(v, "D   refs:", "rd", dr, "wr", dw, file);
	put_two(v, "D1  misses:", "rd", d1r, "wr", d1w, file);
	put_two(v, "LLd misses:", "rd", dlr, "wr", dlw, file);
	put_rate(v, "D1  miss rate:", d1r + d1w, dr + dw, file);
	put_rate(v, "LLd miss rate:", dlr + dlw, dr + dw, file);
	fprintf(file, "==%d== \n", v->front.pid);
	put_two(v, "LL refs:", "rd", i1 + d1r, "wr", d1w, file);
	put_two(v, "LL misses:", "rd", il + dlr, "wr", dlw, file);
	put_rate(v, "LL miss rate:", il + dlr + dlw, ir + dr + dw, file);
}

static void put_branches(const struct valgrind_costs *v, FILE *file)
{
	uint64_t bc = sum_of(v, "Bc"), bi = sum_of(v, "Bi");
	uint64_t bcm = sum_of(v, "Bcm"), bim = sum_of(v, "Bim");

	fprintf(file, "==%d== \n", v->front.pid);
	put_two(v, "Branches:", "cond", bc, "ind", bi, file);
	put_two(v, "Mispredicts:", "cond", bcm, "ind", bim, file);
	put_rate(v, "Mispred rate:", bcm + bim, bc + bi, file);
}

void valgrind_summary(const struct valgrind_costs *v, FILE *file)
{
	int pid = v->front.pid;

	if (!v->cachegrind) {
		fprintf(file, "==%d== Events    :", pid);
		for (size_t e = 0; e < v->events; e++)
			fprintf(file, " %s", v->name[e]);
		fprintf(file, "\n==%d== Collected :", pid);
		for (size_t e = 0; e < v->events; e++)
			fprintf(file, " %" PRIu64, v->sum[e]);
		fprintf(file, "\n==%d== \n", pid);
	}
	put(v, "I   refs:", v->sum[0], file);
	if (v->caches)
		put_caches(v, file);
	if (v->branches)
		put_branches(v, file);
}
