/* SPDX-License-Identifier: MIT */
/*
 * model.h: the families that can be built, as data.
 *
 * A model is constant.  Code that uses one asks for a capability, never for a
 * family number.
 *
 * Example: examples/model.c.
 */
#ifndef SOFTPMU_MODEL_H
#define SOFTPMU_MODEL_H

#include <softpmu/signals.h>

#ifdef __cplusplus
extern "C" {
#endif

struct spmu_model; /* opaque; static lifetime */

/* The number of models, and one of them (NULL when index is out of range). */
SPMU_API size_t spmu_model_count(void);
SPMU_API const struct spmu_model *spmu_model_at(size_t index);

/* The model of that name or alias, case ignored; NULL when there is none. */
SPMU_API const struct spmu_model *spmu_model_find(const char *name);

/* How software tells counters what to count. */
enum spmu_programming {
	SPMU_PROGRAM_PERFEVTSEL, /* an event select register for each counter */
	SPMU_PROGRAM_CESR,	 /* one register for both: Pentium */
	SPMU_PROGRAM_ESCR,	 /* pairs of ESCR and CCCR: NetBurst */
};

/* What a model is, for lists and for tools that pick event names. */
struct spmu_model_info {
	const char *name;	 /* "skylake" */
	const char *title;	 /* "6th generation Core (Skylake client)" */
	const char *section;	 /* where the manual describes it, "Vol. 3B 18.13" */
	const char *pfm;	 /* libpfm4's name of its event table, "skl" */
	uint32_t signature;	 /* CPUID.01H:EAX */
	uint8_t perfmon_version; /* CPUID.0AH:EAX[7:0]; 0 before architectural perfmon */
	uint8_t counters_ht;	 /* general counters of a logical processor, two threads a core */
	uint8_t counters_single; /* the same when the core runs one thread */
	uint8_t fixed_counters;
	uint8_t counter_bits;
	uint8_t fixed_bits;
	int8_t pebs_format; /* -1: no PEBS */
	uint8_t pebs_fixed; /* fixed counters that have PEBS, bit n */
	enum spmu_programming programming;
	bool shared;	/* the threads of a core share its counters */
	uint8_t os_cpl; /* counters take privilege levels up to this one for SPMU_RING0 */
};
SPMU_API struct spmu_model_info spmu_model_info(const struct spmu_model *model);

/*
 * Facilities of a model and how much of each is done, for `softpmu models`.
 * Ends at the entry whose facility is NULL.
 */
struct spmu_facility {
	const char *facility; /* "PEBS format 3" */
	const char *section;  /* "Vol. 3B 18.13.1" */
	const char *state;    /* "done", "partial: what is missing", "absent" */
};
SPMU_API const struct spmu_facility *spmu_model_facilities(const struct spmu_model *model);

/*
 * Where the parts differ from the manual.  Erratum n of a model is switched on by bit n of
 * spmu_core_config.errata.
 */
enum spmu_erratum_state {
	SPMU_ERRATUM_ABSENT,   /* not done: cannot be switched on */
	SPMU_ERRATUM_SWITCHED, /* behaves when it is switched on */
	SPMU_ERRATUM_ALWAYS    /* what CPUID reports, whether switched on or not */
};
struct spmu_erratum {
	const char *name;   /* "pebs-late-pmi" */
	const char *number; /* in the specification update, "AJ68"; "-": none is known */
	const char *effect; /* one line */
	enum spmu_erratum_state state;
};
SPMU_API size_t spmu_erratum_count(const struct spmu_model *model);
SPMU_API const struct spmu_erratum *spmu_erratum_at(const struct spmu_model *model, size_t index);

/*
 * An event as the model's table has it.  The code is what software writes to select it:
 *	PERFEVTSEL  unit mask in 15:8, event select in 7:0
 *	CESR	    event select in 5:0
 *	ESCR	    event mask in 31:16, block of counters in 13:12 (0 BPU, 1 MS, 2 FLAME, 3 IQ),
 *		    ESCR select in 10:8, event select in 5:0
 * Counters of a Pentium may know different events by one select: then two rows have one code
 * and no counter in common.  A row of NetBurst is one bit of the event mask, or several that
 * say more together than each alone; software may select more at a time.
 */
struct spmu_event {
	const char *name;	 /* the manual's: "BR_INST_RETIRED.NEAR_TAKEN" */
	const char *description; /* one line */
	uint32_t code;
	uint64_t signals;	     /* what it counts; 0 when no signal describes it */
	enum spmu_fidelity fidelity; /* the best that any host can give */
	uint32_t counters;	     /* general counters that can count it, bit n = PMCn */
	uint32_t pebs_counters;	     /* general counters on which it is precise */
	int8_t fixed;		     /* fixed counter that counts the same, or -1 */
	bool data_address;	     /* its PEBS record carries a data linear address */
	const char *section;	     /* the manual's table: "Vol. 3B 19.2" */
};
SPMU_API size_t spmu_event_count(const struct spmu_model *model);
SPMU_API const struct spmu_event *spmu_event_at(const struct spmu_model *model, size_t index);

/* The first event with exactly this code; NULL when the table has none. */
SPMU_API const struct spmu_event *spmu_event_by_code(const struct spmu_model *model, uint32_t code);

/* What a fixed counter counts (0 instructions, 1 core cycles, 2 reference cycles). */
SPMU_API const struct spmu_event *spmu_event_fixed(const struct spmu_model *model, unsigned fixed);

/*
 * Whether PEBS on this counter (n: PMCn; 32 + n: fixed counter n) with this event select is
 * precisely distributed: the record is of the instruction that overflows the counter (18.9.4.4),
 * elsewhere of the next event behind it.
 */
SPMU_API bool spmu_model_pdir(const struct spmu_model *model, unsigned counter, uint64_t select);

/* The fidelity of an event on a host that supplies these signals. */
SPMU_API enum spmu_fidelity spmu_event_fidelity(const struct spmu_event *event,
						const struct spmu_supply *supply);

#ifdef __cplusplus
}
#endif

#endif
