/* SPDX-License-Identifier: MIT */
/*
 * lbr_architectural.c: architectural last branch records (the chapter on last branch records of the
 * manual's later editions; CPUID leaf 1CH). Linux's driver for them is the second source: it reads
 * entry 0 as the newest, and a write to the depth clears all.
 */
#include "tests/unit/unit_host.h"

#define LBREN	   1u
#define OS	   2u
#define USR	   4u
#define CALL_STACK 8u

static void start(struct unit_host *host, uint64_t ctl, struct spmu_supply supply)
{
	host_create(host, "sapphirerapids", 1, supply);
	WRMSR(host, LBR_CTL, ctl);
}

/* Reports a taken branch at CPL 3. Its number is in both addresses. */
static void take(struct unit_host *host, unsigned signal, unsigned number)
{
	struct spmu_branch branch = {.from = 0x1000 + number,
				     .to = 0x2000 + number,
				     .signal = (uint8_t)signal,
				     .cpl = 3,
				     .next_cpl = 3};

	spmu_branches(host->core, 0, &branch, 1);
}

/* Checks that the entries from 0 on are these branches, and that no entry follows. */
static void check_stack(struct unit_host *host, unsigned count, const unsigned *numbers, int line)
{
	for (unsigned i = 0; i < count; i++) {
		CHECK_ROW_EQ(line, RDMSR(host, LBR_ARCH_FROM + i), 0x1000 + numbers[i]);
		CHECK_ROW_EQ(line, RDMSR(host, LBR_ARCH_TO + i), 0x2000 + numbers[i]);
	}
	CHECK_ROW_EQ(line, RDMSR(host, LBR_ARCH_FROM + count), 0);
	CHECK_ROW_EQ(line, RDMSR(host, LBR_ARCH_TO + count), 0);
	CHECK_ROW_EQ(line, RDMSR(host, LBR_ARCH_INFO + count), 0);
}

/*
 * Checks CPUID: the flag in leaf 07H, and leaf 1CH as a Sapphire Rapids and an Alder Lake have it.
 */
static void identification(void)
{
	struct spmu_cpuid_regs regs = {1, 2, 3, 4};
	struct unit_host host;

	host_create(&host, "sapphirerapids", 1, SUPPLY_EXECUTION);
	CHECK(spmu_cpuid(host.core, 7, 0, &regs));
	CHECK_EQ(regs.eax, 1);
	CHECK_EQ(regs.edx, 4 | 1u << 19);
	CHECK(!spmu_cpuid(host.core, 7, 1, &regs));
	CHECK(spmu_cpuid(host.core, 0x1c, 0, &regs));
	CHECK_EQ(regs.eax, 0x4000000b);
	CHECK_EQ(regs.ebx, 7);
	CHECK_EQ(regs.ecx, 7);
	CHECK_EQ(regs.edx, 0);
	CHECK_EQ(RDMSR(&host, CAPABILITIES) & 0x3f, 0x3f);
	host_destroy(&host);
	host_create(&host, "alderlake-e", 1, SUPPLY_EXECUTION);
	CHECK(spmu_cpuid(host.core, 0x1c, 0, &regs));
	CHECK_EQ(regs.eax, 0xc000000b);
	host_destroy(&host);
	host_create(&host, "icelake", 1, SUPPLY_EXECUTION);
	CHECK(!spmu_cpuid(host.core, 0x1c, 0, &regs));
	CHECK(!spmu_cpuid(host.core, 7, 0, &regs));
	host_destroy(&host);
}

/* Checks that entry 0 is the newest, and that the oldest one leaves. */
static void newest_first(void)
{
	static const unsigned three[] = {3, 2, 1};
	struct unit_host host;

	start(&host, LBR_CTL_ALL, SUPPLY_EXECUTION);
	for (unsigned n = 1; n <= 3; n++)
		take(&host, SPMU_SIG_JMP_REL, n);
	check_stack(&host, 3, three, __LINE__);
	for (unsigned n = 4; n <= 40; n++)
		take(&host, SPMU_SIG_JMP_REL, n);
	for (unsigned i = 0; i < 32; i++)
		CHECK_EQ(RDMSR(&host, LBR_ARCH_FROM + i), 0x1000 + 40 - i);
	host_destroy(&host);
}

/* Checks that many branches at once leave the same as one after the other. */
static void in_bulk(void)
{
	struct spmu_branch branches[100];
	struct unit_host all, single;

	start(&all, LBR_CTL_ALL, SUPPLY_ALL);
	start(&single, LBR_CTL_ALL, SUPPLY_ALL);
	for (unsigned n = 0; n < 100; n++) {
		branches[n] = (struct spmu_branch){.from = 0x1000 + n,
						   .to = 0x2000 + n,
						   .cycles = n,
						   .signal = n % 3 ? SPMU_SIG_COND_TAKEN
								   : SPMU_SIG_CALL_IND,
						   .flags = n == 40 ? SPMU_BRANCH_EVENT : 0,
						   .cpl = 3,
						   .next_cpl = 3};
		spmu_branches(single.core, 0, &branches[n], 1);
	}
	spmu_branches(all.core, 0, branches, 100);
	for (unsigned i = 0; i < 32; i++) {
		CHECK_EQ(RDMSR(&all, LBR_ARCH_FROM + i), RDMSR(&single, LBR_ARCH_FROM + i));
		CHECK_EQ(RDMSR(&all, LBR_ARCH_INFO + i), RDMSR(&single, LBR_ARCH_INFO + i));
	}
	CHECK_EQ(RDMSR(&all, LER_FROM), 0x1000 + 39);
	host_destroy(&all);
	host_destroy(&single);
}

/* Checks each bit of the filter: it includes its kind, and the levels include theirs. */
static void filter(void)
{
	static const struct {
		unsigned signal, bit, type;
	} kinds[] = {
		{SPMU_SIG_COND_TAKEN, 16, 0}, {SPMU_SIG_JMP_REL, 17, 2},
		{SPMU_SIG_JMP_IND, 18, 1},    {SPMU_SIG_CALL_REL, 19, 4},
		{SPMU_SIG_CALL_IND, 20, 3},   {SPMU_SIG_RET_NEAR, 21, 5},
		{SPMU_SIG_FAR, 22, 8},
	};
	struct unit_host host;

	for (unsigned bit = 0; bit < COUNT(kinds); bit++) {
		unsigned number = bit + 1;

		start(&host, LBREN | OS | USR | UINT64_C(1) << kinds[bit].bit, SUPPLY_EXECUTION);
		for (unsigned k = 0; k < COUNT(kinds); k++)
			take(&host, kinds[k].signal, k + 1);
		check_stack(&host, 1, &number, __LINE__);
		CHECK_EQ(RDMSR(&host, LBR_ARCH_INFO), (uint64_t)kinds[bit].type << 56);
		host_destroy(&host);
	}
	for (unsigned levels = 0; levels < 4; levels++) {
		start(&host, LBREN | levels << 1 | 0x7f0000, SUPPLY_EXECUTION);
		CHECK_EQ(host.meters[0].tap.rings,
			 (levels & 1 ? SPMU_RING0 : 0) | (levels & 2 ? SPMU_RING_USER : 0));
		take(&host, SPMU_SIG_JMP_REL, 1);
		CHECK_EQ(RDMSR(&host, LBR_ARCH_FROM), levels & 2 ? 0x1001 : 0);
		host_destroy(&host);
	}
	/* Without LBREn, and with IA32_DEBUGCTL.LBR, which does nothing here. */
	start(&host, LBR_CTL_ALL & ~LBREN, SUPPLY_EXECUTION);
	WRMSR(&host, DEBUGCTL, 1);
	CHECK_EQ(RDMSR(&host, DEBUGCTL), 1);
	take(&host, SPMU_SIG_JMP_REL, 1);
	CHECK_EQ(RDMSR(&host, LBR_ARCH_FROM), 0);
	host_destroy(&host);
}

/* Checks call-stack mode: a return moves the older entries down and clears the last one. */
static void call_stack(void)
{
	static const unsigned deep[] = {4, 2, 1}, rest[] = {2, 1};
	struct spmu_branch zero = {
		.from = 0x5000, .to = 0x5005, .signal = SPMU_SIG_CALL_REL, .cpl = 3, .next_cpl = 3};
	struct unit_host host;

	start(&host, LBR_CTL_ALL | CALL_STACK, SUPPLY_EXECUTION);
	take(&host, SPMU_SIG_CALL_REL, 1);
	take(&host, SPMU_SIG_CALL_IND, 2);
	take(&host, SPMU_SIG_CALL_REL, 3);
	take(&host, SPMU_SIG_JMP_REL, 9);
	take(&host, SPMU_SIG_RET_NEAR, 9);
	take(&host, SPMU_SIG_CALL_REL, 4);
	spmu_branches(host.core, 0, &zero, 1);
	check_stack(&host, 3, deep, __LINE__);
	take(&host, SPMU_SIG_RET_NEAR, 9);
	check_stack(&host, 2, rest, __LINE__);
	host_destroy(&host);
}

/* Checks the depth: which values it takes, what it clears, and what is beyond it. */
static void depth(void)
{
	static const uint64_t refused[] = {0, 1, 7, 9, 24, 33, 40, 64, 0x108, UINT64_C(1) << 63};
	struct unit_host host;
	uint64_t value;

	start(&host, LBR_CTL_ALL, SUPPLY_EXECUTION);
	CHECK_EQ(RDMSR(&host, LBR_DEPTH), 32);
	for (size_t i = 0; i < COUNT(refused); i++)
		CHECK_EQ(spmu_write_msr(host.core, 0, LBR_DEPTH, refused[i]), SPMU_GP);
	for (unsigned entries = 8; entries <= 32; entries *= 2) {
		for (unsigned n = 1; n <= 40; n++)
			take(&host, SPMU_SIG_JMP_REL, n);
		WRMSR(&host, LBR_DEPTH, entries);
		for (unsigned i = 0; i < entries; i++)
			CHECK_EQ(RDMSR(&host, LBR_ARCH_FROM + i), 0);
		for (unsigned i = entries; i < 32; i++) {
			CHECK_EQ(spmu_read_msr(host.core, 0, LBR_ARCH_FROM + i, &value), SPMU_GP);
			CHECK_EQ(spmu_read_msr(host.core, 0, LBR_ARCH_TO + i, &value), SPMU_GP);
			CHECK_EQ(spmu_write_msr(host.core, 0, LBR_ARCH_INFO + i, 0), SPMU_GP);
		}
		CHECK_EQ(host.meters[0].tap.keep_last, entries);
		for (unsigned n = 1; n <= entries + 2; n++)
			take(&host, SPMU_SIG_JMP_REL, n);
		CHECK_EQ(RDMSR(&host, LBR_ARCH_FROM), 0x1000 + entries + 2);
		CHECK_EQ(RDMSR(&host, LBR_ARCH_FROM + entries - 1), 0x1003);
	}
	host_destroy(&host);
}

/* Checks the information of an entry: prediction, clocks and whether they are known. */
static void information(void)
{
	const uint64_t valid = UINT64_C(1) << 60;
	struct spmu_branch branch = {.from = 1,
				     .to = 2,
				     .cycles = 7,
				     .signal = SPMU_SIG_COND_TAKEN,
				     .cpl = 3,
				     .next_cpl = 3,
				     .flags = SPMU_BRANCH_MISPREDICTED};
	struct spmu_lbr_entry entry = {1, 2, valid | UINT64_C(5) << 56};
	const struct spmu_lbr_layout *layout;
	struct unit_host host;

	start(&host, LBR_CTL_ALL, SUPPLY_ALL);
	spmu_branches(host.core, 0, &branch, 1);
	CHECK_EQ(RDMSR(&host, LBR_ARCH_INFO), UINT64_C(1) << 63 | valid | 7);
	branch.cycles = 0; /* known, and 0 */
	branch.flags = 0;
	spmu_branches(host.core, 0, &branch, 1);
	CHECK_EQ(RDMSR(&host, LBR_ARCH_INFO), valid);
	branch.cycles = 0x12345;
	spmu_branches(host.core, 0, &branch, 1);
	CHECK_EQ(RDMSR(&host, LBR_ARCH_INFO), valid | 0xffff);
	spmu_deep_sleep(host.core, 0);
	CHECK_EQ(RDMSR(&host, LBR_ARCH_FROM), 0);
	CHECK_EQ(RDMSR(&host, LBR_CTL), LBR_CTL_ALL);
	CHECK_EQ(RDMSR(&host, LBR_DEPTH), 32);
	spmu_branches(host.core, 0, &branch, 1);
	CHECK_EQ(RDMSR(&host, LBR_ARCH_INFO), 0);
	host_destroy(&host);

	layout = spmu_model_lbr_layout(spmu_model_find("sapphirerapids"));
	spmu_lbr_decode(layout, &entry, &branch);
	CHECK_EQ(branch.signal, SPMU_SIG_RET_NEAR);
	CHECK_EQ(branch.flags, SPMU_BRANCH_CYCLES);
	entry.info = UINT64_C(0xf) << 56 | 99; /* any other branch, and clocks that are not valid */
	spmu_lbr_decode(layout, &entry, &branch);
	CHECK_EQ(branch.signal, SPMU_SIG_FAR);
	CHECK_EQ(branch.cycles, 0);
	CHECK_EQ(branch.flags, 0);
	/* Each kind, reserved ones too, stays the same when it is encoded and decoded again. */
	for (uint64_t type = 0; type < 16; type++) {
		struct spmu_branch again;

		entry.info = type << 56;
		spmu_lbr_decode(layout, &entry, &branch);
		CHECK_EQ(branch.signal == SPMU_SIG_FAR, type >= 6);
		spmu_lbr_encode(layout, &branch, &entry);
		CHECK_EQ(entry.info >> 56, type < 6 ? type : 8);
		spmu_lbr_decode(layout, &entry, &again);
		CHECK_EQ(again.signal, branch.signal);
	}
}

/* Checks the last exception record, which has the entry's information, too. */
static void last_exception(void)
{
	struct spmu_branch fault = {
		.from = 0x100, .to = 0x200, .signal = SPMU_SIG_FAR, .flags = SPMU_BRANCH_EVENT};
	struct unit_host host;

	start(&host, LBR_CTL_ALL, SUPPLY_EXECUTION);
	take(&host, SPMU_SIG_CALL_REL, 1);
	spmu_branches(host.core, 0, &fault, 1);
	CHECK_EQ(RDMSR(&host, LER_FROM), 0x1001);
	CHECK_EQ(RDMSR(&host, LER_TO), 0x2001);
	CHECK_EQ(RDMSR(&host, LER_INFO), UINT64_C(4) << 56);
	CHECK_EQ(spmu_write_msr(host.core, 0, LER_INFO, 0), SPMU_GP);
	CHECK_EQ(RDMSR(&host, LBR_ARCH_FROM), 0x100);
	host_destroy(&host);
}

/* Checks that an SMI stops recording and RSM continues it, and that INIT and RESET stop it. */
static void smi_and_init(void)
{
	struct unit_host host;

	start(&host, LBR_CTL_ALL, SUPPLY_EXECUTION);
	take(&host, SPMU_SIG_JMP_REL, 1);
	spmu_smm(host.core, 0, true);
	CHECK_EQ(RDMSR(&host, LBR_CTL), LBR_CTL_ALL & ~LBREN);
	take(&host, SPMU_SIG_JMP_REL, 2);
	spmu_smm(host.core, 0, false);
	CHECK_EQ(RDMSR(&host, LBR_CTL), LBR_CTL_ALL);
	CHECK_EQ(RDMSR(&host, LBR_ARCH_FROM), 0x1001);
	WRMSR(&host, LBR_DEPTH, 16);
	take(&host, SPMU_SIG_JMP_REL, 3);
	spmu_init(host.core, 0);
	CHECK_EQ(RDMSR(&host, LBR_CTL), LBR_CTL_ALL & ~LBREN);
	CHECK_EQ(RDMSR(&host, LBR_DEPTH), 16);
	CHECK_EQ(RDMSR(&host, LBR_ARCH_FROM), 0x1003);
	spmu_reset(host.core, 0);
	CHECK_EQ(RDMSR(&host, LBR_CTL), 0);
	CHECK_EQ(RDMSR(&host, LBR_DEPTH), 32);
	CHECK_EQ(RDMSR(&host, LBR_ARCH_FROM), 0);
	host_destroy(&host);
}

int main(void)
{
	RUN(identification());
	RUN(newest_first());
	RUN(in_bulk());
	RUN(filter());
	RUN(call_stack());
	RUN(depth());
	RUN(information());
	RUN(last_exception());
	RUN(smi_and_init());
	return test_summary();
}
