/* SPDX-License-Identifier: MIT */
/*
 * pebs_adaptive.c: adaptive PEBS of the 10th generation Core: MSR_PEBS_DATA_CFG, the ADAPTIVE bits,
 * and what a record of each group holds.
 */
#include "tests/unit/unit_host.h"

#define JUMP	 SPMU_SIGBIT(JMP_REL)
#define LOAD	 SPMU_SIGBIT(LOADS)
#define FIXED(n) (UINT64_C(1) << (32 + (n)))
#define DATA_CFG 0x3f2
#define ADAPTIVE (UINT64_C(1) << 34)

/* A period of two events. */
static const uint64_t minus_2[4] = {UINT64_MAX - 1, UINT64_MAX - 1, UINT64_MAX - 1, UINT64_MAX - 1};

static void create(struct unit_host *host, const char *model)
{
	host_create(host, model, 1, SUPPLY_ALL);
	spmu_write_lvt(host->core, 0, LVT_NMI);
	host_ds(host, 8, 8, minus_2);
}

/* Sets up IA32_PMC0, which wraps with the next event. */
static void arm(struct unit_host *host, uint64_t select)
{
	WRMSR(host, EVTSEL0, COUNT_ALL | select);
	WRMSR(host, PMC0, UINT32_MAX);
}

static void registers(void)
{
	struct unit_host host;

	create(&host, "icelake");
	WRMSR(&host, DATA_CFG, UINT64_C(0xff00000f));
	CHECK_EQ(RDMSR(&host, DATA_CFG), UINT64_C(0xff00000f));
	CHECK_EQ(try_write(&host, DATA_CFG, 0x10), SPMU_GP);
	CHECK_EQ(try_write(&host, DATA_CFG, UINT64_C(1) << 32), SPMU_GP);
	CHECK_EQ(try_write(&host, FIXED_CTRL, UINT64_C(0x111100000000)), SPMU_DONE);
	CHECK_EQ(try_write(&host, FIXED_CTRL, UINT64_C(0x200000000)), SPMU_GP);
	CHECK_EQ(try_write(&host, EVTSEL0, ADAPTIVE), SPMU_DONE);
	host_destroy(&host);
	create(&host, "skylake");
	CHECK_EQ(try_write(&host, EVTSEL0, ADAPTIVE), SPMU_GP);
	CHECK_EQ(try_write(&host, DATA_CFG, 0), SPMU_GP);
	host_destroy(&host);
}

static void groups(void)
{
	for (unsigned groups = 0; groups < 32; groups++) {
		bool adaptive = groups >> 4;
		uint64_t cfg = (groups & 15) | SPMU_PEBS_LBR_ENTRIES(4);
		uint32_t has = adaptive ? groups & 15 : 0;
		struct spmu_pebs_record record;
		struct unit_host host;

		create(&host, "icelake");
		host.data_cfg = adaptive ? cfg : 0;
		host_ds(&host, 2, 2, minus_2);
		WRMSR(&host, DATA_CFG, cfg);
		/* The newest is entry 1, then 0, 31, 30. */
		WRMSR(&host, 0x1c9, 1);
		for (unsigned n = 0; n < 32; n++) {
			WRMSR(&host, 0x680 + n, 0x400000 + n);
			WRMSR(&host, 0x6c0 + n, 0x500000 + n);
			WRMSR(&host, 0xdc0 + n, UINT64_C(1) << 63 | n);
		}
		arm(&host, 0x81d0 | (adaptive ? ADAPTIVE : 0));
		WRMSR(&host, PEBS_ENABLE, 1);
		retire(&host, 0x10, LOAD);
		CHECK_EQ(retire(&host, 0x20, LOAD), SPMU_EV_RECORD);
		CHECK_EQ(host_records(&host), 1);
		record = host_record(&host, 0);
		CHECK_EQ(record.groups, has);
		CHECK_EQ(record.eventing_ip, 0x20);
		CHECK_EQ(record.applicable, 1);
		CHECK_EQ(record.tsc, 20);
		CHECK_EQ(record.data_address, has & SPMU_PEBS_MEMORY ? 0x2000 : 0);
		CHECK_EQ(record.regs.rip, has & SPMU_PEBS_GPRS ? 0x24 : 0);
		CHECK_EQ(record.regs.r15, has & SPMU_PEBS_GPRS ? 0x1111 : 0);
		CHECK_EQ(record.branch_count, has & SPMU_PEBS_LBR ? 4 : 0);
		for (unsigned i = 0; i < 16 && (has & SPMU_PEBS_XMM); i++)
			CHECK_EQ(record.xmm[i][3], 16 * i + 4);
		for (unsigned i = 0; i < record.branch_count; i++) {
			CHECK_EQ(record.branch[i].from, 0x400000 + ((1 - i) & 31));
			CHECK_EQ(record.branch[i].to, 0x500000 + ((1 - i) & 31));
			CHECK_EQ(record.branch[i].cycles, (1 - i) & 31);
			CHECK_EQ(record.branch[i].flags, SPMU_BRANCH_MISPREDICTED);
		}
		host_destroy(&host);
	}
}

/* Checks that XMM8 to XMM15 exist in IA-32e mode only. */
static void vectors(void)
{
	struct spmu_pebs_record record;
	struct unit_host host;

	create(&host, "icelake");
	spmu_set_ia32e(host.core, 0, false);
	host.data_cfg = SPMU_PEBS_XMM;
	host_ds(&host, 2, 2, minus_2);
	WRMSR(&host, DATA_CFG, SPMU_PEBS_XMM);
	WRMSR(&host, PEBS_ENABLE, 1);
	arm(&host, ADAPTIVE | 0xc4);
	retire(&host, 1, JUMP);
	CHECK_EQ(retire(&host, 2, JUMP), SPMU_EV_RECORD);
	record = host_record(&host, 0);
	for (unsigned i = 0; i < 16; i++)
		for (unsigned b = 0; b < 16; b++)
			CHECK_EQ(record.xmm[i][b], i < 8 ? 16 * i + b + 1 : 0);
	host_destroy(&host);
}

/* Checks records of different lengths: bounds and threshold depend on the next record. */
static void sizes(void)
{
	struct spmu_ds_area area;
	struct unit_host host;

	create(&host, "icelake");
	area = host_area(&host);
	area.pebs_maximum = PEBS_BASE + 32 + 176 + 175;
	area.pebs_threshold = PEBS_BASE + 33;
	CHECK_EQ(spmu_ds_encode(host_layout(&host), &area, host.memory, MEMORY_BYTES), SPMU_OK);
	WRMSR(&host, DATA_CFG, SPMU_PEBS_GPRS);
	WRMSR(&host, PEBS_ENABLE, FIXED(0) | 1);
	WRMSR(&host, GLOBAL_CTRL, FIXED(0) | 1);
	arm(&host, 0xc4);
	retire(&host, 1, JUMP);
	CHECK_EQ(retire(&host, 2, JUMP), SPMU_EV_RECORD);
	CHECK_EQ(host_area(&host).pebs_index, PEBS_BASE + 32);
	/* The fixed counter is adaptive, PMC0 is not: its record is longer. */
	WRMSR(&host, EVTSEL0, 0);
	WRMSR(&host, FIXED_CTRL, UINT64_C(1) << 32 | 3);
	WRMSR(&host, FIXED0, MAX48);
	CHECK_EQ(retire(&host, 4, 0), SPMU_EV_RECORD | SPMU_EV_PMI);
	CHECK_EQ(host_area(&host).pebs_index, PEBS_BASE + 32 + 176);
	CHECK_EQ(CAUSES(&host), OVFBUF);
	WRMSR(&host, FIXED0, MAX48);
	CHECK_EQ(retire(&host, 6, 0), 0); /* one byte too little */
	CHECK_EQ(host_area(&host).pebs_index, PEBS_BASE + 32 + 176);
	host_destroy(&host);
}

int main(void)
{
	RUN(registers());
	RUN(groups());
	RUN(vectors());
	RUN(sizes());
	return test_summary();
}
