/* SPDX-License-Identifier: MIT */
/*
 * unit_host.c: what a thread's unit sees of the world: the callbacks of its host (unit.h), and the
 * port through which the driver reaches its registers (driver.h).
 */
#include "engine/count/unit_host.h"

#include "engine/count/count.h"
#include "engine/count/timing.h"
#include "engine/count/units.h"
#include "engine/rt/context.h"
#include "engine/rt/engine.h"
#include "engine/rt/sys.h"

#define MSR_EFER 0xc0000080u /* the program runs in IA-32e mode */
#define EFER_LMA 0x500u
#define LVT_NMI	 0x400u /* delivery mode of the service routine, as kernels use */

/* --- callbacks of the host --- */

static bool in_ds(const struct unit *u, uint64_t linear, size_t bytes)
{
	uint64_t ds = (uint64_t)u->memory.ds;

	return (linear >= ds && linear - ds <= UNIT_DS_BYTES &&
		bytes <= UNIT_DS_BYTES - (linear - ds)) ||
	       branches_in_buffer(linear, bytes);
}

static bool host_read(void *opaque, unsigned lp, uint64_t linear, void *to, size_t bytes)
{
	(void)lp;
	if (!in_ds(opaque, linear, bytes))
		return false;
	memcpy(to, (const void *)linear, bytes);
	return true;
}

static bool host_write(void *opaque, unsigned lp, uint64_t linear, const void *from, size_t bytes)
{
	(void)lp;
	if (!in_ds(opaque, linear, bytes))
		return false;
	memcpy((void *)linear, from, bytes);
	return true;
}

static void host_pmi(void *opaque, unsigned lp, struct spmu_pmi pmi)
{
	struct unit *u = opaque;

	(void)lp;
	(void)pmi;
	u->interrupt_due = true;
}

/* A Pentium's counters have a pin each instead of an interrupt.  Here the pin is connected to
 * one. */
static void host_pin(void *opaque, unsigned lp, unsigned number, uint64_t toggles)
{
	struct unit *u = opaque;

	(void)lp;
	(void)number;
	u->interrupt_due |= toggles != 0;
}

static uint64_t host_tsc(void *opaque, unsigned lp)
{
	(void)opaque;
	(void)lp;
	return read_tsc();
}

void unit_host_registers(struct spmu_registers *out)
{
	struct counting *c = current->counting;
	const uint64_t *g = current->gpr;

	*out = (struct spmu_registers){
		.rflags = current->rflags,
		.rip = c->now_next_ip,
		.rax = g[0],
		.rcx = g[1],
		.rdx = g[2],
		.rbx = g[3],
		.rsp = g[4],
		.rbp = g[5],
		.rsi = g[6],
		.rdi = g[7],
		.r8 = g[8],
		.r9 = g[9],
		.r10 = g[10],
		.r11 = g[11],
		.r12 = g[12],
		.r13 = g[13],
		.r14 = g[14],
		.r15 = g[15],
	};
}

static void host_registers(void *opaque, unsigned lp, struct spmu_registers *out)
{
	(void)opaque;
	(void)lp;
	unit_host_registers(out);
}

/* --- the port of the driver --- */

static bool port_rdmsr(void *opaque, uint32_t msr, uint64_t *value)
{
	struct unit *u = opaque;

	if (msr == MSR_EFER) {
		*value = EFER_LMA;
		return true;
	}
	return spmu_read_msr(u->core, 0, msr, value) == SPMU_DONE;
}

static bool port_wrmsr(void *opaque, uint32_t msr, uint64_t value)
{
	struct unit *u = opaque;

	return spmu_write_msr(u->core, 0, msr, value) == SPMU_DONE;
}

static void port_cpuid(void *opaque, uint32_t leaf, uint32_t subleaf, struct spmu_cpuid_regs *regs)
{
	struct unit *u = opaque;

	*regs = (struct spmu_cpuid_regs){0};
	if (leaf == 0)
		regs->eax = spmu_model_describe(u->model).perfmon_version ? 0x23 : 2;
	if (leaf == 1)
		regs->eax = spmu_model_describe(u->model).signature;
	spmu_cpuid(u->core, leaf, subleaf, regs);
}

static uint32_t port_map_interrupt(void *opaque)
{
	(void)opaque;
	return LVT_NMI;
}

static void port_write_lvt(void *opaque, uint32_t value)
{
	struct unit *u = opaque;

	spmu_write_lvt(u->core, 0, value);
}

static void port_interrupted(void *opaque, struct spmu_registers *regs, uint64_t *tsc)
{
	(void)opaque;
	unit_host_registers(regs);
	*tsc = read_tsc();
}

struct spmu_supply unit_host_supply(void)
{
	struct spmu_supply supply = {.exact = SPMU_SIGSET_ARCHITECTURAL};

	if (engine_link->machine.size) {
		spmu_machine_supplies(&engine_link->machine, &supply);
		spmu_uarch_supplies_offcore(&supply);
	}
	if (engine_link->static_clocks)
		spmu_static_clocks_supply(&supply);
	if (timing_core())
		spmu_timeline_supplies(timing_core(), &supply);
	return supply;
}

struct spmu_host unit_host(struct unit *u)
{
	struct spmu_host host = {
		.size = sizeof(struct spmu_host),
		.opaque = u,
		.read = host_read,
		.write = host_write,
		.pmi = host_pmi,
		.tsc = host_tsc,
		.registers = host_registers,
		.supply = unit_host_supply(),
	};

	if (spmu_model_describe(u->model).programming == SPMU_PROGRAM_CESR)
		host.pin = host_pin;
	return host;
}

struct spmu_port unit_host_port(struct unit *u)
{
	return (struct spmu_port){
		.size = sizeof(struct spmu_port),
		.opaque = u,
		.rdmsr = port_rdmsr,
		.wrmsr = port_wrmsr,
		.cpuid = port_cpuid,
		.map_interrupt = port_map_interrupt,
		.write_lvt = port_write_lvt,
		.interrupted = port_interrupted,
	};
}
