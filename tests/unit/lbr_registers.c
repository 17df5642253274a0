/* SPDX-License-Identifier: MIT */
/*
 * lbr_registers.c: what software may write to the registers of last branch records (Vol. 3B
 * 17.4.8.1, 17.7.2, 17.10.1), and what such a write costs.
 */
#include "tests/unit/unit_host.h"

#define LBR_ON 1u

#define MISPRED (UINT64_C(1) << 63)
#define IN_TX	(UINT64_C(1) << 62)
#define ABORT	(UINT64_C(1) << 61)

static void start(struct unit_host *host)
{
	host_create(host, "skylake", 1, SUPPLY_EXECUTION);
	WRMSR(host, LBR_SELECT, 0);
	WRMSR(host, DEBUGCTL, LBR_ON);
}

/*
 * Checks what software may write (17.4.8.1, 17.7.2, 17.10.1). The last exception record is
 * read-only.
 */
static void writes(void)
{
	static const struct {
		int line;
		uint32_t msr;
		uint64_t value;
		bool accepted;
	} rows[] = {
		{__LINE__, LBR_FROM + 5, 0x7fffffffffff, true},
		{__LINE__, LBR_FROM + 5, UINT64_C(0xffff800000000000), true},
		{__LINE__, LBR_FROM + 5, UINT64_C(0x800000000000), false},
		{__LINE__, LBR_FROM + 5, MISPRED | 64, false}, /* the flag is in INFO */
		{__LINE__, LBR_TO + 31, UINT64_C(0xfffffffffffff000), true},
		{__LINE__, LBR_TO + 31, UINT64_C(0x1000000000000), false},
		{__LINE__, LBR_INFO + 31, MISPRED | IN_TX | ABORT | 0xffff, true},
		{__LINE__, LBR_INFO + 31, 0x10000, false},
		{__LINE__, LBR_TOS, 31, true},
		{__LINE__, LBR_TOS, 32, false},
		{__LINE__, LBR_SELECT, 0x3ff, true},
		{__LINE__, LBR_SELECT, 0x400, false},
		{__LINE__, LER_FROM, 0, false},
		{__LINE__, LER_TO, 0, false},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct unit_host host;

		start(&host);
		CHECK_ROW_EQ(rows[i].line, spmu_write_msr(host.core, 0, rows[i].msr, rows[i].value),
			     rows[i].accepted ? SPMU_DONE : SPMU_GP);
		CHECK_ROW_EQ(rows[i].line, RDMSR(&host, rows[i].msr),
			     rows[i].accepted ? rows[i].value : 0);
		host_destroy(&host);
	}
}

/*
 * Checks that writes to the records leave the list of counters alone, which would cost a driver
 * that clears 96 of them.  A word that is changed by hand stays until the list is made again.
 */
static void writes_list_nothing(void)
{
	static const uint32_t stacks[] = {LBR_FROM, LBR_TO, LBR_INFO};
	struct unit_host host;
	uint32_t epoch;

	start(&host);
	WRMSR(&host, EVTSEL0, COUNT_ALL | 0xc0);
	CHECK_EQ(host.meters[0].meter[0].signals, SPMU_SIGBIT(INSTRUCTIONS));
	host.meters[0].meter[0].signals = 0;
	epoch = host.meters[0].epoch;
	for (size_t s = 0; s < COUNT(stacks); s++)
		for (unsigned n = 0; n < 32; n++) {
			WRMSR(&host, stacks[s] + n, 64 + n);
			CHECK_EQ(host.meters[0].meter[0].signals, 0);
			CHECK_EQ(host.meters[0].epoch, epoch);
		}
	WRMSR(&host, LBR_SELECT, 0);
	CHECK_EQ(host.meters[0].meter[0].signals, SPMU_SIGBIT(INSTRUCTIONS));
	CHECK_EQ(host.meters[0].epoch, epoch + 1);
	host_destroy(&host);
}

/* Checks that flags or clocks in place of the address's sign can be written (17.4.8.1). */
static void writes_by_format(void)
{
	static const struct {
		int line;
		const char *model;
		uint32_t msr;
		uint64_t value;
		bool accepted;
	} rows[] = {
		{__LINE__, "core", 0x47, UINT64_C(0x8123456789abcdef), true},
		{__LINE__, "core", 0x67, 0, false}, /* no second register */
		{__LINE__, "core", LBR_SELECT, 0, false},
		{__LINE__, "core2", 0x43, UINT64_C(0xffff800000000000), true},
		{__LINE__, "core2", 0x43, MISPRED, false},
		{__LINE__, "core2", 0x44, 0, false}, /* four entries */
		{__LINE__, "core2", 0x63, UINT64_C(0x800000000000), false},
		{__LINE__, "nehalem", LBR_FROM + 15, MISPRED | 64, true},
		{__LINE__, "nehalem", LBR_FROM + 15, ~MISPRED, true},
		{__LINE__, "nehalem", LBR_FROM + 15, IN_TX, false},
		{__LINE__, "nehalem", LBR_TO + 15, MISPRED | 64, false},
		{__LINE__, "nehalem", LBR_FROM + 16, 0, false},
		{__LINE__, "nehalem", LBR_SELECT, 0x1ff, true},
		{__LINE__, "nehalem", LBR_SELECT, 0x200, false},
		{__LINE__, "haswell", LBR_FROM, MISPRED | IN_TX | ABORT | 64, true},
		{__LINE__, "haswell", LBR_FROM, -64ull >> 3, true},
		{__LINE__, "haswell", LBR_FROM, UINT64_C(1) << 60, false},
		{__LINE__, "haswell", LBR_SELECT, 0x3ff, true},
		{__LINE__, "goldmont", LBR_FROM + 31, MISPRED | 64, true},
		{__LINE__, "goldmont", LBR_FROM + 31, IN_TX | 64, false},
		{__LINE__, "goldmont", LBR_TO + 31, UINT64_C(0x8123456789abcdef), true},
		{__LINE__, "goldmont-plus", LBR_INFO + 31, MISPRED | 0xffff, true},
		{__LINE__, "goldmont-plus", LBR_INFO + 31, IN_TX, false},
		{__LINE__, "goldmont-plus", LBR_INFO + 31, ABORT, false},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct unit_host host;
		uint64_t value = 0;

		host_create(&host, rows[i].model, 1, SUPPLY_EXECUTION);
		CHECK_ROW_EQ(rows[i].line, spmu_write_msr(host.core, 0, rows[i].msr, rows[i].value),
			     rows[i].accepted ? SPMU_DONE : SPMU_GP);
		if (rows[i].accepted) {
			CHECK_ROW_EQ(rows[i].line, spmu_read_msr(host.core, 0, rows[i].msr, &value),
				     SPMU_DONE);
			CHECK_ROW_EQ(rows[i].line, value, rows[i].value);
		}
		host_destroy(&host);
	}
}

int main(void)
{
	RUN(writes());
	RUN(writes_list_nothing());
	RUN(writes_by_format());
	return test_summary();
}
