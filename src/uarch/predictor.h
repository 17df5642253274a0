/* SPDX-License-Identifier: MIT */
/* predictor.h: the branch predictors of a thread (predictor.c, tage.c). */
#ifndef SPMU_SRC_UARCH_PREDICTOR_H
#define SPMU_SRC_UARCH_PREDICTOR_H

#include <softpmu/uarch.h>

#define TAGE_TABLES_MAX	 12
#define TAGE_HISTORY_MAX 256
#define TAGE_WAY_BITS	 13
#define TAGE_TRANSITIONS 256

/* The shape of the tables. */
struct tage_geometry {
	uint8_t tables, table_bits, tag_bits;
	uint8_t last[TAGE_TABLES_MAX]; /* the last word of each table's history */
};

struct tage {
	uint16_t *tag;	/* tables << table_bits, and `none` */
	uint8_t *entry; /* the same: the states of the entries */
	uint32_t none;	/* the entry that stands for the table without tags */
	/* By address: a tag, and in the two lowest bits whether the branch has gone on, and whether
	 * it has been taken. */
	uint16_t *way;
	struct tage_geometry geometry;
	bool is_usual;			/* there is code for the geometry */
	uint64_t mask[TAGE_TABLES_MAX]; /* which bits of the last word of each table's history */
	uint8_t next[TAGE_TRANSITIONS];
	uint64_t history[TAGE_HISTORY_MAX / 64]; /* bit 0 of word 0 is the newest branch */
	uint32_t branches; /* branches left until useful counters are halved */
	uint32_t random;
	int8_t prefer_other; /* not negative: new entries are worse than the next shorter history */
};

struct predictor {
	struct spmu_predictor_shape shape;
	uint8_t *counter; /* two bits each: 0 to 3, taken from 2 on */
	uint64_t history; /* bit 0 is the newest conditional branch */
	uint64_t path;	  /* hash of the newest indirect targets */
	uint64_t *target; /* of indirect branches */
	uint64_t *stack;  /* return addresses, a ring */
	uint32_t top;	  /* of the stack */
	struct tage tage;
};

/* Returns how many bytes of memory predictors of this shape need: a multiple of 8. */
size_t predictor_bytes(const struct spmu_predictor_shape *shape);

/* Makes empty predictors in `memory`.  Returns the memory after them. */
uint8_t *predictor_create(struct predictor *p, uint8_t *memory,
			  const struct spmu_predictor_shape *shape);

/* Each predicts a branch and learns its outcome.  Returns true if the prediction was wrong. */
bool predictor_conditional(struct predictor *p, uint64_t from, bool taken);
bool predictor_indirect(struct predictor *p, uint64_t from, uint64_t to);
bool predictor_return(struct predictor *p, uint64_t to);

/* Notes the return address of a call. */
void predictor_call(struct predictor *p, uint64_t next);

/* tage.c: the same for the tables of TAGE. `base` is the counter of the table without tags. */
size_t tage_bytes(const struct spmu_predictor_shape *shape);
void tage_create(struct tage *t, uint8_t *memory, const struct spmu_predictor_shape *shape);
bool tage_conditional(struct tage *t, uint8_t *base, uint64_t from, bool taken);

/* The same for a list of branches.  Each adds the wrong predictions of branches that were not taken
 * to missed[0], and those of taken ones to missed[1].  `counters`: the table without tags, whose
 * index is the address and `mask`. */
void tage_conditionals(struct tage *t, uint8_t *counters, uint64_t mask,
		       const struct spmu_uarch_outcome *o, size_t count, uint64_t missed[2]);
void predictor_conditionals(struct predictor *p, const struct spmu_uarch_outcome *list,
			    size_t count, uint64_t missed[2]);

/* Moves a two-bit counter towards the outcome. */
static inline void predictor_learn(uint8_t *counter, bool taken)
{
	*counter = (uint8_t)(*counter + (taken & (*counter < 3)) - (!taken & (*counter > 0)));
}

#endif
