/* SPDX-License-Identifier: MIT */
/*
 * self.c: CPUID and RDPMC as the program sees them, for its own unit (Vol.  2A, 2B).
 *
 * CPUID describes the performance monitoring of the model (leaf 0AH; the debug store in leaf
 * 01H).  Everything else is the machine's, because the program executes what it finds there.  With
 * LINK_WANT_IDENTITY vendor, family, model, stepping and name are the model's, so that programs
 * choose its events.  Nothing of the machine's own unit is shown.
 *
 * RDPMC works as with CR4.PCE set, and reads the counters of the thread's first unit.  They hold
 * exactly what retired before it.
 */
#include "engine/count/units.h"
#include "engine/rt/context.h"
#include "engine/rt/engine.h"
#include "engine/rt/sys.h"
#include "engine/run/run.h"
#include "engine/x86/cpuid.h"

enum { EAX, EBX, ECX, EDX };

/* Bits that report counters of the processor itself: the unit sets its own afterwards. */
static const struct hidden {
	uint32_t leaf, subleaf;
	uint32_t mask[4];
} hidden[] = {
	{0x07, 0, {[EDX] = 1u << 19}},				   /* architectural LBRs */
	{0x07, 1, {[EAX] = 1u << 8}},				   /* leaf 23H */
	{0x80000001, 0, {[ECX] = 1u << 23 | 1u << 24 | 1u << 28}}, /* PerfCtrExt* */
};
static const uint32_t no_leaf[] = {0x1c, 0x23, 0x80000022};

static struct spmu_core *core(void)
{
	return current->counting->unit[0].core;
}

static void hide(uint32_t leaf, uint32_t subleaf, uint32_t *regs)
{
	for (unsigned i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
		/* A leaf without subleaves ignores ECX. */
		if (hidden[i].leaf == leaf && (leaf != 7 || hidden[i].subleaf == subleaf))
			for (unsigned r = EAX; r <= EDX; r++)
				regs[r] &= ~hidden[i].mask[r];
	for (unsigned i = 0; i < sizeof(no_leaf) / sizeof(no_leaf[0]); i++)
		if (no_leaf[i] == leaf)
			memset(regs, 0, 4 * sizeof(*regs));
}

/* --- the model's identity --- */

#define LEAF_CACHES	0x04u
#define LEAF_AMD_CACHES 0x8000001du /* has the same fields */
#define LEAF_NAME	0x80000002u /* three leaves of 16 bytes */
#define NAME_BYTES	48

/* An Intel processor describes its caches in another leaf than AMD's. */
static void describe_caches(uint32_t subleaf, uint32_t *regs)
{
	struct cpuid amd;

	if (!cpuid_is_amd() || cpuid_of(0x80000000u).a < LEAF_AMD_CACHES)
		return;
	amd = cpuid_subleaf(LEAF_AMD_CACHES, subleaf);
	regs[EAX] = amd.a;
	regs[EBX] = amd.b;
	regs[ECX] = amd.c;
	regs[EDX] = amd.d;
}

/* Makes `own` the last leaf if the processor has fewer.  Those between are empty. */
static void reach_leaf(uint32_t own, uint32_t leaf, uint32_t *regs)
{
	uint32_t last = cpuid_of(0).a;

	if (leaf == 0 && last < own)
		regs[EAX] = own;
	if (leaf > last && leaf < own)
		memset(regs, 0, 4 * sizeof(*regs));
}

static void identify(uint32_t leaf, uint32_t subleaf, uint32_t *regs)
{
	static const uint32_t vendor[3] = {0x756e6547, 0x6c65746e, 0x49656e69}; /* GenuineIntel */
	const struct spmu_model_info info = spmu_model_describe(current->counting->unit[0].model);
	char name[NAME_BYTES] = "softpmu ";

	if (leaf == 0)
		memcpy(&regs[EBX], vendor, sizeof(vendor));
	reach_leaf(info.cpuid_leaf, leaf, regs);
	if (leaf == 1)
		regs[EAX] = info.signature;
	if (leaf == LEAF_CACHES)
		describe_caches(subleaf, regs);
	if (leaf < LEAF_NAME || leaf > LEAF_NAME + 2)
		return;
	for (unsigned i = 0; i < NAME_BYTES - 9 && info.name[i]; i++)
		name[8 + i] = info.name[i];
	memcpy(regs, name + 16 * (leaf - LEAF_NAME), 16);
}

void self_cpuid(uint32_t leaf, uint32_t subleaf)
{
	uint64_t *g = current->gpr;
	uint32_t regs[4] = {(uint32_t)g[0], (uint32_t)g[3], (uint32_t)g[1], (uint32_t)g[2]};
	struct spmu_cpuid_regs own;

	hide(leaf, subleaf, regs);
	own = (struct spmu_cpuid_regs){regs[EAX], regs[EBX], regs[ECX], regs[EDX]};
	if (spmu_cpuid(core(), leaf, subleaf, &own)) {
		regs[EAX] = own.eax;
		regs[EBX] = own.ebx;
		regs[ECX] = own.ecx;
		regs[EDX] = own.edx;
	}
	if (engine_wants(LINK_WANT_IDENTITY))
		identify(leaf, subleaf, regs);
	g[0] = regs[EAX];
	g[3] = regs[EBX];
	g[1] = regs[ECX];
	g[2] = regs[EDX];
}

bool self_has_transactions(void)
{
	const struct cpuid r = cpuid_of(7);

	return r.b >> 11 & 1 || r.d >> 11 & 1; /* RTM, RTM_ALWAYS_ABORT */
}

enum spmu_outcome self_rdpmc(void)
{
	uint64_t value;
	enum spmu_outcome outcome =
		spmu_rdpmc(core(), 0, (uint32_t)current->gpr[1], 3, true, true, &value);

	if (outcome == SPMU_DONE) {
		current->gpr[0] = (uint32_t)value;
		current->gpr[2] = value >> 32;
	}
	return outcome;
}
