/* SPDX-License-Identifier: MIT */
/*
 * softpmu-unit.c: creates, saves and loads the unit of a virtual processor, and serves its
 * callbacks: linear memory, registers, time and the interrupt.
 *
 * The unit accesses the DS save area through the guest's page tables with supervisor
 * rights (17.4.9).  An access to a page that is not present, not writable or not memory fails, and
 * nothing is written.
 */
#include "qemu/osdep.h"
#include "qemu/error-report.h"
#include "qemu/main-loop.h"
#include "qemu/memalign.h"
#include "qapi/error.h"
#include "cpu.h"
#include "exec/exec-all.h"
#include "hw/boards.h"
#include "hw/i386/apic.h"
#include "migration/vmstate.h"
#include "softpmu-unit.h"

#define PIECES_MAX 4

#define EXACT                                                                                      \
	(SPMU_SIGBIT(INSTRUCTIONS) | SPMU_SIGSET_BRANCHES | SPMU_SIGBIT(LOADS) |                   \
	 SPMU_SIGBIT(STORES) | SPMU_SIGBIT(LOCK_LOADS))
#define MODELLED (SPMU_SIGBIT(CYCLES) | SPMU_SIGBIT(REF_CYCLES))

static bool access_linear(CPUX86State *env, uint64_t linear, void *bytes, size_t size, bool write)
{
	struct {
		void *host;
		size_t size;
	} piece[PIECES_MAX];
	size_t pieces = 0;

	for (size_t done = 0; done < size; pieces++) {
		uint64_t address = linear + done;
		size_t n = MIN(size - done, -(address | TARGET_PAGE_MASK));
		int flags;

		if (!(env->hflags & HF_LMA_MASK))
			address = (uint32_t)address;
		if (pieces == PIECES_MAX)
			return false;
		flags = probe_access_flags(env, address, n, write ? MMU_DATA_STORE : MMU_DATA_LOAD,
					   cpu_mmu_index_kernel(env), true, &piece[pieces].host, 0);
		if ((flags & (TLB_INVALID_MASK | TLB_MMIO)) || !piece[pieces].host)
			return false;
		piece[pieces].size = n;
		done += n;
	}
	for (size_t i = 0; i < pieces; i++) {
		if (write)
			memcpy(piece[i].host, bytes, piece[i].size);
		else
			memcpy(bytes, piece[i].host, piece[i].size);
		bytes = (uint8_t *)bytes + piece[i].size;
	}
	return true;
}

/* Returns a thread of the core.  `opaque` of the callbacks is the core's first thread. */
static struct softpmu *thread_of(struct softpmu *first, unsigned lp)
{
	return lp ? first->sibling : first;
}

static bool read_memory(void *opaque, unsigned lp, uint64_t linear, void *to, size_t bytes)
{
	struct softpmu *unit = thread_of(opaque, lp);

	return access_linear(&unit->cpu->env, linear, to, bytes, false);
}

static bool write_memory(void *opaque, unsigned lp, uint64_t linear, const void *from, size_t bytes)
{
	struct softpmu *unit = thread_of(opaque, lp);

	return access_linear(&unit->cpu->env, linear, (void *)from, bytes, true);
}

static void interrupt(void *opaque, unsigned lp, struct spmu_pmi pmi)
{
	struct softpmu *unit = thread_of(opaque, lp);

	BQL_LOCK_GUARD();
	apic_deliver_pmi(unit->cpu->apic_state);
}

static uint64_t time_stamp(void *opaque, unsigned lp)
{
	struct softpmu *unit = thread_of(opaque, lp);

	return softpmu_tsc(&unit->cpu->env);
}

static void read_registers(void *opaque, unsigned lp, struct spmu_registers *out)
{
	struct softpmu *unit = thread_of(opaque, lp);
	CPUX86State *env = &unit->cpu->env;
	const target_ulong *r = env->regs;

	*out = (struct spmu_registers){
		.rflags = cpu_compute_eflags(env),
		.rip = env->eip,
		.rax = r[R_EAX],
		.rbx = r[R_EBX],
		.rcx = r[R_ECX],
		.rdx = r[R_EDX],
		.rsi = r[R_ESI],
		.rdi = r[R_EDI],
		.rbp = r[R_EBP],
		.rsp = r[R_ESP],
		.r8 = r[8],
		.r9 = r[9],
		.r10 = r[10],
		.r11 = r[11],
		.r12 = r[12],
		.r13 = r[13],
		.r14 = r[14],
		.r15 = r[15],
	};
}

static void read_vectors(void *opaque, unsigned lp, uint8_t xmm[16][16])
{
	struct softpmu *unit = thread_of(opaque, lp);

	for (int i = 0; i < 16; i++)
		memcpy(xmm[i], &unit->cpu->env.xmm_regs[i], 16);
}

/* Creates the core of cpu[0] to cpu[threads - 1].  Returns the first thread's unit. */
static struct softpmu *new_units(X86CPU *cpu[], unsigned threads, const struct spmu_model *model)
{
	struct softpmu *unit[SPMU_THREADS_MAX] = {NULL};
	struct spmu_core_config config = {
		.size = sizeof(struct spmu_core_config),
		.model = model,
		.threads = threads,
		.hide_absent = true,
	};
	struct spmu_host host = {
		.size = sizeof(struct spmu_host),
		.read = read_memory,
		.write = write_memory,
		.pmi = interrupt,
		.tsc = time_stamp,
		.registers = read_registers,
		.vectors = read_vectors,
		.supply = {.exact = EXACT, .modelled = MODELLED},
	};
	size_t bytes = ROUND_UP(spmu_core_bytes(), 64);
	struct spmu_core *core;
	enum spmu_status status;

	for (unsigned lp = 0; lp < threads; lp++) {
		unit[lp] = g_new0(struct softpmu, 1);
		unit[lp]->cpu = cpu[lp];
		unit[lp]->model = model;
		unit[lp]->lp = lp;
		config.meters[lp] = &unit[lp]->meters;
		/* One entry more, for the clocks after the last branch. */
		cpu[lp]->env.softpmu.log = g_new(struct spmu_branch, SOFTPMU_LOG_MAX + 1);
		cpu[lp]->env.softpmu.log_end = cpu[lp]->env.softpmu.log;
	}
	/* Not exact: accesses that helpers make at several addresses are not listed. */
	spmu_tally_set_add(&host.supply.modelled_tallies, SPMU_TALLY_LOAD_SPLITS);
	spmu_tally_set_add(&host.supply.modelled_tallies, SPMU_TALLY_STORE_SPLITS);
	if (cpu[0]->softpmu_machine)
		softpmu_machine_supply(&host.supply, model);
	host.opaque = unit[0];
	status = spmu_core_create(qemu_memalign(64, bytes), bytes, &config, &host, &core);
	g_assert(status == SPMU_OK);
	for (unsigned lp = 0; lp < threads; lp++) {
		unit[lp]->core = core;
		unit[lp]->sibling = threads > 1 ? unit[1 - lp] : NULL;
		unit[lp]->state_bytes = spmu_state_bytes(core);
		unit[lp]->state = g_malloc0(unit[lp]->state_bytes);
	}
	return unit[0];
}

static bool same_core(const X86CPU *a, const X86CPU *b)
{
	return a->socket_id == b->socket_id && a->die_id == b->die_id &&
	       a->module_id == b->module_id && a->core_id == b->core_id;
}

/* Creates the unit of a core when its last thread is realized. */
static bool make_unit(X86CPU *cpu, const struct spmu_model *model, Error **errp)
{
	unsigned threads = MACHINE(qdev_get_machine())->smp.threads;
	X86CPU *core[SPMU_THREADS_MAX] = {cpu};
	struct softpmu *unit;
	CPUState *other;

	if (threads > SPMU_THREADS_MAX || (threads > 1 && qemu_tcg_mttcg_enabled())) {
		error_setg(errp, "pmu=on: a core has one thread, or two with "
				 "-accel tcg,thread=single");
		return false;
	}
	if (threads > 1) {
		core[0] = NULL;
		CPU_FOREACH(other)
		if (X86_CPU(other) != cpu && same_core(X86_CPU(other), cpu))
			core[0] = X86_CPU(other);
		if (!core[0]) /* the other thread is realized later */
			return true;
		core[1] = cpu;
	}
	if (cpu->softpmu_machine && !softpmu_machine_known(model, errp))
		return false;
	unit = new_units(core, threads, model);
	for (unsigned lp = 0; lp < threads; lp++) {
		core[lp]->env.softpmu.unit = lp ? unit->sibling : unit;
		if (cpu->softpmu_machine && !softpmu_machine_join(core[lp]->env.softpmu.unit, errp))
			return false;
	}
	softpmu_grant(unit);
	return true;
}

bool softpmu_realize(X86CPU *cpu, Error **errp)
{
	struct softpmu_env *pmu = &cpu->env.softpmu;
	const struct spmu_model *model;
	Error *error = NULL;

	if (cpu->softpmu_model)
		cpu->enable_pmu = true;
	if (cpu->softpmu_machine && !cpu->enable_pmu) {
		error_setg(errp, "pmu-machine=on needs a unit: add pmu=on or pmu-model=");
		return false;
	}
	if (!cpu->enable_pmu || pmu->unit)
		return true;
	model = softpmu_choose_model(cpu, &error);
	if (error) {
		error_propagate(errp, error);
		return false;
	}
	if (!model) /* -cpu max has pmu=on by default, and no family */
		return true;
	return make_unit(cpu, model, errp);
}

/* A snapshot holds the unit's own block and the pending instruction. */
static int before_save(void *opaque)
{
	X86CPU *cpu = opaque;
	struct softpmu *unit = cpu->env.softpmu.unit;

	softpmu_sync(unit);
	softpmu_machine_charge(unit); /* the pending instruction's part, too */
	if (spmu_save(unit->core, unit->state, unit->state_bytes) != SPMU_OK)
		return -EINVAL;
	softpmu_grant(unit);
	return 0;
}

static int after_load(void *opaque, int version)
{
	X86CPU *cpu = opaque;
	struct softpmu *unit = cpu->env.softpmu.unit;
	enum spmu_status status = spmu_load(unit->core, unit->state, unit->state_bytes);

	if (status != SPMU_OK) {
		error_report("performance-monitoring unit: %s", spmu_status_text(status));
		return -EINVAL;
	}
	memset(cpu->env.softpmu.count, 0, sizeof(cpu->env.softpmu.count));
	memset(cpu->env.softpmu.memory, 0, sizeof(cpu->env.softpmu.memory));
	unit->tsc = softpmu_tsc(&cpu->env);
	/* The caches are not part of a snapshot. */
	if (unit->feed)
		softpmu_machine_forget();
	softpmu_grant(unit);
	return 0;
}

static bool is_there(void *opaque)
{
	X86CPU *cpu = opaque;

	return cpu->env.softpmu.unit != NULL;
}

static const VMStateDescription vmstate_softpmu_unit = {
	.name = "softpmu/unit",
	.version_id = 1,
	.minimum_version_id = 1,
	.fields =
		(const VMStateField[]){
			VMSTATE_VBUFFER_UINT32(state, struct softpmu, 1, NULL, state_bytes),
			VMSTATE_END_OF_LIST(),
		},
};

const VMStateDescription vmstate_softpmu = {
	.name = "cpu/softpmu",
	.version_id = 3,
	.minimum_version_id = 3,
	.needed = is_there,
	.pre_save = before_save,
	.post_load = after_load,
	.fields =
		(const VMStateField[]){
			VMSTATE_STRUCT_POINTER(env.softpmu.unit, X86CPU, vmstate_softpmu_unit,
					       struct softpmu),
			VMSTATE_UINT64(env.softpmu.pending_signals, X86CPU),
			VMSTATE_UINT64(env.softpmu.pending_memory, X86CPU),
			VMSTATE_UINT64_2DARRAY(env.softpmu.access, X86CPU, SOFTPMU_ACCESSES_MAX, 2),
			VMSTATE_UINT32(env.softpmu.access_count, X86CPU),
			VMSTATE_UINT64(env.softpmu.pending_ip, X86CPU),
			VMSTATE_UINT32(env.softpmu.pending_cpl, X86CPU),
			VMSTATE_UINT32(env.softpmu.need, X86CPU),
			VMSTATE_END_OF_LIST(),
		},
};
