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
	unsigned event[PROGRAM_RUN_MAX]; /* the events after each instruction of the run */
	uint64_t bulk, tapped, stored;	 /* instructions and branches that passed in bulk */
	uint64_t silent;		 /* after the headroom, without a callback */
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

/* Returns false if the answer of a call contradicts what was seen. */
bool machine_run(const struct program *program, struct machine *m, const struct operation *op,
		 const struct spmu_insn *stream);
struct answer machine_operate(const struct program *program, struct machine *m,
			      const struct operation *op);

/* Returns true if a set of SPMU_EV_ bits tells what has happened since. */
bool machine_is_told(const struct machine *m, unsigned events, uint64_t pmis, uint64_t epoch);
uint64_t machine_epochs(const struct machine *m);
void machine_service(const struct program *program, struct machine *m);

/*
 * bulk.c: runs as many of the next instructions as the contract allows. Returns their number; 0:
 * none. event[]: the events of each.
 */
unsigned machine_bulk(const struct program *program, struct machine *m, unsigned lp,
		      const struct spmu_insn *insn, unsigned most, unsigned *event, bool *good);
/* Returns true if the instruction exceeds the headroom, but not the silent occurrences after it. */
bool machine_is_silent(const struct program *program, const struct machine *m, unsigned lp,
		       const struct spmu_insn *insn);
/* Hands over what was gathered. The host must do this before it calls anything else. */
bool machine_hand_over(const struct program *program, struct machine *m, unsigned lp,
		       unsigned *events);

/* Saves, loads here or into the other core, and saves again. The two blocks must be the same. */
#define STATE_BYTES (1u << 16)
bool machine_reload(const struct program *program, struct machine *m, bool other, void *first,
		    void *second);

#endif
