/* SPDX-License-Identifier: MIT */
/*
 * lbr_logging.c: event logging of last branch records (the chapter on last branch records of the
 * manual's later editions; CPUID.1CH:ECX[19:16]). Linux's driver is the second source: it reads two
 * bits for each of four counters from bit 32 of IA32_LBR_x_INFO on (LBR_INFO_BR_CNTR_OFFSET), and
 * sets bit 35 of the event select (ARCH_PERFMON_EVENTSEL_BR_CNTR).
 */
#include "tests/unit/unit_host.h"

#define LOG	 (UINT64_C(1) << 35)
#define LOADS	 UINT64_C(0x81d0)
#define BRANCHES UINT64_C(0xc4)

static void start(struct unit_host *host)
{
	host_create(host, "sierraforest", 1, SUPPLY_EXECUTION);
	WRMSR(host, EVTSEL0, COUNT_USER | LOADS | LOG);
	WRMSR(host, EVTSEL0 + 1, COUNT_USER | BRANCHES | LOG);
	WRMSR(host, EVTSEL0 + 2, COUNT_USER | LOADS);
	WRMSR(host, LBR_CTL, LBR_CTL_ALL);
}

static void execute(struct unit_host *host, uint64_t signals)
{
	struct spmu_insn insn = {.ip = 0x1000,
				 .next_ip = 0x2000,
				 .cpl = 3,
				 .next_cpl = 3,
				 .signals = SPMU_SIGBIT(INSTRUCTIONS) | signals};

	spmu_retire(host->core, 0, &insn);
}

static void load(struct unit_host *host, unsigned times)
{
	while (times--)
		execute(host, SPMU_SIGBIT(LOADS));
}

static void jump(struct unit_host *host)
{
	execute(host, SPMU_SIGBIT(JMP_REL));
}

/* Returns what entry n logs of a counter. */
static unsigned logged(struct unit_host *host, unsigned n, unsigned counter)
{
	struct spmu_lbr_entry entry = {.info = RDMSR(host, LBR_ARCH_INFO + n)};

	return spmu_lbr_logged(spmu_lbr_log(&entry), counter);
}

/* Checks that each entry has what happened since the one before, itself included, at most three. */
static void counts_since_the_entry_before(void)
{
	static const struct {
		int line;
		unsigned loads, logged;
	} rows[] = {{__LINE__, 0, 0}, {__LINE__, 1, 1}, {__LINE__, 2, 2},
		    {__LINE__, 3, 3}, {__LINE__, 4, 3}, {__LINE__, 100, 3}};
	struct unit_host host;

	start(&host);
	for (size_t i = 0; i < COUNT(rows); i++) {
		load(&host, rows[i].loads);
		jump(&host);
		CHECK_ROW_EQ(rows[i].line, logged(&host, 0, 0), rows[i].logged);
		CHECK_ROW_EQ(rows[i].line, logged(&host, 0, 1), 1);
		CHECK_ROW_EQ(rows[i].line, logged(&host, 0, 2), 0);
		CHECK_ROW_EQ(rows[i].line, logged(&host, 0, 3), 0);
	}
	CHECK_EQ(logged(&host, 2, 0), 3);
	CHECK_EQ(logged(&host, 4, 0), 1);
	CHECK_EQ(RDMSR(&host, PMC0), 110);
	host_destroy(&host);
}

/*
 * Checks that a branch without an entry adds to the log, and that a stopped counter logs nothing.
 */
static void follows_filters_and_enables(void)
{
	struct unit_host host;

	start(&host);
	execute(&host, SPMU_SIGBIT(COND_NTAKEN));
	jump(&host);
	CHECK_EQ(logged(&host, 0, 1), 2);
	WRMSR(&host, LBR_CTL, LBR_CTL_ALL & ~(UINT64_C(1) << 17)); /* no direct jumps */
	jump(&host);
	execute(&host, SPMU_SIGBIT(RET_NEAR));
	CHECK_EQ(logged(&host, 0, 1), 2);
	WRMSR(&host, GLOBAL_CTRL, 0);
	load(&host, 2);
	WRMSR(&host, GLOBAL_CTRL, 0xff);
	execute(&host, SPMU_SIGBIT(RET_NEAR));
	CHECK_EQ(logged(&host, 0, 0), 0);
	WRMSR(&host, LBR_CTL, 0);
	load(&host, 2);
	WRMSR(&host, LBR_CTL, LBR_CTL_ALL);
	jump(&host);
	CHECK_EQ(logged(&host, 0, 0), 0);
	host_destroy(&host);
}

/* Checks that branches in bulk log what was counted before them, once. */
static void in_bulk(void)
{
	struct spmu_branch branches[2] = {
		{.from = 1, .to = 2, .signal = SPMU_SIG_JMP_REL, .cpl = 3, .next_cpl = 3},
		{.from = 3, .to = 4, .signal = SPMU_SIG_JMP_REL, .cpl = 3, .next_cpl = 3}};
	struct unit_host host;

	start(&host);
	load(&host, 2);
	spmu_branches(host.core, 0, branches, COUNT(branches));
	CHECK_EQ(logged(&host, 1, 0), 2);
	CHECK_EQ(logged(&host, 0, 0), 0);
	host_destroy(&host);
}

/* Checks that a deep sleep and a new depth forget what was not logged yet. */
static void is_cleared(void)
{
	struct unit_host host;

	start(&host);
	load(&host, 2);
	spmu_deep_sleep(host.core, 0);
	jump(&host);
	CHECK_EQ(logged(&host, 0, 0), 0);
	load(&host, 2);
	WRMSR(&host, LBR_DEPTH, 8);
	jump(&host);
	CHECK_EQ(logged(&host, 0, 0), 0);
	host_destroy(&host);
}

/* Checks that CPUID tells of four counters, whose event selects have the bit, and that other models
 * have none. */
static void registers(void)
{
	struct spmu_cpuid_regs regs;
	struct unit_host host;

	start(&host);
	CHECK(spmu_cpuid(host.core, 0x1c, 0, &regs));
	CHECK_EQ(regs.ecx, 0xf0007);
	for (unsigned n = 0; n < 8; n++)
		CHECK_EQ(spmu_write_msr(host.core, 0, EVTSEL0 + n, LOG),
			 n < 4 ? SPMU_DONE : SPMU_GP);
	host_destroy(&host);
	host_create(&host, "alderlake-e", 1, SUPPLY_EXECUTION);
	CHECK_EQ(spmu_write_msr(host.core, 0, EVTSEL0, LOG), SPMU_GP);
	host_destroy(&host);
}

/* Checks that a PEBS record's branches have the logs, too. */
static void in_records(void)
{
	const uint8_t log = 1 | 3 << 2 | 2 << 6;
	const struct spmu_ds_layout *layout =
		spmu_model_ds_layout(spmu_model_find("sierraforest"), true);
	struct spmu_pebs_record record = {.groups = SPMU_PEBS_LBR, .branch_count = 1}, read;
	uint8_t bytes[0x20 + 24];

	record.branch[0] = (struct spmu_branch){.from = 1, .to = 2, .signal = SPMU_SIG_JMP_REL};
	record.branch_log[0] = log;
	CHECK_EQ(spmu_pebs_encode(layout, SPMU_PEBS_LBR | SPMU_PEBS_LBR_ENTRIES(1), &record, bytes,
				  sizeof(bytes)),
		 SPMU_OK);
	CHECK_EQ(bytes[0x20 + 20], log);
	CHECK_EQ(spmu_pebs_decode(layout, bytes, sizeof(bytes), &read, NULL), SPMU_OK);
	CHECK_EQ(read.branch_log[0], log);
}

int main(void)
{
	RUN(counts_since_the_entry_before());
	RUN(follows_filters_and_enables());
	RUN(in_bulk());
	RUN(is_cleared());
	RUN(registers());
	RUN(in_records());
	return test_summary();
}
