/* SPDX-License-Identifier: MIT */
/*
 * tallies.c: events that count tallies (tallies.h), and the access tap (accesses.h).
 *
 * The events: MEM_INST_RETIRED.SPLIT_LOADS and SPLIT_STORES (41D0H, 42D0H), MEM_LOAD_RETIRED.L1_HIT
 * (01D1H; table 18-56), L1D_PEND_MISS.PENDING (0148H; table 19-6), and the fourth fixed counter.
 */
#include "unit_host.h"

#define SPLIT_LOADS  UINT64_C(0x41d0)
#define SPLIT_STORES UINT64_C(0x42d0)
#define L1_HIT	     UINT64_C(0x01d1)
#define PENDING	     UINT64_C(0x0148)

#define INSNS UINT64_C(0x00c0)

#define LOAD  (SPMU_SIGBIT(INSTRUCTIONS) | SPMU_SIGBIT(LOADS))
#define STORE (SPMU_SIGBIT(INSTRUCTIONS) | SPMU_SIGBIT(STORES))

/* Retires an instruction of thread lp with these signals and `count` occurrences of a tally. */
static unsigned retire_tally(struct unit_host *host, unsigned lp, uint64_t signals, unsigned kind,
			     uint32_t count, unsigned cpl)
{
	const struct spmu_tally tallies[] = {
		{.kind = SPMU_TALLY_LOAD_L3_MISSES, .count = 1000}, /* no counter counts it */
		{.kind = (uint16_t)kind, .count = count},
	};
	const struct spmu_memory_access accesses[] = {
		{.linear = 0x1000, .bytes = 4, .kind = SPMU_ACCESS_LOAD},
		{.linear = 0x203e, .bytes = 4, .kind = SPMU_ACCESS_STORE},
		{.linear = 0x303e, .bytes = 4, .kind = SPMU_ACCESS_LOAD},
	};
	struct spmu_insn insn = {
		.ip = 0x401000,
		.next_ip = 0x401004,
		.signals = signals,
		.accesses = accesses,
		.access_count = 3,
		.tallies = tallies,
		.tally_count = 2,
		.cycles = 1,
		.latency = 70,
		.data_source = 5,
		.cpl = (uint8_t)cpl,
	};

	return spmu_retire(host->core, lp, &insn);
}

static unsigned late(struct unit_host *host, unsigned kind, uint32_t count)
{
	const struct spmu_tally tally = {.kind = (uint16_t)kind, .count = count};

	return spmu_tallies(host->core, 0, &tally, 1, 3);
}

/* Lets PMC0 count an event alone, with PEBS. The fifth occurrence overflows. */
static void sample(struct unit_host *host, uint64_t event)
{
	WRMSR(host, GLOBAL_CTRL, 0);
	WRMSR(host, A_PMC0, MAX48 + 1 - 5);
	WRMSR(host, EVTSEL0, COUNT_USER | event);
	WRMSR(host, PEBS_ENABLE, 1);
	WRMSR(host, GLOBAL_CTRL, 1);
}

static void counts(void)
{
	struct unit_host host;

	host_create(&host, "skylake", 1, SUPPLY_ALL);
	WRMSR(&host, EVTSEL0, COUNT_USER | SPLIT_LOADS);
	WRMSR(&host, EVTSEL0 + 1, COUNT_ALL | INSNS);
	WRMSR(&host, GLOBAL_CTRL, 3);
	retire_tally(&host, 0, LOAD, SPMU_TALLY_LOAD_SPLITS, 3, 3);
	CHECK_EQ(RDMSR(&host, PMC0), 3);
	retire_tally(&host, 0, LOAD, SPMU_TALLY_LOAD_SPLITS, 2, 0); /* another ring */
	retire_tally(&host, 0, LOAD, SPMU_TALLY_STORE_SPLITS, 7, 3);
	retire_tally(&host, 0, LOAD, SPMU_TALLIES, 7, 3); /* a kind of another version */
	retire_tally(&host, 0, LOAD, UINT16_MAX, 7, 3);
	retire_tally(&host, 0, LOAD, SPMU_TALLY_NONE, 7, 3);
	CHECK_EQ(RDMSR(&host, PMC0), 3);
	CHECK_EQ(late(&host, SPMU_TALLY_LOAD_SPLITS, UINT32_MAX), 0);
	CHECK_EQ(late(&host, SPMU_TALLY_STORE_SPLITS, 9), 0);
	CHECK_EQ(RDMSR(&host, PMC0), 3 + (uint64_t)UINT32_MAX);
	CHECK_EQ(RDMSR(&host, PMC0 + 1), 6);
	CHECK_EQ(spmu_tallies(host.core, 1, NULL, 0, 3), 0); /* a thread that is not there */
	host_destroy(&host);
}

/* Checks that AnyThread counts the tallies of both threads (18.2.3). */
static void counts_both_threads(void)
{
	struct unit_host host;

	host_create(&host, "skylake", 2, SUPPLY_ALL);
	WRMSR(&host, EVTSEL0, COUNT_USER | SELECT_ANY | SPLIT_LOADS);
	WRMSR(&host, GLOBAL_CTRL, 1);
	CHECK_EQ(host.meters[1].count, 1);
	retire_tally(&host, 0, LOAD, SPMU_TALLY_LOAD_SPLITS, 3, 3);
	retire_tally(&host, 1, LOAD, SPMU_TALLY_LOAD_SPLITS, 4, 3);
	CHECK_EQ(RDMSR(&host, PMC0), 7);
	host_destroy(&host);
}

/* Checks a host that does not supply the tally: nothing counts and nothing is asked for. */
static void is_absent(void)
{
	const struct spmu_supply execution = SUPPLY_EXECUTION;
	struct unit_host host;

	host_create(&host, "skylake", 1, SUPPLY_EXECUTION);
	WRMSR(&host, EVTSEL0, COUNT_USER | SPLIT_LOADS);
	WRMSR(&host, GLOBAL_CTRL, 1);
	CHECK_EQ(host.meters[0].count, 0);
	CHECK_EQ(host.meters[0].accesses.kinds | host.meters[0].accesses.retired, 0);
	CHECK_EQ(spmu_absent_counters(host.core, 0), 1);
	retire_tally(&host, 0, LOAD, SPMU_TALLY_LOAD_SPLITS, 3, 3);
	CHECK_EQ(late(&host, SPMU_TALLY_LOAD_SPLITS, 3), 0);
	CHECK_EQ(RDMSR(&host, PMC0), 0);
	CHECK_EQ(spmu_event_fidelity(spmu_event_by_code(host.model, SPLIT_LOADS), &execution),
		 SPMU_ABSENT);
	host_destroy(&host);
}

/* Makes a host that supplies a tally in addition to what follows from execution. */
static void host_with(struct unit_host *host, enum spmu_tally_kind kind)
{
	struct spmu_supply supply = SUPPLY_EXECUTION;

	supply.modelled = SPMU_SIGBIT(BRANCH_MISS);
	spmu_tally_set_add(&supply.modelled_tallies, kind);
	host_create(host, "skylake", 1, supply);
}

/* Checks that an event counts a tally in place of its signals, where the host has it. */
static void counts_instead(void)
{
	struct unit_host host;

	host_with(&host, SPMU_TALLY_UOPS_ISSUED);
	WRMSR(&host, EVTSEL0, COUNT_USER | 0x010e);
	WRMSR(&host, EVTSEL0 + 1, COUNT_USER | 0x01c2); /* the host has no UOPS_RETIRED */
	WRMSR(&host, GLOBAL_CTRL, 3);
	retire_tally(&host, 0, SPMU_SIGBIT(INSTRUCTIONS), SPMU_TALLY_UOPS_ISSUED, 3, 3);
	retire_tally(&host, 0, SPMU_SIGBIT(INSTRUCTIONS), SPMU_TALLY_UOPS_RETIRED, 4, 3);
	CHECK_EQ(RDMSR(&host, PMC0), 3);
	CHECK_EQ(RDMSR(&host, PMC0 + 1), 2);
	host_destroy(&host);
}

/* Checks an event that has a threshold of its own: CYCLE_ACTIVITY.STALLS_TOTAL. */
static void counts_conditions(void)
{
	struct unit_host host;

	host_with(&host, SPMU_TALLY_CLOCKS_EXECUTED_0);
	WRMSR(&host, EVTSEL0, COUNT_USER | CMASK(4) | 0x04a3);
	WRMSR(&host, EVTSEL0 + 1, COUNT_USER | 0x04a3);		   /* another event */
	WRMSR(&host, EVTSEL0 + 2, COUNT_USER | CMASK(5) | 0x04a3); /* another event */
	WRMSR(&host, GLOBAL_CTRL, 7);
	CHECK_EQ(spmu_absent_counters(host.core, 0), 6);
	(void)late(&host, SPMU_TALLY_CLOCKS_EXECUTED_0, 100);
	CHECK_EQ(RDMSR(&host, PMC0), 100);
	host_destroy(&host);
	/* Without the tally, a threshold compares occurrences: UOPS_EXECUTED with CMASK 1. */
	host_with(&host, SPMU_TALLY_CLOCKS_EXECUTED_0);
	WRMSR(&host, EVTSEL0, COUNT_USER | CMASK(1) | 0x01b1);
	WRMSR(&host, GLOBAL_CTRL, 1);
	CHECK_EQ(spmu_absent_counters(host.core, 0), 0);
	CHECK_EQ(host.meters[0].meter[0].signals & SPMU_SIGBIT(CYCLES), SPMU_SIGBIT(CYCLES));
	host_destroy(&host);
	host_with(&host, SPMU_TALLY_CLOCKS_EXECUTED_1);
	WRMSR(&host, EVTSEL0, COUNT_USER | CMASK(1) | 0x01b1);
	WRMSR(&host, GLOBAL_CTRL, 1);
	CHECK_EQ(host.meters[0].meter[0].signals, 0);
	(void)late(&host, SPMU_TALLY_CLOCKS_EXECUTED_1, 7);
	CHECK_EQ(RDMSR(&host, PMC0), 7);
	host_destroy(&host);
}

/* Checks that kinds of mispredicted branches are tallies, where the host has them, so that a meter
 * has headroom. */
static void counts_mispredictions(void)
{
	struct unit_host host;

	host_with(&host, SPMU_TALLY_MISSED_RET);
	WRMSR(&host, EVTSEL0, COUNT_USER | 0x20c5); /* BR_MISP_RETIRED.NEAR_TAKEN */
	WRMSR(&host, GLOBAL_CTRL, 1);
	CHECK(host.meters[0].meter[0].headroom > 1000);
	CHECK_EQ(host.meters[0].meter[0].signals, 0);
	(void)late(&host, SPMU_TALLY_MISSED_COND_TAKEN, 1);
	(void)late(&host, SPMU_TALLY_MISSED_COND_NTAKEN, 2);
	(void)late(&host, SPMU_TALLY_MISSED_CALL_IND, 4);
	(void)late(&host, SPMU_TALLY_MISSED_JMP_IND, 8);
	(void)late(&host, SPMU_TALLY_MISSED_RET, 16);
	CHECK_EQ(RDMSR(&host, PMC0), 29);
	host_destroy(&host);
	/* Without them each branch is asked for. */
	host_with(&host, SPMU_TALLY_UOPS_ISSUED);
	WRMSR(&host, EVTSEL0, COUNT_USER | 0x20c5);
	WRMSR(&host, GLOBAL_CTRL, 1);
	CHECK_EQ(host.meters[0].meter[0].headroom, 0);
	host_destroy(&host);
}

static void has_fidelity(void)
{
	const struct spmu_model *model = spmu_model_find("skylake");
	const struct spmu_event *splits = spmu_event_by_code(model, SPLIT_LOADS);
	const struct spmu_event *hits = spmu_event_by_code(model, L1_HIT);
	struct spmu_supply supply = SUPPLY_EXECUTION;

	spmu_tally_set_add(&supply.exact_tallies, SPMU_TALLY_LOAD_SPLITS);
	spmu_tally_set_add(&supply.exact_tallies, SPMU_TALLY_LOAD_L1_HITS);
	CHECK_EQ(spmu_event_fidelity(splits, &supply), SPMU_EXACT);
	CHECK_EQ(spmu_event_fidelity(hits, &supply), SPMU_MODELLED); /* at best */
	supply = SUPPLY_EXECUTION;
	spmu_tally_set_add(&supply.modelled_tallies, SPMU_TALLY_LOAD_SPLITS);
	CHECK_EQ(spmu_event_fidelity(splits, &supply), SPMU_MODELLED);
	CHECK_EQ(spmu_event_fidelity(hits, &supply), SPMU_ABSENT);
	for (unsigned kind = 1; kind < SPMU_TALLIES; kind++)
		CHECK(spmu_tally_meaning(kind) != NULL);
	CHECK(spmu_tally_meaning(SPMU_TALLY_NONE) == NULL);
	CHECK(spmu_tally_meaning(SPMU_TALLIES) == NULL);
	CHECK(!spmu_tally_set_has(&supply.modelled_tallies, SPMU_TALLIES_MAX));
}

/* Checks that a meter names its tallies, and that a host charges it in bulk or afterwards. */
static void meters_name_tallies(void)
{
	struct unit_host host;
	uint32_t epoch;

	host_create(&host, "skylake", 1, SUPPLY_ALL);
	WRMSR(&host, A_PMC0, MAX48 + 1 - 10);
	WRMSR(&host, EVTSEL0, COUNT_USER | SPLIT_LOADS);
	WRMSR(&host, EVTSEL0 + 1, COUNT_USER | SPLIT_LOADS);
	WRMSR(&host, GLOBAL_CTRL, 1);
	CHECK_EQ(host.meters[0].count, 1);
	CHECK_EQ(host.meters[0].meter[0].signals, 0);
	CHECK_EQ(host.meters[0].meter[0].headroom, 9);
	CHECK(spmu_tally_set_has(host.meters[0].meter[0].tallies, SPMU_TALLY_LOAD_SPLITS));
	CHECK(!spmu_tally_set_has(host.meters[0].meter[0].tallies, SPMU_TALLY_STORE_SPLITS));
	host.meters[0].meter[0].headroom -= 4;
	CHECK_EQ(RDMSR(&host, PMC0), MAX48 + 1 - 6);
	CHECK_EQ(late(&host, SPMU_TALLY_LOAD_SPLITS, 5), 0);
	CHECK_EQ(host.meters[0].meter[0].headroom, 0);
	CHECK_EQ(RDMSR(&host, PMC0), MAX48 + 1 - 1);
	/*
	 * Two counters of one tally share a meter. Counters of another tally, or of signals, do
	 * not.
	 */
	epoch = host.meters[0].epoch;
	WRMSR(&host, GLOBAL_CTRL, 3);
	CHECK_EQ(host.meters[0].count, 1);
	CHECK_EQ(host.meters[0].epoch, epoch);
	WRMSR(&host, EVTSEL0 + 1, COUNT_USER | SPLIT_STORES);
	CHECK_EQ(host.meters[0].count, 2);
	CHECK(host.meters[0].epoch != epoch);
	epoch = host.meters[0].epoch;
	WRMSR(&host, EVTSEL0 + 1, COUNT_USER | L1_HIT);
	CHECK(host.meters[0].epoch != epoch);
	CHECK(spmu_tally_set_has(host.meters[0].meter[1].tallies, SPMU_TALLY_LOAD_L1_HITS));
	host_destroy(&host);
}

/* Checks that the instruction with the last occurrence interrupts, however many it has. */
static void overflows(void)
{
	struct unit_host host;

	host_create(&host, "skylake", 1, SUPPLY_ALL);
	spmu_write_lvt(host.core, 0, 0xee);
	WRMSR(&host, A_PMC0, MAX48 + 1 - 5);
	WRMSR(&host, EVTSEL0, COUNT_USER | SELECT_INT | SPLIT_LOADS);
	WRMSR(&host, GLOBAL_CTRL, 1);
	CHECK_EQ(retire_tally(&host, 0, LOAD, SPMU_TALLY_LOAD_SPLITS, 4, 3), 0);
	CHECK_EQ(retire_tally(&host, 0, LOAD, SPMU_TALLY_LOAD_SPLITS, 3, 3), SPMU_EV_PMI);
	CHECK_EQ(RDMSR(&host, PMC0), 2);
	CHECK_EQ(CAUSES(&host), 1);
	/* An occurrence that was found late interrupts when it is reported. */
	WRMSR(&host, STATUS_RESET, 1);
	spmu_write_lvt(host.core, 0, 0xee);
	WRMSR(&host, A_PMC0, MAX48 + 1 - 5);
	CHECK_EQ(late(&host, SPMU_TALLY_LOAD_SPLITS, 4), 0);
	CHECK_EQ(late(&host, SPMU_TALLY_LOAD_SPLITS, 3), SPMU_EV_PMI);
	CHECK_EQ(RDMSR(&host, PMC0), 2);
	host_destroy(&host);
}

/*
 * Checks that the next instruction with the tally makes the record. A late tally leaves the counter
 * armed.
 */
static void makes_records(void)
{
	struct unit_host host;
	struct spmu_pebs_record record;

	host_create(&host, "skylake", 1, SUPPLY_ALL);
	host_ds(&host, 8, 8, NULL);
	sample(&host, SPLIT_LOADS);
	CHECK_EQ(retire_tally(&host, 0, LOAD, SPMU_TALLY_LOAD_SPLITS, 5, 3), 0); /* arms */
	CHECK_EQ(host.meters[0].meter[0].headroom, 0);
	CHECK_EQ(retire_tally(&host, 0, LOAD, SPMU_TALLY_STORE_SPLITS, 5, 3), 0);
	CHECK_EQ(late(&host, SPMU_TALLY_LOAD_SPLITS, 1), 0);
	CHECK_EQ(host_records(&host), 0);
	CHECK_EQ(retire_tally(&host, 0, LOAD, SPMU_TALLY_LOAD_SPLITS, 1, 3), SPMU_EV_RECORD);
	record = host_record(&host, 0);
	CHECK_EQ(record.data_address, 0x1000);
	CHECK_EQ(record.latency, 70);
	CHECK_EQ(record.data_source, 5);
	sample(&host, SPLIT_STORES);
	CHECK_EQ(retire_tally(&host, 0, LOAD | STORE, SPMU_TALLY_STORE_SPLITS, 5, 3), 0);
	CHECK_EQ(retire_tally(&host, 0, LOAD | STORE, SPMU_TALLY_STORE_SPLITS, 1, 3),
		 SPMU_EV_RECORD);
	CHECK_EQ(host_record(&host, 1).data_address, 0x203e);
	host_destroy(&host);
}

/*
 * Checks clocks with at least a number of occurrences (18.2.1.1). Late ones count in the current
 * clock.
 */
static void compares(void)
{
	struct unit_host host;

	host_create(&host, "sandybridge", 1, SUPPLY_ALL);
	WRMSR(&host, EVTSEL0 + 2, COUNT_USER | CMASK(3) | PENDING);
	WRMSR(&host, GLOBAL_CTRL, 4);
	retire_tally(&host, 0, LOAD, SPMU_TALLY_L1D_PENDING, 3, 3);
	retire_tally(&host, 0, LOAD, SPMU_TALLY_L1D_PENDING, 2, 3);
	CHECK_EQ(RDMSR(&host, PMC0 + 2), 1);
	late(&host, SPMU_TALLY_L1D_PENDING, 1);
	CHECK_EQ(RDMSR(&host, PMC0 + 2), 2);
	retire_tally(&host, 0, LOAD, SPMU_TALLY_L1D_PENDING, UINT32_MAX, 3);
	CHECK_EQ(RDMSR(&host, PMC0 + 2), 3);
	host_destroy(&host);
}

/* Checks fixed counter 3 and its event in CPUID.0AH:EBX[7]. */
static void counts_slots(void)
{
	struct spmu_cpuid_regs regs = {0};
	struct unit_host host;

	host_create(&host, "icelake", 1, SUPPLY_ALL);
	WRMSR(&host, FIXED_CTRL, 0xb000);
	WRMSR(&host, GLOBAL_CTRL, UINT64_C(1) << 35);
	retire_tally(&host, 0, LOAD, SPMU_TALLY_SLOTS, 5, 3);
	CHECK_EQ(RDMSR(&host, FIXED0 + 3), 5);
	CHECK(spmu_cpuid(host.core, 0x0a, 0, &regs));
	CHECK_EQ(regs.ebx & 0x80, 0);
	host_destroy(&host);
}

/* Checks that the tap asks for what the tallies need, as far as the host delivers it. */
static void taps_accesses(void)
{
	const struct spmu_access_tap *tap;
	struct spmu_supply supply = SUPPLY_ALL;
	struct unit_host host;
	uint32_t epoch;

	host_create(&host, "skylake", 1, supply);
	tap = &host.meters[0].accesses;
	WRMSR(&host, EVTSEL0, COUNT_USER | INSNS);
	WRMSR(&host, GLOBAL_CTRL, 1);
	CHECK_EQ(tap->kinds | tap->rings | tap->retired | tap->reserved, 0);
	epoch = host.meters[0].epoch;
	WRMSR(&host, EVTSEL0 + 1, COUNT_USER | SPLIT_LOADS);
	WRMSR(&host, GLOBAL_CTRL, 3);
	CHECK_EQ(tap->kinds, SPMU_ACCESS_LOAD);
	CHECK_EQ(tap->rings, SPMU_RING_USER);
	CHECK_EQ(tap->retired, 0); /* no record */
	CHECK(host.meters[0].epoch != epoch);
	WRMSR(&host, EVTSEL0 + 2, 0x420000u | L1_HIT);
	WRMSR(&host, GLOBAL_CTRL, 7);
	CHECK_EQ(tap->kinds, SPMU_ACCESS_DATA);
	CHECK_EQ(tap->rings, SPMU_RING0 | SPMU_RING_USER);
	epoch = host.meters[0].epoch;
	host_ds(&host, 8, 8, NULL);
	sample(&host, 0x81d0); /* MEM_INST_RETIRED.ALL_LOADS */
	CHECK_EQ(tap->retired, SPMU_ACCESS_DATA);
	CHECK_EQ(tap->kinds, 0);
	CHECK(host.meters[0].epoch != epoch);
	host_destroy(&host);

	supply.accesses = SPMU_ACCESS_STORE;
	host_create(&host, "skylake", 1, supply);
	tap = &host.meters[0].accesses;
	WRMSR(&host, EVTSEL0, COUNT_USER | SPLIT_LOADS);
	WRMSR(&host, GLOBAL_CTRL, 1);
	CHECK_EQ(host.meters[0].count, 1);
	CHECK_EQ(tap->kinds | tap->rings, 0);
	WRMSR(&host, EVTSEL0, COUNT_USER | L1_HIT);
	CHECK_EQ(tap->kinds, SPMU_ACCESS_STORE);
	host_destroy(&host);
}

int main(void)
{
	RUN(counts());
	RUN(counts_both_threads());
	RUN(is_absent());
	RUN(has_fidelity());
	RUN(counts_instead());
	RUN(counts_conditions());
	RUN(counts_mispredictions());
	RUN(meters_name_tallies());
	RUN(overflows());
	RUN(makes_records());
	RUN(compares());
	RUN(counts_slots());
	RUN(taps_accesses());
	return test_summary();
}
