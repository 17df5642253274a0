/* SPDX-License-Identifier: MIT */
/*
 * driver.h: the manual's software procedures over a small port: detection,
 * the DS save area, set-up, start, stop, the DS interrupt service routine.
 *
 * The driver is what an operating system would have.  It knows registers and
 * memory only through the port, so it runs on silicon (a port of RDMSR and WRMSR),
 * in an emulator, and inside hosts/user.  It allocates nothing.
 * One driver serves one logical processor.
 *
 * Example: examples/driver.c.
 */
#ifndef SOFTPMU_DRIVER_H
#define SOFTPMU_DRIVER_H

#include <softpmu/ds.h>

#define SPMU_DRIVER_COUNTERS 16

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

/* What detection finds, in the manual's order (Vol. 3B 18.2, 18.13.1, 17.4.9.1). */
struct spmu_facilities {
	uint8_t perfmon_version;
	uint8_t counters, counter_bits;
	uint8_t fixed_counters, fixed_bits;
	bool full_width_writes;
	bool ds, ds64, ds_cpl, pdcm;
	bool pebs; /* available and not switched off in IA32_MISC_ENABLE */
	bool bts;
	uint8_t pebs_format;
	uint32_t absent_events; /* CPUID.0AH:EBX */
};

/* One event to count or to sample. */
struct spmu_request {
	uint64_t select;   /* IA32_PERFEVTSELx fields, EN and INT left clear */
	uint32_t counters; /* general counters that may take it, bit n = PMCn */
	int8_t fixed;	   /* a fixed counter that counts the same, or -1 */
	uint64_t period;   /* occurrences between samples; 0: only count */
	bool precise;	   /* sample with PEBS */
	uint32_t tag;	   /* handed back with each sample */
};

/*
 * One sample, from a PEBS record or from the interrupted context.  `period` is what was
 * asked for.  PEBS records come at every (period + 1)th occurrence: the overflow
 * arms, the next occurrence is recorded, and then the counter starts again.
 */
struct spmu_sample {
	uint32_t tag;
	bool precise;
	uint64_t period;		       /* occurrences that it stands for */
	const struct spmu_pebs_record *record; /* for non-precise samples only regs and tsc are set,
						  and eventing_ip = rip */
};

/* Takes samples; may block (the observed program waits), never drops. */
typedef void spmu_sink(void *opaque, const struct spmu_sample *sample);

struct spmu_driver {
	struct spmu_port port;
	const struct spmu_model *model; /* layouts only */
	struct spmu_facilities facilities;
	spmu_sink *sink;
	void *sink_opaque;

	void *area;	      /* DS management area, then the PEBS buffer */
	uint64_t area_linear; /* its linear address as the unit sees it */
	size_t area_bytes;
	uint64_t pebs_base, pebs_maximum, pebs_threshold;

	struct {
		bool used;
		bool fixed;
		uint8_t index;	/* PMC or fixed counter number */
		uint64_t total; /* occurrences before the present counter value */
		uint64_t start; /* counter value to which `total` refers */
		struct spmu_request request;
		uint64_t reload; /* period of the last reload, also of those that the unit did at
				    records still in the buffer; request.period: of the next */
	} counter[SPMU_DRIVER_COUNTERS];
	bool running;
	bool in_service;       /* the service routine is at work: it enables again itself */
	bool draining;	       /* spmu_driver_drain() is at work */
	bool lvt_mapped;       /* lvt is valid */
	uint32_t lvt;	       /* what unmasks the LVT entry */
	uint64_t enabled;      /* IA32_PERF_GLOBAL_CTRL and IA32_PEBS_ENABLE while running: */
	uint64_t pebs_enabled; /* a freeze may have cleared the registers themselves */
	uint64_t pebs_next;    /* linear address of the first record that is not in the totals */

	uint64_t interrupts;  /* service routine calls */
	uint64_t records;     /* PEBS records drained */
	uint64_t buffer_full; /* times the buffer-overflow bit was seen */
};

/*
 * Detect the facilities and prepare the driver; nothing is programmed.
 * SPMU_E_UNAVAILABLE when there is no architectural unit.
 */
SPMU_API SPMU_MUST_USE enum spmu_status spmu_driver_detect(struct spmu_driver *driver,
							   const struct spmu_port *port,
							   const struct spmu_model *model);

/*
 * Create the DS management area and a PEBS buffer in `memory` (linear address
 * `linear`) and load IA32_DS_AREA and the LVT entry.  `records_per_interrupt`
 * sets the threshold: 1 interrupts at each record; 0 means most of the buffer.
 * SPMU_E_SPACE when not even two records fit, SPMU_E_ARGUMENT when misaligned,
 * SPMU_E_UNAVAILABLE without DS.
 */
SPMU_API SPMU_MUST_USE enum spmu_status spmu_driver_setup_ds(struct spmu_driver *driver,
							     void *memory, uint64_t linear,
							     size_t bytes,
							     unsigned records_per_interrupt);

/*
 * Assign a counter to the request and program it, not yet enabled.  A counting
 * or non-precise request takes its fixed counter first when that is free.
 * *slot gets the number for spmu_driver_read().
 * SPMU_E_COUNTER: none is free; SPMU_E_UNAVAILABLE: precise without PEBS;
 * SPMU_E_ARGUMENT: the period does not fit the counter.
 */
SPMU_API SPMU_MUST_USE enum spmu_status
spmu_driver_add(struct spmu_driver *driver, const struct spmu_request *request, unsigned *slot);

/* Enable and disable all programmed counters (IA32_PERF_GLOBAL_CTRL, IA32_PEBS_ENABLE). */
SPMU_API SPMU_MUST_USE enum spmu_status spmu_driver_start(struct spmu_driver *driver);
SPMU_API SPMU_MUST_USE enum spmu_status spmu_driver_stop(struct spmu_driver *driver);

/* Occurrences of the request since spmu_driver_add(), 64 bits, wraps accounted for. */
SPMU_API uint64_t spmu_driver_read(struct spmu_driver *driver, unsigned slot);

/* Change a sampling request's period; takes effect from the next reload. */
SPMU_API SPMU_MUST_USE enum spmu_status spmu_driver_set_period(struct spmu_driver *driver,
							       unsigned slot, uint64_t period);

/* The interrupt service routine (Vol. 3B 17.4.9.5): call it when the PMI is delivered. */
SPMU_API void spmu_driver_interrupt(struct spmu_driver *driver);

/* Hand all records that are in the PEBS buffer to the sink (the unit must be stopped or in the
 * service routine). */
SPMU_API void spmu_driver_drain(struct spmu_driver *driver);

/* Where samples go. */
SPMU_API void spmu_driver_set_sink(struct spmu_driver *driver, spmu_sink *sink, void *opaque);

#endif
