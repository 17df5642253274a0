/* SPDX-License-Identifier: MIT */
/*
 * lbr.c: last branch records: entries by format (Vol. 3B 17.4.8.1, 17.6, 17.7.1, 17.10.1), the
 * stack and its top (17.4.8), filters (17.7.2), call-stack mode (17.9), freezing (17.4.7) and
 * the last exception record (17.11.3).
 */
#include "tests/unit/unit_host.h"

#define LBR_ON	   1u
#define CALL_STACK 0x3c4u /* bit 9, and all but calls and returns filtered (17.9) */

#define MISPRED (UINT64_C(1) << 63)
#define IN_TX	(UINT64_C(1) << 62)
#define ABORT	(UINT64_C(1) << 61)

static struct spmu_branch branch_of(unsigned signal, uint64_t from, uint64_t to)
{
	return (struct spmu_branch){
		.from = from, .to = to, .signal = (uint8_t)signal, .cpl = 3, .next_cpl = 3};
}

static unsigned take(struct unit_host *host, unsigned signal, uint64_t from, uint64_t to)
{
	struct spmu_branch branch = branch_of(signal, from, to);

	return spmu_branches(host->core, 0, &branch, 1);
}

/* Returns the n-th newest entry. */
static uint64_t entry(struct unit_host *host, uint32_t stack, unsigned n)
{
	return RDMSR(host, stack + (uint32_t)((RDMSR(host, LBR_TOS) - n) & 31));
}

static void start(struct unit_host *host, uint64_t select)
{
	host_create(host, "skylake", 1, SUPPLY_EXECUTION);
	WRMSR(host, LBR_SELECT, select);
	WRMSR(host, DEBUGCTL, LBR_ON);
}

static void start_with_clocks(struct unit_host *host, uint64_t select)
{
	host_create(host, "skylake", 1, SUPPLY_ALL);
	WRMSR(host, LBR_SELECT, select);
	WRMSR(host, DEBUGCTL, LBR_ON);
}

static void formats(void)
{
	static const struct {
		int line;
		uint8_t format, flags;
		uint32_t cycles;
		uint64_t from, to;
		struct spmu_lbr_entry made;
		uint8_t flags_back;
		uint32_t cycles_back;
	} rows[] = {
		{__LINE__, 0, 1, 9, 0x401000, 0x402000, {0x0040200000401000, 0, 0}, 0, 0},
		{__LINE__, 1, 7, 9, 0x401000, 0x402000, {0x401000, 0x402000, 0}, 0, 0},
		{__LINE__, 2, 7, 9, 0x401000, 0x402000, {0x401000, 0x402000, 0}, 0, 0},
		{__LINE__, 3, 7, 9, 0x401000, 0x402000, {MISPRED | 0x401000, 0x402000, 0}, 1, 0},
		{__LINE__, 3, 6, 9, 0x401000, 0x402000, {0x401000, 0x402000, 0}, 0, 0},
		{__LINE__, 3, 0, 9, -4096ull, -8192ull, {~MISPRED & -4096ull, -8192ull, 0}, 0, 0},
		{__LINE__, 3, 1, 9, -4096ull, -8192ull, {-4096ull, -8192ull, 0}, 1, 0},
		{__LINE__, 4, 7, 9, 64, 128, {MISPRED | IN_TX | ABORT | 64, 128, 0}, 7, 0},
		{__LINE__, 4, 2, 9, 64, 128, {IN_TX | 64, 128, 0}, 2, 0},
		{__LINE__, 4, 0, 9, -64ull, -128ull, {-64ull & UINT64_MAX >> 3, -128ull, 0}, 0, 0},
		{__LINE__, 5, 0, 0, 64, 128, {64, 128, 0}, 0, 0},
		{__LINE__, 5, 1, 9, -64ull, -128ull, {-64ull, -128ull, MISPRED | 9}, 1, 9},
		{__LINE__, 5, 6, 70000, 64, 128, {64, 128, IN_TX | ABORT | 0xffff}, 6, 0xffff},
		{__LINE__, 6, 7, 9, 64, 128, {MISPRED | 64, UINT64_C(9) << 48 | 128, 0}, 1, 9},
		{__LINE__,
		 6,
		 0,
		 65536,
		 -64ull,
		 -128ull,
		 {~MISPRED & -64ull, -128ull, 0},
		 0,
		 0xffff},
		{__LINE__,
		 6,
		 0,
		 0,
		 -64ull,
		 -128ull,
		 {~MISPRED & -64ull, -128ull << 16 >> 16, 0},
		 0,
		 0},
		{__LINE__, 7, 7, 9, 64, 128, {64, 128, MISPRED | 9}, 1, 9},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct spmu_lbr_layout layout = {.depth = 4, .format = rows[i].format};
		struct spmu_branch branch = {.from = rows[i].from,
					     .to = rows[i].to,
					     .flags = rows[i].flags,
					     .cycles = rows[i].cycles};
		struct spmu_lbr_entry made;

		spmu_lbr_encode(&layout, &branch, &made);
		CHECK_ROW_EQ(rows[i].line, made.from, rows[i].made.from);
		CHECK_ROW_EQ(rows[i].line, made.to, rows[i].made.to);
		CHECK_ROW_EQ(rows[i].line, made.info, rows[i].made.info);
		spmu_lbr_decode(&layout, &made, &branch);
		CHECK_ROW_EQ(rows[i].line, branch.from, rows[i].from);
		CHECK_ROW_EQ(rows[i].line, branch.to, rows[i].to);
		CHECK_ROW_EQ(rows[i].line, branch.flags, rows[i].flags_back);
		CHECK_ROW_EQ(rows[i].line, branch.cycles, rows[i].cycles_back);
	}
}

/*
 * Returns the index of the newest entry. P6 has one entry and no register for the index (17.14.2).
 */
static uint64_t newest(const struct spmu_lbr_layout *lbr, struct unit_host *host)
{
	return lbr->tos ? RDMSR(host, lbr->tos) : 0;
}

/* Checks 17.4.8 on every model with a stack: its depth, its registers, and TOS before the write. */
static void every_stack(void)
{
	unsigned stacks = 0;

	for (size_t m = 0; m < spmu_model_count(); m++) {
		const struct spmu_model *model = spmu_model_at(m);
		const struct spmu_lbr_layout *lbr = spmu_model_lbr_layout(model);
		struct unit_host host;

		if (!lbr || lbr->ctl) /* lbr_architectural.c has those without TOS */
			continue;
		stacks++;
		host_create(&host, spmu_model_describe(model).name, 1, SUPPLY_EXECUTION);
		CHECK(!(newest(lbr, &host) & ~(lbr->depth - 1ull)));
		take(&host, SPMU_SIG_JMP_REL, 0x999, 0x999); /* LBR is 0 */
		CHECK_EQ(newest(lbr, &host), 0);
		WRMSR(&host, DEBUGCTL, LBR_ON);
		for (unsigned n = 1; n <= lbr->depth + 1u; n++) {
			take(&host, SPMU_SIG_JMP_REL, 0x1000 + n, 0x2000 + n);
			CHECK_EQ(newest(lbr, &host), n % lbr->depth);
		}
		for (unsigned n = 0; n < lbr->depth; n++) {
			/* The number of the last branch that went to entry n. */
			unsigned age = lbr->depth + 1 - (lbr->depth + 1 - n) % lbr->depth;
			struct spmu_lbr_entry read = {RDMSR(&host, lbr->from + n), 0, 0};
			struct spmu_branch branch;

			if (lbr->to)
				read.to = RDMSR(&host, lbr->to + n);
			if (lbr->info)
				read.info = RDMSR(&host, lbr->info + n);
			spmu_lbr_decode(lbr, &read, &branch);
			CHECK_EQ(branch.from, 0x1000 + age);
			CHECK_EQ(branch.to, 0x2000 + age);
		}
		spmu_init(host.core, 0);
		CHECK_EQ(newest(lbr, &host), 1 % lbr->depth);
		spmu_reset(host.core, 0);
		CHECK_EQ(newest(lbr, &host), 0);
		CHECK_EQ(RDMSR(&host, lbr->from), 0);
		host_destroy(&host);
	}
	CHECK(stacks > 0);
}

/*
 * Checks that a stack at the lower addresses has no registers after the eighth. Other families have
 * other registers there, which belong to the host.
 */
static void past_the_stack(void)
{
	static const struct {
		int line;
		const char *model;
		enum spmu_outcome outcome;
	} rows[] = {
		{__LINE__, "core2", SPMU_GP},	       {__LINE__, "bonnell", SPMU_GP},
		{__LINE__, "silvermont", SPMU_GP},     {__LINE__, "airmont", SPMU_GP},
		{__LINE__, "goldmont", SPMU_NOT_OURS}, {__LINE__, "skylake", SPMU_NOT_OURS},
	};
	static const uint32_t addresses[] = {0x48, 0x4f, 0x68, 0x6f};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct unit_host host;
		uint64_t value;

		host_create(&host, rows[i].model, 1, SUPPLY_EXECUTION);
		for (size_t a = 0; a < COUNT(addresses); a++) {
			CHECK_ROW_EQ(rows[i].line,
				     spmu_read_msr(host.core, 0, addresses[a], &value),
				     rows[i].outcome);
			CHECK_ROW_EQ(rows[i].line, spmu_write_msr(host.core, 0, addresses[a], 0),
				     rows[i].outcome);
		}
		CHECK_ROW_EQ(rows[i].line, spmu_read_msr(host.core, 0, 0x50, &value),
			     SPMU_NOT_OURS);
		CHECK_ROW_EQ(rows[i].line, spmu_read_msr(host.core, 0, 0x79, &value),
			     SPMU_NOT_OURS);
		host_destroy(&host);
	}
}

/* Checks table 17-11: each bit leaves out its kind of branch and no other. */
static void filters(void)
{
	static const struct {
		unsigned signal, bit;
	} kinds[] = {
		{SPMU_SIG_COND_TAKEN, 2}, {SPMU_SIG_CALL_REL, 3}, {SPMU_SIG_CALL_IND, 4},
		{SPMU_SIG_RET_NEAR, 5},	  {SPMU_SIG_JMP_IND, 6},  {SPMU_SIG_JMP_REL, 7},
		{SPMU_SIG_FAR, 8},
	};

	for (unsigned bit = 0; bit <= 8; bit++)
		for (size_t k = 0; k < COUNT(kinds); k++)
			for (unsigned cpl = 0; cpl <= 3; cpl++) {
				bool left_out = bit == kinds[k].bit || (bit == 0 && cpl == 0) ||
						(bit == 1 && cpl > 0);
				struct unit_host host;
				struct spmu_branch branch = branch_of(kinds[k].signal, 1, 2);

				start(&host, UINT64_C(1) << bit);
				branch.cpl = 3 - (uint8_t)cpl; /* its first ring is irrelevant */
				branch.next_cpl = (uint8_t)cpl;
				spmu_branches(host.core, 0, &branch, 1);
				CHECK_EQ(RDMSR(&host, LBR_TOS), !left_out);
				CHECK_EQ(entry(&host, LBR_TO, 0), left_out ? 0 : 2);
				host_destroy(&host);
			}
}

/* Checks the same with retired instructions, whose signals name the kind. */
static void retired(void)
{
	struct unit_host host;
	struct spmu_insn call = {.ip = 0x401000,
				 .next_ip = 0x402000,
				 .signals = SPMU_SIGBIT(INSTRUCTIONS) | SPMU_SIGBIT(CALL_REL) |
					    SPMU_SIGBIT(STORES),
				 .cpl = 3,
				 .next_cpl = 0}; /* ignored: the call is near */

	start(&host, 1);
	retire(&host, 0x400000, SPMU_SIGBIT(COND_NTAKEN));
	retire(&host, 0x400004, SPMU_SIGBIT(LOADS));
	CHECK_EQ(RDMSR(&host, LBR_TOS), 0);
	spmu_retire(host.core, 0, &call);
	CHECK_EQ(RDMSR(&host, LBR_TOS), 1);
	CHECK_EQ(entry(&host, LBR_FROM, 0), 0x401000);
	CHECK_EQ(entry(&host, LBR_TO, 0), 0x402000);
	CHECK_EQ(entry(&host, LBR_INFO, 0), 0);
	call.signals = SPMU_SIGBIT(INSTRUCTIONS) | SPMU_SIGBIT(FAR);
	spmu_retire(host.core, 0, &call); /* ends at CPL 0, which is filtered */
	CHECK_EQ(RDMSR(&host, LBR_TOS), 1);
	host_destroy(&host);
}

/* Checks 17.10.1: misprediction, and the clocks since the entry before, for hosts with clocks. */
static void info(void)
{
	struct unit_host host;

	host_create(&host, "skylake", 1, SUPPLY_ALL);
	WRMSR(&host, LBR_SELECT, 1u << 2);
	WRMSR(&host, DEBUGCTL, LBR_ON);
	retire_lp(&host, 0, 0x100, SPMU_SIGBIT(JMP_REL) | SPMU_SIGBIT(BRANCH_MISS), 3, 5);
	CHECK_EQ(entry(&host, LBR_INFO, 0), MISPRED | 5);
	retire_lp(&host, 0, 0x104, SPMU_SIGBIT(LOADS), 3, 2);
	retire_lp(&host, 0, 0x108, SPMU_SIGBIT(COND_TAKEN), 3, 3); /* filtered */
	spmu_clocks(host.core, 0, SPMU_SIGBIT(CYCLES), 100, 3);
	retire_lp(&host, 0, 0x10c, SPMU_SIGBIT(RET_NEAR), 3, 4);
	CHECK_EQ(entry(&host, LBR_INFO, 0), 109);
	spmu_clocks(host.core, 0, SPMU_SIGBIT(CYCLES), UINT64_C(1) << 33, 3);
	retire_lp(&host, 0, 0x110, SPMU_SIGBIT(RET_NEAR), 3, 1);
	CHECK_EQ(entry(&host, LBR_INFO, 0), 0xffff);
	host_destroy(&host);

	/* For a host that drops older branches: one more entry tells where the clocks begin. */
	start_with_clocks(&host, 0);
	CHECK_EQ(host.meters[0].tap.keep_last, 33);
	host_destroy(&host);

	/* For a host without core clocks the unit invents none. */
	start(&host, 0);
	retire_lp(&host, 0, 0x100, SPMU_SIGBIT(JMP_REL), 3, 5);
	CHECK_EQ(entry(&host, LBR_INFO, 0), 0);
	host_destroy(&host);
}

/* Checks 17.9: calls push, returns remove the newest entry, and nothing else is recorded. */
static void call_stack(void)
{
	struct unit_host host;

	start(&host, CALL_STACK);
	take(&host, SPMU_SIG_CALL_REL, 0x100, 0x1000);
	take(&host, SPMU_SIG_JMP_REL, 0x1001, 0x1003);
	take(&host, SPMU_SIG_COND_TAKEN, 0x1003, 0x1005);
	take(&host, SPMU_SIG_CALL_IND, 0x1010, 0x2000);
	take(&host, SPMU_SIG_FAR, 0x2001, 0x2003);
	take(&host, SPMU_SIG_CALL_REL, 0x2008, 0x200d); /* of zero length */
	CHECK_EQ(RDMSR(&host, LBR_TOS), 2);
	take(&host, SPMU_SIG_CALL_REL, 0x2010, 0x2016);
	CHECK_EQ(RDMSR(&host, LBR_TOS), 3);
	CHECK_EQ(entry(&host, LBR_FROM, 0), 0x2010);
	take(&host, SPMU_SIG_RET_NEAR, 0x3000, 0x2015);
	CHECK_EQ(RDMSR(&host, LBR_TOS), 2);
	CHECK_EQ(RDMSR(&host, LBR_FROM + 3), 0);
	CHECK_EQ(RDMSR(&host, LBR_TO + 3), 0);
	CHECK_EQ(entry(&host, LBR_FROM, 0), 0x1010);
	CHECK_EQ(entry(&host, LBR_FROM, 1), 0x100);
	take(&host, SPMU_SIG_RET_NEAR, 0x2020, 0x1012);
	take(&host, SPMU_SIG_RET_NEAR, 0x1020, 0x105);
	take(&host, SPMU_SIG_RET_NEAR, 0x110, 0x50); /* more returns than calls: wraps below 0 */
	CHECK_EQ(RDMSR(&host, LBR_TOS), 31);
	for (unsigned n = 0; n < 32; n++)
		CHECK_EQ(RDMSR(&host, LBR_FROM + n), 0);
	host_destroy(&host);

	/* If the filter has no returns, returns do nothing. Without the mode they are entries. */
	start(&host, CALL_STACK | 1u << 5);
	take(&host, SPMU_SIG_CALL_REL, 0x100, 0x1000);
	take(&host, SPMU_SIG_RET_NEAR, 0x1001, 0x105);
	CHECK_EQ(RDMSR(&host, LBR_TOS), 1);
	CHECK_EQ(entry(&host, LBR_FROM, 0), 0x100);
	WRMSR(&host, LBR_SELECT, 0);
	take(&host, SPMU_SIG_RET_NEAR, 0x1001, 0x105);
	take(&host, SPMU_SIG_CALL_REL, 0x2008, 0x200d);
	CHECK_EQ(RDMSR(&host, LBR_TOS), 3);
	host_destroy(&host);
}

/* Checks more calls than entries: the oldest are lost, and returns remove the newest. */
static void deep_calls(void)
{
	struct unit_host host;

	start(&host, CALL_STACK);
	for (unsigned n = 0; n < 40; n++)
		take(&host, SPMU_SIG_CALL_REL, 0x1000 + n, 0x2000 + n);
	for (unsigned n = 0; n < 10; n++)
		take(&host, SPMU_SIG_RET_NEAR, 0x3000, 0x3001);
	for (unsigned n = 0; n < 22; n++)
		CHECK_EQ(entry(&host, LBR_FROM, n), 0x1000 + 29 - n);
	CHECK_EQ(entry(&host, LBR_FROM, 22), 0);
	host_destroy(&host);
}

/* Checks 17.4.7, 18.2.4.1: the branch that overflows is recorded, and those after it are not. */
static void frozen(void)
{
	struct unit_host host;

	start(&host, 0);
	WRMSR(&host, DEBUGCTL, LBR_ON | 1u << 11);
	spmu_write_lvt(host.core, 0, LVT_NMI);
	WRMSR(&host, EVTSEL0, COUNT_ALL | SELECT_INT | 0xc4);
	WRMSR(&host, A_PMC0, MAX48);
	CHECK_EQ(retire(&host, 0x100, SPMU_SIGBIT(JMP_REL)), SPMU_EV_PMI | SPMU_EV_METERS);
	CHECK_EQ(CAUSES(&host), LBR_FRZ | 1);
	CHECK_EQ(RDMSR(&host, DEBUGCTL), LBR_ON | 1u << 11); /* version 4 leaves the flag */
	CHECK_EQ(host.meters[0].tap.signals, 0);
	retire(&host, 0x104, SPMU_SIGBIT(JMP_REL));
	take(&host, SPMU_SIG_JMP_REL, 0x108, 0x10c);
	CHECK_EQ(RDMSR(&host, LBR_TOS), 1);
	CHECK_EQ(entry(&host, LBR_FROM, 0), 0x100);
	WRMSR(&host, STATUS_RESET, LBR_FRZ);
	take(&host, SPMU_SIG_JMP_REL, 0x110, 0x10c);
	CHECK_EQ(entry(&host, LBR_FROM, 0), 0x110);
	WRMSR(&host, STATUS_SET, LBR_FRZ); /* software freezes */
	take(&host, SPMU_SIG_JMP_REL, 0x114, 0x10c);
	CHECK_EQ(RDMSR(&host, LBR_TOS), 2);
	host_destroy(&host);
}

/* Checks the last branch before an interrupt or exception. The event also makes an entry. */
static void last_exception(void)
{
	struct unit_host host;
	struct spmu_branch event = branch_of(SPMU_SIG_FAR, 0x555, UINT64_C(0xffffffff81000000));

	event.flags = SPMU_BRANCH_EVENT;
	event.next_cpl = 0;
	host_create(&host, "skylake", 1, SUPPLY_EXECUTION);
	spmu_branches(host.core, 0, &event, 1);
	CHECK_EQ(RDMSR(&host, LER_FROM), 0); /* LBR is 0 */
	WRMSR(&host, DEBUGCTL, LBR_ON);
	take(&host, SPMU_SIG_COND_TAKEN, 0x100, 0x200);
	CHECK_EQ(RDMSR(&host, LER_FROM), 0);
	spmu_branches(host.core, 0, &event, 1);
	CHECK_EQ(RDMSR(&host, LER_FROM), 0x100);
	CHECK_EQ(RDMSR(&host, LER_TO), 0x200);
	CHECK_EQ(RDMSR(&host, LBR_TOS), 2);
	CHECK_EQ(entry(&host, LBR_FROM, 0), 0x555);
	CHECK_EQ(entry(&host, LBR_TO, 0), UINT64_C(0xffffffff81000000));
	take(&host, SPMU_SIG_FAR, 0x300, 0x400); /* a far instruction is not an event */
	CHECK_EQ(RDMSR(&host, LER_FROM), 0x100);
	host_destroy(&host);
}

/* Checks 17.12: Core Duo's two registers have the halves of the stack's one. */
static void last_exception_32(void)
{
	struct unit_host host;
	struct spmu_branch event = branch_of(SPMU_SIG_FAR, 0x555, 0xc0000000);

	event.flags = SPMU_BRANCH_EVENT;
	host_create(&host, "core", 1, SUPPLY_EXECUTION);
	WRMSR(&host, DEBUGCTL, LBR_ON);
	take(&host, SPMU_SIG_COND_TAKEN, 0x8048000, 0x8049000);
	spmu_branches(host.core, 0, &event, 1);
	CHECK_EQ(RDMSR(&host, LER_FROM), 0x8048000);
	CHECK_EQ(RDMSR(&host, LER_TO), 0x8049000);
	CHECK_EQ(RDMSR(&host, 0x41), UINT64_C(0x0804900008048000));
	CHECK_EQ(RDMSR(&host, 0x42), UINT64_C(0xc000000000000555));
	host_destroy(&host);
}

/* Checks 17.8: Nehalem's two threads share the filter. */
static void shared_filter(void)
{
	static const struct {
		const char *model;
		bool shared;
	} rows[] = {{"nehalem", true},
		    {"westmere", true},
		    {"sandybridge", false},
		    {"haswell", false},
		    {"skylake", false}};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct unit_host host;

		host_create(&host, rows[i].model, 2, SUPPLY_EXECUTION);
		WRMSR_LP(&host, 0, DEBUGCTL, LBR_ON);
		WRMSR_LP(&host, 1, LBR_SELECT, 1u << 2);
		CHECK_EQ(RDMSR_LP(&host, 0, LBR_SELECT), rows[i].shared ? 1u << 2 : 0);
		take(&host, SPMU_SIG_COND_TAKEN, 1, 2);
		CHECK_EQ(RDMSR(&host, LBR_TOS), !rows[i].shared);
		host_destroy(&host);
	}
}

/* Checks 17.8: from Sandy Bridge on each thread has its own filter, stack, top and record. */
static void threads(void)
{
	struct unit_host host;
	struct spmu_branch branch = branch_of(SPMU_SIG_JMP_IND, 0x10, 0x20);

	host_create(&host, "skylake", 2, SUPPLY_EXECUTION);
	WRMSR_LP(&host, 0, DEBUGCTL, LBR_ON);
	WRMSR_LP(&host, 1, DEBUGCTL, LBR_ON);
	WRMSR_LP(&host, 1, LBR_SELECT, 1u << 6);
	CHECK_EQ(RDMSR_LP(&host, 0, LBR_SELECT), 0);
	spmu_branches(host.core, 0, &branch, 1);
	spmu_branches(host.core, 1, &branch, 1);
	spmu_branches(host.core, 2, &branch, 1);
	CHECK_EQ(RDMSR_LP(&host, 0, LBR_TOS), 1);
	CHECK_EQ(RDMSR_LP(&host, 1, LBR_TOS), 0);
	host_destroy(&host);
}

/* Checks what the tap asks of the host. */
static void tap(void)
{
	static const struct {
		int line;
		uint64_t select;
		uint64_t signals;
		uint32_t rings, keep_last;
	} rows[] = {
		{__LINE__, 0, SPMU_SIGSET_TAKEN, 3, 32},
		{__LINE__, 1, SPMU_SIGSET_TAKEN, 2, 32},
		{__LINE__, 2, SPMU_SIGSET_TAKEN, 1, 32},
		{__LINE__, 3, 0, 0, 0},
		{__LINE__, 4, SPMU_SIGSET_TAKEN & ~SPMU_SIGBIT(COND_TAKEN), 3, 32},
		{__LINE__, 0x1f8, SPMU_SIGBIT(COND_TAKEN), 3, 32},
		{__LINE__, 0x1fc, 0, 0, 0},
		{__LINE__, CALL_STACK | 1,
		 SPMU_SIGBIT(CALL_REL) | SPMU_SIGBIT(CALL_IND) | SPMU_SIGBIT(RET_NEAR), 2, 0},
		{__LINE__, 0x200,
		 SPMU_SIGBIT(CALL_REL) | SPMU_SIGBIT(CALL_IND) | SPMU_SIGBIT(RET_NEAR), 3, 0},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct spmu_branch_tap *now;
		struct unit_host host;
		uint32_t epoch;

		host_create(&host, "skylake", 1, SUPPLY_EXECUTION);
		now = &host.meters[0].tap;
		epoch = host.meters[0].epoch;
		WRMSR(&host, LBR_SELECT, rows[i].select);
		CHECK_ROW_EQ(rows[i].line, now->signals, 0);
		CHECK_ROW_EQ(rows[i].line, host.meters[0].epoch, epoch);
		WRMSR(&host, DEBUGCTL, LBR_ON);
		CHECK_ROW_EQ(rows[i].line, now->signals, rows[i].signals);
		CHECK_ROW_EQ(rows[i].line, now->rings, rows[i].rings);
		CHECK_ROW_EQ(rows[i].line, now->keep_last, rows[i].keep_last);
		CHECK_ROW_EQ(rows[i].line, now->headroom, rows[i].signals ? UINT64_MAX : 0);
		CHECK_ROW_EQ(rows[i].line, now->bts_next, 0);
		CHECK_ROW(rows[i].line, (host.meters[0].epoch != epoch) == (rows[i].signals != 0));
		WRMSR(&host, DEBUGCTL, 0);
		CHECK_ROW_EQ(rows[i].line, now->signals, 0);
		CHECK_ROW_EQ(rows[i].line, now->headroom, 0);
		host_destroy(&host);
	}
}

static void same_stack(struct unit_host *a, struct unit_host *b)
{
	for (unsigned n = 0; n < 32; n++) {
		CHECK_EQ(entry(a, LBR_FROM, n), entry(b, LBR_FROM, n));
		CHECK_EQ(entry(a, LBR_TO, n), entry(b, LBR_TO, n));
		CHECK_EQ(entry(a, LBR_INFO, n), entry(b, LBR_INFO, n));
	}
	CHECK_EQ(RDMSR(a, LER_FROM), RDMSR(b, LER_FROM));
}

/*
 * Checks many at once, one by one, and the newest alone: the entries are equal from the newest on.
 */
static void many(void)
{
	static struct spmu_branch branches[5000];
	static const uint64_t selects[] = {0, 1, 4, 0x78, 0x1f8, CALL_STACK};

	for (size_t s = 0; s < COUNT(selects); s++)
		for (unsigned events = 0; events <= 1; events++) {
			struct unit_host all, single, newest;
			uint64_t state = 12345 + s;

			start_with_clocks(&all, selects[s]);
			start_with_clocks(&single, selects[s]);
			start_with_clocks(&newest, selects[s]);
			for (size_t i = 0; i < COUNT(branches); i++) {
				state = state * 6364136223846793005u + 1442695040888963407u;
				branches[i] = branch_of(0, state >> 20, state >> 18);
				/* kinds of any number, also those that are no taken branch */
				branches[i].signal = (state >> 33) % 64 ? (state >> 33) % 12 : 200;
				branches[i].flags = (uint8_t)(state >> 50) & 1;
				branches[i].next_cpl = (state >> 55) & 3;
				branches[i].cycles = (state >> 57) & 31;
				if (events && (state >> 40) % 512 == 0)
					branches[i].flags |= SPMU_BRANCH_EVENT;
			}
			for (size_t at = 0, n; at < COUNT(branches); at += n) {
				n = 1 + at % 977;
				if (n > COUNT(branches) - at)
					n = COUNT(branches) - at;
				spmu_branches(all.core, 0, branches + at, n);
			}
			for (size_t i = 0; i < COUNT(branches); i++)
				spmu_branches(single.core, 0, &branches[i], 1);
			same_stack(&all, &single);
			CHECK_EQ(RDMSR(&all, LBR_TOS), RDMSR(&single, LBR_TOS));
			if (newest.meters[0].tap.keep_last && !events) {
				size_t from = COUNT(branches) - 2000; /* holds 32 of each kind */

				spmu_branches(newest.core, 0, branches + from, 2000);
				same_stack(&newest, &single);
			}
			host_destroy(&all);
			host_destroy(&single);
			host_destroy(&newest);
		}
}

int main(void)
{
	RUN(formats());
	RUN(every_stack());
	RUN(past_the_stack());
	RUN(filters());
	RUN(retired());
	RUN(info());
	RUN(call_stack());
	RUN(deep_calls());
	RUN(frozen());
	RUN(last_exception());
	RUN(last_exception_32());
	RUN(shared_filter());
	RUN(threads());
	RUN(tap());
	RUN(many());
	return test_summary();
}
