/* SPDX-License-Identifier: MIT */
/*
 * debugctl.c: single-stepping on branches (Vol. 3B 17.4.3), and what debug exceptions clear
 * (17.4.2, 17.4.3). On every model that has them: the legacy and the streamlined freeze of last
 * branch records (17.4.7), and the freeze in system management mode (17.4.1).
 */
#include <softpmu/state.h>

#include "tests/unit/unit_host.h"

#define LBR		(1u << 0)
#define BTF		(1u << 1)
#define TR		(1u << 6)
#define BTS		(1u << 7)
#define FREEZE_LBRS	(1u << 11)
#define FREEZE_PERFMON	(1u << 12)
#define FREEZE_IN_SMM	(1u << 14)
#define STATE_BYTES_MAX 16384

static void jump(struct unit_host *host, uint64_t from)
{
	struct spmu_branch branch = {
		.from = from, .to = from + 8, .signal = SPMU_SIG_JMP_REL, .cpl = 3, .next_cpl = 3};

	spmu_branches(host->core, 0, &branch, 1);
}

static void steps(void)
{
	struct unit_host host;

	host_create(&host, "skylake", 2, SUPPLY_EXECUTION);
	CHECK(!spmu_steps_on_branches(host.core, 0));
	WRMSR(&host, DEBUGCTL, BTF);
	CHECK(spmu_steps_on_branches(host.core, 0));
	CHECK(!spmu_steps_on_branches(host.core, 1));
	CHECK(!spmu_steps_on_branches(host.core, 2));
	host_destroy(&host);
}

/* Checks that the exception clears LBR and BTF, and that other bits and the entries stay. */
static void debug_exception(void)
{
	struct unit_host host;
	uint32_t epoch;

	host_create(&host, "skylake", 2, SUPPLY_EXECUTION);
	WRMSR_LP(&host, 1, DEBUGCTL, 0xf9c3);
	WRMSR(&host, DEBUGCTL, 0xf9c3);
	jump(&host, 0x100);
	epoch = host.meters[0].epoch;
	spmu_debug_exception(host.core, 0);
	CHECK_EQ(RDMSR(&host, DEBUGCTL), 0xf9c0);
	CHECK(host.meters[0].epoch == epoch); /* BTS still needs branches */
	CHECK_EQ(RDMSR_LP(&host, 1, DEBUGCTL), 0xf9c3);
	jump(&host, 0x200);
	CHECK_EQ(RDMSR(&host, LBR_TOS), 1);
	CHECK_EQ(RDMSR(&host, LBR_FROM + 1), 0x100);
	WRMSR(&host, DEBUGCTL, LBR);
	epoch = host.meters[0].epoch;
	spmu_debug_exception(host.core, 0);
	CHECK(host.meters[0].epoch != epoch);
	CHECK_EQ(host.meters[0].tap.signals, 0);
	spmu_debug_exception(host.core, 7);
	host_destroy(&host);
}

/* Returns how many branches are recorded, if they are few. */
static uint64_t recorded(struct unit_host *host, const struct spmu_lbr_layout *lbr)
{
	uint64_t n = 0;

	if (lbr->tos)
		return RDMSR(host, lbr->tos);
	while (RDMSR(host, lbr->from + (uint32_t)n))
		n++;
	return n;
}

/* Checks that the branch that overflows is recorded, and that the stack is frozen after it. */
static void freeze_by_pmi(const struct spmu_model *model)
{
	struct spmu_model_info info = spmu_model_describe(model);
	const struct spmu_lbr_layout *lbr = spmu_model_lbr_layout(model);
	bool streamlined = info.perfmon_version >= 4;
	struct unit_host host;

	host_create(&host, info.name, 1, SUPPLY_EXECUTION);
	spmu_write_lvt(host.core, 0, LVT_NMI);
	WRMSR(&host, EVTSEL0, COUNT_ALL | SELECT_INT | 0xc0);
	WRMSR(&host, PMC0, UINT32_MAX);
	if (lbr->ctl)
		WRMSR(&host, lbr->ctl, LBR_CTL_ALL);
	WRMSR(&host, DEBUGCTL, LBR | TR | FREEZE_LBRS);
	CHECK_EQ(retire(&host, 0x100, SPMU_SIGBIT(JMP_REL)), SPMU_EV_PMI | SPMU_EV_METERS);
	if (streamlined) {
		CHECK_EQ(RDMSR(&host, DEBUGCTL), LBR | TR | FREEZE_LBRS);
		CHECK_EQ(CAUSES(&host), LBR_FRZ | 1);
	} else { /* 17.5: Atoms before Goldmont clear TR too */
		CHECK_EQ(RDMSR(&host, DEBUGCTL), (lbr->freeze_clears_tr ? 0 : TR) | FREEZE_LBRS);
		CHECK_EQ(CAUSES(&host), 1);
	}
	retire(&host, 0x104, SPMU_SIGBIT(JMP_REL));
	CHECK_EQ(recorded(&host, lbr), 1);
	CHECK_EQ(RDMSR(&host, PMC0), 1); /* counters continue */
	if (streamlined)
		WRMSR(&host, STATUS_RESET, LBR_FRZ);
	else
		WRMSR(&host, DEBUGCTL, LBR);
	retire(&host, 0x108, SPMU_SIGBIT(JMP_REL));
	CHECK_EQ(recorded(&host, lbr), 2);
	host_destroy(&host);
}

/* Checks the models whose IA32_DEBUGCTL has the bit: version 2 and later (17.4.7). */
static void freezes_by_pmi(void)
{
	unsigned models = 0;

	for (size_t m = 0; m < spmu_model_count(); m++) {
		const struct spmu_model *model = spmu_model_at(m);

		if (!spmu_model_lbr_layout(model) || spmu_model_describe(model).perfmon_version < 2)
			continue;
		models++;
		freeze_by_pmi(model);
	}
	CHECK(models > 0);
}

/* Checks 17.5: of the families with the legacy freeze the Atoms lose TR with LBR. */
static void freezes_trace(void)
{
	static const struct {
		const char *model;
		bool trace;
	} rows[] = {{"core2", false},	{"nehalem", false},  {"sandybridge", false},
		    {"haswell", false}, {"bonnell", true},   {"silvermont", true},
		    {"airmont", true},	{"goldmont", false}, {"goldmont-plus", false}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		CHECK_EQ(spmu_model_lbr_layout(spmu_model_find(rows[i].model))->freeze_clears_tr,
			 rows[i].trace);
}

static void in_smm(void)
{
	const uint32_t debugctl = LBR | BTF | TR | BTS | FREEZE_IN_SMM | FREEZE_PERFMON;
	struct unit_host host;

	host_create(&host, "skylake", 1, SUPPLY_EXECUTION);
	WRMSR(&host, GLOBAL_CTRL, UINT64_C(0x100000005));
	WRMSR(&host, EVTSEL0, COUNT_ALL | 0xc0);
	WRMSR(&host, FIXED_CTRL, 3);
	WRMSR(&host, DEBUGCTL, debugctl);
	jump(&host, 0x100);
	retire(&host, 0x104, 0);
	spmu_smm(host.core, 0, true);
	CHECK_EQ(RDMSR(&host, DEBUGCTL), FREEZE_IN_SMM | FREEZE_PERFMON);
	CHECK_EQ(RDMSR(&host, GLOBAL_CTRL), 0);
	CHECK_EQ(host.meters[0].count, 0);
	CHECK_EQ(host.meters[0].tap.signals, 0);
	retire(&host, 0x8000, SPMU_SIGBIT(JMP_REL));
	spmu_smm(host.core, 0, true); /* SMIs do not nest */
	WRMSR(&host, DEBUGCTL, 0);
	WRMSR(&host, GLOBAL_CTRL, 2);
	spmu_smm(host.core, 0, false);
	CHECK_EQ(RDMSR(&host, DEBUGCTL), debugctl);
	CHECK_EQ(RDMSR(&host, GLOBAL_CTRL), UINT64_C(0x100000005));
	CHECK_EQ(RDMSR(&host, PMC0), 1);
	CHECK_EQ(RDMSR(&host, FIXED0), 1);
	CHECK_EQ(RDMSR(&host, LBR_TOS), 1);
	retire(&host, 0x108, SPMU_SIGBIT(JMP_REL));
	CHECK_EQ(RDMSR(&host, PMC0), 2);
	CHECK_EQ(RDMSR(&host, LBR_TOS), 2);
	spmu_smm(host.core, 0, false); /* RSM outside */
	CHECK_EQ(RDMSR(&host, DEBUGCTL), debugctl);

	/* Without the bit SMM has no effect. */
	WRMSR(&host, DEBUGCTL, LBR);
	spmu_smm(host.core, 0, true);
	retire(&host, 0x8000, SPMU_SIGBIT(JMP_REL));
	CHECK_EQ(RDMSR(&host, LBR_TOS), 3);
	CHECK_EQ(RDMSR(&host, PMC0), 3);
	WRMSR(&host, DEBUGCTL, 0);
	spmu_smm(host.core, 0, false);
	CHECK_EQ(RDMSR(&host, DEBUGCTL), 0);
	spmu_smm(host.core, 3, true);
	host_destroy(&host);
}

/* Checks that saved states hold all of it: they are saved, loaded, compared and checked. */
static void saved(void)
{
	static uint8_t before[STATE_BYTES_MAX], after[STATE_BYTES_MAX];
	struct unit_host host;
	size_t bytes;
	unsigned lp;

	host_create(&host, "skylake", 1, SUPPLY_ALL);
	bytes = spmu_state_bytes(host.core);
	CHECK(bytes <= sizeof(before));
	WRMSR(&host, DEBUGCTL, LBR | FREEZE_IN_SMM);
	WRMSR(&host, LBR_INFO + 7, 5);
	jump(&host, UINT64_C(0xffffffff81000000));
	retire_lp(&host, 0, 0x100, SPMU_SIGBIT(LOADS), 3, 11);
	spmu_smm(host.core, 0, true);
	CHECK_EQ(spmu_save(host.core, before, bytes), SPMU_OK);
	spmu_reset(host.core, 0);
	CHECK_EQ(RDMSR(&host, LBR_INFO + 7), 0);
	CHECK_EQ(spmu_load(host.core, before, bytes), SPMU_OK);
	CHECK_EQ(spmu_save(host.core, after, bytes), SPMU_OK);
	CHECK(!spmu_state_difference(before, after, bytes, &lp));
	CHECK_EQ(RDMSR(&host, LBR_FROM + 1), UINT64_C(0xffffffff81000000));
	spmu_smm(host.core, 0, false);
	CHECK_EQ(RDMSR(&host, DEBUGCTL), LBR | FREEZE_IN_SMM);
	retire_lp(&host, 0, 0x104, SPMU_SIGBIT(JMP_REL), 3, 4);
	CHECK_EQ(RDMSR(&host, LBR_INFO + 2), 15); /* clocks in SMM do not count */
	CHECK_EQ(spmu_save(host.core, after, bytes), SPMU_OK);
	CHECK(spmu_state_difference(before, after, bytes, &lp));

	/* RESET leaves SMM. */
	CHECK_EQ(spmu_load(host.core, before, bytes), SPMU_OK);
	spmu_reset(host.core, 0);
	spmu_smm(host.core, 0, false);
	CHECK_EQ(RDMSR(&host, DEBUGCTL), 0);

	/* A 64-bit word that no register could hold is refused at any place. */
	for (size_t at = STATE_HEADER; at + 8 <= bytes; at += 8) {
		uint8_t bad[STATE_BYTES_MAX];

		memcpy(bad, before, bytes);
		memset(bad + at, 0xfe, 8);
		CHECK_EQ(spmu_load(host.core, bad, bytes), SPMU_E_CORRUPT);
	}
	host_destroy(&host);
}

/*
 * Checks the word of the state for the clocks since the newest entry. It never exceeds what an
 * entry can hold. One more means deep sleep, where that clears the records (17.10.3).
 */
static void saved_clocks(const char *model, bool sleeps)
{
	static uint8_t before[STATE_BYTES_MAX], after[STATE_BYTES_MAX];
	const uint32_t values[] = {0, 0xffff, 0x10000, 0x10001, UINT32_MAX};
	struct unit_host host;
	size_t bytes, at = 0;
	unsigned lp;

	host_create(&host, model, 1, SUPPLY_ALL);
	bytes = spmu_state_bytes(host.core);
	WRMSR(&host, DEBUGCTL, LBR);
	CHECK_EQ(spmu_save(host.core, before, bytes), SPMU_OK);
	retire_lp(&host, 0, 0x100, SPMU_SIGBIT(LOADS), 3, 11);
	CHECK_EQ(spmu_save(host.core, after, bytes), SPMU_OK);
	CHECK(!strcmp(spmu_state_difference(before, after, bytes, &lp),
		      "clocks since the last branch record"));
	while (at < bytes && before[at] == after[at])
		at++;
	for (unsigned i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		memcpy(after + at, &values[i], sizeof(values[i]));
		CHECK_EQ(spmu_load(host.core, after, bytes),
			 values[i] <= 0xffffu + sleeps ? SPMU_OK : SPMU_E_CORRUPT);
	}
	host_destroy(&host);
}

int main(void)
{
	RUN(steps());
	RUN(debug_exception());
	RUN(freezes_by_pmi());
	RUN(freezes_trace());
	RUN(in_smm());
	RUN(saved());
	RUN(saved_clocks("skylake", true));
	RUN(saved_clocks("haswell", false));
	return test_summary();
}
