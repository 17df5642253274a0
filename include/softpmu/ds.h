/* SPDX-License-Identifier: MIT */
/*
 * ds.h: the DS save area: its management area and the PEBS records, as layouts
 * that the unit's writer and software's reader share (Vol. 3B 17.4.9, 18.13.1).
 *
 * Example: examples/ds.c.
 */
#ifndef SOFTPMU_DS_H
#define SOFTPMU_DS_H

#include <softpmu/lbr.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPMU_DS_RESETS_MAX	 8 /* counter-reset slots of general counters */
#define SPMU_DS_FIXED_RESETS_MAX 4 /* and of fixed counters */

/* The DS buffer management area, decoded.  Addresses are linear. */
struct spmu_ds_area {
	uint64_t bts_base, bts_index, bts_maximum, bts_threshold;
	uint64_t pebs_base, pebs_index, pebs_maximum, pebs_threshold;
	uint64_t reset[SPMU_DS_RESETS_MAX]; /* by general counter */
	uint64_t fixed_reset[SPMU_DS_FIXED_RESETS_MAX];
};

struct spmu_pebs_layout; /* opaque */

/*
 * The DS save area of a model in one mode: its management area, its BTS records and its PEBS
 * records.  Offsets and sizes in bytes.
 */
struct spmu_ds_layout {
	uint8_t field_bytes;  /* 4 or 8: of an address, and of a register in a record */
	uint8_t resets;	      /* counter-reset slots; each is 8 bytes */
	uint8_t fixed_resets; /* the same of fixed counters */
	uint8_t bts_bytes;    /* of a BTS record: 12 or 24; 0 when the model has no BTS */
	uint16_t reset_offset;
	uint16_t fixed_reset_offset;
	uint16_t bytes;			     /* of the management area */
	const struct spmu_pebs_layout *pebs; /* NULL: no PEBS */
};

/*
 * The layout in which the model's unit stores: one for all modes where CPUID has DTES64, else
 * by whether IA-32e mode is active (17.4.9.2).  NULL when the model has no DS.
 */
SPMU_API const struct spmu_ds_layout *spmu_ds_layout(const struct spmu_model *model, bool ia32e);

/* Encode and decode the whole area; `bytes` must be at least layout->bytes (SPMU_E_SPACE). */
SPMU_API SPMU_MUST_USE enum spmu_status spmu_ds_encode(const struct spmu_ds_layout *layout,
						       const struct spmu_ds_area *area, void *to,
						       size_t bytes);
SPMU_API SPMU_MUST_USE enum spmu_status spmu_ds_decode(const struct spmu_ds_layout *layout,
						       const void *from, size_t bytes,
						       struct spmu_ds_area *area);

/* A BTS record (17.4.9, figures 17-6 and 17-8).  `predicted` is NetBurst's alone. */
struct spmu_bts_record {
	uint64_t from, to;
	bool predicted;
};
SPMU_API SPMU_MUST_USE enum spmu_status spmu_bts_encode(const struct spmu_ds_layout *layout,
							const struct spmu_bts_record *record,
							void *to, size_t bytes);
SPMU_API SPMU_MUST_USE enum spmu_status spmu_bts_decode(const struct spmu_ds_layout *layout,
							const void *from, size_t bytes,
							struct spmu_bts_record *record);

/*
 * A PEBS record, decoded.  Fields that the format or its configuration lacks are 0, but xmm
 * and branch, which decode leaves alone where `groups` does not name them.
 */
struct spmu_pebs_record {
	struct spmu_registers regs; /* regs.rip: the instruction after */
	uint64_t applicable;	    /* from format 3 on: counters that caused it; before:
				       IA32_PERF_GLOBAL_STATUS */
	uint64_t data_address, data_source, latency;
	uint64_t eventing_ip; /* from format 2 on */
	uint64_t tx_abort;
	uint64_t tsc;	       /* from format 3 on */
	uint32_t groups;       /* format 4: SPMU_PEBS_ groups that it holds */
	uint32_t branch_count; /* format 4: of branch[], newest first */
	uint8_t xmm[16][16];
	struct spmu_branch branch[SPMU_LBR_DEPTH_MAX];
};

/* data_source of a precise store (18.9.4.3); the unit knows the last one alone. */
#define SPMU_STORE_L1D_HIT   (1u << 0)
#define SPMU_STORE_STLB_MISS (1u << 4)
#define SPMU_STORE_LOCKED    (1u << 5)

/* Groups of adaptive records, as MSR_PEBS_DATA_CFG selects them. */
#define SPMU_PEBS_MEMORY	 (1u << 0)
#define SPMU_PEBS_GPRS		 (1u << 1)
#define SPMU_PEBS_XMM		 (1u << 2)
#define SPMU_PEBS_LBR		 (1u << 3)
#define SPMU_PEBS_LBR_ENTRIES(n) ((uint64_t)((n)-1) << 24)

/*
 * Bytes of a record; 0 without PEBS.  data_cfg is MSR_PEBS_DATA_CFG for format 4, where 0
 * gives the basic group alone; other formats do not look at it.
 */
SPMU_API size_t spmu_pebs_record_bytes(const struct spmu_ds_layout *layout, uint64_t data_cfg);

/*
 * Write and read one record.  A format 4 record says itself what it holds, so decode needs no
 * configuration; *used (may be NULL) gets its length.  Formats 0 to 3 do not look at
 * groups and branch_count; format 4 writes branches past branch_count as 0.  SPMU_E_SPACE;
 * SPMU_E_UNAVAILABLE without PEBS; SPMU_E_FORMAT when a record's own length cannot be.
 */
SPMU_API SPMU_MUST_USE enum spmu_status spmu_pebs_encode(const struct spmu_ds_layout *layout,
							 uint64_t data_cfg,
							 const struct spmu_pebs_record *record,
							 void *to, size_t bytes);
SPMU_API SPMU_MUST_USE enum spmu_status spmu_pebs_decode(const struct spmu_ds_layout *layout,
							 const void *from, size_t bytes,
							 struct spmu_pebs_record *record,
							 size_t *used);

#ifdef __cplusplus
}
#endif

#endif
