/* SPDX-License-Identifier: MIT */
/*
 * softpmu-unit.c: a virtual processor's unit is made, and what it asks of the machine: linear
 * memory, registers, time, the interrupt.
 *
 * The DS save area is reached through the guest's page tables at the privilege of the
 * supervisor (17.4.9).  A page that is not present, not writable or not memory refuses the
 * access, and nothing is written.
 */
#include "qemu/osdep.h"
#include "qemu/main-loop.h"
#include "qemu/memalign.h"
#include "cpu.h"
#include "exec/exec-all.h"
#include "hw/i386/apic.h"
#include "softpmu-unit.h"

#define PIECES_MAX 4

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

/* Callbacks name the core by its first thread. */
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

	return cpu_get_tsc(&unit->cpu->env) + unit->cpu->env.tsc_offset;
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

struct softpmu *softpmu_unit_new(X86CPU *cpu[], unsigned threads, const struct spmu_model *model,
				 uint64_t exact, uint64_t modelled)
{
	struct softpmu *unit[SPMU_THREADS_MAX] = {NULL};
	struct spmu_core_config config = {
		.model = model,
		.threads = threads,
		.hide_absent = true,
	};
	struct spmu_host host = {
		.read = read_memory,
		.write = write_memory,
		.pmi = interrupt,
		.tsc = time_stamp,
		.registers = read_registers,
		.vectors = read_vectors,
		.supply = {.exact = exact, .modelled = modelled},
	};
	size_t bytes = ROUND_UP(spmu_core_bytes(), 64);
	struct spmu_core *core;
	enum spmu_status status;

	for (unsigned lp = 0; lp < threads; lp++) {
		unit[lp] = g_new0(struct softpmu, 1);
		unit[lp]->cpu = cpu[lp];
		unit[lp]->lp = lp;
		config.meters[lp] = &unit[lp]->meters;
	}
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

/* CPUID.01H:EAX (Vol. 2A): the family and model that software goes by. */
static uint32_t family_and_model(uint32_t signature)
{
	return signature & 0x0fff0ff0;
}

/* Models of QEMU whose unit is listed under another member of the family. */
static uint32_t listed_as(uint32_t signature)
{
	switch (family_and_model(signature)) {
	case 0x506f0: /* Denverton: Goldmont */
		return 0x506c9;
	case 0x670: /* pentium3, the first Pentium III */
		return 0x683;
	default:
		return signature;
	}
}

/*
 * The nearest stepping of the same family and model.  The processor takes that stepping:
 * drivers look for those that are known to work.
 */
const struct spmu_model *softpmu_model_of(uint32_t *signature)
{
	const struct spmu_model *best = NULL;
	uint32_t distance = UINT32_MAX;
	uint32_t wanted = listed_as(*signature);
	uint32_t found = 0;

	for (size_t i = 0; i < spmu_model_count(); i++) {
		const struct spmu_model *model = spmu_model_at(i);
		uint32_t other = spmu_model_info(model).signature;
		uint32_t steps = other > wanted ? other - wanted : wanted - other;

		if (family_and_model(other) != family_and_model(wanted) || steps >= distance)
			continue;
		best = model;
		found = other;
		distance = steps;
	}
	if (best && wanted == *signature)
		*signature = found;
	return best;
}
