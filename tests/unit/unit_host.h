/* SPDX-License-Identifier: MIT */
/*
 * unit_host.h: a host for tests of the unit: a piece of linear memory, a log of interrupts,
 * registers with distinct values, and short names for frequent actions.
 */
#ifndef SPMU_TESTS_UNIT_HOST_H
#define SPMU_TESTS_UNIT_HOST_H

#include <stdlib.h>

#include <softpmu/softpmu.h>

#include "tests/supply.h"
#include "tests/unit/check.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MEMORY_BASE  UINT64_C(0x7f0000000000)
#define MEMORY_BYTES 0x4000
#define DS_AREA	     MEMORY_BASE
#define PEBS_BASE    (MEMORY_BASE + 0x1000)
#define RECORD_BYTES 0xc8
#define MAX40	     UINT64_C(0xffffffffff)
#define MAX48	     UINT64_C(0xffffffffffff)
#define STATE_HEADER 56 /* bytes of a saved state before its threads */

/* Registers by address, as a guest names them. */
enum {
	PMC0 = 0xc1,
	A_PMC0 = 0x4c1,
	EVTSEL0 = 0x186,
	FIXED0 = 0x309,
	FIXED_CTRL = 0x38d,
	STATUS = 0x38e,
	GLOBAL_CTRL = 0x38f,
	STATUS_RESET = 0x390,
	STATUS_SET = 0x391,
	INUSE = 0x392,
	CAPABILITIES = 0x345,
	PEBS_ENABLE = 0x3f1,
	DS_AREA_MSR = 0x600,
	DEBUGCTL = 0x1d9,
	MISC_ENABLE = 0x1a0,
	LBR_SELECT = 0x1c8,
	LBR_TOS = 0x1c9,
	LER_FROM = 0x1dd,
	LER_TO = 0x1de,
	LBR_FROM = 0x680,
	LBR_TO = 0x6c0,
	LBR_INFO = 0xdc0,
	/* Architectural last branch records. */
	LBR_CTL = 0x14ce,
	LBR_DEPTH = 0x14cf,
	LBR_ARCH_FROM = 0x1500,
	LBR_ARCH_TO = 0x1600,
	LBR_ARCH_INFO = 0x1200,
	LER_INFO = 0x1e0,
};

/* IA32_LBR_CTL: all branches at all levels. */
#define LBR_CTL_ALL 0x7f0007u

/* IA32_PERFEVTSELx: enabled at all levels. */
#define COUNT_ALL  0x430000u
#define COUNT_USER 0x410000u
#define SELECT_PC  0x080000u
#define SELECT_INT 0x100000u
#define SELECT_ANY 0x200000u
#define SELECT_E   0x040000u
#define SELECT_INV 0x800000u
#define CMASK(n)   ((uint64_t)(n) << 24)
#define OVFBUF	   (UINT64_C(1) << 62)
#define CHANGED	   (UINT64_C(1) << 63)
#define CTR_FRZ	   (UINT64_C(1) << 59)
#define LBR_FRZ	   (UINT64_C(1) << 58)
#define LVT_NMI	   0x400u
#define LVT_MASKED 0x10000u

struct unit_host {
	struct spmu_core *core;
	const struct spmu_model *model;
	bool narrow;	   /* not in IA-32e mode */
	uint64_t data_cfg; /* of the records that host_ds() makes room for */
	struct spmu_meters meters[SPMU_THREADS_MAX];
	unsigned threads;
	uint8_t memory[MEMORY_BYTES];
	uint64_t base;		/* its linear address */
	unsigned refuse_writes; /* refuse the n-th write from now; 0: none */
	unsigned reads, writes;
	unsigned pmis;
	unsigned pmi_lp;
	struct spmu_pmi pmi;
	uint64_t toggles[18]; /* of pins, by counter */
	uint64_t tsc;
	uint64_t next_ip;
	void *core_memory;
};

static inline bool host_inside(const struct unit_host *host, uint64_t linear, size_t bytes)
{
	return linear >= host->base && linear - host->base <= MEMORY_BYTES &&
	       MEMORY_BYTES - (linear - host->base) >= bytes;
}

static inline bool host_read(void *opaque, unsigned lp, uint64_t linear, void *to, size_t bytes)
{
	struct unit_host *host = opaque;

	(void)lp;
	host->reads++;
	if (!host_inside(host, linear, bytes))
		return false;
	memcpy(to, host->memory + (linear - host->base), bytes);
	return true;
}

static inline bool host_write(void *opaque, unsigned lp, uint64_t linear, const void *from,
			      size_t bytes)
{
	struct unit_host *host = opaque;

	(void)lp;
	if (host->refuse_writes && --host->refuse_writes == 0)
		return false;
	if (!host_inside(host, linear, bytes))
		return false;
	host->writes++;
	memcpy(host->memory + (linear - host->base), from, bytes);
	return true;
}

static inline void host_pmi(void *opaque, unsigned lp, struct spmu_pmi pmi)
{
	struct unit_host *host = opaque;

	host->pmis++;
	host->pmi_lp = lp;
	host->pmi = pmi;
}

static inline void host_pin(void *opaque, unsigned lp, unsigned number, uint64_t toggles)
{
	struct unit_host *host = opaque;

	(void)lp;
	host->toggles[number] += toggles;
}

static inline uint64_t host_tsc(void *opaque, unsigned lp)
{
	struct unit_host *host = opaque;

	(void)lp;
	return host->tsc;
}

static inline void host_registers(void *opaque, unsigned lp, struct spmu_registers *out)
{
	const struct unit_host *host = opaque;
	uint64_t *word = (uint64_t *)out;

	(void)lp;
	for (unsigned i = 0; i < sizeof(*out) / 8; i++)
		word[i] = 0x1100 + i;
	out->rip = host->next_ip;
}

static inline void host_vectors(void *opaque, unsigned lp, uint8_t xmm[16][16])
{
	(void)opaque;
	for (unsigned i = 0; i < 256; i++)
		xmm[i / 16][i % 16] = (uint8_t)(i + lp + 1);
}

/*
 * Returns the bit of an erratum in struct spmu_core_config, or 0 if the model has none of that
 * name.
 */
static inline uint64_t erratum_bit(const char *model, const char *name)
{
	const struct spmu_model *m = spmu_model_find(model);

	for (size_t i = 0; i < spmu_erratum_count(m); i++)
		if (!strcmp(spmu_erratum_at(m, i)->name, name))
			return UINT64_C(1) << i;
	return 0;
}

static inline void host_create_with(struct unit_host *host, const char *model, unsigned threads,
				    struct spmu_supply supply, uint64_t errata)
{
	struct spmu_host callbacks = {
		.size = sizeof(struct spmu_host),
		.opaque = host,
		.read = host_read,
		.write = host_write,
		.pmi = host_pmi,
		.tsc = host_tsc,
		.registers = host_registers,
		.vectors = host_vectors,
		.pin = host_pin,
		.supply = supply,
	};
	struct spmu_core_config config = {
		.size = sizeof(struct spmu_core_config),
		.model = spmu_model_find(model),
		.threads = threads,
		.meters = {&host->meters[0], &host->meters[1]},
		.errata = errata,
	};

	memset(host, 0, sizeof(*host));
	host->base = MEMORY_BASE;
	host->threads = threads;
	host->model = config.model;
	host->core_memory = aligned_alloc(64, spmu_core_bytes());
	if (!host->core_memory || spmu_core_create(host->core_memory, spmu_core_bytes(), &config,
						   &callbacks, &host->core) != SPMU_OK) {
		printf("no core for %s\n", model);
		exit(1);
	}
	for (unsigned lp = 0; lp < threads; lp++)
		spmu_set_ia32e(host->core, lp, true);
}

static inline void host_create(struct unit_host *host, const char *model, unsigned threads,
			       struct spmu_supply supply)
{
	host_create_with(host, model, threads, supply, 0);
}

static inline void host_destroy(struct unit_host *host)
{
	free(host->core_memory);
}

#define SUPPLY_EXECUTION supply_execution()
#define SUPPLY_ALL	 supply_all()

static inline void wrmsr_at(int line, struct unit_host *host, unsigned lp, uint32_t msr,
			    uint64_t value)
{
	check_equal_at("wrmsr", line, spmu_write_msr(host->core, lp, msr, value), SPMU_DONE,
		       "outcome", "SPMU_DONE");
}

/* A write that may raise #GP. */
static inline enum spmu_outcome try_write(struct unit_host *host, uint32_t msr, uint64_t value)
{
	return spmu_write_msr(host->core, 0, msr, value);
}

static inline uint64_t rdmsr_at(int line, struct unit_host *host, unsigned lp, uint32_t msr)
{
	uint64_t value = 0;

	check_equal_at("rdmsr", line, spmu_read_msr(host->core, lp, msr, &value), SPMU_DONE,
		       "outcome", "SPMU_DONE");
	return value;
}

#define WRMSR(host, msr, value)	       wrmsr_at(__LINE__, host, 0, msr, value)
#define RDMSR(host, msr)	       rdmsr_at(__LINE__, host, 0, msr)
#define WRMSR_LP(host, lp, msr, value) wrmsr_at(__LINE__, host, lp, msr, value)
#define RDMSR_LP(host, lp, msr)	       rdmsr_at(__LINE__, host, lp, msr)
/* IA32_PERF_GLOBAL_STATUS without CondChgd, which has tests/scenarios/condition.scenario. */
#define CAUSES(host)	    (RDMSR(host, STATUS) & ~CHANGED)
#define CAUSES_LP(host, lp) (RDMSR_LP(host, lp, STATUS) & ~CHANGED)

#define NO  UINT64_C(0)			 /* no such register */
#define RO  UINT64_C(0x7265616461626c65) /* can be read, every write gives #GP */
#define ALL UINT64_MAX

/* Returns what can be written in the register: NO, RO or the bits that give no #GP. */
static inline uint64_t host_writable(struct unit_host *host, uint32_t msr)
{
	uint64_t value, bits = 0;
	enum spmu_outcome outcome = spmu_read_msr(host->core, 0, msr, &value);

	for (unsigned b = 0; b < 64; b++)
		if (spmu_write_msr(host->core, 0, msr, UINT64_C(1) << b) == SPMU_DONE)
			bits |= UINT64_C(1) << b;
	spmu_reset(host->core, 0);
	if (outcome != SPMU_DONE)
		return bits ? ~bits : NO; /* written but not read: always wrong */
	return bits ? bits : RO;
}

/* Retires one instruction of thread lp. One that loads and stores does so at two places. */
static inline unsigned retire_lp(struct unit_host *host, unsigned lp, uint64_t ip, uint64_t signals,
				 unsigned cpl, unsigned cycles)
{
	const bool both = signals & SPMU_SIGBIT(LOADS) && signals & SPMU_SIGBIT(STORES);
	const struct spmu_memory_access accesses[] = {
		{.linear = ip << 8, .kind = both ? SPMU_ACCESS_LOAD : SPMU_ACCESS_DATA},
		{.linear = (ip << 8) + 8, .kind = SPMU_ACCESS_STORE},
	};
	struct spmu_insn insn = {
		.ip = ip,
		.next_ip = ip + 4,
		.signals = signals,
		.accesses = accesses,
		.access_count = both ? 2 : 1,
		.cycles = cycles,
		.cpl = (uint8_t)cpl,
	};

	host->tsc += 10;
	host->next_ip = insn.next_ip;
	return spmu_retire(host->core, lp, &insn);
}

static inline unsigned retire(struct unit_host *host, uint64_t ip, uint64_t signals)
{
	return retire_lp(host, 0, ip, signals | SPMU_SIGBIT(INSTRUCTIONS), 3, 1);
}

static inline const struct spmu_ds_layout *host_layout(const struct unit_host *host)
{
	return spmu_model_ds_layout(host->model, !host->narrow);
}

static inline size_t host_record_bytes(const struct unit_host *host)
{
	return spmu_pebs_record_bytes(host_layout(host), host->data_cfg);
}

/* Makes a DS save area for `records` records, with the threshold after `threshold` of them. */
static inline void host_ds(struct unit_host *host, unsigned records, unsigned threshold,
			   const uint64_t reset[4])
{
	struct spmu_ds_area area = {
		.pebs_base = PEBS_BASE,
		.pebs_index = PEBS_BASE,
		.pebs_maximum = PEBS_BASE + records * host_record_bytes(host),
		.pebs_threshold = PEBS_BASE + threshold * host_record_bytes(host),
	};

	if (reset)
		memcpy(area.reset, reset, 4 * sizeof(*reset));
	CHECK_EQ(spmu_ds_encode(host_layout(host), &area, host->memory, MEMORY_BYTES), SPMU_OK);
	WRMSR(host, DS_AREA_MSR, DS_AREA);
}

static inline struct spmu_ds_area host_area(struct unit_host *host)
{
	struct spmu_ds_area area = {0};

	CHECK_EQ(spmu_ds_decode(host_layout(host), host->memory, MEMORY_BYTES, &area), SPMU_OK);
	return area;
}

static inline unsigned host_records(struct unit_host *host)
{
	return (unsigned)((host_area(host).pebs_index - PEBS_BASE) / host_record_bytes(host));
}

static inline struct spmu_pebs_record host_record(struct unit_host *host, unsigned n)
{
	struct spmu_pebs_record record = {0};

	CHECK_EQ(spmu_pebs_decode(host_layout(host),
				  host->memory + (PEBS_BASE - MEMORY_BASE) +
					  n * host_record_bytes(host),
				  host_record_bytes(host), &record, NULL),
		 SPMU_OK);
	return record;
}

#endif
