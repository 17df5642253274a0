/* SPDX-License-Identifier: MIT */
/*
 * state.h: a core's state as one plain block: save, load, compare.
 *
 * The block is for snapshots, migration and differential tests.  It begins
 * with a magic number, a format version, the number of threads, the model's name and its errata.
 * It is little-endian and has no pointers.
 *
 * Example: examples/state.c.
 */
#ifndef SOFTPMU_STATE_H
#define SOFTPMU_STATE_H

#include <softpmu/unit.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPMU_STATE_VERSION 6u

/* Bytes that spmu_save() writes for this core. */
SPMU_API size_t spmu_state_bytes(const struct spmu_core *core);

/* Settle the core and write its state.  SPMU_E_ARGUMENT, SPMU_E_SPACE. */
SPMU_API SPMU_MUST_USE enum spmu_status spmu_save(struct spmu_core *core, void *to, size_t bytes);

/*
 * Replace the core's state by a saved one of the same model, errata and number of
 * threads.  SPMU_E_VERSION: another format, model, errata or number of threads;
 * SPMU_E_CORRUPT: a register holds what no write could have put there.
 */
SPMU_API SPMU_MUST_USE enum spmu_status spmu_load(struct spmu_core *core, const void *from,
						  size_t bytes);

/*
 * Compare two saved states.  NULL when they are equal, else the name of the
 * first register or field that differs (static lifetime); *lp says whose.
 */
SPMU_API const char *spmu_state_difference(const void *a, const void *b, size_t bytes,
					   unsigned *lp);

#ifdef __cplusplus
}
#endif

#endif
