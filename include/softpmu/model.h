/* SPDX-License-Identifier: MIT */
/*
 * model.h: the models of processors that the library knows, and their events.
 *
 * A model is constant.  Code asks a model for a capability, never for a family number.
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

/* Return the number of models, and model `index` (NULL if there is none). */
SPMU_API size_t spmu_model_count(void);
SPMU_API const struct spmu_model *spmu_model_at(size_t index);

/* Returns the model of this name or alias, in any case of letters; NULL if there is none. */
SPMU_API const struct spmu_model *spmu_model_find(const char *name);

/* The registers by which software selects what a counter counts. */
enum spmu_programming {
	SPMU_PROGRAM_PERFEVTSEL, /* an event select register for each counter */
	SPMU_PROGRAM_CESR,	 /* one register for both counters: Pentium */
	SPMU_PROGRAM_ESCR,	 /* an ESCR and a CCCR for each counter: NetBurst */
};

/* Describes a model, for lists and for tools that choose event names. */
struct spmu_model_info {
	size_t size;		 /* sizeof(struct spmu_model_info): see "Structures" in base.h */
	const char *name;	 /* "skylake" */
	const char *title;	 /* "6th generation Core (Skylake client)" */
	const char *section;	 /* where the manual describes it, "Vol. 3B 18.13" */
	const char *pfm;	 /* libpfm4's name of its event table, "skl" */
	uint32_t signature;	 /* CPUID.01H:EAX */
	uint8_t perfmon_version; /* CPUID.0AH:EAX[7:0]; 0 before architectural perfmon */
	uint8_t counters_ht;	 /* general counters of a thread if the core has two threads */
	uint8_t counters_single; /* general counters if the core has one thread */
	uint8_t fixed_counters;
	uint8_t counter_bits;
	uint8_t fixed_bits;
	int8_t pebs_format; /* -1: no PEBS */
	uint8_t pebs_fixed; /* fixed counters that have PEBS, bit n */
	enum spmu_programming programming;
	bool shared;	     /* the threads of a core share its counters */
	uint8_t os_cpl;	     /* counters treat privilege levels up to this one as SPMU_RING0 */
	uint32_t cpuid_leaf; /* the highest leaf of CPUID in which the unit reports itself */
};

/*
 * Fills in `info`, as much of it as info->size says, which the caller sets.  All strings have
 * static lifetime.
 *
 * SPMU_E_ARGUMENT: a pointer is NULL, or info->size is less than sizeof(size_t).
 */
SPMU_API enum spmu_status spmu_model_get_info(const struct spmu_model *model,
					      struct spmu_model_info *info);

/* Returns the same as a value.  `model` must not be NULL. */
static inline struct spmu_model_info spmu_model_describe(const struct spmu_model *model)
{
	struct spmu_model_info info;

	info.size = sizeof(info);
	(void)spmu_model_get_info(model, &info);
	return info;
}

/*
 * The facilities of a model and how much of each is implemented, for `softpmu models`.  The list
 * ends with an entry whose facility is NULL.
 */
struct spmu_facility {
	const char *facility; /* "PEBS format 3" */
	const char *section;  /* "Vol. 3B 18.13.1" */
	const char *state;    /* "done", "partial: what is missing", "absent" */
};
SPMU_API const struct spmu_facility *spmu_model_facilities(const struct spmu_model *model);

/*
 * Errata: differences between real parts and the manual.  Bit n of spmu_core_config.errata switches
 * erratum n of the model on.
 */
enum spmu_erratum_state {
	SPMU_ERRATUM_ABSENT,   /* not implemented; it cannot be switched on */
	SPMU_ERRATUM_SWITCHED, /* implemented; it acts if it is switched on */
	SPMU_ERRATUM_ALWAYS    /* a wrong report of CPUID, which the model always gives */
};
struct spmu_erratum {
	const char *name;   /* "pebs-late-pmi" */
	const char *number; /* its number in the specification update, "AJ68"; "-": unknown */
	const char *effect; /* one line */
	enum spmu_erratum_state state;
};
SPMU_API size_t spmu_erratum_count(const struct spmu_model *model);
SPMU_API const struct spmu_erratum *spmu_erratum_at(const struct spmu_model *model, size_t index);

/*
 * An event of a model's table.  Its code is what software writes to select it:
 *	PERFEVTSEL  unit mask in 15:8, event select in 7:0, and unit mask 2 in 47:40 where the model
 *		    has it; CMASK, INV and E in bits 31:24, 23 and 18 of an event that they belong
 *		    to
 *	CESR	    event select in 5:0
 *	ESCR	    event mask in 31:16, block of counters in 13:12 (0 BPU, 1 MS, 2 FLAME, 3 IQ),
 *		    ESCR select in 10:8, event select in 5:0
 *
 * The two counters of a Pentium can count different events by the same event select.  Then two rows
 * have the same code and no counter in common.  A row of NetBurst is one bit of the event mask, or
 * several bits that mean more together than each alone.  Software may select several rows at once.
 *
 * A row with CMASK, INV or E counts by its tally alone: the clocks in which the condition holds.
 * On a host that does not supply the tally, the row without them counts, with a threshold.
 */
struct spmu_event {
	const char *name;	 /* the manual's: "BR_INST_RETIRED.NEAR_TAKEN" */
	const char *description; /* one line */
	uint64_t code;
	uint64_t signals;	     /* what it counts: these signals ... */
	uint16_t tally;		     /* ... and this tally (enum spmu_tally_kind).  Both are 0 if
					nothing that a host reports describes the event */
	enum spmu_fidelity fidelity; /* the best that any host can give */
	uint32_t counters;	     /* general counters that can count it, bit n = PMCn */
	uint32_t pebs_counters;	     /* general counters on which it is precise */
	int8_t fixed;		     /* fixed counter that counts the same, or -1 */
	bool data_address;	     /* its PEBS record carries a data linear address */
	const char *section;	     /* the manual's table: "Vol. 3B 19.2" */
	uint16_t instead;	     /* a tally that a host may supply.  Then it counts in place of
					`signals`, which count the same less truly.  0: none */
};
SPMU_API size_t spmu_event_count(const struct spmu_model *model);
SPMU_API const struct spmu_event *spmu_event_at(const struct spmu_model *model, size_t index);

/* Returns the first event with exactly this code, or NULL if the table has none. */
SPMU_API const struct spmu_event *spmu_event_by_code(const struct spmu_model *model, uint64_t code);

/*
 * Returns what a fixed counter counts (0: instructions, 1: core cycles, 2: reference cycles), or
 * NULL if the model does not have the counter.
 */
SPMU_API const struct spmu_event *spmu_event_fixed(const struct spmu_model *model, unsigned fixed);

/*
 * Returns the tally that FRONTEND_RETIRED counts with this value of MSR_PEBS_FRONTEND (18.13.1.4),
 * or SPMU_TALLY_NONE.
 */
SPMU_API unsigned spmu_frontend_tally(uint64_t value);

/*
 * Sets *set to the tallies that an off-core response event of the model counts with this value of
 * MSR_OFFCORE_RSP_0 or _1 (18.9.5).  Returns false if the count would lack something: the value
 * selects other requests, too, such as prefetches or write-backs, or no response that has a tally.
 */
SPMU_API bool spmu_offcore_tallies(const struct spmu_model *model, uint64_t value,
				   struct spmu_tally_set *set);

/*
 * Returns true if PEBS on this counter with this event select is precisely distributed (18.9.4.4;
 * on Goldmont the reduced skid of 18.7.1.2).  The record is then made by the instruction that
 * overflows the counter, otherwise by the next occurrence of the event.  `counter` is n for PMCn
 * and 32 + n for fixed counter n.
 */
SPMU_API bool spmu_model_pdir(const struct spmu_model *model, unsigned counter, uint64_t select);

/* Returns the fidelity of an event on a host with this supply. */
SPMU_API enum spmu_fidelity spmu_event_fidelity(const struct spmu_event *event,
						const struct spmu_supply *supply);

#ifdef __cplusplus
}
#endif

#endif
