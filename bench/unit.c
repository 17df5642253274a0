/* SPDX-License-Identifier: MIT */
/*
 * unit.c: the cost of the unit's own work in nanoseconds of processor time: a retired instruction,
 * a taken branch for last branch records and for branch traces, a PEBS record of each format. The
 * callbacks use an array as memory, so that the host's part is small.
 *
 * Each figure is the smallest of several runs. If a run lacks a record that it should have written,
 * the program ends with status 1.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <softpmu/softpmu.h>

#define BASE	UINT64_C(0x7f0000000000)
#define BYTES	(1u << 20)
#define BUFFER	(BASE + 0x1000)
#define RUNS	200 /* short ones, so that some are not disturbed */
#define MEASURE 20000u
#define BATCH	4096u

static uint8_t memory[BYTES];
static struct spmu_meters meters;
static struct spmu_core *core;
static void *core_memory;
static struct spmu_branch branches[BATCH];

static bool inside(uint64_t linear, size_t bytes)
{
	return linear >= BASE && linear - BASE <= BYTES && BYTES - (linear - BASE) >= bytes;
}

static bool read_memory(void *opaque, unsigned lp, uint64_t linear, void *to, size_t bytes)
{
	(void)opaque, (void)lp;
	if (!inside(linear, bytes))
		return false;
	memcpy(to, memory + (linear - BASE), bytes);
	return true;
}

static bool write_memory(void *opaque, unsigned lp, uint64_t linear, const void *from, size_t bytes)
{
	(void)opaque, (void)lp;
	if (!inside(linear, bytes))
		return false;
	memcpy(memory + (linear - BASE), from, bytes);
	return true;
}

static void registers(void *opaque, unsigned lp, struct spmu_registers *out)
{
	(void)opaque, (void)lp;
	memset(out, 0x5a, sizeof(*out));
}

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void write_msr(uint32_t msr, uint64_t value)
{
	if (spmu_write_msr(core, 0, msr, value) == SPMU_DONE)
		return;
	fprintf(stderr, "cannot write %llx to MSR %x\n", (unsigned long long)value, msr);
	exit(1);
}

static uint64_t read_msr(uint32_t msr)
{
	uint64_t value = 0;

	(void)!spmu_read_msr(core, 0, msr, &value);
	return value;
}

/* Makes a core with a DS save area. Its buffers fill its memory, and its resets are `reset`. */
static const struct spmu_ds_layout *start(const char *name, uint64_t reset)
{
	const struct spmu_model *model = spmu_model_find(name);
	const struct spmu_host host = {
		.size = sizeof(struct spmu_host),
		.read = read_memory,
		.write = write_memory,
		.registers = registers,
		.supply = {.exact = SPMU_SIGSET_ARCHITECTURAL},
	};
	struct spmu_core_config config = {.size = sizeof(struct spmu_core_config),
					  .model = model,
					  .threads = 1,
					  .meters = {&meters}};
	struct spmu_ds_area area = {
		.bts_base = BUFFER,
		.bts_index = BUFFER,
		.bts_maximum = BUFFER + 24 * 40000,
		.bts_threshold = UINT64_MAX,
		.pebs_base = BUFFER,
		.pebs_index = BUFFER,
		.pebs_maximum = BASE + BYTES,
		.pebs_threshold = UINT64_MAX,
		.reset = {reset, reset, reset, reset},
	};
	const struct spmu_ds_layout *layout = spmu_model_ds_layout(model, true);

	free(core_memory);
	core_memory = aligned_alloc(64, spmu_core_bytes());
	memset(memory, 0, sizeof(memory));
	if (!core_memory ||
	    spmu_core_create(core_memory, spmu_core_bytes(), &config, &host, &core) != SPMU_OK ||
	    spmu_ds_encode(layout, &area, memory, BYTES) != SPMU_OK)
		exit(1);
	spmu_set_ia32e(core, 0, true);
	write_msr(0x600, BASE);
	return layout;
}

static void expect(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "%s: nothing was recorded\n", what);
	exit(1);
}

static void print(const char *what, unsigned bytes, double ns)
{
	char size[16] = "-";

	if (bytes)
		snprintf(size, sizeof(size), "%u", bytes);
	printf("%-58s %6s %8.2f\n", what, size, ns);
}

/* Returns the cost of an instruction. They retire one by one, and every fifth is a taken branch. */
static double retire_ns(void)
{
	struct spmu_insn insn = {.ip = 0x401000, .next_ip = 0x402000, .cpl = 3, .next_cpl = 3};
	double best = 1e9;

	for (unsigned run = 0; run < RUNS; run++) {
		double begin = now_ns();

		for (unsigned i = 0; i < MEASURE; i++) {
			insn.signals = SPMU_SIGBIT(INSTRUCTIONS) |
				       (i % 5 ? SPMU_SIGBIT(LOADS) : SPMU_SIGBIT(COND_TAKEN));
			spmu_retire(core, 0, &insn);
		}
		begin = (now_ns() - begin) / MEASURE;
		best = begin < best ? begin : best;
	}
	return best;
}

/* Writes the records as a host does itself. */
static void store(size_t n)
{
	uint8_t *to = memory + (meters.tap.bts_next - BASE);

	for (size_t i = 0; i < n; i++) {
		const uint64_t record[3] = {branches[i].from, branches[i].to, 0};

		memcpy(to + i * sizeof(record), record, sizeof(record));
	}
	spmu_branches_stored(core, 0, n);
}

/* Returns the cost of a taken branch, with `batch` of them in a call. */
static double branches_ns(size_t batch, bool by_host)
{
	double best = 1e9;

	for (unsigned run = 0; run < RUNS; run++) {
		double begin = now_ns();
		size_t done = 0;

		while (done < MEASURE) {
			size_t n =
				batch < meters.tap.headroom ? batch : (size_t)meters.tap.headroom;

			if (by_host)
				store(n);
			else
				spmu_branches(core, 0, branches, n);
			done += n;
		}
		begin = (now_ns() - begin) / (double)done;
		best = begin < best ? begin : best;
	}
	return best;
}

static void retired(void)
{
	start("skylake", 0);
	write_msr(0x186, 0x4100c0);
	print("retired instruction, one counter", 0, retire_ns());
	write_msr(0x1d9, 1);
	print("  with last branch records", 0, retire_ns());
	expect(read_msr(0x681) == 0x401000, "last branch records");
	write_msr(0x1d9, 0xc0);
	print("  with branch trace store", 24, retire_ns());
	expect(memory[BUFFER - BASE + 1] == 0x10, "branch trace store");
}

static void taken(void)
{
	static const struct {
		const char *what;
		uint64_t debugctl, select;
		size_t batch;
		bool by_host;
	} rows[] = {
		{"branch for last branch records, 1 in a call", 1, 0, 1, false},
		{"  32 in a call", 1, 0, 32, false},
		{"  4096 in a call", 1, 0, BATCH, false},
		{"  4096 in a call, filtered", 1, 4, BATCH, false},
		{"  4096 in a call, call-stack mode", 1, 0x3c4, BATCH, false},
		{"branch for branch trace store, 1 in a call", 0xc0, 0, 1, false},
		{"  32 in a call", 0xc0, 0, 32, false},
		{"  4096 in a call", 0xc0, 0, BATCH, false},
		{"  4096 stored by the host", 0xc0, 0, BATCH, true},
		{"branch for both, 4096 in a call", 0xc1, 0, BATCH, false},
	};
	static const uint8_t kinds[] = {SPMU_SIG_COND_TAKEN, SPMU_SIG_CALL_REL, SPMU_SIG_JMP_REL,
					SPMU_SIG_RET_NEAR};

	for (unsigned i = 0; i < BATCH; i++)
		branches[i] = (struct spmu_branch){.from = 0x401000 + i,
						   .to = 0x402000 + i,
						   .signal = kinds[i % 4],
						   .cpl = 3,
						   .next_cpl = 3};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		double ns;

		start("skylake", 0);
		write_msr(0x1c8, rows[i].select);
		write_msr(0x1d9, rows[i].debugctl);
		ns = branches_ns(rows[i].batch, rows[i].by_host);
		print(rows[i].what, rows[i].debugctl & 0x80 ? 24 : 0, ns);
		if (rows[i].debugctl & 1 && rows[i].select != 0x3c4)
			expect(read_msr(0x681) != 0, rows[i].what);
		if (rows[i].debugctl & 0x80)
			expect(memory[BUFFER - BASE + 1] == 0x10, rows[i].what);
	}
}

/*
 * Prints the cost of a record. PMC0 counts each instruction, and each makes a record: the reset
 * value is -1.
 */
static void pebs_row(const char *model, uint16_t event, const char *what, uint64_t data_cfg)
{
	struct spmu_insn insn = {.ip = 0x401000,
				 .next_ip = 0x402000,
				 .signals = SPMU_SIGBIT(INSTRUCTIONS) | SPMU_SIGBIT(COND_TAKEN),
				 .cpl = 3};
	const struct spmu_ds_layout *layout = start(model, UINT64_MAX);
	unsigned bytes = (unsigned)spmu_pebs_record_bytes(layout, data_cfg);
	unsigned per_fill = (BYTES - 0x1000) / bytes, records = 0;
	double best = 1e9;

	if (data_cfg)
		write_msr(0x3f2, data_cfg);
	write_msr(0x186, 0x410000 | event | (data_cfg ? UINT64_C(1) << 34 : 0));
	write_msr(0xc1, UINT32_MAX);
	write_msr(0x3f1, 1);
	for (unsigned run = 0; run < RUNS; run++) {
		const uint64_t index = BUFFER;
		double begin;

		memcpy(memory + 8 * 5, &index, sizeof(index));
		spmu_retire(core, 0, &insn); /* arms */
		begin = now_ns();
		records = 0;
		for (unsigned i = 0; i < 2 * (per_fill - 2); i++)
			records += (spmu_retire(core, 0, &insn) & SPMU_EV_RECORD) != 0;
		if (!records)
			break;
		begin = (now_ns() - begin) / records;
		best = begin < best ? begin : best;
	}
	expect(records > 0, what);
	print(what, bytes, best);
}

int main(void)
{
	printf("%-58s %6s %8s\n", "", "bytes", "ns");
	retired();
	taken();
	pebs_row("core2", 0xc0, "PEBS record, format 0, with its overflow", 0);
	pebs_row("nehalem", 0x1c4, "  format 1", 0);
	pebs_row("haswell", 0x1c4, "  format 2", 0);
	pebs_row("skylake", 0x1c4, "  format 3", 0);
	pebs_row("icelake", 0xc4, "  format 4, basic", 0);
	pebs_row("icelake", 0xc4, "  format 4, memory, registers and vectors",
		 SPMU_PEBS_MEMORY | SPMU_PEBS_GPRS | SPMU_PEBS_XMM);
	pebs_row("icelake", 0xc4, "  format 4, all and 32 branches",
		 SPMU_PEBS_MEMORY | SPMU_PEBS_GPRS | SPMU_PEBS_XMM | SPMU_PEBS_LBR |
			 SPMU_PEBS_LBR_ENTRIES(32));
	return 0;
}
