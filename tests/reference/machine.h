/* SPDX-License-Identifier: MIT */
/*
 * machine.h: one of the three units that run a program (program.h), with its
 * world: the library in bulk, the library one by one, the reference.
 */
#ifndef SOFTPMU_MACHINE_H
#define SOFTPMU_MACHINE_H

#include "program.h"

enum machine_kind { BULK, SINGLE, REFERENCE, MACHINES };

#define GATHERED_MAX 256u

struct machine {
	enum machine_kind kind;
	struct world world;
	struct reference reference;
	struct spmu_core *core;
	unsigned side; /* which of the two cores is in use */
	void *memory[2];
	struct spmu_meters meters[2][SPMU_THREADS_MAX];
	unsigned event[PROGRAM_RUN_MAX]; /* what each instruction of the run led to */
	uint64_t bulk, tapped, stored;	 /* instructions and branches that passed in bulk */
	uint64_t quiet;			 /* past the headroom, but calling nobody */
	struct spmu_branch gathered[GATHERED_MAX];
	unsigned gathered_count;
};

/* The result of an operation that gives one. */
struct answer {
	enum spmu_outcome outcome;
	uint64_t value;
};

void machine_start(const struct program *program, struct machine *m, enum machine_kind kind,
		   enum reference_defect defect);
void machine_create_core(const struct program *program, struct machine *m, unsigned side);
const char *machine_name(const struct machine *m);

enum spmu_outcome machine_read(struct machine *m, unsigned lp, uint32_t msr, uint64_t *value);
enum spmu_outcome machine_write(struct machine *m, unsigned lp, uint32_t msr, uint64_t value);
uint32_t machine_read_lvt(struct machine *m, unsigned lp);
void machine_write_lvt(struct machine *m, unsigned lp, uint32_t value);

/* False: what a call returned contradicts what was seen. */
bool machine_run(const struct program *program, struct machine *m, const struct operation *op,
		 const struct spmu_insn *stream);
struct answer machine_operate(const struct program *program, struct machine *m,
			      const struct operation *op);

/* Does a set of SPMU_EV_ bits say what happened since? */
bool machine_is_told(const struct machine *m, unsigned events, uint64_t pmis, uint64_t epoch);
uint64_t machine_epochs(const struct machine *m);
void machine_service(const struct program *program, struct machine *m);

/* bulk.c: as many of the next instructions as the contract allows; 0: none.  event[]: of each. */
unsigned machine_bulk(const struct program *program, struct machine *m, unsigned lp,
		      const struct spmu_insn *insn, unsigned most, unsigned *event, bool *good);
/* Does the instruction go past the headroom, but not past what calls nobody? */
bool machine_is_quiet(const struct program *program, const struct machine *m, unsigned lp,
		      const struct spmu_insn *insn);
/* Hand over what was gathered; before anything else is called. */
bool machine_hand_over(const struct program *program, struct machine *m, unsigned lp,
		       unsigned *events);

/* Save, load here or into the other core, save again: the two blocks must be the same. */
#define STATE_BYTES (1u << 16)
bool machine_reload(const struct program *program, struct machine *m, bool other, void *first,
		    void *second);

#endif
