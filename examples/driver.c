/* SPDX-License-Identifier: MIT */
/*
 * driver.c: precise sampling as an operating system does it: detect, make a DS save area, add
 * a request, start, serve interrupts, drain.  Here the driver's port leads to a unit.  On silicon
 * the port would be RDMSR, WRMSR and CPUID.
 *
 * The program is a loop of ten instructions.  With period 1007 each record is of the 1007th
 * instruction after the last record: INST_RETIRED.PREC_DIST records the one that overflows.
 *
 * Prints:
 *	4 counters, PEBS format 3
 *	sample at 401018: instruction 1007
 *	sample at 40100c: instruction 2014
 *	sample at 401000: instruction 3021
 *	4000 instructions, 1 interrupts
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <softpmu/driver.h>

#define AREA_LINEAR UINT64_C(0x7f0000000000)
#define AREA_BYTES  8192

struct machine {
	struct spmu_core *core;
	struct spmu_meters meters, sibling;
	struct spmu_driver driver;
	uint64_t retired, rip;
	bool interrupt_pending;
	uint8_t area[AREA_BYTES] __attribute__((aligned(64)));
};

/* The unit's side: memory, the clock, registers, the interrupt line. */

static uint8_t *at(struct machine *m, uint64_t linear, size_t bytes)
{
	if (linear < AREA_LINEAR || bytes > AREA_BYTES || linear - AREA_LINEAR > AREA_BYTES - bytes)
		return NULL;
	return m->area + (linear - AREA_LINEAR);
}
static bool read_memory(void *opaque, unsigned lp, uint64_t linear, void *to, size_t bytes)
{
	const uint8_t *from = at(opaque, linear, bytes);

	(void)lp;
	return from && memcpy(to, from, bytes);
}
static bool write_memory(void *opaque, unsigned lp, uint64_t linear, const void *from, size_t bytes)
{
	uint8_t *to = at(opaque, linear, bytes);

	(void)lp;
	return to && memcpy(to, from, bytes);
}
static void raise_interrupt(void *opaque, unsigned lp, struct spmu_pmi pmi)
{
	struct machine *m = opaque;

	(void)lp, (void)pmi;
	m->interrupt_pending = true;
}
static uint64_t tsc(void *opaque, unsigned lp)
{
	const struct machine *m = opaque;

	(void)lp;
	return m->retired;
}
static void registers(void *opaque, unsigned lp, struct spmu_registers *out)
{
	const struct machine *m = opaque;

	(void)lp;
	*out = (struct spmu_registers){.rip = m->rip, .rcx = m->retired};
}

/* The driver's side: the port. */

static bool rdmsr(void *opaque, uint32_t msr, uint64_t *value)
{
	const struct machine *m = opaque;

	return spmu_read_msr(m->core, 0, msr, value) == SPMU_DONE;
}
static bool wrmsr(void *opaque, uint32_t msr, uint64_t value)
{
	const struct machine *m = opaque;

	return spmu_write_msr(m->core, 0, msr, value) == SPMU_DONE;
}
static void cpuid(void *opaque, uint32_t leaf, uint32_t subleaf, struct spmu_cpuid_regs *regs)
{
	const struct machine *m = opaque;

	*regs = (struct spmu_cpuid_regs){.eax = leaf == 0 ? 0x16 : 0};
	(void)spmu_cpuid(m->core, leaf, subleaf, regs);
}
static uint32_t map_interrupt(void *opaque)
{
	(void)opaque;
	return 0xee; /* vector, fixed delivery */
}
static void write_lvt(void *opaque, uint32_t value)
{
	const struct machine *m = opaque;

	spmu_write_lvt(m->core, 0, value);
}
static void interrupted(void *opaque, struct spmu_registers *regs, uint64_t *now)
{
	registers(opaque, 0, regs);
	*now = tsc(opaque, 0);
}

static void take(void *opaque, const struct spmu_sample *sample)
{
	(void)opaque;
	printf("sample at %llx: instruction %llu\n",
	       (unsigned long long)sample->record->eventing_ip,
	       (unsigned long long)sample->record->regs.rcx);
}

static void run(struct machine *m, unsigned instructions)
{
	while (instructions--) {
		struct spmu_insn insn = {
			.ip = m->rip,
			.next_ip = m->rip == 0x401024 ? 0x401000 : m->rip + 4,
			.signals = SPMU_SIGBIT(INSTRUCTIONS),
			.cycles = 1,
			.cpl = 3,
		};

		m->rip = insn.next_ip;
		m->retired++;
		(void)spmu_retire(m->core, 0, &insn);
		if (m->interrupt_pending) {
			m->interrupt_pending = false;
			spmu_driver_interrupt(&m->driver);
		}
	}
}

static enum spmu_status make_core(struct machine *m, void *memory, size_t bytes)
{
	const struct spmu_host host = {
		.size = sizeof(struct spmu_host),
		.opaque = m,
		.read = read_memory,
		.write = write_memory,
		.pmi = raise_interrupt,
		.tsc = tsc,
		.registers = registers,
		.supply = {.exact = SPMU_SIGSET_ARCHITECTURAL},
	};
	const struct spmu_core_config config = {
		.size = sizeof(struct spmu_core_config),
		.model = spmu_model_find("skylake"),
		.threads = 2,
		.meters = {&m->meters, &m->sibling},
	};

	enum spmu_status status = spmu_core_create(memory, bytes, &config, &host, &m->core);

	if (status == SPMU_OK) /* records hold 64-bit registers only in IA-32e mode */
		spmu_set_ia32e(m->core, 0, true);
	return status;
}

static enum spmu_status sample(struct machine *m)
{
	const struct spmu_port port = {
		.size = sizeof(struct spmu_port),
		.opaque = m,
		.rdmsr = rdmsr,
		.wrmsr = wrmsr,
		.cpuid = cpuid,
		.map_interrupt = map_interrupt,
		.write_lvt = write_lvt,
		.interrupted = interrupted,
	};
	const struct spmu_request request = {
		.size = sizeof(struct spmu_request),
		.select = 0x101c0,   /* INST_RETIRED.PREC_DIST in user mode */
		.counters = 1u << 1, /* Skylake counts it precisely on PMC1 */
		.fixed = -1,
		.period = 1007,
		.precise = true,
	};
	const struct spmu_driver_memory memory = {
		.size = sizeof(struct spmu_driver_memory),
		.memory = m->area,
		.linear = AREA_LINEAR,
		.bytes = AREA_BYTES,
		.records_per_interrupt = 2,
	};
	enum spmu_status status;
	unsigned slot;

	status = spmu_driver_detect(&m->driver, sizeof(m->driver), &port,
				    spmu_model_find("skylake"));
	if (status != SPMU_OK)
		return status;
	printf("%u counters, PEBS format %u\n", m->driver.facilities.counters,
	       m->driver.facilities.pebs_format);
	spmu_driver_set_sink(&m->driver, take, NULL);
	status = spmu_driver_setup_ds(&m->driver, &memory);
	if (status == SPMU_OK)
		status = spmu_driver_add(&m->driver, &request, &slot);
	if (status == SPMU_OK)
		status = spmu_driver_start(&m->driver);
	if (status != SPMU_OK)
		return status;
	run(m, 4000);
	status = spmu_driver_stop(&m->driver);
	spmu_driver_drain(&m->driver);
	printf("%llu instructions, %llu interrupts\n",
	       (unsigned long long)spmu_driver_read(&m->driver, slot),
	       (unsigned long long)m->driver.interrupts);
	return status;
}

int main(void)
{
	static struct machine machine = {.rip = 0x401000};
	size_t bytes = (spmu_core_bytes() + 63) & ~(size_t)63;
	void *memory = aligned_alloc(64, bytes);
	enum spmu_status status;

	if (!memory)
		return 1;
	status = make_core(&machine, memory, bytes);
	if (status == SPMU_OK)
		status = sample(&machine);
	if (status != SPMU_OK)
		printf("%s\n", spmu_status_text(status));
	free(memory);
	return status != SPMU_OK;
}
