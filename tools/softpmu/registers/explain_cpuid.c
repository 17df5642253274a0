/* SPDX-License-Identifier: MIT */
/*
 * explain_cpuid.c: `softpmu explain cpuid`: the leaves in which the unit reports itself, decoded
 * field by field.  A core of the model answers CPUID.
 *
 * All of leaves 0AH, 1CH and 23H is the unit's (Vol. 2A, CPUID; Vol. 3B 18.2).  In leaf 01H the
 * flags DS, DTES64, DS-CPL and PDCM are, and in leaf 07H those of leaves 1CH and 23H.  The other
 * bits belong to the host, which this command does not have, so they are not drawn.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/registers/explain.h"

#define FIELD(name, low, width, meaning)                                                           \
	{                                                                                          \
		name, low, width, SPMU_RW, meaning, "Vol. 2A CPUID"                                \
	}
#define UNUSED(low, width)                                                                         \
	{                                                                                          \
		NULL, low, width, SPMU_RW, "not used", "Vol. 2A CPUID"                             \
	}
#define HOSTS(low, width)                                                                          \
	{                                                                                          \
		"(host)", low, width, SPMU_IGNORED, "the host's flags", "Vol. 2A CPUID"            \
	}

static const struct spmu_field leaf_0a_eax[] = {
	FIELD("VERSION", 0, 8, "version of architectural performance monitoring"),
	FIELD("COUNTERS", 8, 8, "general counters of a logical processor"),
	FIELD("WIDTH", 16, 8, "bits of a general counter"),
	FIELD("LENGTH", 24, 8, "architectural events that EBX describes"),
};

static const struct spmu_field leaf_0a_ebx[] = {
	FIELD("CYCLES", 0, 1, "1: core cycles not available"),
	FIELD("INST", 1, 1, "1: instructions retired not available"),
	FIELD("REF", 2, 1, "1: reference cycles not available"),
	FIELD("LLCREF", 3, 1, "1: last-level cache references not available"),
	FIELD("LLCMISS", 4, 1, "1: last-level cache misses not available"),
	FIELD("BR", 5, 1, "1: branches retired not available"),
	FIELD("BRMISS", 6, 1, "1: mispredicted branches retired not available"),
	UNUSED(7, 25),
};

static const struct spmu_field leaf_0a_ecx[] = {
	FIELD("FIXED_MASK", 0, 32, "supported fixed counters as a mask (version 5 on)"),
};

static const struct spmu_field leaf_0a_edx[] = {
	FIELD("FIXED", 0, 5, "fixed counters"),
	FIELD("FIXED_WIDTH", 5, 8, "bits of a fixed counter"),
	UNUSED(13, 2),
	FIELD("ANYTHREAD_DEPRECATED", 15, 1, "1: ANY must be 0"),
	UNUSED(16, 16),
};

static const struct spmu_field leaf_01_ecx[] = {
	HOSTS(0, 2),   FIELD("DTES64", 2, 1, "1: the DS save area has 64-bit fields"),
	HOSTS(3, 1),   FIELD("DS_CPL", 4, 1, "1: branch traces can be limited by CPL"),
	HOSTS(5, 10),  FIELD("PDCM", 15, 1, "1: IA32_PERF_CAPABILITIES is there"),
	HOSTS(16, 16),
};

static const struct spmu_field leaf_01_edx[] = {
	HOSTS(0, 21),
	FIELD("DS", 21, 1, "1: the debug store is there (DS save area, PEBS, BTS)"),
	HOSTS(22, 10),
};

static const struct spmu_field leaf_07_edx[] = {
	HOSTS(0, 15),  FIELD("HYBRID", 15, 1, "1: the part has several kinds of cores (leaf 1AH)"),
	HOSTS(16, 3),  FIELD("ARCH_LBR", 19, 1, "1: leaf 1CH describes last branch records"),
	HOSTS(20, 12),
};

static const struct spmu_field leaf_1c_eax[] = {
	FIELD("DEPTHS", 0, 8, "bit n: a depth of 8 * (n + 1) entries is supported"),
	UNUSED(8, 22),
	FIELD("DEEP_C_RESET", 30, 1, "1: deep C-states clear the entries"),
	FIELD("IP_IS_LIP", 31, 1, "1: entries hold linear addresses, 0: offsets"),
};

static const struct spmu_field leaf_1c_ebx[] = {
	FIELD("CPL_FILTER", 0, 1, "1: IA32_LBR_CTL has OS and USR"),
	FIELD("BRANCH_FILTER", 1, 1, "1: IA32_LBR_CTL has a bit for each kind of branch"),
	FIELD("CALL_STACK", 2, 1, "1: IA32_LBR_CTL has CALL_STACK"),
	UNUSED(3, 29),
};

static const struct spmu_field leaf_1c_ecx[] = {
	FIELD("MISPRED", 0, 1, "1: entries tell mispredictions"),
	FIELD("TIMED", 1, 1, "1: entries have clocks"),
	FIELD("BR_TYPE", 2, 1, "1: entries tell the kind of the branch"),
	UNUSED(3, 13),
	FIELD("EVENT_LOGGING", 16, 4, "bit n: entries log events of general counter n"),
	UNUSED(20, 12),
};

static const struct spmu_field leaf_07_1_eax[] = {
	HOSTS(0, 8),
	FIELD("ARCH_PERFMON_EXT", 8, 1, "1: leaf 23H is there"),
	HOSTS(9, 23),
};

static const struct spmu_field leaf_23_0_eax[] = {
	FIELD("SUBLEAVES", 0, 32, "bit n: subleaf n is there"),
};

static const struct spmu_field leaf_23_0_ebx[] = {
	FIELD("UMASK2", 0, 1, "1: event selects have unit mask 2"),
	FIELD("EQ", 1, 1, "1: event selects have the equal flag"),
	UNUSED(2, 30),
};

static const struct spmu_field leaf_23_1_eax[] = {
	FIELD("GENERAL_MASK", 0, 32, "supported general counters as a mask"),
};

static const struct spmu_field leaf_23_1_ebx[] = {
	FIELD("FIXED_MASK", 0, 32, "supported fixed counters as a mask"),
};

static const struct spmu_field leaf_23_3_eax[] = {
	FIELD("EVENTS", 0, 32, "bit n: architectural event n is available"),
};

#define FIELDS(list) list, sizeof(list) / sizeof((list)[0])

/* A register of a leaf. */
static const struct leaf_register {
	uint32_t leaf, subleaf;
	const char *name;
	size_t offset; /* in struct spmu_cpuid_regs */
	const struct spmu_field *fields;
	size_t count;
} leaf_registers[] = {
	{0x01, 0, "ECX", offsetof(struct spmu_cpuid_regs, ecx), FIELDS(leaf_01_ecx)},
	{0x01, 0, "EDX", offsetof(struct spmu_cpuid_regs, edx), FIELDS(leaf_01_edx)},
	{0x0a, 0, "EAX", offsetof(struct spmu_cpuid_regs, eax), FIELDS(leaf_0a_eax)},
	{0x0a, 0, "EBX", offsetof(struct spmu_cpuid_regs, ebx), FIELDS(leaf_0a_ebx)},
	{0x0a, 0, "ECX", offsetof(struct spmu_cpuid_regs, ecx), FIELDS(leaf_0a_ecx)},
	{0x0a, 0, "EDX", offsetof(struct spmu_cpuid_regs, edx), FIELDS(leaf_0a_edx)},
	{0x07, 0, "EDX", offsetof(struct spmu_cpuid_regs, edx), FIELDS(leaf_07_edx)},
	{0x07, 1, "EAX", offsetof(struct spmu_cpuid_regs, eax), FIELDS(leaf_07_1_eax)},
	{0x1c, 0, "EAX", offsetof(struct spmu_cpuid_regs, eax), FIELDS(leaf_1c_eax)},
	{0x1c, 0, "EBX", offsetof(struct spmu_cpuid_regs, ebx), FIELDS(leaf_1c_ebx)},
	{0x1c, 0, "ECX", offsetof(struct spmu_cpuid_regs, ecx), FIELDS(leaf_1c_ecx)},
	{0x23, 0, "EAX", offsetof(struct spmu_cpuid_regs, eax), FIELDS(leaf_23_0_eax)},
	{0x23, 0, "EBX", offsetof(struct spmu_cpuid_regs, ebx), FIELDS(leaf_23_0_ebx)},
	{0x23, 1, "EAX", offsetof(struct spmu_cpuid_regs, eax), FIELDS(leaf_23_1_eax)},
	{0x23, 1, "EBX", offsetof(struct spmu_cpuid_regs, ebx), FIELDS(leaf_23_1_ebx)},
	{0x23, 3, "EAX", offsetof(struct spmu_cpuid_regs, eax), FIELDS(leaf_23_3_eax)},
};

#define LEAF_REGISTERS (sizeof(leaf_registers) / sizeof(leaf_registers[0]))

static void draw_leaf_register(const struct explain *explain, const struct leaf_register *reg)
{
	struct spmu_cpuid_regs regs = {0};
	uint32_t value;
	char name[32];

	if (reg->subleaf)
		snprintf(name, sizeof(name), "CPUID.%02" PRIX32 "H.%" PRIu32 ":%s", reg->leaf,
			 reg->subleaf, reg->name);
	else
		snprintf(name, sizeof(name), "CPUID.%02" PRIX32 "H:%s", reg->leaf, reg->name);
	if (!spmu_cpuid(explain->core, reg->leaf, reg->subleaf, &regs)) {
		printf("\n%s: the unit of this model reports nothing here\n", name);
		return;
	}
	memcpy(&value, (const char *)&regs + reg->offset, sizeof(value));
	printf("\n%s = 0x%08" PRIx32 "%s\n\n", name, value,
	       reg->leaf == 1 || reg->leaf == 7 ? " (the unit's flags)" : "");
	draw_boxes(&explain->style, reg->fields, reg->count, value);
	putchar('\n');
	draw_fields(reg->fields, reg->count, value);
}

/* Returns true for a leaf of a facility that the model does not have. */
static bool is_only_of_some(const struct explain *explain, const struct leaf_register *reg)
{
	struct spmu_cpuid_regs regs = {0};

	return reg->leaf != 0x01 && reg->leaf != 0x0a &&
	       !spmu_cpuid(explain->core, reg->leaf, reg->subleaf, &regs);
}

int explain_cpuid(const struct explain *explain, const char *which)
{
	uint64_t leaf = 0;
	bool drawn = false;
	size_t i;

	if (which && (!explain_number(which, &leaf) || leaf > UINT32_MAX)) {
		tool_error("'%s' is not a CPUID leaf such as 0AH, 0xa or 10", which);
		return 1;
	}
	for (i = 0; i < LEAF_REGISTERS; i++) {
		if (which && leaf_registers[i].leaf != leaf)
			continue;
		if (!which && is_only_of_some(explain, &leaf_registers[i]))
			continue;
		if (!drawn)
			printf("CPUID of %s, %s, %u thread%s in the core\n", explain->info.name,
			       explain->info.title, explain->threads,
			       explain->threads == 1 ? "" : "s");
		drawn = true;
		draw_leaf_register(explain, &leaf_registers[i]);
	}
	if (drawn)
		return 0;
	tool_error("the unit reports nothing in CPUID leaf %02" PRIX64 "H (it does in 01H and 0AH, "
		   "and of some models in 07H, 1CH and 23H)",
		   leaf);
	return 1;
}
