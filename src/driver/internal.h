/* SPDX-License-Identifier: MIT */
/*
 * internal.h: what the files of the driver share: the registers that the driver uses (Vol. 3B 17.4,
 * 18.2, 18.4.4; addresses in Vol. 3C chapter 35), and access to them through the port.
 *
 * The driver has its own list of addresses. It is software that also runs on silicon, and it must
 * not inherit a mistake in the unit's map.
 */
#ifndef SOFTPMU_DRIVER_INTERNAL_H
#define SOFTPMU_DRIVER_INTERNAL_H

#include <softpmu/driver.h>

enum {
	DRV_CESR = 0x011,
	DRV_CTR0 = 0x012,
	DRV_IA32_PMC0 = 0x0c1, /* PerfCtr0 of P6 */
	DRV_IA32_PERFEVTSEL0 = 0x186,
	DRV_IA32_MISC_ENABLE = 0x1a0,
	DRV_MSR_OFFCORE_RSP_0 = 0x1a6,
	DRV_MSR_OFFCORE_RSP_1 = 0x1a7,
	DRV_IA32_DEBUGCTL = 0x1d9,
	DRV_MSR_BPU_COUNTER0 = 0x300, /* NetBurst: 18 in a row, as are their CCCRs */
	DRV_IA32_FIXED_CTR0 = 0x309,
	DRV_MSR_BPU_CCCR0 = 0x360,
	DRV_IA32_PERF_CAPABILITIES = 0x345,
	DRV_IA32_FIXED_CTR_CTRL = 0x38d,
	DRV_IA32_PERF_GLOBAL_STATUS = 0x38e,
	DRV_IA32_PERF_GLOBAL_CTRL = 0x38f,
	DRV_IA32_PERF_GLOBAL_STATUS_RESET = 0x390, /* IA32_PERF_GLOBAL_OVF_CTRL before version 4 */
	DRV_IA32_PERF_GLOBAL_INUSE = 0x392,
	DRV_IA32_PEBS_ENABLE = 0x3f1,
	DRV_MSR_PEBS_DATA_CFG = 0x3f2,
	DRV_MSR_PEBS_MATRIX_VERT = 0x3f2, /* NetBurst */
	DRV_IA32_A_PMC0 = 0x4c1,
	DRV_IA32_DS_AREA = 0x600,
};
#define DRV_IA32_EFER	  UINT32_C(0xc0000080)
#define DRV_IA32_EFER_LMA DRV_BIT(10)

#define DRV_BIT(n) (UINT64_C(1) << (n))

/* IA32_PERFEVTSELx */
#define DRV_SELECT_EVENT    UINT64_C(0xffff) /* event select and unit mask */
#define DRV_SELECT_USR	    DRV_BIT(16)
#define DRV_SELECT_OS	    DRV_BIT(17)
#define DRV_SELECT_EDGE	    DRV_BIT(18)
#define DRV_SELECT_PIN	    DRV_BIT(19)
#define DRV_SELECT_INT	    DRV_BIT(20)
#define DRV_SELECT_ANY	    DRV_BIT(21)
#define DRV_SELECT_EN	    DRV_BIT(22)
#define DRV_SELECT_INV	    DRV_BIT(23)
#define DRV_SELECT_CMASK(v) ((unsigned)((v) >> 24 & 0xff))
#define DRV_SELECT_ADAPTIVE DRV_BIT(34)

/* The event selects and the full-width counters have ten addresses in a row. */
#define DRV_COUNTERS UINT32_C(0x3ff)

/* The registers above have bits for this many fixed counters. */
#define DRV_FIXED UINT32_C(0xffff)

/* IA32_FIXED_CTR_CTRL, the four bits of one counter, and bit 32 with its own shift */
#define DRV_FIXED_OS	   1u
#define DRV_FIXED_USR	   2u
#define DRV_FIXED_ANY	   4u
#define DRV_FIXED_PMI	   8u
#define DRV_FIXED_ADAPTIVE DRV_BIT(32)

#define DRV_STATUS_FIXED0    32
#define DRV_STATUS_LBR_FRZ   DRV_BIT(58)
#define DRV_STATUS_CTR_FRZ   DRV_BIT(59)
#define DRV_STATUS_OVFBUFFER DRV_BIT(62)
#define DRV_STATUS_CONDCHGD  DRV_BIT(63)

/* IA32_DEBUGCTL */
#define DRV_DEBUG_LBR	      DRV_BIT(0)
#define DRV_DEBUG_TR	      DRV_BIT(6)
#define DRV_DEBUG_BTS	      DRV_BIT(7)
#define DRV_DEBUG_BTINT	      DRV_BIT(8)
#define DRV_DEBUG_BTS_OFF_OS  DRV_BIT(9)
#define DRV_DEBUG_BTS_OFF_USR DRV_BIT(10)
#define DRV_DEBUG_FREEZE_LBRS DRV_BIT(11)
#define DRV_DEBUG_TRACE                                                                            \
	(DRV_DEBUG_TR | DRV_DEBUG_BTS | DRV_DEBUG_BTINT | DRV_DEBUG_BTS_OFF_OS |                   \
	 DRV_DEBUG_BTS_OFF_USR)

#define DRV_LVT_MASKED (UINT32_C(1) << 16)

static inline bool drv_read(const struct spmu_driver *driver, uint32_t msr, uint64_t *value)
{
	return driver->port.rdmsr(driver->port.opaque, msr, value);
}

static inline bool drv_write(const struct spmu_driver *driver, uint32_t msr, uint64_t value)
{
	return driver->port.wrmsr(driver->port.opaque, msr, value);
}

/* Returns true if IA32_PERF_GLOBAL_CTRL, _STATUS and so on exist (18.2.2). */
static inline bool drv_has_global(const struct spmu_driver *driver)
{
	return driver->facilities.perfmon_version >= 2;
}

/* Returns true if counters are written in full width, not as 32 bits with their sign. */
static inline bool drv_writes_all(const struct spmu_driver *driver)
{
	return driver->facilities.full_width_writes ||
	       driver->facilities.programming != SPMU_PROGRAM_PERFEVTSEL;
}

/* All ones in the width of the slot's counter. */
static inline uint64_t drv_counter_mask(const struct spmu_driver *driver, unsigned slot)
{
	const struct spmu_facilities *f = &driver->facilities;

	return DRV_BIT(driver->counter[slot].fixed ? f->fixed_bits : f->counter_bits) - 1;
}

/*
 * Returns the slot's bit in the global control, status and reset registers and in IA32_PEBS_ENABLE;
 * for units without these registers, its bit in the driver's own sets.
 */
static inline uint64_t drv_counter_bit(const struct spmu_driver *driver, unsigned slot)
{
	unsigned index = driver->counter[slot].index;

	return DRV_BIT(driver->counter[slot].fixed ? DRV_STATUS_FIXED0 + index : index);
}

/* Returns the counter value from which `period` occurrences lead to 0. */
static inline uint64_t drv_start_value(const struct spmu_driver *driver, unsigned slot,
				       uint64_t period)
{
	return (0 - period) & drv_counter_mask(driver, slot);
}

static inline bool drv_is_pebs(const struct spmu_driver *driver, unsigned slot)
{
	return driver->counter[slot].used && driver->counter[slot].request.precise;
}

#define DRV_PEBS_MY_THREAD DRV_BIT(25)
#define DRV_PEBS_STORE	   DRV_BIT(63)

/* Converts counters to bits of IA32_PEBS_ENABLE. NetBurst has one bit for each thread (18.16.3). */
static inline uint64_t drv_pebs_bits(const struct spmu_driver *driver, uint64_t counters)
{
	if (driver->facilities.programming != SPMU_PROGRAM_ESCR)
		return counters;
	return counters ? DRV_PEBS_MY_THREAD : 0;
}

/* Returns the number of the counter reset in the DS save area that a general counter uses. */
static inline unsigned drv_reset_of(const struct spmu_driver *driver, unsigned index)
{
	return driver->facilities.programming == SPMU_PROGRAM_ESCR ? 0 : index;
}

/*
 * Returns true if a request on this counter (fixed ones from 32 on) samples the instruction that
 * overflows the counter (18.9.4.4).
 */
static inline bool drv_is_pdir(const struct spmu_driver *driver, const struct spmu_request *request,
			       unsigned index)
{
	return request->precise && spmu_model_pdir(driver->model, index, request->select);
}

/*
 * Returns the occurrences from loading the slot's PEBS counter, `period` before 0, to its record.
 */
static inline uint64_t drv_to_record(const struct spmu_driver *driver, unsigned slot,
				     uint64_t period)
{
	unsigned first = driver->counter[slot].fixed ? DRV_STATUS_FIXED0 : 0;

	return period + !drv_is_pdir(driver, &driver->counter[slot].request,
				     first + driver->counter[slot].index);
}

/* Returns the counters that have PEBS, as bits of IA32_PEBS_ENABLE; detect.c */
uint64_t spmu_drv_pebs_counters(const struct spmu_driver *driver);

/* Detects what exists without CPUID.0AH, by family and model; family.c */
bool spmu_drv_detect_family(struct spmu_driver *driver, uint32_t max_leaf);

/* Returns the value of IA32_PEBS_ENABLE with PEBS on these counters; counter.c */
bool spmu_drv_write_pebs(const struct spmu_driver *driver, uint64_t counters);

/* Read and write the slot's counter register; counter.c */
bool spmu_drv_read_counter(const struct spmu_driver *driver, unsigned slot, uint64_t *value);
bool spmu_drv_write_counter(const struct spmu_driver *driver, unsigned slot, uint64_t value);

/*
 * Returns the longest period whose start value can be written and whose end can be seen; counter.c
 */
uint64_t spmu_drv_longest_period(const struct spmu_driver *driver, unsigned slot);

/*
 * Returns the occurrences until the slot's counter must interrupt: its period. For a slot that only
 * counts this is 0, which means the whole range, or half of the range if the sign shows the
 * overflow; counter.c
 */
uint64_t spmu_drv_interval(const struct spmu_driver *driver, unsigned slot);

/* Returns Pentium's control register with these counters on; cesr.c */
bool spmu_drv_cesr_write(const struct spmu_driver *driver, uint64_t counters);
bool spmu_drv_cesr_can(const struct spmu_request *request);

/*
 * NetBurst; escr.c. Whether the request can be counted at all. The slot's event selection for this
 * counter (false: another event is selected there). Its registers. Enable bits and overflow flags,
 * as bits of counters. What IA32_PEBS_ENABLE tags on replay.
 */
bool spmu_drv_escr_can(const struct spmu_driver *driver, const struct spmu_request *request);
bool spmu_drv_escr_place(struct spmu_driver *driver, unsigned slot,
			 const struct spmu_request *request, unsigned counter);
bool spmu_drv_escr_program(const struct spmu_driver *driver, unsigned slot, bool on);
bool spmu_drv_escr_enable(const struct spmu_driver *driver, uint64_t counters);
bool spmu_drv_escr_overflowed(const struct spmu_driver *driver, unsigned slot);
bool spmu_drv_escr_clear(const struct spmu_driver *driver, uint64_t counters);
uint64_t spmu_drv_escr_replay(const struct spmu_driver *driver);

/*
 * Off-core response events; offcore.c.  Returns whether the request can have such a register.
 * Writes it, and changes `select` if it has to be the other event.  SPMU_E_COUNTER: the registers
 * have other values.  SPMU_E_UNAVAILABLE: the write faulted.
 */
bool spmu_drv_offcore_can(const struct spmu_driver *driver, const struct spmu_request *request);
enum spmu_status spmu_drv_offcore_write(const struct spmu_driver *driver,
					struct spmu_request *request);

/*
 * NetBurst's cascades: returns the CCCR bit by which counter `from` starts counter `to`, 0 if it
 * cannot; and the bit of the slot's own cascade, 0 if nothing starts it; cascade_bits.c
 */
uint64_t spmu_drv_cascade_link(const struct spmu_driver *driver, unsigned from, unsigned to);
uint64_t spmu_drv_cascade_bit(const struct spmu_driver *driver, unsigned slot);

/*
 * Take a counter for the request and program it, and take it back. Slot `starter` - 1 starts the
 * counter (0: none); program.c
 */
enum spmu_status spmu_drv_add(struct spmu_driver *driver, const struct spmu_request *request,
			      unsigned starter, unsigned *slot);
bool spmu_drv_remove(struct spmu_driver *driver, unsigned slot);

/* Programs the slot's event, or switches it off; counter.c */
bool spmu_drv_program_select(const struct spmu_driver *driver, unsigned slot, bool on);

/* Clears those of these overflow and freeze indications that are set; counter.c */
bool spmu_drv_clear_status(const struct spmu_driver *driver, uint64_t bits);

/* Returns the indications that are no counter's: buffer, CondChgd, freezes; counter.c */
uint64_t spmu_drv_other_status(const struct spmu_driver *driver);

/*
 * Serves the overflows that remain in the status after all counters have stopped.  If `sampling`,
 * it makes a sample of each.  Then it clears the status, except the bits of the PEBS counters in
 * `armed`, which wait for their record.  Returns false if the status cannot be read; interrupt.c
 */
bool spmu_drv_serve_stopped(struct spmu_driver *driver, uint64_t armed, bool sampling);

/* Stop all counters, and start those in `enabled` and `pebs_enabled` again; counter.c */
bool spmu_drv_pause(const struct spmu_driver *driver);
bool spmu_drv_enable(const struct spmu_driver *driver);

/*
 * Change what the driver wants of IA32_DEBUGCTL, stop recording branches for a while, and resume.
 * None of them touches bits that the driver does not set; debug.c
 */
bool spmu_drv_set_debug(struct spmu_driver *driver, uint64_t wanted);
bool spmu_drv_pause_debug(const struct spmu_driver *driver);
bool spmu_drv_resume_debug(const struct spmu_driver *driver);

/* Returns the bits of IA32_DEBUGCTL that last branch records need; debug.c */
uint64_t spmu_drv_lbr_bits(const struct spmu_driver *driver);

/* Returns true if IA32_LBR_CTL controls last branch records. */
static inline bool drv_lbr_architectural(const struct spmu_driver *driver)
{
	return driver->lbr_layout && driver->lbr_layout->ctl;
}

/* Reads the stack of last branch records into branch[], once in a service; debug.c */
void spmu_drv_take_stack(struct spmu_driver *driver);

/* Writes the whole management area with this PEBS index; ds_setup.c */
bool spmu_drv_store_area(struct spmu_driver *driver, uint64_t pebs_index);

/* Does the same with an empty BTS buffer; ds_setup.c */
bool spmu_drv_empty_bts(struct spmu_driver *driver);

/*
 * Return the indices, rounded down to a whole number of records between base and maximum, because
 * others can write to the memory of the area; ds_setup.c
 */
uint64_t spmu_drv_pebs_index(const struct spmu_driver *driver);
uint64_t spmu_drv_bts_index(const struct spmu_driver *driver);

/*
 * Places records of the present configuration in the PEBS buffer, which must be empty.
 * SPMU_E_SPACE: not even two fit; ds_setup.c
 */
enum spmu_status spmu_drv_configure_records(struct spmu_driver *driver);

/* Computes the records before the interrupt from what is in use; ds_setup.c */
void spmu_drv_place_threshold(struct spmu_driver *driver);

/* Routes and loads the LVT entry, once; ds_setup.c */
void spmu_drv_map_interrupt(struct spmu_driver *driver);

/* Return the driver's address of a record of the BTS buffer, and of the last record. */
static inline unsigned char *drv_at_linear(const struct spmu_driver *driver, uint64_t linear)
{
	return (unsigned char *)(uintptr_t)(linear + driver->bts_distance);
}

static inline unsigned char *drv_last_bts(const struct spmu_driver *driver)
{
	return drv_at_linear(driver, driver->bts_maximum - driver->layout->bts_bytes);
}

/* Clears the last record of a circular BTS buffer, to see when the buffer begins anew;
 * ds_setup.c */
void spmu_drv_mark_bts(struct spmu_driver *driver);

/* Hand out the records of one of the buffers; drain.c, trace.c */
void spmu_drv_drain_pebs(struct spmu_driver *driver);
void spmu_drv_drain_bts(struct spmu_driver *driver);

/*
 * Returns the PEBS counters that have overflowed and wait for their record, or missed it; drain.c
 */
uint64_t spmu_drv_armed(const struct spmu_driver *driver);

#endif
