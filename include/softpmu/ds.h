/* SPDX-License-Identifier: MIT */
/*
 * ds.h: the DS save area: its management area and the PEBS records, as layouts
 * that the unit's writer and software's reader share (Vol. 3B 17.4.9, 18.13.1).
 *
 * Example: examples/ds.c.
 */
#ifndef SOFTPMU_DS_H
#define SOFTPMU_DS_H

#include <softpmu/unit.h>

#define SPMU_DS_RESETS_MAX 8 /* counter-reset slots */

/* The DS buffer management area, decoded.  Addresses are linear. */
struct spmu_ds_area {
	uint64_t bts_base, bts_index, bts_maximum, bts_threshold;
	uint64_t pebs_base, pebs_index, pebs_maximum, pebs_threshold;
	uint64_t reset[SPMU_DS_RESETS_MAX]; /* by general counter */
};

/* Where things stand in the DS management area of a model. Offsets and sizes in bytes. */
struct spmu_ds_layout {
	uint8_t field_bytes; /* 4 or 8 */
	uint8_t resets;	     /* counter-reset slots; each is 8 bytes */
	uint16_t reset_offset;
	uint16_t bytes; /* of the whole area */
};
SPMU_API const struct spmu_ds_layout *spmu_ds_layout(const struct spmu_model *model);

/* Encode and decode the whole area; `bytes` must be at least layout->bytes (SPMU_E_SPACE). */
SPMU_API SPMU_MUST_USE enum spmu_status spmu_ds_encode(const struct spmu_ds_layout *layout,
						       const struct spmu_ds_area *area, void *to,
						       size_t bytes);
SPMU_API SPMU_MUST_USE enum spmu_status spmu_ds_decode(const struct spmu_ds_layout *layout,
						       const void *from, size_t bytes,
						       struct spmu_ds_area *area);

/* A PEBS record, decoded.  Fields that the format lacks are 0. */
struct spmu_pebs_record {
	struct spmu_registers regs; /* regs.rip: the instruction after */
	uint64_t applicable;	    /* format 3: counters that caused it; before: GLOBAL_STATUS */
	uint64_t data_address, data_source, latency;
	uint64_t eventing_ip; /* formats 2 and 3 */
	uint64_t tx_abort;
	uint64_t tsc; /* format 3 */
};

/* Bytes of a record of the model's PEBS format; 0 when it has no PEBS. */
SPMU_API size_t spmu_pebs_record_bytes(const struct spmu_model *model);

/* Write and read one record in the model's format.  SPMU_E_SPACE, SPMU_E_UNAVAILABLE. */
SPMU_API SPMU_MUST_USE enum spmu_status spmu_pebs_encode(const struct spmu_model *model,
							 const struct spmu_pebs_record *record,
							 void *to, size_t bytes);
SPMU_API SPMU_MUST_USE enum spmu_status spmu_pebs_decode(const struct spmu_model *model,
							 const void *from, size_t bytes,
							 struct spmu_pebs_record *record);

#endif
