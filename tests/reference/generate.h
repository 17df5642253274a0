/* SPDX-License-Identifier: MIT */
/* generate.h: what the files that make random programs share. */
#ifndef SOFTPMU_GENERATE_H
#define SOFTPMU_GENERATE_H

#include "program.h"

struct generator {
	struct program *program;
	struct random random;
	enum program_style style;
	const struct spmu_model *model;
	const struct family *family;
	unsigned generals;
};

static inline uint64_t below(struct generator *g, uint64_t n)
{
	return random_below(&g->random, n);
}

static inline bool chance(struct generator *g, unsigned percent)
{
	return random_chance(&g->random, percent);
}

struct operation *generate_append(struct generator *g, enum operation_kind kind, unsigned lp);
void generate_wrmsr(struct generator *g, unsigned lp, uint32_t msr, uint64_t value);
/* Returns a counter value `span` or less before the overflow. */
uint64_t generate_before_overflow(struct generator *g, uint64_t span);
/* Returns NULL if the model has no precise event with signals. */
const struct spmu_event *generate_event(struct generator *g, bool precise);

/* generate.c: the parts of a setup. */
uint64_t generate_span_of(struct generator *g);
uint64_t generate_all_enables(const struct generator *g);
uint64_t generate_pick_debugctl(struct generator *g);
uint32_t generate_pick_lvt(struct generator *g);
void generate_poke_field(struct generator *g, unsigned lp, unsigned field, uint64_t value);
void generate_write_counter(struct generator *g, unsigned lp, unsigned n, uint64_t span);
void generate_set_up_branches(struct generator *g, unsigned lp);
/* Chooses a counter and programs it. Returns the bits of IA32_PEBS_ENABLE that it needs. */
uint64_t generate_set_up_counter(struct generator *g, unsigned lp, bool precise, uint64_t span);

/* generate_between.c */
void generate_between(struct generator *g, unsigned lp);

/* generate_legacy.c: programs the counters of a Pentium, or a counter of NetBurst with its ESCR. */
void generate_cesr(struct generator *g, unsigned lp);
uint64_t generate_escr(struct generator *g, unsigned lp, bool precise, uint64_t span);

#endif
