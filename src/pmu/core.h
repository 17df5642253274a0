/* SPDX-License-Identifier: MIT */
/*
 * core.h: the inside of a core: what each thread holds, and what all files of the unit need.
 *
 * struct thread_state is everything that a guest can find out, and the saved state. Everything else
 * in struct thread follows from it (counters_update()).
 */
#ifndef SPMU_SRC_CORE_H
#define SPMU_SRC_CORE_H

#include <softpmu/unit.h>

#include "data/model.h"

/*
 * Where a register's value is kept. Counters come first, by number. Thread 0 keeps the registers
 * that the threads of a core share.
 */
enum slot {
	SLOT_PMC = 0,
	SLOT_FIXED_CTR = GENERAL_MAX,
	SLOT_METRIC = GENERAL_MAX + FIXED_MAX,
	SLOT_PERFEVTSEL = COUNTERS_MAX, /* or CESR, or CCCRs */
	SLOT_FIXED_CTR_CTRL = SLOT_PERFEVTSEL + GENERAL_MAX,
	SLOT_GLOBAL_STATUS,
	SLOT_GLOBAL_CTRL,
	SLOT_PEBS_ENABLE,
	SLOT_TC_PRECISE_EVENT,
	SLOT_PEBS_MATRIX_VERT,
	SLOT_PEBS_LD_LAT,
	SLOT_PEBS_FRONTEND,
	SLOT_DS_AREA,
	SLOT_DEBUGCTL,
	SLOT_MISC_ENABLE,
	SLOT_PEBS_DATA_CFG,
	SLOT_OFFCORE_RSP,
	SLOT_ESCR = SLOT_OFFCORE_RSP + OFFCORE_MAX,
	SLOT_BUS_COUNTER = SLOT_ESCR + ESCR_MAX,
	SLOT_BUS_CONTROL = SLOT_BUS_COUNTER + BUS_COUNTER_MAX,
	SLOT_LBR_SELECT, /* or IA32_LBR_CTL */
	SLOT_LBR_DEPTH,
	SLOT_LBR_TOS, /* kept for architectural records, too, which have no such register */
	SLOT_LBR_FROM,
	SLOT_LBR_TO = SLOT_LBR_FROM + SPMU_LBR_DEPTH_MAX,
	SLOT_LBR_INFO = SLOT_LBR_TO + SPMU_LBR_DEPTH_MAX,
	SLOT_LER_FROM = SLOT_LBR_INFO + SPMU_LBR_DEPTH_MAX,
	SLOT_LER_TO,
	SLOT_LER_INFO,
	SLOT_COUNT,
	SLOT_NONE = SLOT_COUNT /* computed, or the slot is another register's */
};

struct thread_state {
	uint64_t reg[SLOT_COUNT];
	uint32_t lvt;
	uint32_t pebs_armed; /* counters whose overflow armed PEBS */
	uint32_t pmi_due;    /* counters whose next count interrupts */
	uint32_t ia32e;	     /* spmu_set_ia32e() */
	uint32_t halted;     /* spmu_set_halted() */
	uint32_t smm;	     /* between SMI and RSM */
	/* Of counters with a threshold or edge detection, by the thread whose clock it is: */
	uint32_t clock_held[SPMU_THREADS_MAX]; /* the condition held in the previous clock */
	uint32_t clock_count[SPMU_THREADS_MAX][COUNTERS_MAX]; /* in the present clock */
	uint32_t lbr_clocks; /* core clocks since the newest last branch record, or UNKNOWN */
	uint32_t frozen;     /* by an SMI (17.4.1), which cleared: */
	uint64_t smm_debugctl, smm_global_ctrl;
	uint64_t smm_lbr_ctl; /* what an SMI cleared of IA32_LBR_CTL */
	uint64_t lbr_log;     /* events since the newest last branch record */
};

/* What moves a counter's pin. */
enum pin { PIN_NONE, PIN_COUNT, PIN_OVERFLOW };

/* A counter, as its select register and the global registers set it up. */
struct counter {
	uint64_t signals;
	uint64_t predicted, missed; /* kinds of branches that it counts by their prediction */
	uint64_t status;	    /* bit that its overflow sets; 0: none ... */
	uint16_t status_slot;	    /* ... of this register */
	uint16_t at_least;	    /* occurrences in a clock that it counts; 0: it adds all up */
	uint8_t rings[SPMU_THREADS_MAX]; /* where it counts, by the thread that executes */
	uint8_t pmi;			 /* threads that its overflow interrupts */
	uint8_t precise;		 /* threads for which its overflow arms PEBS */
	uint8_t record_pmi;		 /* threads that the threshold of the buffer interrupts */
	uint8_t pin;			 /* enum pin */
	bool late;			 /* the next count interrupts, not the overflow */
	bool force;			 /* each count is an overflow */
	bool at_once; /* the instruction that overflows it makes the record (18.9.4.4) */
	bool next;    /* any instruction makes the record, not only one that counts */
	bool adaptive, data_address;	/* what its records hold ... */
	bool of_store, store_status;	/* ... the address of the store, and its status */
	bool edge, invert, equal;	/* of at_least */
	bool starts;			/* its status bit, once it is set, enables other counters */
	bool logged;			/* last branch records log what it counts */
	bool tallied;			/* it counts tallies, too, ... */
	struct spmu_tally_set *tallies; /* ... these; NULL: it cannot */
};

struct meter {
	uint64_t signals;
	int64_t granted; /* the headroom that was granted */
	uint32_t rings;
	uint32_t own;	  /* counters of this thread that it feeds */
	uint32_t waiting; /* those whose record any instruction makes, once they are armed */
	uint32_t sibling; /* counters of the other thread that count here, too */
};

/* Last branch records, as their registers set them up. */
struct lbr_recording {
	uint64_t signals; /* kinds that become entries */
	uint8_t rings;	  /* where they end */
	bool on;	  /* even if all branches are filtered */
	bool filtered;
	bool call_stack;
	bool clocks;	/* the host supplies core clocks */
	uint8_t absent; /* SPMU_BRANCH_ flags that entries do not have */
};

/* Branch trace store, as IA32_DEBUGCTL sets it up. */
struct bts_recording {
	uint8_t rings;	/* where branches begin that are stored; 0: it is off */
	bool predicted; /* records say whether a branch was predicted */
	uint64_t next;	/* where the host may store the next ones itself; 0: nowhere */
};

/* Aligned, so that what a retired instruction touches is in few cache lines. */
struct __attribute__((aligned(64))) thread {
	struct thread_state state;
	struct spmu_meters *published; /* the host's */
	struct counter counter[COUNTERS_MAX];
	uint32_t active;  /* counters that count */
	uint32_t absent;  /* counters enabled for events that the host does not supply */
	uint32_t ready;	  /* counters that the overflow of an active one would start */
	uint32_t clocked; /* active ones with a threshold or edge detection */
	uint32_t judging; /* active ones that depend on the prediction of a branch */
	uint32_t any;	  /* active ones that count on the other thread */
	uint32_t next;	  /* active ones whose record the next instruction makes */
	uint32_t logged;  /* active ones that last branch records log, while they are on */
	uint32_t adaptive, addressed; /* active ones whose records have groups, a data address */
	bool by_clock;		      /* some counter looks at each clock of this thread */
	bool by_branch;		      /* last branch records or branch trace store are on */
	bool by_tally;		      /* some meter counts tallies */
	bool special;		      /* one of the three, or CPL 1 and 2 are the system's */
	struct lbr_recording lbr;
	struct bts_recording bts;
	uint32_t meters;
	struct meter meter[SPMU_METERS_MAX];
	/*
	 * The tallies that meters (NULL: none) and counters count, and those that the published
	 * meters point to. They are separate because they are rarely used.
	 */
	const struct spmu_tally_set *tallies_of[SPMU_METERS_MAX];
	struct spmu_tally_set counter_tallies[COUNTERS_MAX], meter_tallies[SPMU_METERS_MAX];
};

struct spmu_core {
	const struct spmu_model *model;
	struct spmu_host host;
	unsigned threads;
	unsigned general; /* general counters of each thread */
	unsigned os_cpl;  /* of its model */
	uint64_t mask[2]; /* of a general counter, of a fixed one */
	bool hide_absent;
	uint64_t errata; /* those switched on, by the model's index ... */
	uint64_t hold;	 /* ... and by enum erratum */
	struct thread thread[SPMU_THREADS_MAX];
};

/* Returns the general counters of a logical processor if `threads` threads share the core. */
static inline unsigned model_general(const struct spmu_model *model, unsigned threads)
{
	return threads > 1 ? model->counters->counters_ht : model->counters->counters_single;
}

/*
 * Sets bits of IA32_PERF_GLOBAL_STATUS, which came with version 2 (18.2.2). CondChgd means that one
 * of them has changed (table 35-2). It stays until software clears it.
 */
static inline void status_raise(const struct spmu_core *core, struct thread *thread, uint64_t bits)
{
	uint64_t *status = &thread->state.reg[SLOT_GLOBAL_STATUS];

	if (core->model->counters->version >= 2 && (bits & ~*status))
		*status |= bits | FIELD(GLOBAL_STATUS, CondChgd);
}

/* Flags the overflow of a counter. */
static inline void status_overflow(const struct spmu_core *core, struct thread *thread,
				   const struct counter *counter)
{
	if (counter->status_slot == SLOT_GLOBAL_STATUS)
		status_raise(core, thread, counter->status);
	else
		thread->state.reg[counter->status_slot] |= counter->status;
}

static inline unsigned thread_number(const struct spmu_core *core, const struct thread *thread)
{
	return (unsigned)(thread - core->thread);
}

/*
 * errata.c: switches these errata of the model on. Returns false if one does not exist or is not
 * implemented.
 */
bool errata_switch(struct spmu_core *core, uint64_t wanted);

static inline bool has_erratum(const struct spmu_core *core, enum erratum erratum)
{
	return core->hold >> erratum & 1;
}

/* Returns true for a canonical address: bits 63 to 47 are equal. */
static inline bool address_canonical(uint64_t linear)
{
	return linear + (UINT64_C(1) << 47) < UINT64_C(1) << 48;
}

/* Returns the threads in system-management mode. They do not record into the DS area (17.4.9). */
static inline uint8_t threads_in_smm(const struct spmu_core *core)
{
	unsigned set = 0;

	for (unsigned lp = 0; lp < SPMU_THREADS_MAX && lp < core->threads; lp++)
		set |= core->thread[lp].state.smm << lp;
	return (uint8_t)set;
}

/* Returns the layout in which this thread stores now, or NULL without DS. */
static inline const struct spmu_ds_layout *thread_ds(const struct spmu_core *core,
						     const struct thread *thread)
{
	return spmu_model_ds_layout(core->model, thread->state.ia32e);
}

/*
 * Returns a number that changes with the list of meters of any thread. A thread's counters may feed
 * the other's meters, so both lists matter.
 */
static inline uint32_t core_epochs(const struct spmu_core *core)
{
	uint32_t sum = 0;

	for (unsigned lp = 0; lp < core->threads; lp++)
		sum += core->thread[lp].published->epoch;
	return sum;
}

/* Returns all ones in the width of a counter. */
static inline uint64_t counter_mask(const struct spmu_core *core, unsigned counter)
{
	return core->mask[counter >= GENERAL_MAX];
}

static inline unsigned ring_of(unsigned cpl)
{
	return cpl ? SPMU_RING_USER : SPMU_RING0;
}

/* Returns the lowest counter of a set and removes it from the set. */
static inline unsigned take_lowest(uint32_t *set)
{
	unsigned lowest = (unsigned)__builtin_ctz(*set);

	*set &= *set - 1;
	return lowest;
}

#endif
