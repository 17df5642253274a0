/* SPDX-License-Identifier: MIT */
/*
 * driver.h: the manual's software procedures over a small port: detection,
 * the DS save area, set-up, start, stop, the DS interrupt service routine, branch traces and
 * last branch records.
 *
 * The driver is what an operating system would have.  It knows registers and
 * memory only through the port, so it runs on silicon (a port of RDMSR and WRMSR),
 * in an emulator, and inside hosts/user.  It allocates nothing.
 * One driver serves one logical processor.
 *
 * It serves architectural performance monitoring of versions 1 to 5 and the units before it, and
 * goes by what it detects; of the model it uses the layouts of records alone:
 *	- version 1: counters have EN bits only, and a service routine that looks at
 *	  the counters' sign; versions 2 and 3: global control and status, and a
 *	  freeze that clears the control; version 4: status bits that freeze, and
 *	  IA32_PERF_GLOBAL_INUSE; version 5: fixed counters by CPUID.0AH:ECX;
 *	- PEBS on PMC0, on four counters, or on all and the fixed ones: as many as have a
 *	  counter reset in the DS save area; formats 0 to 4;
 *	- without CPUID.0AH by family and model: Pentium (two counters, no interrupt: they can be
 *	  read, and must be before they wrap), the P6 family and Pentium M (one enable bit),
 *	  NetBurst (pairs of ESCR and CCCR, tagging, PEBS on one counter of each thread).
 *
 * Example: examples/driver.c.
 */
#ifndef SOFTPMU_DRIVER_H
#define SOFTPMU_DRIVER_H

#include <softpmu/ds.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPMU_DRIVER_COUNTERS 18

/*
 * The port.  rdmsr and wrmsr return false when the access faults.  `memory` is
 * the linear memory for the DS save area, present, writable, mapped at
 * contiguous linear addresses and never paged out (Vol. 3B 17.4.9.2): the
 * driver reads and writes it directly.  map_interrupt routes the LVT entry to
 * spmu_driver_interrupt() and returns the LVT value to program (vector and
 * delivery mode); write_lvt programs it.
 */
struct spmu_port {
	void *opaque;
	bool (*rdmsr)(void *opaque, uint32_t msr, uint64_t *value);
	bool (*wrmsr)(void *opaque, uint32_t msr, uint64_t value);
	void (*cpuid)(void *opaque, uint32_t leaf, uint32_t subleaf, struct spmu_cpuid *regs);
	uint32_t (*map_interrupt)(void *opaque);
	void (*write_lvt)(void *opaque, uint32_t value);
	/* The interrupted context, for samples without PEBS. */
	void (*interrupted)(void *opaque, struct spmu_registers *regs, uint64_t *tsc);
};

/* What detection finds, in the manual's order (Vol. 3B 18.2, 18.13.1, 17.4.9.1, 17.4.8.1). */
struct spmu_facilities {
	enum spmu_programming programming;
	uint8_t perfmon_version; /* 0: a unit before the architectural one */
	uint8_t counters, counter_bits;
	uint32_t general_set; /* general counters that this logical processor may take */
	uint8_t fixed_counters, fixed_bits;
	uint32_t
		fixed_set; /* which there are: the first fixed_counters, or as CPUID.0AH:ECX says */
	bool full_width_writes;
	bool enable_first;     /* EN of the first event select enables all (P6) */
	bool no_interrupt;     /* overflow tells nobody (Pentium) */
	bool iq_escrs;	       /* MSR_IQ_ESCR0 and 1 are there (NetBurst, models 0 to 2) */
	bool extended_cascade; /* bit 11 of some CCCRs (NetBurst, from model 2 on) */
	uint8_t thread;	       /* of a core whose threads share the unit (NetBurst): 0 or 1 */
	bool ds, ds64, ds_cpl, pdcm;
	bool pebs;	    /* available and not switched off in IA32_MISC_ENABLE */
	bool pebs_baseline; /* adaptive records (MSR_PEBS_DATA_CFG) */
	bool precise_store; /* IA32_PEBS_ENABLE[63] for stores on PMC3 (18.9.4.3) */
	bool pdir_alone;    /* precise distribution lets no other general counter run (18.9.4.4) */
	bool bts;	    /* as pebs */
	bool lbr;
	uint8_t pebs_format, lbr_format;
	uint32_t absent_events; /* CPUID.0AH:EBX */
};

/* One event to count or to sample. */
struct spmu_request {
	uint64_t select;   /* IA32_PERFEVTSELx fields, EN and INT left clear.  Where counters are
			      programmed in another way: the same fields of rings, threads,
			      threshold, edge and inversion, as far as the family has them */
	uint32_t code;	   /* there: the event's code as struct spmu_event has it */
	uint32_t tagger;   /* NetBurst (18.15.6): of front_end_event and execution_event the code of
			      the event that tags; of replay_event bits 23:0 of IA32_PEBS_ENABLE
			      and, in 31:24, bits 7:0 of MSR_PEBS_MATRIX_VERT; else 0 */
	uint32_t counters; /* general counters that may take it, bit n = PMCn */
	int8_t fixed;	   /* a fixed counter that counts the same, or -1; a precise request
			      takes it where fixed counters have PEBS */
	uint64_t period;   /* occurrences between samples; 0: only count */
	bool precise;	   /* sample with PEBS */
	uint32_t tag;	   /* handed back with each sample */
};

/*
 * One sample, from a PEBS record or from the interrupted context.  `period` is what was
 * asked for.  PEBS records come at every (period + 1)th occurrence: the overflow
 * arms, the next occurrence is recorded, and then the counter starts again; with precise
 * distribution (spmu_model_pdir()) at every period-th, which overflows.
 *
 * `ip` is the instruction that the sample is of, as well as the unit tells it: the eventing IP
 * of formats 2 to 4, else where execution went on.  `tsc` is the record's time or,
 * before format 3, that of the interrupt that brought it.
 *
 * `branches` are the last branch records, newest first, while spmu_driver_enable_lbr() is in
 * force: from the adaptive record, else read in the service routine.  A PEBS record that
 * the service routine finds behind another one (the interrupt was late) has none.
 */
struct spmu_sample {
	uint32_t tag;
	bool precise;
	uint64_t period;		       /* occurrences that it stands for */
	const struct spmu_pebs_record *record; /* for non-precise samples only regs and tsc are set,
						  and eventing_ip = rip */
	uint64_t ip, tsc;
	const struct spmu_branch *branches;
	unsigned branch_count;
};

/* Takes samples; may block (the observed program waits), never drops. */
typedef void spmu_sink(void *opaque, const struct spmu_sample *sample);

/*
 * Takes BTS records, oldest first, in place: `count` records in the layout's format at
 * `records`, whose linear address is `linear`.  Returns the linear address of the buffer to go on
 * with: this one again when the records have been consumed, or another of the
 * same size, so that buffers go round without a copy.  May block, never drops.  An
 * address that cannot be (0, not a multiple of 4, beyond the layout) means this one.
 */
typedef uint64_t spmu_bts_sink(void *opaque, const void *records, size_t count, uint64_t linear);

/*
 * Memory for the DS save area: the management area, then the BTS buffer of at most
 * `bts_bytes`, then the PEBS buffer in what is left.  Where bts_memory is set, the BTS
 * buffer lies there instead; buffers that the BTS sink goes on with are seen by the driver at
 * the same distance from their linear address as the first.
 */
struct spmu_driver_memory {
	void *memory;
	uint64_t linear; /* as the unit sees it */
	size_t bytes;
	size_t bts_bytes;		/* 0: no BTS */
	unsigned records_per_interrupt; /* PEBS threshold; 1: an interrupt at each record;
					   0: most of the buffer */
	bool bts_circular; /* the newest records stay, no interrupt: for spmu_driver_drain() */
	void *bts_memory;  /* NULL: in `memory` */
	uint64_t bts_linear;
};

struct spmu_driver {
	struct spmu_port port;
	const struct spmu_model *model; /* layouts only: */
	const struct spmu_ds_layout *layout;
	const struct spmu_lbr_layout *lbr_layout;
	struct spmu_facilities facilities;
	spmu_sink *sink;
	void *sink_opaque;
	spmu_bts_sink *bts_sink;
	void *bts_sink_opaque;

	void *area;	      /* DS management area, then the buffers */
	uint64_t area_linear; /* its linear address as the unit sees it */
	size_t area_bytes;
	uint64_t pebs_base, pebs_end; /* room for records; 0: none */
	uint64_t pebs_maximum, pebs_threshold;
	uint64_t pebs_data_cfg; /* MSR_PEBS_DATA_CFG */
	uint32_t pebs_groups;	/* that were asked for */
	unsigned pebs_wanted;	/* records_per_interrupt */
	uint64_t bts_base, bts_maximum, bts_threshold;
	uint64_t bts_distance; /* of the driver's address of a BTS buffer from its linear one */
	bool bts_circular;

	struct {
		bool used;
		bool fixed;
		uint8_t index;		 /* PMC or fixed counter number */
		uint16_t escr, tag_escr; /* NetBurst: addresses; 0: none */
		uint8_t starter, starts; /* of a cascade: 1 + the other slot; 0: none */
		uint64_t total;		 /* occurrences before the present counter value */
		uint64_t start;		 /* counter value to which `total` refers */
		struct spmu_request request;
		uint64_t reload; /* period of the last reload, also of those that the unit did at
				    records still in the buffer; request.period: of the next */
	} counter[SPMU_DRIVER_COUNTERS];
	unsigned slots;	    /* of counter[], from here on none is used */
	uint64_t pebs_bits; /* counters with PEBS that are used */
	uint64_t armed;	    /* those of them that waited when the service routine began */
	bool running;
	bool in_service;       /* the service routine is at work: it enables again itself */
	bool draining;	       /* PEBS records are being handed out */
	bool bts_draining;     /* BTS records are being handed out */
	bool lvt_mapped;       /* lvt is valid */
	uint32_t lvt;	       /* what unmasks the LVT entry */
	uint64_t enabled;      /* IA32_PERF_GLOBAL_CTRL and IA32_PEBS_ENABLE while running: */
	uint64_t pebs_enabled; /* a freeze may have cleared the registers themselves */
	uint64_t others;       /* counters of IA32_PERF_GLOBAL_CTRL that other software uses */
	uint64_t debugctl;     /* what is wanted of IA32_DEBUGCTL; 0: the register is left alone */
	uint64_t pebs_next;    /* linear address of the first record that is not in the totals */

	bool lbr;	   /* spmu_driver_enable_lbr() is in force */
	bool stack_taken;  /* since the service routine began: the stack was read ... */
	bool stack_given;  /* ... and went to a PEBS record */
	unsigned branches; /* entries of branch[] */
	struct spmu_branch branch[SPMU_LBR_DEPTH_MAX];

	uint64_t interrupts;  /* service routine calls */
	uint64_t records;     /* PEBS records drained */
	uint64_t buffer_full; /* times the buffer-overflow bit was seen */
	uint64_t collisions;  /* records of formats 0 to 2 that name none or several of the
				 counters with PEBS: no sample is made of them.  Each can leave the
				 total of a counter that it names one too high (18.8.1.1). */
	uint64_t damaged;     /* times the rest of the PEBS buffer could not be read */
	uint64_t bts_records; /* BTS records handed out */
	uint64_t bts_full;    /* times the BTS buffer was found full to its end: records of branches
				 after that, if there were any, are lost */
};

/*
 * Detect the facilities and prepare the driver; nothing is programmed.
 * SPMU_E_UNAVAILABLE when the processor has no unit that the driver serves; SPMU_E_ARGUMENT when
 * a pointer is NULL, or a callback of the port is.
 */
SPMU_API SPMU_MUST_USE enum spmu_status spmu_driver_detect(struct spmu_driver *driver,
							   const struct spmu_port *port,
							   const struct spmu_model *model);

/*
 * Create the DS management area and its buffers and load IA32_DS_AREA and the LVT entry.
 * With bts_bytes there may be too little left for PEBS; precise requests are
 * refused then.
 * SPMU_E_SPACE when not even two records fit, SPMU_E_ARGUMENT when misaligned or in use,
 * SPMU_E_UNAVAILABLE without DS, or without BTS when that is asked for.
 */
SPMU_API SPMU_MUST_USE enum spmu_status
spmu_driver_setup_ds(struct spmu_driver *driver, const struct spmu_driver_memory *memory);

/*
 * What adaptive records hold beside the basic group (SPMU_PEBS_MEMORY, _GPRS, _XMM); the first
 * two unless this is called.  Branches are added by spmu_driver_enable_lbr().
 * SPMU_E_UNAVAILABLE without adaptive records, SPMU_E_ARGUMENT while running or for other
 * groups, SPMU_E_SPACE when not even two such records fit the buffer.
 */
SPMU_API SPMU_MUST_USE enum spmu_status spmu_driver_set_groups(struct spmu_driver *driver,
							       uint32_t groups);

/*
 * Assign a counter to the request and program it, not yet enabled.  A request takes its
 * fixed counter first when that is free, a precise one only where that has PEBS.
 * A counter that other software uses (IA32_PERF_GLOBAL_INUSE) is not free.
 * *slot gets the number for spmu_driver_read().
 * SPMU_E_COUNTER: none is free, or on NetBurst what selects and tags events, or precise
 * distribution is to be alone (pdir_alone);
 * SPMU_E_UNAVAILABLE: precise without PEBS, a period without interrupt;
 * SPMU_E_ARGUMENT: the period does not fit the counter, or the family's counters cannot
 * compare in this way.
 */
SPMU_API SPMU_MUST_USE enum spmu_status
spmu_driver_add(struct spmu_driver *driver, const struct spmu_request *request, unsigned *slot);

/*
 * NetBurst: sample `request` by a cascade (18.15.5.6, 18.15.5.7).  Each starter->period occurrences
 * of `starter` its counter overflows, which starts the counter of `request`; that overflows at each
 * count (FORCE_OVF), so that the second occurrence of `request` from there on interrupts, or
 * another interrupt between the two brings the sample.  Then the counter waits again, and
 * occurrences of `starter` since its overflow belong to its next period.
 *
 * slots[0] gets the starter's, which makes no sample and has the period to change; slots[1]
 * that of `request`, whose samples say that period and whose total is what it counted while it
 * was started.  Between two samples fewer than 2^40 occurrences of either may pass.  By an erratum
 * that 18.15.5.7 tells of, parts of model 2 (of 0 and 1 some) do not interrupt in this way.
 * Status as spmu_driver_add(); SPMU_E_UNAVAILABLE: no cascades; SPMU_E_ARGUMENT: one of the two is
 * precise, the starter has no period, or the other has one; SPMU_E_COUNTER: no two counters
 * that cascade can take them.
 */
SPMU_API SPMU_MUST_USE enum spmu_status spmu_driver_add_cascade(struct spmu_driver *driver,
								const struct spmu_request *starter,
								const struct spmu_request *request,
								unsigned slots[2]);

/*
 * Enable and disable all programmed counters and PEBS, and last branch records with them.  Both
 * clear the indications in IA32_PERF_GLOBAL_STATUS (18.2.2): an overflow that no interrupt has
 * brought yet makes its sample when the counters stop.  A PEBS counter that waits for its record
 * keeps its indication, and its record comes after the next start.
 */
SPMU_API SPMU_MUST_USE enum spmu_status spmu_driver_start(struct spmu_driver *driver);
SPMU_API SPMU_MUST_USE enum spmu_status spmu_driver_stop(struct spmu_driver *driver);

/* Stop everything and give all counters back; what is in the buffers is not handed out. */
SPMU_API SPMU_MUST_USE enum spmu_status spmu_driver_release(struct spmu_driver *driver);

/*
 * Record last branches (17.4.8) with each sample from the next start on; `select` is
 * MSR_LBR_SELECT.  With PEBS records that do not hold branches themselves the interrupt comes
 * at each record, so that each has its own.  The stack is cleared.
 * SPMU_E_ARGUMENT while running; SPMU_E_UNAVAILABLE: no last branch records, or none that
 * can be selected in this way; SPMU_E_SPACE as spmu_driver_set_groups().
 */
SPMU_API SPMU_MUST_USE enum spmu_status spmu_driver_enable_lbr(struct spmu_driver *driver,
							       uint64_t select);
SPMU_API SPMU_MUST_USE enum spmu_status spmu_driver_disable_lbr(struct spmu_driver *driver);

/*
 * Store taken branches in the BTS buffer (17.4.9), at once and whether the counters run or not:
 * those at CPL > 0, those at CPL 0, or both.
 * SPMU_E_UNAVAILABLE: no BTS, no buffer, or only one of the two without the DS-CPL flag;
 * SPMU_E_ARGUMENT: neither, or no sink.
 */
SPMU_API SPMU_MUST_USE enum spmu_status spmu_driver_start_bts(struct spmu_driver *driver, bool user,
							      bool kernel);
SPMU_API SPMU_MUST_USE enum spmu_status spmu_driver_stop_bts(struct spmu_driver *driver);

/*
 * Occurrences of the request since spmu_driver_add(), 64 bits, wraps accounted for.  Without
 * interrupt (Pentium) call this, or spmu_driver_interrupt() where the counter's pin is wired to
 * one, at least once while 2^40 pass.
 */
SPMU_API uint64_t spmu_driver_read(struct spmu_driver *driver, unsigned slot);

/* Change a sampling request's period; takes effect from the next reload. */
SPMU_API SPMU_MUST_USE enum spmu_status spmu_driver_set_period(struct spmu_driver *driver,
							       unsigned slot, uint64_t period);

/* The interrupt service routine (Vol. 3B 17.4.9.5): call it when the PMI is delivered. */
SPMU_API void spmu_driver_interrupt(struct spmu_driver *driver);

/*
 * Hand all records that are in the buffers to the sinks, those of BTS first (the counters must
 * be stopped, or in the service routine; BTS is stopped meanwhile).  A circular BTS buffer
 * comes in up to two pieces, and what its sink returns is not looked at.
 */
SPMU_API void spmu_driver_drain(struct spmu_driver *driver);

/* Where samples and BTS records go. */
SPMU_API void spmu_driver_set_sink(struct spmu_driver *driver, spmu_sink *sink, void *opaque);
SPMU_API void spmu_driver_set_bts_sink(struct spmu_driver *driver, spmu_bts_sink *sink,
				       void *opaque);

#ifdef __cplusplus
}
#endif

#endif
