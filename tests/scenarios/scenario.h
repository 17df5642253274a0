/* SPDX-License-Identifier: MIT */
/*
 * scenario.h: a file of tests/scenarios while it runs: its core, the memory around the core, and
 * what has happened so far. README.md describes the language.
 */
#ifndef SOFTPMU_SCENARIO_H
#define SOFTPMU_SCENARIO_H

#include <stdio.h>

#include "tests/reference/family.h"

/* Linear memory of the test: low enough for 32-bit areas. */
#define SCENARIO_MEMORY	      UINT64_C(0x100000)
#define SCENARIO_MEMORY_BYTES 0x10000u
#define SCENARIO_AREA	      SCENARIO_MEMORY
#define SCENARIO_BTS	      (SCENARIO_MEMORY + 0x1000)
#define SCENARIO_PEBS	      (SCENARIO_MEMORY + 0x8000)
#define SCENARIO_AREA_STEP    0x400u /* from one thread's area to the next */
#define SCENARIO_BTS_STEP     0x3000u
#define SCENARIO_PEBS_STEP    0x4000u
#define SCENARIO_WORDS	      32u

struct scenario_hole {
	uint64_t from, to;
	bool readable;
};

struct scenario {
	const struct family *family;
	const struct spmu_model *model;
	unsigned threads, lp;
	struct spmu_supply supply;
	bool hide_absent, ia32e;
	uint64_t errata;

	void *memory_of_core;
	struct spmu_core *core; /* NULL until the first command needs it */
	struct spmu_meters meters[SPMU_THREADS_MAX];
	uint8_t memory[SCENARIO_MEMORY_BYTES];
	struct scenario_hole hole[8];
	unsigned holes;
	uint64_t outside;		    /* writes that were refused */
	uint64_t pin[SPMU_THREADS_MAX][32]; /* toggles */

	unsigned pmis[SPMU_THREADS_MAX];
	struct spmu_pmi pmi[SPMU_THREADS_MAX]; /* the last */
	unsigned events;		       /* of the last retire or branch */
	uint64_t ip, tsc;
	uint64_t next_ip; /* of the present instruction, for the registers */
	unsigned cpl;
	uint64_t precise, precise_signal; /* an event that PMC0 can sample precisely */

	const char *file;
	unsigned line;
	unsigned passed, failed, expectations;
};

/* A line in words. */
struct line {
	unsigned count;
	char *word[SCENARIO_WORDS];
};

/* Report a check; prints file, line and model when it failed. */
bool scenario_check(struct scenario *s, bool good, const char *form, ...)
	__attribute__((format(printf, 3, 4)));

/* Reports a line that is not in the language. It is always a failure. */
bool scenario_refuse(struct scenario *s, const char *what, const char *word);

/* host.c */
bool scenario_create(struct scenario *s);
void scenario_destroy(struct scenario *s);
uint64_t scenario_fetch(const struct scenario *s, uint64_t linear, unsigned bytes);
void scenario_store(struct scenario *s, uint64_t linear, unsigned bytes, uint64_t value);

/* words.c. They return false, after a message, if the word is unknown. */
bool scenario_value(struct scenario *s, const char *word, uint64_t *value);
bool scenario_msr(struct scenario *s, const char *word, uint32_t *msr);
bool scenario_signal(struct scenario *s, const char *word, uint64_t *signals);
/* Returns the value of "key=value", or NULL for another key. */
const char *scenario_option(const char *word, const char *key);

/* area.c */
const struct family_area *scenario_area(const struct scenario *s);
unsigned scenario_record_bytes(const struct scenario *s); /* 0: none, or of any size */
bool scenario_area_field(const struct scenario *s, const char *name, uint64_t *linear,
			 unsigned *bytes);
bool scenario_ds(struct scenario *s, const struct line *line);
bool scenario_record_field(const struct scenario *s, uint64_t record, const char *name,
			   uint64_t *value);

/* commands.c and expect.c: one line each. They return false if the scenario cannot go on. */
bool scenario_command(struct scenario *s, const struct line *line);
bool scenario_expect(struct scenario *s, const struct line *line);

#endif
