/* SPDX-License-Identifier: MIT */
/*
 * internal.h: what the files of the driver share: the registers that it uses
 * (Vol. 3B 18.2, 18.4.4; addresses in Vol. 3C chapter 35) and access through the port.
 *
 * The driver has addresses of its own because it is software beside the unit: it
 * runs on silicon too and must not inherit a mistake of the unit's map.
 */
#ifndef SOFTPMU_DRIVER_INTERNAL_H
#define SOFTPMU_DRIVER_INTERNAL_H

#include <softpmu/driver.h>

enum {
	DRV_IA32_PMC0 = 0x0c1,
	DRV_IA32_PERFEVTSEL0 = 0x186,
	DRV_IA32_MISC_ENABLE = 0x1a0,
	DRV_IA32_FIXED_CTR0 = 0x309,
	DRV_IA32_PERF_CAPABILITIES = 0x345,
	DRV_IA32_FIXED_CTR_CTRL = 0x38d,
	DRV_IA32_PERF_GLOBAL_STATUS = 0x38e,
	DRV_IA32_PERF_GLOBAL_CTRL = 0x38f,
	DRV_IA32_PERF_GLOBAL_STATUS_RESET = 0x390, /* IA32_PERF_GLOBAL_OVF_CTRL before version 4 */
	DRV_IA32_PEBS_ENABLE = 0x3f1,
	DRV_IA32_A_PMC0 = 0x4c1,
	DRV_IA32_DS_AREA = 0x600,
};

#define DRV_BIT(n) (UINT64_C(1) << (n))

/* IA32_PERFEVTSELx */
#define DRV_SELECT_EVENT UINT64_C(0xffff) /* event select and unit mask */
#define DRV_SELECT_USR	 DRV_BIT(16)
#define DRV_SELECT_OS	 DRV_BIT(17)
#define DRV_SELECT_INT	 DRV_BIT(20)
#define DRV_SELECT_ANY	 DRV_BIT(21)
#define DRV_SELECT_EN	 DRV_BIT(22)

/* The event selects and the full-width counters have eight addresses in a row. */
#define DRV_COUNTERS UINT32_C(0xff)

/* IA32_FIXED_CTR_CTRL, the four bits of one counter */
#define DRV_FIXED_OS  1u
#define DRV_FIXED_USR 2u
#define DRV_FIXED_ANY 4u
#define DRV_FIXED_PMI 8u

#define DRV_STATUS_FIXED0    32
#define DRV_STATUS_OVFBUFFER DRV_BIT(62)

#define DRV_LVT_MASKED (UINT32_C(1) << 16)

/* This code runs in IA-32e mode when its pointers are 64 bits wide. */
static inline const struct spmu_ds_layout *drv_ds_layout(const struct spmu_driver *driver)
{
	return spmu_ds_layout(driver->model, sizeof(void *) == 8);
}

static inline bool drv_read(const struct spmu_driver *driver, uint32_t msr, uint64_t *value)
{
	return driver->port.rdmsr(driver->port.opaque, msr, value);
}

static inline bool drv_write(const struct spmu_driver *driver, uint32_t msr, uint64_t value)
{
	return driver->port.wrmsr(driver->port.opaque, msr, value);
}

/* All ones in the width of the slot's counter. */
static inline uint64_t drv_counter_mask(const struct spmu_driver *driver, unsigned slot)
{
	const struct spmu_facilities *f = &driver->facilities;

	return DRV_BIT(driver->counter[slot].fixed ? f->fixed_bits : f->counter_bits) - 1;
}

/* The slot's bit in the global control, status and reset registers. */
static inline uint64_t drv_counter_bit(const struct spmu_driver *driver, unsigned slot)
{
	unsigned index = driver->counter[slot].index;

	return DRV_BIT(driver->counter[slot].fixed ? DRV_STATUS_FIXED0 + index : index);
}

/* The counter value from which `period` occurrences lead to 0. */
static inline uint64_t drv_start_value(const struct spmu_driver *driver, unsigned slot,
				       uint64_t period)
{
	return (0 - period) & drv_counter_mask(driver, slot);
}

static inline bool drv_is_pebs(const struct spmu_driver *driver, unsigned slot)
{
	return driver->counter[slot].used && driver->counter[slot].request.precise;
}

/* General counters that IA32_PEBS_ENABLE can name; detect.c */
uint32_t spmu_drv_pebs_counters(const struct spmu_facilities *facilities);

/* Write the whole management area anew with this PEBS index; ds_setup.c */
bool spmu_drv_store_area(struct spmu_driver *driver, uint64_t pebs_index);

/*
 * The PEBS index, brought down to a whole number of records between base and
 * maximum: the area lies in memory that others can write to; ds_setup.c
 */
uint64_t spmu_drv_pebs_index(const struct spmu_driver *driver);

/* Read and write the slot's counter register; program.c */
bool spmu_drv_read_counter(const struct spmu_driver *driver, unsigned slot, uint64_t *value);
bool spmu_drv_write_counter(const struct spmu_driver *driver, unsigned slot, uint64_t value);

/* Route and load the LVT entry, once; ds_setup.c */
void spmu_drv_map_interrupt(struct spmu_driver *driver);

/* Stop all counting, and go on as `enabled` and `pebs_enabled` say; program.c */
bool spmu_drv_pause(const struct spmu_driver *driver);
bool spmu_drv_enable(const struct spmu_driver *driver);

/* A PEBS counter has overflowed and waits for its record, or missed it; drain.c */
bool spmu_drv_is_armed(const struct spmu_driver *driver, unsigned slot);

#endif
