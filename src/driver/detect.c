/* SPDX-License-Identifier: MIT */
/*
 * detect.c: which facilities the processor has (Vol. 3B 18.2, 17.4.8.1, 17.4.9.1, 18.13.1). Each
 * answer permits the next question: the highest CPUID leaf, CPUID.0AH, CPUID.01H, IA32_MISC_ENABLE
 * only with DS, IA32_PERF_CAPABILITIES only with PDCM.
 *
 * Without leaf 0AH, family and model say what exists (family.c).
 *
 * Fixed counters begin with version 2. Version 5 lists in ECX those that EDX does not count. Before
 * adaptive records no register says which counters have PEBS. The layout of the DS save area does:
 * it has a counter reset for each. Precise store depends on the model: Sandy Bridge and Ivy Bridge
 * have it (18.9.4.3, 18.10). So does a restriction on precise distribution that only Sandy Bridge
 * has (18.9.4.4).
 */
#include "internal.h"

#include "src/abi.h"

#define CPUID_1_ECX_DTES64 (1u << 2)
#define CPUID_1_ECX_DS_CPL (1u << 4)
#define CPUID_1_ECX_PDCM   (1u << 15)
#define CPUID_1_EDX_DS	   (1u << 21)

#define MISC_ENABLE_BTS_UNAVAILABLE  DRV_BIT(11)
#define MISC_ENABLE_PEBS_UNAVAILABLE DRV_BIT(12)

#define CAPABILITIES_PEBS_FORMAT(v) ((uint8_t)((v) >> 8 & 0xf))
#define CAPABILITIES_LBR_FORMAT(v)  ((uint8_t)((v)&0x3f))
#define CAPABILITIES_FULL_WIDTH	    DRV_BIT(13)
#define CAPABILITIES_PEBS_BASELINE  DRV_BIT(14)

/* CPUID.07H.1:EAX: leaf 23H is there. Its subleaf 3 has a bit for each of these events. */
#define CPUID_7_1_EAX_EXTENDED DRV_BIT(8)
#define EXTENDED_EVENTS	       UINT32_C(0x7f)

/* CPUID.01H:EAX without the stepping and the reserved bits. */
#define SIGNATURE_MODEL UINT32_C(0x0fff0ff0)

uint64_t spmu_drv_pebs_counters(const struct spmu_driver *driver)
{
	const struct spmu_facilities *f = &driver->facilities;
	uint64_t general, fixed;

	if (!f->pebs)
		return 0;
	if (f->programming == SPMU_PROGRAM_ESCR)
		return f->thread ? DRV_BIT(17) : DRV_BIT(16); /* MSR_IQ_COUNTER5, 4 */
	general = (DRV_BIT(driver->layout->resets) - 1) & (DRV_BIT(f->counters) - 1);
	fixed = (DRV_BIT(driver->layout->fixed_resets) - 1) & f->fixed_set;
	return general | fixed << DRV_STATUS_FIXED0;
}

static void ask_cpuid(const struct spmu_port *port, uint32_t leaf, struct spmu_cpuid_regs *regs)
{
	*regs = (struct spmu_cpuid_regs){0};
	port->cpuid(port->opaque, leaf, 0, regs);
}

static bool detect_architectural(const struct spmu_port *port, struct spmu_facilities *f)
{
	struct spmu_cpuid_regs regs;

	ask_cpuid(port, 0x0a, &regs);
	f->perfmon_version = (uint8_t)regs.eax;
	f->counters = (uint8_t)(regs.eax >> 8);
	f->counter_bits = (uint8_t)(regs.eax >> 16);
	f->absent_events = regs.ebx & (uint32_t)(DRV_BIT(regs.eax >> 24 & 0x1f) - 1);
	if (f->perfmon_version >= 2)
		f->fixed_counters = regs.edx & 0x1f;
	f->fixed_bits = (uint8_t)(regs.edx >> 5);
	f->fixed_set = (uint32_t)(DRV_BIT(f->fixed_counters) - 1);
	if (f->perfmon_version >= 5)
		f->fixed_set |= regs.ecx;
	f->fixed_set &= DRV_FIXED;
	f->general_set = (uint32_t)(DRV_BIT(f->counters & 0x1f) - 1) & DRV_COUNTERS;
	return f->perfmon_version >= 1 && f->counters > 0 && f->counters <= 32 &&
	       f->counter_bits >= 32 && f->counter_bits < 64 &&
	       (f->fixed_set == 0 || (f->fixed_bits >= 32 && f->fixed_bits < 64));
}

/* (The compiler's function for this is in a library that not every host has.) */
static uint8_t bits_in(uint64_t set)
{
	uint8_t bits = 0;

	for (; set; set &= set - 1)
		bits++;
	return bits;
}

/*
 * Leaf 23H, if the processor has it, replaces what leaf 0AH says: that may be only what different
 * cores of a system have in common.
 */
static void detect_extended(const struct spmu_port *port, uint32_t max_leaf,
			    struct spmu_facilities *f)
{
	struct spmu_cpuid_regs regs = {0};
	uint32_t subleaves;

	if (max_leaf < 0x23 || f->perfmon_version < 5)
		return;
	port->cpuid(port->opaque, 0x07, 1, &regs);
	if (!(regs.eax & CPUID_7_1_EAX_EXTENDED))
		return;
	port->cpuid(port->opaque, 0x23, 0, &regs);
	subleaves = regs.eax;
	if (subleaves & DRV_BIT(1)) {
		port->cpuid(port->opaque, 0x23, 1, &regs);
		f->general_set = regs.eax & DRV_COUNTERS;
		f->fixed_set = regs.ebx & DRV_FIXED;
		f->counters = bits_in(f->general_set);
		f->fixed_counters = bits_in(f->fixed_set);
	}
	if (subleaves & DRV_BIT(3)) {
		port->cpuid(port->opaque, 0x23, 3, &regs);
		f->absent_events = ~regs.eax & EXTENDED_EVENTS;
	}
}

/* Detects the architectural unit, or an earlier one. */
static bool detect_unit(struct spmu_driver *driver)
{
	struct spmu_cpuid_regs regs;
	uint32_t max_leaf;

	/* For a leaf above the highest one a processor returns the values of another leaf. */
	ask_cpuid(&driver->port, 0x00, &regs);
	max_leaf = regs.eax;
	if (max_leaf >= 0x0a) {
		ask_cpuid(&driver->port, 0x0a, &regs);
		if (regs.eax & 0xff) {
			if (!detect_architectural(&driver->port, &driver->facilities))
				return false;
			detect_extended(&driver->port, max_leaf, &driver->facilities);
			return driver->facilities.counters > 0;
		}
	}
	return spmu_drv_detect_family(driver, max_leaf);
}

static bool detect_capabilities(struct spmu_driver *driver, struct spmu_facilities *f)
{
	uint64_t value;

	if (!f->pdcm)
		return true;
	if (!drv_read(driver, DRV_IA32_PERF_CAPABILITIES, &value))
		return false;
	f->full_width_writes = value & CAPABILITIES_FULL_WIDTH;
	f->pebs_format = CAPABILITIES_PEBS_FORMAT(value);
	f->lbr_format = CAPABILITIES_LBR_FORMAT(value);
	f->pebs_baseline = f->pebs_format >= 4 && (value & CAPABILITIES_PEBS_BASELINE);
	return true;
}

/*
 * NetBurst without DTES64 stores in the layout of the current mode (17.4.9.2). 32-bit parts have no
 * such MSR.
 */
static bool in_ia32e(const struct spmu_driver *driver)
{
	uint64_t value;

	return driver->facilities.programming == SPMU_PROGRAM_ESCR &&
	       drv_read(driver, DRV_IA32_EFER, &value) && (value & DRV_IA32_EFER_LMA);
}

/* Sandy Bridge, client and server, and Ivy Bridge have it. */
static bool is_sandybridge(uint32_t signature, bool ivybridge)
{
	static const uint32_t models[] = {0x206a0, 0x206d0, 0x306a0, 0x306e0};

	for (unsigned i = 0; i < (ivybridge ? 4 : 2); i++)
		if ((signature & SIGNATURE_MODEL) == models[i])
			return true;
	return false;
}

/* The format that IA32_PERF_CAPABILITIES reports for a layout. */
static uint8_t reported_format(const struct spmu_lbr_layout *layout)
{
	return layout->reports_lip ? SPMU_LBR_LIP : layout->format;
}

/* The driver cannot read a format or an area that is not the model's. */
static bool detect_debug_store(struct spmu_driver *driver, struct spmu_facilities *f)
{
	struct spmu_model_info info = spmu_model_describe(driver->model);
	const struct spmu_ds_layout *layout;
	struct spmu_cpuid_regs regs;
	uint64_t value;

	ask_cpuid(&driver->port, 0x01, &regs);
	f->ds = regs.edx & CPUID_1_EDX_DS;
	f->ds64 = regs.ecx & CPUID_1_ECX_DTES64;
	f->ds_cpl = regs.ecx & CPUID_1_ECX_DS_CPL;
	f->pdcm = regs.ecx & CPUID_1_ECX_PDCM;
	driver->layout = layout = spmu_model_ds_layout(driver->model, f->ds64 || in_ia32e(driver));
	driver->lbr_layout = spmu_model_lbr_layout(driver->model);
	if (!detect_capabilities(driver, f))
		return false;
	f->lbr = driver->lbr_layout && ((!f->perfmon_version && !f->pdcm) ||
					f->lbr_format == reported_format(driver->lbr_layout));
	if (!f->ds || !layout)
		return true;
	if (!drv_read(driver, DRV_IA32_MISC_ENABLE, &value))
		return false;
	if (!f->ds64 && f->perfmon_version && layout->field_bytes != 4)
		return true;
	f->bts = !(value & MISC_ENABLE_BTS_UNAVAILABLE) && layout->bts_bytes > 0;
	f->pebs = !(value & MISC_ENABLE_PEBS_UNAVAILABLE) &&
		  spmu_pebs_record_bytes(layout, 0) > 0 && f->pebs_format == info.pebs_format;
	f->precise_store = f->pebs && is_sandybridge(regs.eax, true);
	f->pdir_alone = f->pebs && is_sandybridge(regs.eax, false);
	return true;
}

size_t spmu_driver_bytes(void)
{
	return sizeof(struct spmu_driver);
}

enum spmu_status spmu_driver_detect(struct spmu_driver *driver, size_t bytes,
				    const struct spmu_port *given, const struct spmu_model *model)
{
	struct spmu_port port;

	if (!driver || !given || !model || !abi_take(&port, sizeof(port), given) || !port.rdmsr ||
	    !port.wrmsr || !port.cpuid || !port.map_interrupt || !port.write_lvt ||
	    !port.interrupted)
		return SPMU_E_ARGUMENT;
	if (bytes < sizeof(*driver))
		return SPMU_E_SPACE;

	*driver = (struct spmu_driver){.port = port, .model = model};
	if (!detect_unit(driver) || !detect_debug_store(driver, &driver->facilities)) {
		driver->facilities = (struct spmu_facilities){0};
		return SPMU_E_UNAVAILABLE;
	}
	driver->pebs_groups = SPMU_PEBS_MEMORY | SPMU_PEBS_GPRS;
	return SPMU_OK;
}

void spmu_driver_set_sink(struct spmu_driver *driver, spmu_sink *sink, void *opaque)
{
	driver->sink = sink;
	driver->sink_opaque = opaque;
}

void spmu_driver_set_bts_sink(struct spmu_driver *driver, spmu_bts_sink *sink, void *opaque)
{
	driver->bts_sink = sink;
	driver->bts_sink_opaque = opaque;
}
