/* SPDX-License-Identifier: MIT */
/* figures.h: what proc(5)'s smaps says below the line of a mapping (figures.c). */
#ifndef SOFTPMU_ENGINE_FIGURES_H
#define SOFTPMU_ENGINE_FIGURES_H

#include <stdbool.h>
#include <stdint.h>

#define FIGURES_MAX  40
#define FIGURES_TEXT (FIGURES_MAX * 40) /* as much as they are, written */

struct figures {
	const char *text; /* as the kernel wrote them, or those of another mapping */
	unsigned n;	  /* 0: the list has none */
	uint64_t kb[FIGURES_MAX];
};

/* Those at `at`, which goes behind them. */
void figures_take(const char **at, struct figures *f);
/* What is there of memory: none, the sum of both, what this many bytes of it have (`rest` keeps the
 * others'). */
void figures_clear(struct figures *f);
void figures_add(struct figures *f, const struct figures *other);
struct figures figures_split(struct figures *rest, uint64_t bytes);
/* How much of it is not the mapping's alone. */
uint64_t figures_of_files(const struct figures *f);
/* `f` is a list of sums: it gets those of `all`, and what files, and shared memory, have of it. */
void figures_sum(struct figures *f, const struct figures *all, uint64_t files, uint64_t shared);
/* As text, of a mapping with these rights ("rwx"); its end. */
char *figures_put(char *to, const struct figures *f, uint64_t bytes, const char *rights);

#endif
