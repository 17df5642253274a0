/* SPDX-License-Identifier: MIT */
/*
 * family.c: which unit exists before architectural performance monitoring, by CPUID.01H alone (Vol.
 * 3B 18.15, 18.22, 18.23; families and models: Vol. 3C chapter 35): Pentium (family 5), P6 and
 * Pentium M (family 6 up to model 0DH), NetBurst (family 15).
 *
 * On NetBurst two threads of a core share the unit. A driver serves one thread, so it takes the
 * counters that one ESCR of each pair reaches: the first for thread 0, the second for thread 1
 * (table 18-63). On a core with one thread it takes all.
 */
#include "internal.h"

#define FAMILY_PENTIUM	5
#define FAMILY_P6	6
#define FAMILY_NETBURST 15

#define CPUID_1_EDX_HTT (1u << 28)

#define MISC_ENABLE_PERFMON DRV_BIT(7)

#define P6_MODELS	UINT32_C(0x2ffa) /* 1, 3 to 0BH, and Pentium M: 9 and 0DH */
#define NETBURST_MODELS UINT32_C(0x5f)	 /* 0 to 4 and 6 */
#define IQ_ESCR_MODELS	2		 /* the last model that has them */
#define CASCADE_MODELS	2		 /* the first model with extended cascading */

#define NETBURST_ALL	  UINT32_C(0x3ffff)
#define NETBURST_THREAD_0 UINT32_C(0x13333)
#define NETBURST_THREAD_1 UINT32_C(0x2cccc)

static void detect_pentium(struct spmu_facilities *f)
{
	f->programming = SPMU_PROGRAM_CESR;
	f->counters = 2;
	f->general_set = 3;
	f->no_interrupt = true;
}

static void detect_p6(struct spmu_facilities *f)
{
	f->programming = SPMU_PROGRAM_PERFEVTSEL;
	f->counters = 2;
	f->general_set = 3;
	f->enable_first = true;
}

/*
 * Returns the threads of a core: the logical processors of the package divided by its cores, which
 * leaf 4 reports.
 */
static unsigned threads_of_core(const struct spmu_port *port, uint32_t max_leaf,
				const struct spmu_cpuid_regs *leaf_1)
{
	unsigned logical = leaf_1->ebx >> 16 & 0xff, cores = 1;
	struct spmu_cpuid_regs regs = {0};

	if (!(leaf_1->edx & CPUID_1_EDX_HTT))
		return 1;
	if (max_leaf >= 4) {
		port->cpuid(port->opaque, 0x04, 0, &regs);
		cores = (regs.eax >> 26) + 1;
	}
	return logical / cores > 1 ? 2 : 1;
}

/* The unit exists unless IA32_MISC_ENABLE says otherwise. */
static bool detect_netburst(struct spmu_driver *driver, uint32_t max_leaf,
			    const struct spmu_cpuid_regs *leaf_1, unsigned model)
{
	struct spmu_facilities *f = &driver->facilities;
	uint64_t value;

	if (!drv_read(driver, DRV_IA32_MISC_ENABLE, &value) || !(value & MISC_ENABLE_PERFMON))
		return false;
	f->programming = SPMU_PROGRAM_ESCR;
	f->counters = 18;
	f->general_set = NETBURST_ALL;
	f->iq_escrs = model <= IQ_ESCR_MODELS;
	f->extended_cascade = model >= CASCADE_MODELS;
	if (threads_of_core(&driver->port, max_leaf, leaf_1) == 2) {
		f->thread = leaf_1->ebx >> 24 & 1;
		f->general_set = f->thread ? NETBURST_THREAD_1 : NETBURST_THREAD_0;
	}
	return true;
}

bool spmu_drv_detect_family(struct spmu_driver *driver, uint32_t max_leaf)
{
	struct spmu_facilities *f = &driver->facilities;
	struct spmu_cpuid_regs regs = {0};
	unsigned family, model;

	if (max_leaf < 1)
		return false;
	driver->port.cpuid(driver->port.opaque, 0x01, 0, &regs);
	family = regs.eax >> 8 & 0xf;
	model = regs.eax >> 4 & 0xf;
	/* The extended fields are valid for family 15 and for later models of family 6. */
	if (family == FAMILY_P6 || family == FAMILY_NETBURST)
		model |= regs.eax >> 12 & 0xf0;
	if (model > 15 || (family == FAMILY_NETBURST && (regs.eax >> 20 & 0xff)))
		return false;
	f->counter_bits = 40;
	if (family == FAMILY_PENTIUM)
		detect_pentium(f);
	else if (family == FAMILY_P6 && (P6_MODELS >> model & 1))
		detect_p6(f);
	else if (family == FAMILY_NETBURST && (NETBURST_MODELS >> model & 1))
		return detect_netburst(driver, max_leaf, &regs, model);
	return f->counters != 0;
}
