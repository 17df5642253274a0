/* SPDX-License-Identifier: MIT */
/*
 * property.h: what the property tests share: batches of random programs.
 *
 * A batch is PROPERTY_BATCH programs of one style.  The environment's
 * PROPERTY_SEEDS sets the number of batches; an argument is a program's seed
 * (as a failure prints it, hexadecimal) and runs only that one.
 */
#ifndef SOFTPMU_PROPERTY_H
#define SOFTPMU_PROPERTY_H

#include "program.h"

#include <stdio.h>
#include <stdlib.h>

#define PROPERTY_BATCH 1000u

static inline unsigned property_batches(unsigned otherwise)
{
	const char *text = getenv("PROPERTY_SEEDS");
	unsigned long batches = text ? strtoul(text, NULL, 0) : otherwise;

	return batches ? (unsigned)batches : 1;
}

/* Runs one program. A failure is shrunk and printed. */
static inline bool property_program(enum program_style style, uint64_t seed,
				    struct program_totals *totals)
{
	static struct program program;
	struct program_failure failure;

	program_generate(&program, style, seed);
	if (program_run(&program, REFERENCE_SOUND, totals, &failure))
		return true;
	program_shrink(&program, REFERENCE_SOUND, &failure);
	program_print(&program);
	printf("  operation %u: %s\n", failure.op, failure.what);
	return false;
}

/* Returns how many programs fail. It stops after a few. */
static inline unsigned property_run(enum program_style style, unsigned batches,
				    struct program_totals *totals)
{
	unsigned failed = 0;

	for (uint64_t seed = 0; seed < (uint64_t)batches * PROPERTY_BATCH && failed < 5; seed++)
		failed += !property_program(style, seed, totals);
	return failed;
}

static inline void property_report(const char *style, const struct program_totals *t)
{
	printf("%s: %llu programs, %llu instructions (%llu in bulk), %llu branches in bulk "
	       "(%llu stored by the host), %llu PMIs, %llu records, %llu #GP, %llu comparisons, "
	       "%llu save and load\n",
	       style, (unsigned long long)t->programs, (unsigned long long)t->instructions,
	       (unsigned long long)t->bulk_instructions, (unsigned long long)t->bulk_branches,
	       (unsigned long long)t->stored_branches, (unsigned long long)t->pmis,
	       (unsigned long long)t->records, (unsigned long long)t->faults,
	       (unsigned long long)t->comparisons, (unsigned long long)t->reloads);
}

/*
 * Runs the program of "property_x SEED" in each style. Returns its status, or -1 without argument.
 */
static inline int property_one(int argc, char **argv, enum program_style style)
{
	struct program_totals totals = {0};
	bool passed;

	if (argc < 2)
		return -1;
	passed = property_program(style, strtoull(argv[1], NULL, 16), &totals);
	printf("%d passed, %d failed\n", passed, !passed);
	return !passed;
}

#endif
