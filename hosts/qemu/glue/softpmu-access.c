/* SPDX-License-Identifier: MIT */
/*
 * softpmu-access.c: instructions that read and write the unit's registers: RDMSR, WRMSR, RDPMC and
 * CPUID (Vol. 2), and the performance-counter entry of the local vector table (Vol. 3A 10.5.1).
 */
#include "qemu/osdep.h"
#include "cpu.h"
#include "exec/exec-all.h"
#include "tcg/helper-tcg.h"
#include "softpmu-unit.h"

/*
 * access_begin() and access_end() enclose an access to the unit by the current instruction, which
 * is the last of its block.  The block has charged for it, but it retires after the access.  So a
 * counter that a WRMSR enables counts the WRMSR, and one that it disables does not.
 * access_begin() returns the flags of the block, for access_end().
 */
static uint32_t access_begin(CPUX86State *env)
{
	struct softpmu_env *pmu = &env->softpmu;
	uint32_t flags = pmu->flags;
	unsigned ring = cpl_of(env) != 0;

	softpmu_set_headroom(env, ring, softpmu_headroom(env, ring) + softpmu_bulk(flags));
	softpmu_sync(pmu->unit);
	return flags;
}

static void access_end(CPUX86State *env, uint32_t flags, enum spmu_outcome outcome, uintptr_t ra)
{
	struct softpmu_env *pmu = &env->softpmu;
	unsigned ring = cpl_of(env) != 0;
	int64_t headroom;

	softpmu_grant(pmu->unit);
	headroom = softpmu_headroom(env, ring);
	if (outcome == SPMU_GP ||
	    outcome == SPMU_UD) /* QEMU gives it back when it leaves the block */
		softpmu_set_headroom(env, ring, headroom - softpmu_bulk(flags));
	if (outcome == SPMU_GP)
		raise_exception_err_ra(env, EXCP0D_GPF, 0, ra);
	if (outcome == SPMU_UD)
		raise_exception_ra(env, EXCP06_ILLOP, ra);
	if (softpmu_exact(flags) || !pmu->flags)
		return;
	if (headroom > 0 && softpmu_bulk(pmu->flags)) {
		softpmu_set_headroom(env, ring, headroom - 1);
		return;
	}
	softpmu_set_pending(env);
	softpmu_run_exact(pmu);
}

static void set_result(CPUX86State *env, uint64_t value)
{
	env->regs[R_EAX] = (uint32_t)value;
	env->regs[R_EDX] = value >> 32;
}

/* The bits of IA32_MISC_ENABLE that are the unit's; the others are QEMU's. */
#define MISC_ENABLE_UNIT (UINT64_C(1) << 7 | UINT64_C(1) << 11 | UINT64_C(1) << 12)

bool softpmu_rdmsr(CPUX86State *env, uintptr_t ra)
{
	struct softpmu_env *pmu = &env->softpmu;
	uint32_t msr = env->regs[R_ECX];
	enum spmu_outcome outcome;
	uint64_t value = 0;
	uint32_t flags;

	if (!pmu->unit)
		return false;
	flags = access_begin(env);
	outcome = spmu_read_msr(pmu->unit->core, pmu->unit->lp, msr, &value);
	access_end(env, flags, outcome, ra);
	if (outcome == SPMU_NOT_OURS)
		return false;
	if (msr == MSR_IA32_MISC_ENABLE)
		value |= env->msr_ia32_misc_enable & ~MISC_ENABLE_UNIT;
	set_result(env, value);
	return true;
}

bool softpmu_wrmsr(CPUX86State *env, uint64_t value, uintptr_t ra)
{
	struct softpmu_env *pmu = &env->softpmu;
	uint32_t msr = env->regs[R_ECX];
	enum spmu_outcome outcome;
	uint32_t flags;

	if (!pmu->unit)
		return false;
	flags = access_begin(env);
	outcome = spmu_write_msr(pmu->unit->core, pmu->unit->lp, msr, value);
	softpmu_note_absent(pmu->unit);
	access_end(env, flags, outcome, ra);
	return outcome == SPMU_DONE && msr != MSR_IA32_MISC_ENABLE;
}

bool softpmu_rdpmc(CPUX86State *env, uintptr_t ra)
{
	struct softpmu_env *pmu = &env->softpmu;
	enum spmu_outcome outcome;
	uint64_t value = 0;
	uint32_t flags;

	if (!pmu->unit)
		return false;
	flags = access_begin(env);
	outcome = spmu_rdpmc(pmu->unit->core, pmu->unit->lp, env->regs[R_ECX], cpl_of(env),
			     (env->cr[4] & CR4_PCE_MASK) != 0, (env->cr[0] & CR0_PE_MASK) != 0,
			     &value);
	access_end(env, flags, outcome, ra);
	set_result(env, value);
	return true;
}

void softpmu_cpuid(CPUX86State *env, uint32_t leaf, uint32_t subleaf, uint32_t *eax, uint32_t *ebx,
		   uint32_t *ecx, uint32_t *edx)
{
	struct spmu_cpuid_regs regs = {*eax, *ebx, *ecx, *edx};

	if (!env->softpmu.unit || !spmu_cpuid(env->softpmu.unit->core, leaf, subleaf, &regs))
		return;
	*eax = regs.eax;
	*ebx = regs.ebx;
	*ecx = regs.ecx;
	*edx = regs.edx;
}

void softpmu_write_lvt(X86CPU *cpu, uint32_t value)
{
	if (cpu->env.softpmu.unit)
		spmu_write_lvt(cpu->env.softpmu.unit->core, cpu->env.softpmu.unit->lp, value);
}
