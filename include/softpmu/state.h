/* SPDX-License-Identifier: MIT */
/*
 * state.h: saving, loading and comparing the state of a core.
 *
 * A saved state is a block of bytes for snapshots, migration and differential tests.  It begins
 * with a magic number, a format version, the number of threads, the model's name and the errata
 * that are switched on.  It is little-endian and has no pointers.
 *
 * Example: examples/state.c.
 */
#ifndef SOFTPMU_STATE_H
#define SOFTPMU_STATE_H

#include <softpmu/unit.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPMU_STATE_VERSION 8u

/* Returns how many bytes spmu_save() writes for this core. */
SPMU_API size_t spmu_state_bytes(const struct spmu_core *core);

/*
 * Writes the state of the core to `to`, after it has added what passed in bulk to the counters.
 * SPMU_E_ARGUMENT: `to` is NULL.  SPMU_E_SPACE: `bytes` is less than spmu_state_bytes().
 */
SPMU_API SPMU_MUST_USE enum spmu_status spmu_save(struct spmu_core *core, void *to, size_t bytes);

/*
 * Replaces the state of the core by a saved one.  On error the core is unchanged.
 *
 * SPMU_E_ARGUMENT: `from` is NULL.  SPMU_E_VERSION: the format, the model, the errata or the
 * number of threads is not that of the core.  SPMU_E_CORRUPT: the size is wrong, or a register has
 * a value that no write could have given it.
 */
SPMU_API SPMU_MUST_USE enum spmu_status spmu_load(struct spmu_core *core, const void *from,
						  size_t bytes);

/*
 * Compares two saved states of `bytes` bytes.  Returns NULL if they are equal, otherwise the name
 * of the first register or field that differs (static lifetime).  *lp receives the logical
 * processor that it belongs to.
 */
SPMU_API const char *spmu_state_difference(const void *a, const void *b, size_t bytes,
					   unsigned *lp);

#ifdef __cplusplus
}
#endif

#endif
