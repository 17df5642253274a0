/* SPDX-License-Identifier: MIT */
/*
 * unit.c: the smallest host. It "executes" a loop of five instructions that ends in a conditional
 * branch. It counts in bulk while there is headroom, and reports instruction by instruction when
 * there is none. So the interrupt comes at the exact instruction.
 *
 * Prints:
 *	interrupt at instruction 1000 of the loop, vector EEH
 *	PMC0 = 2000 branches, 1999 passes in bulk
 */
#include <stdio.h>
#include <stdlib.h>

#include <softpmu/unit.h>

#define LOOP_INSNS 5u
#define PASSES	   2000u

static struct spmu_meters meters;
static uint64_t executed;

/* Refuses: this example has no memory for a PEBS buffer. */
static bool no_read(void *opaque, unsigned lp, uint64_t linear, void *to, size_t bytes)
{
	(void)opaque, (void)lp, (void)linear, (void)to, (void)bytes;
	return false;
}
static bool no_write(void *opaque, unsigned lp, uint64_t linear, const void *from, size_t bytes)
{
	(void)opaque, (void)lp, (void)linear, (void)from, (void)bytes;
	return false;
}
static void interrupt(void *opaque, unsigned lp, struct spmu_pmi pmi)
{
	(void)opaque, (void)lp;
	printf("interrupt at instruction %llu of the loop, vector %02XH\n",
	       (unsigned long long)executed, pmi.vector);
}
static uint64_t clock_now(void *opaque, unsigned lp)
{
	(void)opaque, (void)lp;
	return executed;
}
static void registers(void *opaque, unsigned lp, struct spmu_registers *out)
{
	(void)opaque, (void)lp;
	*out = (struct spmu_registers){0};
}

/* Returns the signals of the n-th instruction of the loop. */
static uint64_t signals_of(unsigned n)
{
	return SPMU_SIGBIT(INSTRUCTIONS) | (n == LOOP_INSNS - 1 ? SPMU_SIGBIT(COND_TAKEN) : 0);
}

/* Returns how often the meter's signals occur in one pass. */
static int64_t in_one_pass(const struct spmu_meter *meter)
{
	int64_t n = 0;

	if (meter->rings & SPMU_RING_USER)
		for (unsigned i = 0; i < LOOP_INSNS; i++)
			n += __builtin_popcountll(signals_of(i) & meter->signals);
	return n;
}

/*
 * Takes one pass from the headroom of all meters.  If it does not fit one of them, puts it back and
 * returns false.
 */
static bool pass_in_bulk(void)
{
	bool fits = true;

	for (unsigned i = 0; i < meters.count; i++) {
		meters.meter[i].headroom -= in_one_pass(&meters.meter[i]);
		fits = fits && meters.meter[i].headroom >= 0;
	}
	for (unsigned i = 0; i < meters.count && !fits; i++)
		meters.meter[i].headroom += in_one_pass(&meters.meter[i]);
	if (fits)
		executed += LOOP_INSNS;
	return fits;
}

static void pass_one_by_one(struct spmu_core *core)
{
	for (unsigned i = 0; i < LOOP_INSNS; i++) {
		struct spmu_insn insn = {
			.ip = 0x401000 + 4 * i,
			.next_ip = 0x401000 + 4 * ((i + 1) % LOOP_INSNS),
			.signals = signals_of(i),
			.cycles = 1,
			.cpl = 3,
		};

		executed++;
		(void)spmu_retire(core, 0, &insn);
	}
}

static bool write_msr(struct spmu_core *core, uint32_t msr, uint64_t value)
{
	return spmu_write_msr(core, 0, msr, value) == SPMU_DONE;
}

int main(void)
{
	const struct spmu_host host = {
		.size = sizeof(struct spmu_host),
		.read = no_read,
		.write = no_write,
		.pmi = interrupt,
		.tsc = clock_now,
		.registers = registers,
		.supply = {.exact = SPMU_SIGSET_ARCHITECTURAL},
	};
	const struct spmu_core_config config = {
		.size = sizeof(struct spmu_core_config),
		.model = spmu_model_find("skylake"),
		.threads = 1,
		.meters = {&meters},
	};
	size_t bytes = (spmu_core_bytes() + 63) & ~(size_t)63;
	void *memory = aligned_alloc(64, bytes);
	struct spmu_core *core;
	unsigned bulk = 0;
	uint64_t count = 0;

	if (!memory || spmu_core_create(memory, bytes, &config, &host, &core) != SPMU_OK)
		return 1;
	spmu_write_lvt(core, 0, 0xee);
	/* PMC0: conditional branches in user mode, an interrupt at the 200th. */
	if (!write_msr(core, 0x4c1, (UINT64_C(1) << 48) - 200) ||
	    !write_msr(core, 0x186, 0x5101c4) || !write_msr(core, 0x38f, 1))
		return 1;

	for (unsigned pass = 0; pass < PASSES; pass++) {
		if (pass_in_bulk())
			bulk++;
		else
			pass_one_by_one(core);
	}

	/* RDPMC of counter 0 at CPL 3, allowed by CR4.PCE. */
	if (spmu_rdpmc(core, 0, 0, 3, true, true, &count) != SPMU_DONE)
		return 1;
	printf("PMC0 = %llu branches, %u passes in bulk\n", (unsigned long long)count + 200, bulk);
	free(memory);
	return 0;
}
