/* SPDX-License-Identifier: MIT */
/*
 * softpmu.c: reports what QEMU executes to the performance-monitoring unit of a virtual
 * processor (Vol. 3B chapter 18).  softpmu.h says how blocks count.
 *
 * Each virtual processor is a core of its own, or one of two threads of a core.  Two threads of a
 * core run in turns on one thread of the emulator.  So both are at the end of a block when one of
 * them calls the unit.
 *
 * Time is modelled.  A core clock passes with each instruction that retires, and none passes while
 * the processor is halted.  Reference clocks follow the time-stamp counter while it is not halted,
 * and are divided between the rings by the instructions that retired in each.
 */
#include "qemu/osdep.h"
#include "cpu.h"
#include "exec/exec-all.h"
#include "exec/helper-proto.h"
#include "tcg/helper-tcg.h"
#include "softpmu-unit.h"

#define EVERY  (SPMU_SIGBIT(INSTRUCTIONS) | SPMU_SIGBIT(CYCLES))
#define MEMORY (SPMU_SIGBIT(LOADS) | SPMU_SIGBIT(STORES) | SPMU_SIGBIT(LOCK_LOADS))

#define HEADROOM_TIMED (INT64_C(1) << 20) /* at most this many between two readings of the clock */

/* How much headroom blocks see at a time.  `reserve` has the rest. */
#define HEADROOM_SEEN (INT32_MAX / 2)

QEMU_BUILD_BUG_ON(SPMU_SIG_FAR >= SOFTPMU_KINDS);
QEMU_BUILD_BUG_ON(HEADROOM_TIMED >> SOFTPMU_FIELD_BITS); /* no field overflows before it is read */

uint64_t softpmu_tsc(CPUX86State *env)
{
	return cpu_get_tsc(env) + env->tsc_offset;
}

/* Makes the processor leave translated code at the next block. */
static void leave_soon(CPUX86State *env)
{
	qatomic_set(&env_cpu(env)->neg.icount_decr.u16.high, -1);
}

int64_t softpmu_headroom(CPUX86State *env, unsigned ring)
{
	return env->softpmu.reserve[ring] + env_cpu(env)->neg.softpmu_headroom[ring];
}

void softpmu_set_headroom(CPUX86State *env, unsigned ring, int64_t headroom)
{
	int32_t seen = MIN(headroom, HEADROOM_SEEN);

	env_cpu(env)->neg.softpmu_headroom[ring] = seen;
	env->softpmu.reserve[ring] = headroom - seen;
}

/* Returns how often a set of signals occurred in a ring since the last report, during `insns`
 * instructions. */
static int64_t passed(const struct softpmu_env *pmu, uint64_t signals, unsigned ring, int64_t insns)
{
	int64_t n = insns * ctpop64(signals & EVERY);

	if (signals & SPMU_SIGBIT(LOADS))
		n += softpmu_field(pmu->memory[ring], SOFTPMU_LOAD);
	if (signals & SPMU_SIGBIT(STORES))
		n += softpmu_field(pmu->memory[ring], SOFTPMU_STORE);
	if (signals & SPMU_SIGBIT(LOCK_LOADS))
		n += softpmu_field(pmu->memory[ring], SOFTPMU_LOCK_LOAD);
	for (signals &= SPMU_SIGSET_BRANCHES; signals; signals &= signals - 1)
		n += pmu->count[ring][ctz64(signals)];
	return n;
}

/* Reports the reference clocks since the last report, divided between the rings. */
static void pass_time(struct softpmu *unit, const int64_t insns[2])
{
	CPUX86State *env = &unit->cpu->env;
	uint64_t now = softpmu_tsc(env);
	uint64_t clocks = now - unit->tsc;
	uint64_t sum = insns[0] + insns[1];
	uint64_t other;

	unit->tsc = now;
	if ((int64_t)clocks <= 0)
		return;
	other = sum ? muldiv64(clocks, MIN(insns[1], UINT32_MAX), MIN(sum, UINT32_MAX))
		    : (cpl_of(env) ? clocks : 0);
	other = MIN(other, clocks);
	spmu_clocks(unit->core, unit->lp, SPMU_SIGBIT(REF_CYCLES), clocks - other, 0);
	spmu_clocks(unit->core, unit->lp, SPMU_SIGBIT(REF_CYCLES), other, 3);
}

/* Subtracts what blocks counted from the meters. */
static void fold(struct softpmu *unit, const int64_t insns[2])
{
	struct softpmu_env *pmu = &unit->cpu->env.softpmu;

	for (uint32_t i = 0; i < unit->meters.count; i++) {
		struct spmu_meter *meter = &unit->meters.meter[i];

		if (meter->rings & SPMU_RING0)
			meter->headroom -= passed(pmu, meter->signals, 0, insns[0]);
		if (meter->rings & SPMU_RING_USER)
			meter->headroom -= passed(pmu, meter->signals, 1, insns[1]);
	}
	memset(pmu->count, 0, sizeof(pmu->count));
	memset(pmu->memory, 0, sizeof(pmu->memory));
	pmu->granted[0] -= insns[0];
	pmu->granted[1] -= insns[1];
}

static void sync_thread(struct softpmu *unit)
{
	CPUX86State *env = &unit->cpu->env;
	int64_t insns[2];

	for (unsigned ring = 0; ring < 2; ring++)
		insns[ring] = env->softpmu.granted[ring] - softpmu_headroom(env, ring);
	if (insns[0] | insns[1])
		fold(unit, insns);
	/* What the model has counted for a pending instruction is counted when it retires. */
	if (!env->softpmu.pending_signals)
		softpmu_machine_charge(unit);
	softpmu_hand_over(unit);
	spmu_set_ia32e(unit->core, unit->lp, (env->hflags & HF_LMA_MASK) != 0);
	if (unit->timed)
		pass_time(unit, insns);
}

void softpmu_sync(struct softpmu *unit)
{
	sync_thread(unit);
	if (unit->sibling)
		sync_thread(unit->sibling);
}

/* Returns how many instructions may retire before a meter's headroom can be used up. */
static int64_t meter_headroom(const struct spmu_meter *meter)
{
	int64_t each = ctpop64(meter->signals & (EVERY | MEMORY));
	int64_t most = meter->signals & MEMORY ? HEADROOM_TIMED : SOFTPMU_HEADROOM_MAX;
	int64_t headroom;

	if (meter->signals & SPMU_SIGSET_BRANCHES)
		each++;
	if (meter->signals & SPMU_SIGBIT(REF_CYCLES))
		return HEADROOM_TIMED;
	if (!each)
		return SOFTPMU_HEADROOM_MAX;
	headroom = MIN(meter->headroom / each, most);
	/* Both rings use it. */
	return meter->rings == (SPMU_RING0 | SPMU_RING_USER) ? headroom / 2 : headroom;
}

/* Returns what blocks do from now on, as HF_SOFTPMU_ flags. */
static uint32_t mode(const struct softpmu *unit, bool steps, bool branches, bool memory)
{
	const struct softpmu_env *pmu = &unit->cpu->env.softpmu;
	bool gather = unit->meters.tap.signals;
	uint32_t wanted = (branches ? HF_SOFTPMU_BRANCH : 0) | (memory ? HF_SOFTPMU_MEMORY : 0);

	if (steps || unit->tallied || pmu->pending_signals || pmu->need)
		return HF_SOFTPMU_EXACT | (unit->modelled ? HF_SOFTPMU_BRANCH | HF_SOFTPMU_MEMORY
							  : wanted & HF_SOFTPMU_MEMORY);
	if (unit->modelled)
		return HF_SOFTPMU_MEMORY | (gather ? HF_SOFTPMU_BRANCH : 0);
	if (gather)
		return HF_SOFTPMU_GATHER | wanted;
	return unit->meters.count ? HF_SOFTPMU_COUNT | wanted : 0;
}

void softpmu_run_exact(struct softpmu_env *pmu)
{
	/* In exact blocks HF_SOFTPMU_BRANCH means that the model is told. */
	uint32_t model = softpmu_modelled(pmu->flags) ? HF_SOFTPMU_BRANCH : 0;

	pmu->flags = (pmu->flags & ~HF_SOFTPMU_BRANCH) | HF_SOFTPMU_EXACT | model;
}

static void grant_thread(struct softpmu *unit)
{
	CPUX86State *env = &unit->cpu->env;
	struct softpmu_env *pmu = &env->softpmu;
	bool steps = spmu_steps_on_branches(unit->core, unit->lp);
	bool wanted = unit->meters.count || unit->meters.tap.signals || steps;
	bool accesses = unit->meters.accesses.retired;
	int64_t logged = softpmu_log_headroom(&unit->meters.tap);
	int64_t headroom[2] = {logged, logged};
	uint64_t signals = 0;

	unit->tallied = false;
	/* Branch records say whether a branch was predicted. */
	unit->modelled = unit->feed && unit->meters.tap.signals;
	softpmu_machine_update(unit);
	for (uint32_t i = 0; i < unit->meters.count; i++) {
		const struct spmu_meter *meter = &unit->meters.meter[i];
		int64_t most = meter_headroom(meter);

		signals |= meter->signals;
		if (softpmu_machine_counts(unit, meter)) {
			most = MIN(most, softpmu_machine_headroom(meter));
			unit->modelled = true;
		} else {
			unit->tallied |= meter->tallies != NULL;
		}
		if (meter->rings & SPMU_RING0)
			headroom[0] = MIN(headroom[0], most);
		if (meter->rings & SPMU_RING_USER)
			headroom[1] = MIN(headroom[1], most);
	}
	if ((signals & SPMU_SIGBIT(REF_CYCLES)) && !unit->timed)
		unit->tsc = softpmu_tsc(env);
	unit->timed = (signals & SPMU_SIGBIT(REF_CYCLES)) != 0;
	for (unsigned ring = 0; ring < 2; ring++) {
		softpmu_set_headroom(env, ring, headroom[ring]);
		pmu->granted[ring] = headroom[ring];
		unit->log_headroom[ring] = env_cpu(env)->neg.softpmu_headroom[ring];
	}
	if (!wanted)
		pmu->need = pmu->pending_signals = 0;
	if (pmu->need && headroom[cpl_of(env) != 0] >= pmu->need)
		pmu->need = 0;
	pmu->flags = mode(unit, steps, signals & SPMU_SIGSET_BRANCHES,
			  (signals & MEMORY) || accesses || unit->tallied);
}

void softpmu_grant(struct softpmu *unit)
{
	grant_thread(unit);
	if (unit->sibling)
		grant_thread(unit->sibling);
}

static uint64_t pending_signals(const struct softpmu_env *pmu)
{
	uint64_t memory = pmu->pending_memory;

	return pmu->pending_signals |
	       (softpmu_field(memory, SOFTPMU_LOAD) ? SPMU_SIGBIT(LOADS) : 0) |
	       (softpmu_field(memory, SOFTPMU_STORE) ? SPMU_SIGBIT(STORES) : 0) |
	       (softpmu_field(memory, SOFTPMU_LOCK_LOAD) ? SPMU_SIGBIT(LOCK_LOADS) : 0);
}

/* Retires the pending instruction.  The registers say where execution continues. */
static unsigned retire_pending(CPUX86State *env)
{
	struct softpmu_env *pmu = &env->softpmu;
	struct spmu_memory_access accesses[SOFTPMU_ACCESSES_MAX];
	struct spmu_tally tallies[SPMU_TALLIES];
	struct spmu_insn insn = {
		.ip = pmu->pending_ip,
		.next_ip = linear_ip(env),
		.signals = pending_signals(pmu),
		.accesses = accesses,
		.access_count = softpmu_accesses(pmu, accesses),
		.cycles = SPMU_CLOCKS_UNMODELLED,
		.cpl = pmu->pending_cpl,
		.next_cpl = cpl_of(env),
	};
	unsigned events;

	if (pmu->unit->modelled) {
		softpmu_machine_retire(pmu->unit, &insn, tallies);
	} else if (pmu->unit->tallied) {
		softpmu_count_splits(&insn, tallies);
		insn.tallies = tallies;
		insn.tally_count = 2;
	}
	pmu->pending_signals = 0;
	pmu->unit->single++;
	softpmu_sync(pmu->unit);
	events = spmu_retire(pmu->unit->core, pmu->unit->lp, &insn);
	softpmu_grant(pmu->unit);
	return events;
}

void softpmu_set_pending(CPUX86State *env)
{
	env->softpmu.pending_signals = EVERY;
	env->softpmu.pending_memory = 0;
	env->softpmu.access_count = 0;
	env->softpmu.pending_ip = linear_ip(env);
	env->softpmu.pending_cpl = cpl_of(env);
}

void softpmu_left(CPUX86State *env, uint32_t flags, uint32_t cflags, uint32_t insns)
{
	struct softpmu_env *pmu = &env->softpmu;
	unsigned ring = (flags & HF_CPL_MASK) != 0;
	int32_t *seen = &env_cpu(env)->neg.softpmu_headroom[ring];

	if (!softpmu_bulk(flags))
		return;
	*seen += insns;
	if (*seen >= (int32_t)insns) /* QEMU wanted to leave */
		return;
	softpmu_sync(pmu->unit);
	softpmu_grant(pmu->unit);
	if (softpmu_headroom(env, ring) < insns) {
		pmu->need = insns;
		softpmu_run_exact(pmu);
	}
	if (cflags & CF_NOIRQ) /* run the same block again */
		env_cpu(env)->cflags_next_tb = cflags & ~CF_INVALID;
	leave_soon(env);
}

void softpmu_unwind(CPUX86State *env, uint32_t flags, uint32_t insns, uint64_t kept)
{
	struct softpmu_env *pmu = &env->softpmu;
	unsigned ring = (flags & HF_CPL_MASK) != 0;

	if (softpmu_exact(flags)) {
		pmu->pending_signals = 0;
	} else if (softpmu_bulk(flags)) {
		env_cpu(env)->neg.softpmu_headroom[ring] +=
			insns - (kept & ((1u << SOFTPMU_INDEX_BITS) - 1));
		pmu->memory[ring] -= kept >> SOFTPMU_INDEX_BITS;
	}
}

/* Runs before the instruction of an exact block.  Returns 1 if the block must be left instead. */
uint32_t helper_softpmu_step(CPUX86State *env)
{
	unsigned events = 0;

	if (env->softpmu.pending_signals) {
		events = retire_pending(env);
	} else {
		softpmu_sync(env->softpmu.unit);
		softpmu_grant(env->softpmu.unit);
	}
	if ((events & SPMU_EV_PMI) || !softpmu_exact(env->softpmu.flags)) {
		leave_soon(env);
		return 1;
	}
	softpmu_set_pending(env);
	return 0;
}

void softpmu_event_begin(CPUX86State *env, bool software)
{
	struct softpmu_env *pmu = &env->softpmu;

	if (!pmu->unit)
		return;
	pmu->event_ip = linear_ip(env);
	pmu->event_cpl = cpl_of(env);
	if (!pmu->pending_signals || software)
		return;
	/* An INT n whose gate faults did not retire. */
	if ((pmu->pending_signals & SPMU_SIGBIT(FAR)) && pmu->pending_ip == pmu->event_ip)
		pmu->pending_signals = 0;
	else
		retire_pending(env);
}

void softpmu_event_end(CPUX86State *env, int vector, bool software)
{
	struct softpmu_env *pmu = &env->softpmu;
	struct spmu_branch branch;

	if (!pmu->unit)
		return;
	if (!software && (vector == EXCP01_DB || vector == EXCP12_MCHK)) {
		softpmu_sync(pmu->unit);
		if (vector == EXCP01_DB) /* first, so that it is no last branch record (17.4.2) */
			spmu_debug_exception(pmu->unit->core, pmu->unit->lp);
		else
			spmu_machine_check(pmu->unit->core, pmu->unit->lp);
		softpmu_grant(pmu->unit);
	}
	if (pmu->unit->meters.tap.signals && !(software && pmu->pending_signals)) {
		branch = (struct spmu_branch){
			.from = pmu->event_ip,
			.to = linear_ip(env),
			.signal = SPMU_SIG_FAR,
			.cpl = pmu->event_cpl,
			.next_cpl = cpl_of(env),
			.flags = software ? 0 : SPMU_BRANCH_EVENT,
		};
		softpmu_sync(pmu->unit);
		spmu_branches(pmu->unit->core, pmu->unit->lp, &branch, 1);
		softpmu_grant(pmu->unit);
	}
}

void softpmu_smm(CPUX86State *env, bool entered)
{
	struct softpmu_env *pmu = &env->softpmu;

	if (!pmu->unit)
		return;
	if (entered && pmu->pending_signals)
		retire_pending(env);
	softpmu_sync(pmu->unit);
	spmu_smm(pmu->unit->core, pmu->unit->lp, entered);
	softpmu_grant(pmu->unit);
}

bool softpmu_steps_over(CPUX86State *env)
{
	struct softpmu_env *pmu = &env->softpmu;

	return pmu->unit && spmu_steps_on_branches(pmu->unit->core, pmu->unit->lp) &&
	       !(pmu->pending_signals & SPMU_SIGSET_TAKEN);
}

void softpmu_halt(CPUX86State *env)
{
	if (!env->softpmu.unit)
		return;
	softpmu_sync(env->softpmu.unit);
	spmu_set_halted(env->softpmu.unit->core, env->softpmu.unit->lp, true);
	softpmu_grant(env->softpmu.unit);
}

void softpmu_wake(CPUX86State *env)
{
	struct softpmu *unit = env->softpmu.unit;

	if (!unit)
		return;
	unit->tsc = softpmu_tsc(env);
	softpmu_sync(unit);
	spmu_set_halted(unit->core, unit->lp, false);
	softpmu_grant(unit);
}

void softpmu_reset(X86CPU *cpu)
{
	struct softpmu_env *pmu = &cpu->env.softpmu;

	if (!pmu->unit)
		return;
	pmu->log_end = pmu->log;
	softpmu_sync(pmu->unit);
	pmu->pending_signals = 0;
	pmu->need = 0;
	if (pmu->init)
		spmu_init(pmu->unit->core, pmu->unit->lp);
	else
		spmu_reset(pmu->unit->core, pmu->unit->lp);
	pmu->init = false;
	/* The other processors wait to be started. */
	spmu_set_halted(pmu->unit->core, pmu->unit->lp, !cpu_is_bsp(cpu));
	softpmu_grant(pmu->unit);
}
