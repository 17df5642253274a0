/* SPDX-License-Identifier: MIT */
/*
 * world.h: the host around a unit under test: linear memory that can refuse, registers and a
 * time-stamp counter that depend on the position in the program, and a log of the PMIs.
 */
#ifndef SOFTPMU_WORLD_H
#define SOFTPMU_WORLD_H

#include <softpmu/softpmu.h>

/* Three windows of memory: the lowest addresses, some in the middle, the highest. */
#define WORLD_WINDOW_BYTES  4096u
#define WORLD_WINDOWS	    3u
#define WORLD_MIDDLE	    UINT64_C(0x00007f0000100000)
#define WORLD_TOP	    UINT64_C(0xfffffffffffff000)
#define WORLD_GRANULE_BYTES 64u
#define WORLD_GRANULES	    (WORLD_WINDOWS * WORLD_WINDOW_BYTES / WORLD_GRANULE_BYTES)
#define WORLD_PMIS_MAX	    64u

#define WORLD_NO_READ  1u
#define WORLD_NO_WRITE 2u

struct world_pmi {
	uint64_t position; /* instructions and clock stretches reported before */
	uint64_t status;   /* IA32_PERF_GLOBAL_STATUS as the handler would read it */
	unsigned lp;
	struct spmu_pmi pmi;
};

struct world {
	uint64_t position;
	const struct spmu_insn *insn; /* the current one; NULL between instructions */
	uint64_t (*read_status)(void *unit, unsigned lp);
	void *unit;

	uint64_t pmi_count; /* the log keeps the first WORLD_PMIS_MAX */
	struct world_pmi pmi[WORLD_PMIS_MAX];
	uint64_t pmi_hash;		    /* over all of them */
	bool pmi_pending[SPMU_THREADS_MAX]; /* not yet seen by the program */
	uint64_t accesses;		    /* callbacks to memory */
	uint64_t pin[SPMU_THREADS_MAX][32]; /* toggles of each counter's pin */
	bool out_of_place;		    /* a callback came where none is permitted */

	uint8_t guard[WORLD_GRANULES];
	uint8_t memory[WORLD_WINDOWS * WORLD_WINDOW_BYTES];
};

void world_reset(struct world *world);
void world_host(struct world *world, bool modelled, struct spmu_host *host);

/* Returns NULL, or the difference between two worlds. */
const char *world_difference(const struct world *a, const struct world *b);

/* Stores as software does: ignores the guards and drops what is outside. */
void world_poke(struct world *world, uint64_t linear, unsigned bytes, uint64_t value);

/* Returns a little-endian value, 0 where there is no memory. */
uint64_t world_peek(const struct world *world, uint64_t linear, unsigned bytes);

/* Stores as the host itself, by the rules of its memory. Returns false if refused. */
bool world_store(struct world *world, uint64_t linear, const void *from, size_t bytes);

#endif
