/* SPDX-License-Identifier: MIT */
/*
 * detect.c: which facilities are there, asked in the order in which each answer
 * permits the next question (Vol. 3B 18.2, 17.4.9.1, 18.13.1):
 * highest CPUID leaf, CPUID.0AH, CPUID.01H, then IA32_MISC_ENABLE only with DS and
 * IA32_PERF_CAPABILITIES only with PDCM.
 *
 * Version 1 of architectural performance monitoring has no global control and
 * status registers, on which the rest of the driver rests; it counts as absent.
 */
#include "internal.h"

#define CPUID_1_ECX_DTES64 (1u << 2)
#define CPUID_1_ECX_DS_CPL (1u << 4)
#define CPUID_1_ECX_PDCM   (1u << 15)
#define CPUID_1_EDX_DS	   (1u << 21)

#define MISC_ENABLE_BTS_UNAVAILABLE  DRV_BIT(11)
#define MISC_ENABLE_PEBS_UNAVAILABLE DRV_BIT(12)

#define CAPABILITIES_PEBS_FORMAT(v) ((uint8_t)((v) >> 8 & 0xf))
#define CAPABILITIES_FULL_WIDTH	    DRV_BIT(13)

uint32_t spmu_drv_pebs_counters(const struct spmu_facilities *facilities)
{
	if (!facilities->pebs)
		return 0;
	/* Core and Bonnell have it on PMC0, formats 1 to 3 on four counters. */
	return facilities->pebs_format == 0 ? 0x1 : 0xf;
}

static void ask_cpuid(const struct spmu_port *port, uint32_t leaf, struct spmu_cpuid *regs)
{
	*regs = (struct spmu_cpuid){0};
	port->cpuid(port->opaque, leaf, 0, regs);
}

static bool detect_architectural(const struct spmu_port *port, struct spmu_facilities *f)
{
	struct spmu_cpuid regs;

	/* Beyond the highest leaf a processor answers with other leaves' values. */
	ask_cpuid(port, 0x00, &regs);
	if (regs.eax < 0x0a)
		return false;

	ask_cpuid(port, 0x0a, &regs);
	f->perfmon_version = (uint8_t)regs.eax;
	f->counters = (uint8_t)(regs.eax >> 8);
	f->counter_bits = (uint8_t)(regs.eax >> 16);
	f->absent_events = regs.ebx & (uint32_t)(DRV_BIT(regs.eax >> 24 & 0x1f) - 1);
	f->fixed_counters = regs.edx & 0x1f;
	f->fixed_bits = (uint8_t)(regs.edx >> 5);
	return f->perfmon_version >= 2 && f->counters > 0 && f->counters <= 32 &&
	       f->counter_bits >= 32 && f->counter_bits < 64 &&
	       (f->fixed_counters == 0 || (f->fixed_bits >= 32 && f->fixed_bits < 64));
}

static bool detect_debug_store(struct spmu_driver *driver, struct spmu_facilities *f)
{
	struct spmu_model_info info = spmu_model_info(driver->model);
	const struct spmu_ds_layout *layout = drv_ds_layout(driver);
	struct spmu_cpuid regs;
	uint64_t value;

	ask_cpuid(&driver->port, 0x01, &regs);
	f->ds = regs.edx & CPUID_1_EDX_DS;
	f->ds64 = regs.ecx & CPUID_1_ECX_DTES64;
	f->ds_cpl = regs.ecx & CPUID_1_ECX_DS_CPL;
	f->pdcm = regs.ecx & CPUID_1_ECX_PDCM;

	if (f->pdcm) {
		if (!drv_read(driver, DRV_IA32_PERF_CAPABILITIES, &value))
			return false;
		f->full_width_writes = value & CAPABILITIES_FULL_WIDTH;
		f->pebs_format = CAPABILITIES_PEBS_FORMAT(value);
	}
	if (f->ds) {
		if (!drv_read(driver, DRV_IA32_MISC_ENABLE, &value))
			return false;
		f->bts = !(value & MISC_ENABLE_BTS_UNAVAILABLE);
		/* A format or an area that is not the model's could not be read. */
		f->pebs = !(value & MISC_ENABLE_PEBS_UNAVAILABLE) && layout &&
			  (f->ds64 || layout->field_bytes == 4) &&
			  spmu_pebs_record_bytes(drv_ds_layout(driver), 0) > 0 &&
			  f->pebs_format == info.pebs_format;
	}
	return true;
}

enum spmu_status spmu_driver_detect(struct spmu_driver *driver, const struct spmu_port *port,
				    const struct spmu_model *model)
{
	if (!driver || !port || !model || !port->rdmsr || !port->wrmsr || !port->cpuid ||
	    !port->map_interrupt || !port->write_lvt || !port->interrupted)
		return SPMU_E_ARGUMENT;

	*driver = (struct spmu_driver){.port = *port, .model = model};
	if (!detect_architectural(&driver->port, &driver->facilities) ||
	    !detect_debug_store(driver, &driver->facilities)) {
		driver->facilities = (struct spmu_facilities){0};
		return SPMU_E_UNAVAILABLE;
	}
	return SPMU_OK;
}

void spmu_driver_set_sink(struct spmu_driver *driver, spmu_sink *sink, void *opaque)
{
	driver->sink = sink;
	driver->sink_opaque = opaque;
}
