/* SPDX-License-Identifier: MIT */
/*
 * netburst_debug.c: NetBurst's debug control, branch trace store and last branch records (17.11).
 */
#include "tests/unit/netburst_host.h"

/* MSR_DEBUGCTLA. */
#define LBR	    0x01u
#define BTF	    0x02u
#define TR	    0x04u
#define BTS	    0x08u
#define BTINT	    0x10u
#define BTS_OFF_OS  0x20u
#define BTS_OFF_USR 0x40u
#define BUFFER	    0x1000

static void branch(struct unit_host *host, uint64_t from, uint64_t to, unsigned flags)
{
	bool event = (flags & SPMU_BRANCH_EVENT) != 0;
	struct spmu_branch taken = {
		.from = from,
		.to = to,
		.signal = event ? SPMU_SIG_FAR : SPMU_SIG_JMP_REL,
		.cpl = 3,
		.next_cpl = event ? 0 : 3,
		.flags = (uint8_t)flags,
	};

	(void)spmu_branches(host->core, 0, &taken, 1);
}

/* Checks 17.11.1: the places of the bits. The filter by CPL exists with CPUID's DS-CPL flag. */
static void control(void)
{
	static const struct {
		const char *model;
		uint64_t bits;
	} rows[] = {{"netburst", 0x1f},
		    {"prescott", 0x7f},
		    {"prescott-2m", 0x7f},
		    {"cedar-mill", 0x7f}};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct unit_host host;
		struct spmu_cpuid_regs regs = {0};

		host_create(&host, rows[i].model, 1, SUPPLY_ALL);
		for (unsigned bit = 0; bit < 64; bit++) {
			uint64_t value = UINT64_C(1) << bit;

			CHECK_EQ(spmu_write_msr(host.core, 0, DEBUGCTL, value),
				 rows[i].bits & value ? SPMU_DONE : SPMU_GP);
			if (rows[i].bits & value)
				CHECK_EQ(RDMSR(&host, DEBUGCTL), value);
		}
		CHECK(spmu_cpuid(host.core, 1, 0, &regs));
		CHECK_EQ(regs.ecx >> 4 & 1, rows[i].bits >> 5 & 1);
		CHECK_EQ(regs.edx >> 21 & 1, 1);
		WRMSR(&host, DEBUGCTL, BTF | TR | BTS);
		CHECK(spmu_steps_on_branches(host.core, 0));
		spmu_debug_exception(host.core, 0);
		CHECK_EQ(RDMSR(&host, DEBUGCTL), TR | BTS);
		host_destroy(&host);
	}
}

static void start(struct unit_host *host, const char *model, struct spmu_supply supply, bool wide)
{
	struct spmu_ds_area area = {0};
	unsigned bytes;

	host_create(host, model, 1, supply);
	host->narrow = !wide;
	spmu_set_ia32e(host->core, 0, wide);
	host->base = host_layout(host)->field_bytes == 8 ? MEMORY_BASE : 0x10000000;
	bytes = host_layout(host)->bts_bytes;
	area.bts_base = area.bts_index = host->base + BUFFER;
	area.bts_maximum = area.bts_base + 8u * bytes;
	area.bts_threshold = area.bts_base + 3u * bytes;
	CHECK_EQ(spmu_ds_encode(host_layout(host), &area, host->memory, MEMORY_BYTES), SPMU_OK);
	WRMSR(host, DS_AREA_MSR, host->base);
	spmu_write_lvt(host->core, 0, 0x30);
}

static struct spmu_bts_record record_at(struct unit_host *host, unsigned n)
{
	unsigned bytes = host_layout(host)->bts_bytes;
	struct spmu_bts_record record = {0};

	CHECK_EQ(spmu_bts_decode(host_layout(host), host->memory + BUFFER + n * bytes, bytes,
				 &record),
		 SPMU_OK);
	return record;
}

/*
 * Checks 17.4.9, figures 17-6 and 17-8: the flag means "predicted" if the host tells
 * mispredictions.
 */
static void predicted(void)
{
	static const struct {
		const char *model;
		bool wide;
		unsigned bytes;
	} rows[] = {
		{"netburst", false, 12},
		{"prescott", false, 12},
		{"prescott", true, 24},
		{"prescott-2m", false, 24},
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		for (unsigned told = 0; told < 2; told++) {
			struct unit_host host;

			start(&host, rows[i].model, told ? SUPPLY_ALL : SUPPLY_EXECUTION,
			      rows[i].wide);
			CHECK_EQ(host_layout(&host)->bts_bytes, rows[i].bytes);
			WRMSR(&host, DEBUGCTL, TR | BTS | BTINT);
			CHECK_EQ(host.meters[0].tap.bts_next != 0, rows[i].bytes == 24 && !told);
			branch(&host, 0x1000, 0x2000, 0);
			branch(&host, 0x3000, 0x4000, SPMU_BRANCH_MISPREDICTED);
			CHECK_EQ(host.pmis, 0);
			branch(&host, 0x5000, 0x6000, SPMU_BRANCH_EVENT);
			CHECK_EQ(host.pmis, 1);
			CHECK_EQ(host.pmi.vector, 0x30);
			CHECK_EQ(record_at(&host, 0).from, 0x1000);
			CHECK_EQ(record_at(&host, 0).predicted, told);
			CHECK_EQ(record_at(&host, 1).to, 0x4000);
			CHECK_EQ(record_at(&host, 1).predicted, false);
			CHECK_EQ(record_at(&host, 2).from, 0x5000);
			CHECK_EQ(record_at(&host, 2).predicted, false);
			host_destroy(&host);
		}
}

/* Checks 17.11.1: BTS_OFF_OS and BTS_OFF_USR leave out branches that begin in their ring. */
static void by_level(void)
{
	static const struct {
		int line;
		uint64_t off;
		unsigned rings;
	} rows[] = {
		{__LINE__, 0, SPMU_RING0 | SPMU_RING_USER},
		{__LINE__, BTS_OFF_OS, SPMU_RING_USER},
		{__LINE__, BTS_OFF_USR, SPMU_RING0},
		{__LINE__, BTS_OFF_OS | BTS_OFF_USR, 0},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct unit_host host;

		start(&host, "prescott", SUPPLY_EXECUTION, true);
		WRMSR(&host, DEBUGCTL, TR | BTS | rows[i].off);
		CHECK_ROW_EQ(rows[i].line, host.meters[0].tap.rings, rows[i].rings);
		host_destroy(&host);
	}
}

/* Checks 17.11.2 on models 0 to 2: four entries, with both addresses in one register. */
static void small_stack(void)
{
	struct unit_host host;

	host_create(&host, "netburst", 1, SUPPLY_EXECUTION);
	WRMSR(&host, DEBUGCTL, LBR);
	for (unsigned i = 0; i < 6; i++)
		branch(&host, 0x1000 + i, 0x2000 + i, 0);
	CHECK_EQ(RDMSR(&host, NETBURST_TOS), 2);
	for (unsigned i = 0; i < 4; i++) {
		uint64_t n = i > 2 ? i - 1 : i + 3; /* entry 2 holds the newest, number 5 */

		CHECK_EQ(RDMSR(&host, 0x1db + i), (0x2000 + n) << 32 | (0x1000 + n));
	}
	branch(&host, 0x2005, 0xc0000000, SPMU_BRANCH_EVENT);
	CHECK_EQ(RDMSR(&host, 0x1d7), 0x1005);
	CHECK_EQ(RDMSR(&host, 0x1d8), 0x2005);
	host_destroy(&host);
}

/* Checks models from 3 on: sixteen pairs of 64 bits. */
static void large_stack(void)
{
	struct unit_host host;

	host_create(&host, "prescott", 1, SUPPLY_EXECUTION);
	WRMSR(&host, DEBUGCTL, LBR);
	for (unsigned i = 0; i < 20; i++)
		branch(&host, 0x7f0000001000 + i, 0x7f0000002000 + i, 0);
	CHECK_EQ(RDMSR(&host, NETBURST_TOS), 4);
	for (unsigned i = 0; i < 16; i++) {
		uint64_t n = i > 4 ? i - 1 : i + 15;

		CHECK_EQ(RDMSR(&host, LBR_FROM + i), 0x7f0000001000 + n);
		CHECK_EQ(RDMSR(&host, LBR_TO + i), 0x7f0000002000 + n);
	}
	branch(&host, 0x7f0000002013, 0xffffffff81000000, SPMU_BRANCH_EVENT);
	CHECK_EQ(RDMSR(&host, 0x1d7), 0x7f0000001013);
	CHECK_EQ(RDMSR(&host, 0x1d8), 0x7f0000002013);
	host_destroy(&host);
}

/*
 * Checks that a state holds the register in both forms: it is kept in another form than it is read
 * in.
 */
static void state(void)
{
	static uint8_t saved[16384];
	struct unit_host host;

	host_create(&host, "prescott", 1, SUPPLY_EXECUTION);
	WRMSR(&host, DEBUGCTL, 0x7f);
	CHECK(spmu_state_bytes(host.core) <= sizeof(saved));
	CHECK_EQ(spmu_save(host.core, saved, sizeof(saved)), SPMU_OK);
	spmu_reset(host.core, 0);
	CHECK_EQ(RDMSR(&host, DEBUGCTL), 0);
	CHECK_EQ(spmu_load(host.core, saved, spmu_state_bytes(host.core)), SPMU_OK);
	CHECK_EQ(RDMSR(&host, DEBUGCTL), 0x7f);
	/* The byte 0xc3 has LBR, BTF, TR and BTS. Its bits 2 to 5 have no meaning. */
	for (size_t i = STATE_HEADER; i < spmu_state_bytes(host.core); i++)
		if (saved[i] == 0xc3 && saved[i + 1] == 0x07)
			saved[i] |= 4;
	CHECK_EQ(spmu_load(host.core, saved, spmu_state_bytes(host.core)), SPMU_E_CORRUPT);
	host_destroy(&host);
}

int main(void)
{
	RUN(control());
	RUN(predicted());
	RUN(by_level());
	RUN(small_stack());
	RUN(large_stack());
	RUN(state());
	return test_summary();
}
