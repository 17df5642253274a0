/* SPDX-License-Identifier: MIT */
/* smaps.h: what smaps (proc(5)) shows below the line of a mapping (smaps.c). */
#ifndef SOFTPMU_ENGINE_SMAPS_H
#define SOFTPMU_ENGINE_SMAPS_H

#include <stdbool.h>
#include <stdint.h>

#define SMAPS_MAX  40
#define SMAPS_TEXT (SMAPS_MAX * 40) /* maximum length of their text */

struct smaps_counters {
	const char *text; /* the kernel's text, or that of another mapping */
	unsigned n;	  /* 0: the list has none */
	uint64_t kb[SMAPS_MAX];
};

/* Reads the counters at `at`, and moves `at` after them. */
void smaps_take(const char **at, struct smaps_counters *f);
/* Three operations on counters: set them to no memory; add them; take the part of this many bytes
 * (`rest` keeps the other part). */
void smaps_clear(struct smaps_counters *f);
void smaps_add(struct smaps_counters *f, const struct smaps_counters *other);
struct smaps_counters smaps_split(struct smaps_counters *rest, uint64_t bytes);
/* Returns how much of the memory the mapping shares. */
uint64_t smaps_of_files(const struct smaps_counters *f);
/* `f` is a list of sums.  It gets those of `all`, and the parts of files and of shared memory. */
void smaps_sum(struct smaps_counters *f, const struct smaps_counters *all, uint64_t files,
	       uint64_t shared);
/* Writes the text, for a mapping with these rights ("rwx").  Returns its end. */
char *smaps_put(char *to, const struct smaps_counters *f, uint64_t bytes, const char *rights);

#endif
