/* SPDX-License-Identifier: MIT */
/*
 * tallies.c: a host that counts loads across cache lines.  It knows their addresses only after it
 * has run the code.  So it limits what it runs at a time, and reports what happened afterwards.
 *
 * Prints:
 *	MEM_INST_RETIRED.SPLIT_LOADS is exact here
 *	gathers accesses of kind 1
 *	63 split loads, 84 batches, 160 instructions one by one
 *	an interrupt at split load 50
 */
#include <stdio.h>
#include <stdlib.h>

#include <softpmu/accesses.h>
#include <softpmu/tallies.h>
#include <softpmu/unit.h>

#define LINE   64
#define INSNS  1000 /* of the program, each a load of 8 bytes */
#define STEP   60   /* bytes from one load to the next */
#define BATCH  10   /* instructions that run at a time */
#define PERIOD 50

static struct spmu_meters meters;
static unsigned splits, split_at_interrupt;

static bool refuse_read(void *opaque, unsigned lp, uint64_t linear, void *to, size_t bytes)
{
	(void)opaque, (void)lp, (void)linear, (void)to, (void)bytes;
	return false;
}

static bool refuse_write(void *opaque, unsigned lp, uint64_t linear, const void *from, size_t bytes)
{
	(void)opaque, (void)lp, (void)linear, (void)from, (void)bytes;
	return false;
}

static void interrupt(void *opaque, unsigned lp, struct spmu_pmi pmi)
{
	(void)opaque, (void)lp, (void)pmi;
	split_at_interrupt = splits;
}

/* Returns the access of an instruction, which the host knows after running it. */
static struct spmu_memory_access run(unsigned n)
{
	return (struct spmu_memory_access){
		.linear = 0x10000 + STEP * n,
		.bytes = 8,
		.kind = SPMU_ACCESS_LOAD,
	};
}

/* Models the machine: returns a tally of 1 if an access crosses a line. */
static struct spmu_tally split_of(const struct spmu_memory_access *access)
{
	bool crosses = access->linear / LINE != (access->linear + access->bytes - 1) / LINE;

	splits += crosses;
	return (struct spmu_tally){.kind = SPMU_TALLY_LOAD_SPLITS, .count = crosses};
}

/* Returns true if `most` occurrences fit the headroom of the meters that count splits. */
static bool fits(int64_t most)
{
	bool room = true;

	for (unsigned i = 0; i < meters.count; i++)
		if (meters.meter[i].tallies &&
		    spmu_tally_set_has(meters.meter[i].tallies, SPMU_TALLY_LOAD_SPLITS))
			room = room && meters.meter[i].headroom >= most;
	return room;
}

/* Runs a batch and hands over what was gathered. */
static void run_batch(struct spmu_core *core, unsigned first)
{
	struct spmu_memory_access gathered[BATCH];
	struct spmu_tally tally = {.kind = SPMU_TALLY_LOAD_SPLITS};

	for (unsigned i = 0; i < BATCH; i++)
		gathered[i] = run(first + i);
	for (unsigned i = 0; i < BATCH; i++)
		tally.count += split_of(&gathered[i]).count;
	(void)spmu_tallies(core, 0, &tally, 1, 3);
}

/* Runs one instruction and reports it with its tallies. */
static void run_one(struct spmu_core *core, unsigned n)
{
	const struct spmu_memory_access access = run(n);
	const struct spmu_tally tally = split_of(&access);
	const struct spmu_insn insn = {
		.ip = 0x401000,
		.next_ip = 0x401000,
		.signals = SPMU_SIGBIT(INSTRUCTIONS) | SPMU_SIGBIT(LOADS),
		.accesses = &access,
		.access_count = 1,
		.tallies = &tally,
		.tally_count = 1,
		.cycles = SPMU_CLOCKS_UNMODELLED,
		.cpl = 3,
	};

	(void)spmu_retire(core, 0, &insn);
}

static bool write_msr(struct spmu_core *core, uint32_t msr, uint64_t value)
{
	return spmu_write_msr(core, 0, msr, value) == SPMU_DONE;
}

int main(void)
{
	struct spmu_host host = {
		.size = sizeof(host),
		.read = refuse_read,
		.write = refuse_write,
		.pmi = interrupt,
		.supply = {.exact = SPMU_SIGSET_ARCHITECTURAL, .accesses = SPMU_ACCESS_DATA},
	};
	const struct spmu_core_config config = {
		.size = sizeof(config),
		.model = spmu_model_find("skylake"),
		.threads = 1,
		.meters = {&meters},
	};
	const struct spmu_event *event = spmu_event_by_code(config.model, 0x41d0);
	size_t bytes = (spmu_core_bytes() + 63) & ~(size_t)63;
	void *memory = aligned_alloc(64, bytes);
	unsigned batches = 0, single = 0;
	struct spmu_core *core;

	spmu_tally_set_add(&host.supply.exact_tallies, SPMU_TALLY_LOAD_SPLITS);
	if (!memory || !event || spmu_core_create(memory, bytes, &config, &host, &core) != SPMU_OK)
		return 1;
	printf("%s is %s here\n", event->name,
	       spmu_event_fidelity(event, &host.supply) == SPMU_EXACT ? "exact" : "not exact");
	/* PMC0: split loads in user mode, an interrupt at the 50th. */
	spmu_write_lvt(core, 0, 0xee);
	if (!write_msr(core, 0x4c1, (UINT64_C(1) << 48) - PERIOD) ||
	    !write_msr(core, 0x186, 0x5141d0) || !write_msr(core, 0x38f, 1))
		return 1;
	printf("gathers accesses of kind %u\n", (unsigned)meters.accesses.kinds);

	for (unsigned n = 0; n < INSNS; n += BATCH) {
		if (fits(BATCH)) {
			batches++;
			run_batch(core, n);
			continue;
		}
		for (unsigned i = 0; i < BATCH; i++, single++)
			run_one(core, n + i);
	}
	printf("%u split loads, %u batches, %u instructions one by one\n", splits, batches, single);
	printf("an interrupt at split load %u\n", split_at_interrupt);
	free(memory);
	return 0;
}
