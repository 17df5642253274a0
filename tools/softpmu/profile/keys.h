/* SPDX-License-Identifier: MIT */
/*
 * keys.h: what tells rows of a report apart: perf's sort keys.
 *
 * A key takes its part of a sample or a branch into a struct row_key, and writes it as text.  Rows
 * are equal if all bytes of their row_key are, so parts that no key takes are 0.
 */
#ifndef SOFTPMU_TOOL_KEYS_H
#define SOFTPMU_TOOL_KEYS_H

#include "tools/softpmu/profile/aggregation.h"

/* The sample's place, or one end of a branch.  The structures have no padding. */
struct row_end {
	const char *object;
	const struct symbol *symbol;
	uint64_t address;   /* in the object, when the symbol is not known */
	uint64_t ip;	    /* in the process */
	const char *source; /* "file.c:12" */
	uint64_t level;	    /* 'k' or '.'; 0: no key takes the symbol */
};

struct row_key {
	const char *comm;
	struct row_end from, to; /* a sample has no `to` */
	uint32_t pid, tid, cpu;
	uint32_t prediction; /* 'Y': mispredicted, 'N', or 0: unknown */
	uint64_t cycles;     /* since the branch before; 0: unknown */
};

/* What keys read.  `to` and `flags` are of a branch. */
struct key_source {
	const struct aggregation *aggregation;
	const struct aggregation_thread *thread;
	const struct aggregation_place *from, *to;
	uint64_t flags;
};

/* The keys of samples and of branches, or of branches only. */
struct key {
	const char *name, *title;
	unsigned needs; /* of the aggregation, besides samples or branches */
	bool of_branches;
	void (*take)(struct row_key *key, const struct key_source *source);
	void (*text)(const struct row_key *key, char *text, size_t bytes);
};

#define KEYS_MAX 8

struct keys {
	const struct key *list[KEYS_MAX]; /* each once */
	size_t count;
};

extern const char keys_of_samples[], keys_of_branches[]; /* the defaults */

/* Reads "comm,dso".  Returns NULL, or a message to free(). */
char *keys_parse(struct keys *keys, const char *text, bool branches);

unsigned keys_needs(const struct keys *keys);

/* Returns whether each row is of one function: its cost with what it called is known. */
bool keys_are_functions(const struct keys *keys);

/* Compares the texts of the keys from the first on, as strcmp(). */
int keys_compare(const struct keys *keys, const struct row_key *a, const struct row_key *b);

#endif
