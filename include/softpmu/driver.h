/* SPDX-License-Identifier: MIT */
/*
 * driver.h: the manual's software procedures: detection, the DS save area, set-up, start, stop, the
 * interrupt service routine, branch traces and last branch records.
 *
 * The driver does what an operating system would do.  It reaches registers and memory only through
 * a port of callbacks, so it runs on silicon, in an emulator, and inside hosts/user.  It allocates
 * nothing.  One driver serves one logical processor.  Only one call at a time may use a driver, so
 * the interrupt must not arrive during another call.  Sinks may call the driver: they may read
 * totals, add requests and change periods.
 *
 * The driver supports these units.  It relies on what it detects; from the model it takes only the
 * layouts of records.
 *	- Architectural performance monitoring, version 1: counters have only EN bits, and the
 *	  service routine looks at the counters' sign.  Versions 2 and 3: global control and
 *	  status, and a freeze that clears the control.  Version 4: status bits that freeze, and
 *	  IA32_PERF_GLOBAL_INUSE.  Version 5: fixed counters by CPUID.0AH:ECX.
 *	- PEBS on PMC0, on four counters, or on all counters and the fixed ones: on as many as have
 *	  a counter reset in the DS save area.  Formats 0 to 4.
 *	- Units without CPUID.0AH, which it finds by family and model.  Pentium: two counters
 *	  without an interrupt, which must be read before they wrap.  P6 family and Pentium M: one
 *	  enable bit. NetBurst: pairs of ESCR and CCCR, tagging, PEBS on one counter of each
 *	  thread.
 *
 * In all functions `driver` is one for which spmu_driver_detect() has returned SPMU_OK, and `slot`
 * is a number from spmu_driver_add().  SPMU_E_UNAVAILABLE also means that an access to a register
 * faulted which should not have.
 *
 * Example: examples/driver.c.
 */
#ifndef SOFTPMU_DRIVER_H
#define SOFTPMU_DRIVER_H

#include <softpmu/ds.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The most requests that a driver takes at a time. */
#define SPMU_DRIVER_COUNTERS 18

/*
 * The port.  All callbacks are required.
 *
 * opaque		Handed to each callback.
 * rdmsr, wrmsr		Read and write a register.  They return false if the access faults.
 * cpuid		Executes CPUID.
 * map_interrupt	Routes the performance-counter entry of the local vector table to
 *			spmu_driver_interrupt().  Returns the value to program: vector and delivery
 *			mode, not masked.
 * write_lvt		Writes that entry.
 * interrupted		Tells registers and time-stamp counter of the interrupted context, for
 *			samples without PEBS.
 */
struct spmu_port {
	size_t size; /* sizeof(struct spmu_port): see "Structures" in base.h */
	void *opaque;
	bool (*rdmsr)(void *opaque, uint32_t msr, uint64_t *value);
	bool (*wrmsr)(void *opaque, uint32_t msr, uint64_t value);
	void (*cpuid)(void *opaque, uint32_t leaf, uint32_t subleaf, struct spmu_cpuid_regs *regs);
	uint32_t (*map_interrupt)(void *opaque);
	void (*write_lvt)(void *opaque, uint32_t value);
	void (*interrupted)(void *opaque, struct spmu_registers *regs, uint64_t *tsc);
};

/*
 * What detection finds (Vol. 3B 18.2, 18.13.1, 17.4.9.1, 17.4.8.1).
 *
 * perfmon_version	0: a unit from before architectural performance monitoring.
 * general_set		The general counters that this logical processor may use, bit n = PMCn.
 * fixed_set		The fixed counters that exist, bit n = fixed counter n.
 * enable_first		EN of the first event select enables all counters (P6).
 * no_interrupt		An overflow does not interrupt (Pentium).
 * iq_escrs		MSR_IQ_ESCR0 and 1 exist (NetBurst, models 0 to 2).
 * extended_cascade	Bit 11 of some CCCRs starts counters (NetBurst, from model 2 on).
 * thread		0 or 1: which thread of a core whose threads share the unit (NetBurst).
 * pebs, bts		They exist, and IA32_MISC_ENABLE does not switch them off.
 * pebs_baseline	Adaptive records (MSR_PEBS_DATA_CFG).
 * precise_store	IA32_PEBS_ENABLE[63] for stores on PMC3 (18.9.4.3).
 * pdir_alone		Precise distribution requires that no other general counter runs (18.9.4.4).
 * absent_events	CPUID.0AH:EBX, or the same by leaf 23H.
 */
struct spmu_facilities {
	enum spmu_programming programming;
	uint8_t perfmon_version;
	uint8_t counters, counter_bits;
	uint32_t general_set;
	uint8_t fixed_counters, fixed_bits;
	uint32_t fixed_set;
	bool full_width_writes;
	bool enable_first;
	bool no_interrupt;
	bool iq_escrs;
	bool extended_cascade;
	uint8_t thread;
	bool ds, ds64, ds_cpl, pdcm;
	bool pebs;
	bool pebs_baseline;
	bool precise_store;
	bool pdir_alone;
	bool bts;
	bool lbr;
	uint8_t pebs_format, lbr_format;
	uint32_t absent_events;
};

/*
 * One event to count or to sample.
 *
 * select	The fields of IA32_PERFEVTSELx, with EN and INT clear.  On a family without event
 *		selects: the same fields of rings, threads, threshold, edge and inversion, as far as
 *		the family has them.
 * code		There: the code of the event, as struct spmu_event has it.
 * tagger	NetBurst (18.15.6).  With front_end_event and execution_event: the code of the event
 *		that tags.  With replay_event: bits 23:0 of IA32_PEBS_ENABLE and, in 31:24, bits 7:0
 *		of MSR_PEBS_MATRIX_VERT.  Otherwise 0.
 * counters	The general counters that may count it, bit n = PMCn.
 * fixed	A fixed counter that counts the same, or -1.  A precise request uses it only where
 *		fixed counters have PEBS.
 * period	Occurrences between two samples; 0: only count.
 * precise	Sample with PEBS.
 * tag		The driver hands it back with each sample.
 * offcore	With an off-core response event: the value of its register, MSR_OFFCORE_RSP_0 or
 *		MSR_OFFCORE_RSP_1 (18.8.1.3, 18.9.5).  If it has another value for another request,
 *		the driver takes the other event, which counts the same.  0: it writes neither.
 */
struct spmu_request {
	size_t size; /* sizeof(struct spmu_request) */
	uint64_t select;
	uint64_t code;
	uint32_t tagger;
	uint32_t counters;
	int8_t fixed;
	uint64_t period;
	bool precise;
	uint32_t tag;
	uint64_t offcore;
};

/*
 * One sample, from a PEBS record or from the interrupted context.
 *
 * precise	It is from a PEBS record.
 * period	Occurrences that it represents, as the request asked for.  PEBS samples come at
 *		every (period + 1)th occurrence: the overflow arms, the next occurrence is
 *		recorded, and then the counter starts again.  With precise distribution
 *		(spmu_model_pdir()) they come at every period-th, the one that overflows.
 * record	Valid during the call.  If the sample is not precise, only `regs` and `tsc` are set,
 *		and eventing_ip is RIP.
 * ip		The instruction that the sample belongs to, as far as the unit tells: the eventing
 *		IP of formats 2 to 4, otherwise where execution continues.
 * tsc		The time in the record.  Before format 3: the time of the interrupt that brought it.
 * branches	The last branch records, newest first, while spmu_driver_enable_lbr() is in force:
 *		from the adaptive record, otherwise read in the service routine.  If an interrupt
 *		was late, and the service routine finds several PEBS records, only the last one has
 *		branches.  Valid during the call.
 */
struct spmu_sample {
	uint32_t tag;
	bool precise;
	uint64_t period;
	const struct spmu_pebs_record *record;
	uint64_t ip, tsc;
	const struct spmu_branch *branches;
	unsigned branch_count;
};

/* Takes a sample.  It may block, and then the observed program waits. */
typedef void spmu_sink(void *opaque, const struct spmu_sample *sample);

/*
 * Takes BTS records, oldest first, where they are: `count` records in the layout's format at
 * `records`, whose linear address is `linear`.  Returns the linear address of the buffer to
 * continue with: the same one if the records have been consumed, or another of the same size.  So
 * buffers can take turns without a copy.  It may block.  An address that is 0, not a multiple of
 * 4, or too large for the layout means the same buffer.
 */
typedef uint64_t spmu_bts_sink(void *opaque, const void *records, size_t count, uint64_t linear);

/*
 * Memory for the DS save area.  It must be present, writable, mapped at contiguous linear addresses
 * and never paged out (Vol. 3B 17.4.9.2).  The driver reads and writes it directly.  It must stay
 * valid until spmu_driver_release().
 *
 * memory	The memory as the driver sees it, aligned to 4 bytes.  It holds the management area,
 *		then the BTS buffer of at most `bts_bytes`, then the PEBS buffer in the rest.
 * linear	Its address as the unit sees it, a multiple of 4.
 * bts_bytes	0: no BTS.
 * records_per_interrupt
 *		The PEBS threshold.  1: an interrupt at each record.  0: when most of the buffer is
 *		full.
 * bts_circular	The buffer keeps the newest records and does not interrupt; spmu_driver_drain()
 *		hands them out.
 * bts_memory, bts_linear
 *		If bts_memory is not NULL, the BTS buffer is there instead.  Other buffers that the
 *		BTS sink returns must be at the same distance from their linear address.
 */
struct spmu_driver_memory {
	size_t size; /* sizeof(struct spmu_driver_memory) */
	void *memory;
	uint64_t linear;
	size_t bytes;
	size_t bts_bytes;
	unsigned records_per_interrupt;
	bool bts_circular;
	void *bts_memory;
	uint64_t bts_linear;
};

/*
 * A driver.  Programs may read `facilities`, `layout`, `running` and the statistics at the end, and
 * nothing else.
 *
 * interrupts	Calls of the service routine.
 * records	PEBS records that were handed out.
 * buffer_full	How often the service routine found the buffer-overflow bit set.
 * collisions	Records of formats 0 to 2 that name none or several of the counters with PEBS.  They
 *		give no sample.  Each can leave the total of a counter that it names one too high
 *		(18.8.1.1).
 * damaged	How often the rest of the PEBS buffer could not be read.
 * bts_records	BTS records that were handed out.
 * bts_full	How often the BTS buffer was full to its end.  Records of branches after that, if
 *		there were any, are lost.
 */
struct spmu_driver {
	struct spmu_port port;
	const struct spmu_model *model; /* only for layouts */
	const struct spmu_ds_layout *layout;
	const struct spmu_lbr_layout *lbr_layout;
	struct spmu_facilities facilities;
	spmu_sink *sink;
	void *sink_opaque;
	spmu_bts_sink *bts_sink;
	void *bts_sink_opaque;

	/* Private. */
	void *area;	      /* the DS management area, then the buffers */
	uint64_t area_linear; /* its linear address as the unit sees it */
	size_t area_bytes;
	uint64_t pebs_base, pebs_end; /* space for records; 0: none */
	uint64_t pebs_maximum, pebs_threshold;
	uint64_t pebs_data_cfg; /* MSR_PEBS_DATA_CFG */
	uint32_t pebs_groups;	/* as the program asked for */
	unsigned pebs_wanted;	/* records_per_interrupt */
	uint64_t bts_base, bts_maximum, bts_threshold;
	uint64_t bts_distance; /* from a BTS buffer's linear address to the driver's */
	bool bts_circular;
	struct {
		bool used;
		bool fixed;
		bool off;		 /* spmu_driver_set_enabled() */
		uint8_t index;		 /* number of the general or fixed counter */
		uint16_t escr, tag_escr; /* NetBurst: addresses; 0: none */
		uint8_t starter, starts; /* of a cascade: 1 + the other slot; 0: none */
		uint64_t total;		 /* occurrences before the counter had `start` */
		uint64_t start;		 /* the counter value to which `total` refers */
		struct spmu_request request;
		uint64_t reload; /* the period of the last reload, by the driver or by the unit;
				    request.period is that of the next */
	} counter[SPMU_DRIVER_COUNTERS];
	unsigned slots;	       /* entries of counter[] that may be used */
	uint64_t pebs_bits;    /* counters with PEBS that are used */
	uint64_t armed;	       /* those of them that waited when the service routine began */
	bool running;	       /* between start and stop; programs may read it */
	bool in_service;       /* the service routine runs; it enables again itself */
	bool draining;	       /* PEBS records are being handed out */
	bool bts_draining;     /* BTS records are being handed out */
	bool lvt_mapped;       /* `lvt` is valid */
	uint32_t lvt;	       /* the value that unmasks the LVT entry */
	uint64_t enabled;      /* IA32_PERF_GLOBAL_CTRL and IA32_PEBS_ENABLE while running; */
	uint64_t pebs_enabled; /* a freeze may have cleared the registers themselves */
	uint64_t others;       /* counters of IA32_PERF_GLOBAL_CTRL that other software uses */
	uint64_t debugctl;     /* the bits of IA32_DEBUGCTL that are on; 0: it is left alone */
	uint64_t pebs_next;    /* linear address of the first record that is not in the totals */
	bool lbr;	       /* spmu_driver_enable_lbr() is in force */
	uint64_t lbr_ctl;      /* architectural last branch records: the filter in IA32_LBR_CTL */
	bool stack_taken;      /* the service routine has read the stack of branches ... */
	bool stack_given;      /* ... and given it to a PEBS record */
	unsigned branches;     /* entries of branch[] */
	struct spmu_branch branch[SPMU_LBR_DEPTH_MAX];

	/* Statistics. */
	uint64_t interrupts;
	uint64_t records;
	uint64_t buffer_full;
	uint64_t collisions;
	uint64_t damaged;
	uint64_t bts_records;
	uint64_t bts_full;
};

/* Returns the size of struct spmu_driver, for languages that do not read this header. */
SPMU_API size_t spmu_driver_bytes(void);

/*
 * Detects the facilities and prepares the driver.  It only reads registers.
 *
 * driver	The caller's memory, with any contents.
 * bytes	Its size, sizeof(struct spmu_driver).
 * port		The driver copies it.
 * model	The model whose layouts the records have.
 *
 * SPMU_E_ARGUMENT: a pointer or a callback of the port is NULL, or port->size is wrong.
 * SPMU_E_SPACE: `bytes` is less than spmu_driver_bytes(): the program was compiled with other
 * headers.
 * SPMU_E_UNAVAILABLE: the processor has no unit that the driver supports.  *driver is then without
 * facilities.
 */
SPMU_API SPMU_MUST_USE enum spmu_status spmu_driver_detect(struct spmu_driver *driver, size_t bytes,
							   const struct spmu_port *port,
							   const struct spmu_model *model);

/*
 * Creates the DS management area and its buffers, and loads IA32_DS_AREA and the LVT entry.  The
 * BTS buffer may leave too little memory for PEBS; then precise requests are refused.
 *
 * SPMU_E_ARGUMENT: one of these is true:
 *		- `memory` or memory->memory is NULL, or the size is wrong;
 *		- an address is 0 or misaligned;
 *		- the memory is beyond what the layout can address;
 *		- an area is in use.
 * SPMU_E_SPACE: not even two records fit.
 * SPMU_E_UNAVAILABLE: no DS; BTS is asked for and there is none; no BTS is asked for and there is
 * no PEBS; or a register faulted, and then the driver has no area.
 */
SPMU_API SPMU_MUST_USE enum spmu_status
spmu_driver_setup_ds(struct spmu_driver *driver, const struct spmu_driver_memory *memory);

/*
 * Selects what adaptive records hold besides the basic group: a set of SPMU_PEBS_MEMORY,
 * SPMU_PEBS_GPRS and SPMU_PEBS_XMM.  Without this call: the first two.  spmu_driver_enable_lbr()
 * adds branches.  Records in the buffer are handed out first.
 *
 * SPMU_E_ARGUMENT: the driver is running, or `groups` has other bits.
 * SPMU_E_SPACE: not even two such records fit the buffer.
 * SPMU_E_UNAVAILABLE: no adaptive records, or a register faulted.
 */
SPMU_API SPMU_MUST_USE enum spmu_status spmu_driver_set_groups(struct spmu_driver *driver,
							       uint32_t groups);

/*
 * Assigns a counter to a request and programs it.  It counts from the next start on.  A request
 * takes its fixed counter first, if that is free.  A counter that other software uses
 * (IA32_PERF_GLOBAL_INUSE) is not free.
 *
 * request	The driver copies it.
 * slot		Receives the number for the other functions; unchanged on error.
 *
 * SPMU_E_ARGUMENT: one of these is true:
 *		- a pointer is NULL, or the size is wrong;
 *		- `select` has EN or INT;
 *		- a precise request has no period, or the period does not fit the counter;
 *		- the family's counters cannot compare in this way;
 *		- `offcore` is not 0, and `select` names no off-core response event.
 * SPMU_E_COUNTER: no counter is free; the registers of off-core responses have other values; on
 * NetBurst also: what selects and tags events is taken; with precise distribution also: it must be
 * alone (pdir_alone).
 * SPMU_E_UNAVAILABLE: the request is precise and there is no PEBS or no buffer for it; it has a
 * period and the family has no interrupt; or a register faulted, as with reserved bits in
 * `offcore`.
 */
SPMU_API SPMU_MUST_USE enum spmu_status
spmu_driver_add(struct spmu_driver *driver, const struct spmu_request *request, unsigned *slot);

/*
 * Samples `request` by a cascade (NetBurst, 18.15.5.6, 18.15.5.7).  After each starter->period
 * occurrences of `starter` its counter overflows.  The overflow starts the counter of `request`,
 * and that one overflows at each count (FORCE_OVF).  So the second occurrence of `request` from
 * there on interrupts, or another interrupt between the two brings the sample.  Then the counter
 * waits again. Occurrences of `starter` after its overflow belong to its next period.
 *
 * slots[0]	Receives the starter's slot.  It makes no samples; spmu_driver_set_period() changes
 *		its period.
 * slots[1]	Receives the slot of `request`.  Its samples have the starter's period.  Its total
 *		is what it counted while it was started.
 *
 * Between two samples fewer than 2^40 occurrences of either may pass.  By an erratum (18.15.5.7)
 * parts of model 2, and some of models 0 and 1, do not interrupt in this way.
 *
 * Errors are those of spmu_driver_add(), and:
 * SPMU_E_ARGUMENT: one of the two is precise, the starter has no period, or the other has one.
 * SPMU_E_COUNTER: no two counters that cascade can count them.
 * SPMU_E_UNAVAILABLE: the family has no cascades.
 */
SPMU_API SPMU_MUST_USE enum spmu_status spmu_driver_add_cascade(struct spmu_driver *driver,
								const struct spmu_request *starter,
								const struct spmu_request *request,
								unsigned slots[2]);

/*
 * Removes a request and frees its counter; of a cascade both, by either slot.  The number of the
 * slot may be given to the next request.  Records of the request in the PEBS buffer are handed out
 * first.
 *
 * SPMU_E_ARGUMENT: the slot is not used, or the driver is running.
 * SPMU_E_UNAVAILABLE: a register faulted; the counter is free all the same.
 */
SPMU_API SPMU_MUST_USE enum spmu_status spmu_driver_remove(struct spmu_driver *driver,
							   unsigned slot);

/*
 * Sets whether a request counts from the next start on; after spmu_driver_add() it does.  A request
 * that does not count keeps its counter, its total and the rest of its period.  Both requests of a
 * cascade change, by either slot.
 *
 * SPMU_E_ARGUMENT: the slot is not used, or the driver is running.
 */
SPMU_API SPMU_MUST_USE enum spmu_status spmu_driver_set_enabled(struct spmu_driver *driver,
								unsigned slot, bool enabled);

/*
 * spmu_driver_start() enables all programmed counters, PEBS and last branch records, except for
 * requests that spmu_driver_set_enabled() has switched off.  spmu_driver_stop() disables them.
 * Both clear the indications in IA32_PERF_GLOBAL_STATUS (18.2.2).  An overflow whose interrupt has
 * not come yet gives its sample when the counters stop.  A PEBS counter that waits for its record
 * keeps its indication, and its record comes after the next start.
 *
 * SPMU_E_UNAVAILABLE: there are no counters, or a register faulted.  After a failed start the
 * counters are stopped.  After a failed stop the driver counts as stopped.
 */
SPMU_API SPMU_MUST_USE enum spmu_status spmu_driver_start(struct spmu_driver *driver);
SPMU_API SPMU_MUST_USE enum spmu_status spmu_driver_stop(struct spmu_driver *driver);

/*
 * Stops everything and frees all counters.  Records in the buffers are not handed out.
 *
 * SPMU_E_UNAVAILABLE: a register faulted.  All other registers were written nevertheless, and no
 * slot is used any more.
 */
SPMU_API SPMU_MUST_USE enum spmu_status spmu_driver_release(struct spmu_driver *driver);

/*
 * spmu_driver_enable_lbr() records last branches (17.4.8) with each sample, from the next start on.
 * `select` is the value for MSR_LBR_SELECT.  If PEBS records do not hold branches themselves, the
 * interrupt comes at each record, so that each record has its own branches.  The stack is cleared.
 * spmu_driver_disable_lbr() switches this off.
 *
 * SPMU_E_ARGUMENT: the driver is running.
 * SPMU_E_SPACE: not even two records with branches fit the PEBS buffer.
 * SPMU_E_UNAVAILABLE: no last branch records, no selection in this way, or a register faulted.
 */
SPMU_API SPMU_MUST_USE enum spmu_status spmu_driver_enable_lbr(struct spmu_driver *driver,
							       uint64_t select);
SPMU_API SPMU_MUST_USE enum spmu_status spmu_driver_disable_lbr(struct spmu_driver *driver);

/*
 * spmu_driver_start_bts() stores taken branches in the BTS buffer (17.4.9), at once, whether or not
 * the counters run.  `user`: branches at CPL > 0.  `kernel`: branches at CPL 0.
 * spmu_driver_stop_bts() stops this.
 *
 * SPMU_E_ARGUMENT: neither `user` nor `kernel`, or there is no sink.
 * SPMU_E_UNAVAILABLE: no BTS, no buffer, only one of the two without the DS-CPL flag, or a register
 * faulted.
 */
SPMU_API SPMU_MUST_USE enum spmu_status spmu_driver_start_bts(struct spmu_driver *driver, bool user,
							      bool kernel);
SPMU_API SPMU_MUST_USE enum spmu_status spmu_driver_stop_bts(struct spmu_driver *driver);

/*
 * Returns how many occurrences a request has counted since spmu_driver_add(), with 64 bits whatever
 * the width of the counter; 0 if the slot is not used.  On a family without interrupt (Pentium),
 * call this at least once in 2^40 occurrences, or let the counter's pin call
 * spmu_driver_interrupt().
 */
SPMU_API uint64_t spmu_driver_read(struct spmu_driver *driver, unsigned slot);

/*
 * Changes the period of a request that samples.  The new period begins with the next reload.  With
 * PEBS, records in the buffer are handed out first.  A sink may call this for the slot of its
 * sample.
 *
 * SPMU_E_ARGUMENT: the slot is not used, the request does not sample, or the period is 0 or does
 * not fit the counter.
 * SPMU_E_FAULT: the DS save area could not be written; the counter may use the old period once
 * more.
 * SPMU_E_UNAVAILABLE: a register faulted.
 */
SPMU_API SPMU_MUST_USE enum spmu_status spmu_driver_set_period(struct spmu_driver *driver,
							       unsigned slot, uint64_t period);

/*
 * The interrupt service routine (Vol. 3B 17.4.9.5).  Call it when the performance-monitoring
 * interrupt is delivered.  It hands samples to the sink and enables the counters again.
 */
SPMU_API void spmu_driver_interrupt(struct spmu_driver *driver);

/*
 * Hands all records in the buffers to the sinks, BTS records first.  The counters must be stopped,
 * or the caller must be the service routine.  BTS is stopped meanwhile.  A circular BTS buffer
 * comes in up to two pieces, and the address that its sink returns is ignored.
 */
SPMU_API void spmu_driver_drain(struct spmu_driver *driver);

/*
 * Set where samples and BTS records go.  `opaque` is handed to the sink.  NULL: nowhere; they are
 * counted in the statistics and dropped.
 */
SPMU_API void spmu_driver_set_sink(struct spmu_driver *driver, spmu_sink *sink, void *opaque);
SPMU_API void spmu_driver_set_bts_sink(struct spmu_driver *driver, spmu_bts_sink *sink,
				       void *opaque);

#ifdef __cplusplus
}
#endif

#endif
