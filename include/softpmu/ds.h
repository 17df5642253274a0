/* SPDX-License-Identifier: MIT */
/*
 * ds.h: the DS save area: its management area, BTS records and PEBS records (Vol. 3B 17.4.9,
 * 18.13.1).  The unit writes them and software reads them by the same layouts.
 *
 * Example: examples/ds.c.
 */
#ifndef SOFTPMU_DS_H
#define SOFTPMU_DS_H

#include <softpmu/lbr.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPMU_DS_RESETS_MAX	 10 /* counter-reset slots of general counters */
#define SPMU_DS_FIXED_RESETS_MAX 4  /* counter-reset slots of fixed counters */

/* The DS buffer management area, decoded.  Addresses are linear. */
struct spmu_ds_area {
	uint64_t bts_base, bts_index, bts_maximum, bts_threshold;
	uint64_t pebs_base, pebs_index, pebs_maximum, pebs_threshold;
	uint64_t reset[SPMU_DS_RESETS_MAX];		/* of general counter n */
	uint64_t fixed_reset[SPMU_DS_FIXED_RESETS_MAX]; /* of fixed counter n */
};

struct spmu_pebs_layout; /* opaque */

/* The layout of a model's DS save area in one processor mode.  Offsets and sizes are in bytes. */
struct spmu_ds_layout {
	uint8_t field_bytes;  /* size of an address, and of a register in a record: 4 or 8 */
	uint8_t resets;	      /* number of counter-reset slots, of 8 bytes each */
	uint8_t fixed_resets; /* number of those of fixed counters */
	uint8_t bts_bytes;    /* size of a BTS record: 12 or 24; 0: the model has no BTS */
	uint16_t reset_offset;
	uint16_t fixed_reset_offset;
	uint16_t bytes;			     /* size of the management area */
	const struct spmu_pebs_layout *pebs; /* NULL: the model has no PEBS */
};

/*
 * Returns the layout that the model's unit uses, or NULL if the model has no DS save area.  A model
 * with DTES64 has one layout for all modes.  Without it, the layout depends on `ia32e`: whether
 * IA-32e mode is active (17.4.9.1).
 */
SPMU_API const struct spmu_ds_layout *spmu_model_ds_layout(const struct spmu_model *model,
							   bool ia32e);

/*
 * Encode and decode the management area.  SPMU_E_SPACE: `bytes` is less than layout->bytes; nothing
 * is written.
 */
SPMU_API SPMU_MUST_USE enum spmu_status spmu_ds_encode(const struct spmu_ds_layout *layout,
						       const struct spmu_ds_area *area, void *to,
						       size_t bytes);
SPMU_API SPMU_MUST_USE enum spmu_status spmu_ds_decode(const struct spmu_ds_layout *layout,
						       const void *from, size_t bytes,
						       struct spmu_ds_area *area);

/*
 * A BTS record (17.4.9, figures 17-6 and 17-9).  Only NetBurst's records have `predicted`.
 * SPMU_E_SPACE: `bytes` is less than layout->bts_bytes.
 */
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
 * A PEBS record, decoded.  Fields that the format or its configuration does not have are 0.  The
 * exceptions are xmm, branch and branch_log: decoding leaves them unchanged if `groups` does not
 * name them.
 */
struct spmu_pebs_record {
	struct spmu_registers regs; /* regs.rip is the address of the next instruction */
	uint64_t applicable;	    /* from format 3 on: the counters that caused the record;
				       before: IA32_PERF_GLOBAL_STATUS */
	uint64_t data_address, data_source, latency;
	uint64_t eventing_ip; /* from format 2 on */
	uint64_t tx_abort;
	uint64_t tsc;	       /* from format 3 on */
	uint32_t groups;       /* format 4: the SPMU_PEBS_ groups that the record has */
	uint32_t branch_count; /* format 4: number of entries in branch[], newest first */
	uint8_t xmm[16][16];
	struct spmu_branch branch[SPMU_LBR_DEPTH_MAX];
	uint8_t branch_log[SPMU_LBR_DEPTH_MAX]; /* what the entries log: spmu_lbr_logged() */
};

/* Bits of data_source of a precise store (18.9.4.3).  The unit sets SPMU_STORE_LOCKED, a host the
 * others. */
#define SPMU_STORE_L1D_HIT   (1u << 0)
#define SPMU_STORE_STLB_MISS (1u << 4)
#define SPMU_STORE_LOCKED    (1u << 5)

/* The groups of an adaptive record, as MSR_PEBS_DATA_CFG selects them. */
#define SPMU_PEBS_MEMORY	 (1u << 0)
#define SPMU_PEBS_GPRS		 (1u << 1)
#define SPMU_PEBS_XMM		 (1u << 2)
#define SPMU_PEBS_LBR		 (1u << 3)
#define SPMU_PEBS_LBR_ENTRIES(n) ((uint64_t)((n)-1) << 24)

/*
 * Returns the size of a record; 0 if the model has no PEBS.  `data_cfg` is MSR_PEBS_DATA_CFG for
 * format 4, where 0 means the basic group only.  Other formats ignore it.
 */
SPMU_API size_t spmu_pebs_record_bytes(const struct spmu_ds_layout *layout, uint64_t data_cfg);

/*
 * Encode and decode one PEBS record.  Decoding needs no configuration, because a record of format 4
 * says which groups it has.  *used (`used` may be NULL) receives the size of the decoded record.
 * Formats 0 to 3 ignore groups and branch_count.  Format 4 writes entries after branch_count as 0.
 *
 * SPMU_E_SPACE: `bytes` is too small.  SPMU_E_UNAVAILABLE: the model has no PEBS.  SPMU_E_FORMAT:
 * a record's own size does not agree with its groups.
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
