/* SPDX-License-Identifier: MIT */
/*
 * main.c: the manual's way to count, to sample and to trace, on a bare machine: detection, the DS
 * save area and IA32_DS_AREA (Vol. 3B 17.4.9.2, 17.4.9.4), the LVT entry and its gate (17.4.9.4,
 * Vol. 3A 10.5.1), the service routine (17.4.9.5), PEBS (18.4.4) and the branch trace store
 * (17.4.9). All of that is libsoftpmu's driver; what it asks of a system is `struct spmu_port`,
 * which is here.
 *
 * Nothing is known beforehand but the program that is observed: which processor it is says CPUID,
 * and which of its events is precise say the lists of its model.  The program runs in ring 3 and
 * only ring 3 is observed, so counts are exact: it has 1 + 4 * TIMES + 1 instructions, of which
 * TIMES are its loop's branch and the last is INT 80H.
 */
#include <softpmu/driver.h>

#include "machine.h"

#define TIMES  UINT64_C(100000)
#define PERIOD 10006 /* samples: every so many; PEBS records: between_records */
#define TRACED UINT64_C(1000)

#define SELECT_USR 0x10000

extern char known[], known_add[], known_lea[], known_dec[], known_jnz[], known_int[];

static struct spmu_driver driver;
static bool by_nmi;
static const struct frame *now; /* what the interrupt interrupted */
static uint8_t area[65536] __attribute__((aligned(4096)));

/* What came, and what of it is where it belongs. */
static uint64_t taken, right, between_records;

/* --- the port ------------------------------------------------------------- */

static bool port_read(void *opaque, uint32_t msr, uint64_t *value)
{
	(void)opaque;
	return read_msr(msr, value);
}

static bool port_write(void *opaque, uint32_t msr, uint64_t value)
{
	(void)opaque;
	return write_msr(msr, value);
}

static void port_cpuid(void *opaque, uint32_t leaf, uint32_t subleaf, struct spmu_cpuid_regs *regs)
{
	uint32_t got[4];

	(void)opaque;
	machine_cpuid(leaf, subleaf, got);
	*regs = (struct spmu_cpuid_regs){
		.eax = got[0], .ebx = got[1], .ecx = got[2], .edx = got[3]};
}

static uint32_t port_map_interrupt(void *opaque)
{
	(void)opaque;
	return by_nmi ? SPMU_DELIVER_NMI << 8 : SPMU_DELIVER_FIXED << 8 | PMI_VECTOR;
}

static void port_write_lvt(void *opaque, uint32_t value)
{
	(void)opaque;
	machine_write_lvt(value);
}

static void port_interrupted(void *opaque, struct spmu_registers *regs, uint64_t *tsc)
{
	(void)opaque;
	*regs = (struct spmu_registers){
		.rflags = now->rflags,
		.rip = now->rip,
		.rax = now->rax,
		.rdx = now->rdx,
		.rdi = now->rdi,
		.rsp = now->rsp,
	};
	*tsc = machine_tsc();
}

static const struct spmu_port port = {
	.size = sizeof(struct spmu_port),
	.rdmsr = port_read,
	.wrmsr = port_write,
	.cpuid = port_cpuid,
	.map_interrupt = port_map_interrupt,
	.write_lvt = port_write_lvt,
	.interrupted = port_interrupted,
};

static void on_pmi(const struct frame *frame)
{
	now = frame;
	spmu_driver_interrupt(&driver);
}

/* --- what the program does, instruction by instruction -------------------- */

/* The address of its n-th instruction, from 1 on. */
static uint64_t address_of(uint64_t n)
{
	char *const loop[] = {known_add, known_lea, known_dec, known_jnz};

	if (n == 1)
		return (uintptr_t)known;
	return (uintptr_t)(n <= 1 + 4 * TIMES ? loop[(n - 2) % 4] : known_int);
}

/* RDI when its n-th instruction has retired. */
static uint64_t rdi_after(uint64_t n)
{
	return TIMES - (n - 1 + 1) / 4;
}

/* --- samples -------------------------------------------------------------- */

static void show(const struct spmu_sample *sample, uint64_t n, bool belongs)
{
	if (taken > 3 && belongs)
		return;
	print("  instruction %u: at known+%u, rdi %u%s\n", n, sample->ip - (uintptr_t)known,
	      sample->record->regs.rdi, belongs ? "" : ": not where it belongs");
}

/* The interrupt comes after every PERIOD-th instruction, before the next one. */
static void take_sample(void *opaque, const struct spmu_sample *sample)
{
	uint64_t n = ++taken * PERIOD;
	bool belongs = sample->ip == address_of(n + 1) && sample->record->regs.rdi == rdi_after(n);

	(void)opaque;
	right += belongs;
	show(sample, n, belongs);
}

/*
 * The record describes the instruction after the one that overflows.  With a precise distribution
 * (18.9.4.4) it describes the instruction that overflows.  It has the registers after that
 * instruction.
 */
static void take_record(void *opaque, const struct spmu_sample *sample)
{
	uint64_t n = ++taken * between_records;
	bool belongs = sample->record->regs.rip == address_of(n + 1) &&
		       sample->record->regs.rdi == rdi_after(n);

	(void)opaque;
	/* From format 2 on a record names the instruction itself. */
	if (driver.facilities.pebs_format >= 2)
		belongs = belongs && sample->ip == address_of(n);
	right += belongs;
	show(sample, n, belongs);
}

/* Those of the loop, and those that leave the ring: each interrupt, and INT 80H at the end. */
static uint64_t take_branches(void *opaque, const void *records, size_t count, uint64_t linear)
{
	const uint8_t *at = records;
	struct spmu_bts_record record;

	(void)opaque;
	for (size_t i = 0; i < count; i++, at += driver.layout->bts_bytes) {
		bool loop;

		if (spmu_bts_decode(driver.layout, at, driver.layout->bts_bytes, &record) !=
		    SPMU_OK)
			continue;
		loop = record.from == (uintptr_t)known_jnz && record.to == (uintptr_t)known_add;
		taken++;
		right += loop;
		if (taken <= 2 || record.from == (uintptr_t)known_int)
			print("  branch %u: %x to %x\n", taken, record.from, record.to);
	}
	return linear;
}

/* --- the three parts ------------------------------------------------------ */

static bool good(const char *what, enum spmu_status status)
{
	if (status != SPMU_OK)
		print("%s: %s\n", what, spmu_status_text(status));
	return status == SPMU_OK;
}

static const char *delivery(void)
{
	return by_nmi ? "NMI" : "fixed";
}

static bool start(spmu_sink *sink)
{
	taken = right = 0;
	if (!good("detect", spmu_driver_detect(&driver, sizeof(driver), &port, driver.model)))
		return false;
	spmu_driver_set_sink(&driver, sink, NULL);
	spmu_driver_set_bts_sink(&driver, take_branches, NULL);
	return true;
}

/* IA32_PERFEVTSELx and a counter, or a fixed counter, that counts instructions (18.2). */
static void sample(void)
{
	const struct spmu_request request = {
		.size = sizeof(struct spmu_request),
		.select = SELECT_USR | 0xc0,
		.counters = 1,
		.fixed = -1,
		.period = PERIOD,
	};
	unsigned slot;

	if (!start(take_sample) || !good("add", spmu_driver_add(&driver, &request, &slot)) ||
	    !good("start", spmu_driver_start(&driver)))
		return;
	run_user((void (*)(void))(uintptr_t)known, TIMES);
	if (good("stop", spmu_driver_stop(&driver)))
		print("sampling by %s: %u instructions, %u interrupts, %u samples, %u where they "
		      "belong\n",
		      delivery(), spmu_driver_read(&driver, slot), driver.interrupts, taken, right);
	good("release", spmu_driver_release(&driver));
}

/* A precise event that counts instructions, and where it does. */
static bool find_precise(struct spmu_request *request)
{
	struct spmu_model_info info = spmu_model_describe(driver.model);

	for (size_t i = 0; i < spmu_event_count(driver.model); i++) {
		const struct spmu_event *event = spmu_event_at(driver.model, i);
		bool fixed = event->fixed >= 0 && (info.pebs_fixed >> event->fixed & 1);

		if (event->signals != SPMU_SIGBIT(INSTRUCTIONS) || !(event->pebs_counters || fixed))
			continue;
		*request = (struct spmu_request){
			.size = sizeof(struct spmu_request),
			.select = SELECT_USR | event->code,
			.counters = event->pebs_counters,
			.fixed = (int8_t)(fixed ? event->fixed : -1),
			.period = PERIOD,
			.precise = true,
		};
		return true;
	}
	return false;
}

static void sample_precisely(void)
{
	const struct spmu_driver_memory memory = {
		.size = sizeof(struct spmu_driver_memory),
		.memory = area,
		.linear = (uintptr_t)area,
		.bytes = sizeof(area),
		.records_per_interrupt = 4,
	};
	struct spmu_request request;
	unsigned slot, counter;

	if (!start(take_record))
		return;
	if (!driver.facilities.pebs || !find_precise(&request)) {
		print("no PEBS of instructions here\n");
		return;
	}
	if (!good("DS area", spmu_driver_setup_ds(&driver, &memory)) ||
	    !good("add", spmu_driver_add(&driver, &request, &slot)))
		return;
	counter = (driver.counter[slot].fixed ? 32u : 0) + driver.counter[slot].index;
	between_records = PERIOD + !spmu_model_pdir(driver.model, counter, request.select);
	if (!good("start", spmu_driver_start(&driver)))
		return;
	run_user((void (*)(void))(uintptr_t)known, TIMES);
	if (good("stop", spmu_driver_stop(&driver))) {
		spmu_driver_drain(&driver); /* what is below the threshold */
		print("PEBS by %s: %u instructions, %u interrupts, %u records, %u where they "
		      "belong\n",
		      delivery(), spmu_driver_read(&driver, slot), driver.interrupts, taken, right);
	}
	good("release", spmu_driver_release(&driver));
}

static void trace(void)
{
	const struct spmu_driver_memory memory = {
		.size = sizeof(struct spmu_driver_memory),
		.memory = area,
		.linear = (uintptr_t)area,
		.bytes = sizeof(area),
		.bts_bytes = 128 * 24,
	};

	if (!start(NULL))
		return;
	if (!driver.facilities.bts) {
		print("no branch trace store here\n");
		return;
	}
	if (!good("DS area", spmu_driver_setup_ds(&driver, &memory)) ||
	    !good("trace", spmu_driver_start_bts(&driver, true, false)))
		return;
	run_user((void (*)(void))(uintptr_t)known, TRACED);
	if (good("stop", spmu_driver_stop_bts(&driver))) {
		spmu_driver_drain(&driver);
		print("branch trace by %s: %u interrupts, %u branches, %u of the loop\n",
		      delivery(), driver.interrupts, taken, right);
	}
	good("release", spmu_driver_release(&driver));
}

/* --- which processor it is ------------------------------------------------ */

/* The model of this family and model number; of the nearest stepping. */
static const struct spmu_model *find_model(void)
{
	const struct spmu_model *best = NULL;
	uint32_t regs[4], distance = UINT32_MAX;

	machine_cpuid(1, 0, regs);
	for (size_t i = 0; i < spmu_model_count(); i++) {
		uint32_t signature = spmu_model_describe(spmu_model_at(i)).signature;
		uint32_t steps = signature > regs[0] ? signature - regs[0] : regs[0] - signature;

		if ((signature ^ regs[0]) & 0x0fff0ff0 || steps >= distance)
			continue;
		best = spmu_model_at(i);
		distance = steps;
	}
	return best;
}

void run(void);
void run(void)
{
	struct spmu_facilities *f = &driver.facilities;

	machine_start(on_pmi);
	driver.model = find_model();
	if (!driver.model) {
		print("libsoftpmu does not know this processor\n");
		machine_reset();
	}
	if (start(NULL))
		print("%s: version %u, %u counters, %u fixed ones, PEBS format %u\n",
		      spmu_model_describe(driver.model).name, (uint64_t)f->perfmon_version,
		      (uint64_t)f->counters, (uint64_t)f->fixed_counters, (uint64_t)f->pebs_format);
	for (int way = 0; way < 2; way++) {
		by_nmi = way == 1;
		sample();
		sample_precisely();
		trace();
	}
	print("done\n");
	machine_reset();
}
