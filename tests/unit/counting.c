/* SPDX-License-Identifier: MIT */
/*
 * counting.c: counters, rings, thresholds, overflow at the exact instruction, meters and
 * headroom (Vol. 3B 18.2.1.1, 18.2.2, 18.2.3).
 */
#include "tests/unit/unit_host.h"

#define I SPMU_SIGBIT(INSTRUCTIONS)
#define C SPMU_SIGBIT(CYCLES)

/* Checks which signals of one instruction count on a counter with this event. */
static void check_events(void)
{
	static const struct {
		int line;
		uint32_t code;
		uint64_t signals;
		unsigned count;
	} rows[] = {
		{__LINE__, 0x00c0, 0, 1},
		{__LINE__, 0x02c0, SPMU_SIGBIT(NOP), 1},
		{__LINE__, 0x00c4, SPMU_SIGBIT(FAR), 1},
		{__LINE__, 0x00c4, SPMU_SIGBIT(COND_NTAKEN), 1},
		{__LINE__, 0x00c4, 0, 0},
		{__LINE__, 0x01c4, SPMU_SIGBIT(COND_TAKEN), 1},
		{__LINE__, 0x01c4, SPMU_SIGBIT(JMP_REL), 0},
		{__LINE__, 0x02c4, SPMU_SIGBIT(CALL_IND), 1},
		{__LINE__, 0x08c4, SPMU_SIGBIT(RET_NEAR), 1},
		{__LINE__, 0x10c4, SPMU_SIGBIT(COND_NTAKEN), 1},
		{__LINE__, 0x10c4, SPMU_SIGBIT(COND_TAKEN), 0},
		{__LINE__, 0x20c4, SPMU_SIGBIT(JMP_IND), 1},
		{__LINE__, 0x20c4, SPMU_SIGBIT(FAR), 0},
		{__LINE__, 0x40c4, SPMU_SIGBIT(FAR), 1},
		{__LINE__, 0x81d0, SPMU_SIGBIT(LOADS), 1},
		{__LINE__, 0x82d0, SPMU_SIGBIT(STORES), 1},
		{__LINE__, 0x21d0, SPMU_SIGBIT(LOADS) | SPMU_SIGBIT(LOCK_LOADS), 1},
		{__LINE__, 0x01c7, SPMU_SIGBIT(FP_SCALAR_DOUBLE), 1},
		{__LINE__, 0x01c7, SPMU_SIGBIT(FP_SCALAR_DOUBLE) | SPMU_SIGBIT(FMA_SCALAR_DOUBLE),
		 2},
		{__LINE__, 0x20c7, SPMU_SIGBIT(FP_256_SINGLE) | SPMU_SIGBIT(FMA_256_SINGLE), 2},
		{__LINE__, 0x003c, C, 0},     /* not supplied: absent */
		{__LINE__, 0x1234, I | C, 0}, /* no such event */
		{__LINE__, 0x0100, 0, 0},     /* only on the fixed counter */
		{__LINE__, 0x01c0, 0, 0},     /* only on PMC1 */
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct unit_host host;

		host_create(&host, "skylake", 1, SUPPLY_EXECUTION);
		WRMSR(&host, EVTSEL0, COUNT_ALL | rows[i].code);
		retire(&host, 0x1000, rows[i].signals);
		CHECK_ROW_EQ(rows[i].line, RDMSR(&host, PMC0), rows[i].count);
		host_destroy(&host);
	}
}

/* Checks USR, OS, EN, GLOBAL_CTRL, and the two ring bits of the fixed counters. */
static void check_rings(void)
{
	static const struct {
		int line;
		uint64_t select, global;
		unsigned counts; /* bit n: counts at CPL n */
	} rows[] = {
		{__LINE__, 0x4100c0, 0xff, 0xe},
		{__LINE__, 0x4200c0, 0xff, 0x1},
		{__LINE__, 0x4300c0, 0xff, 0xf},
		{__LINE__, 0x4000c0, 0xff, 0x0},
		{__LINE__, 0x0300c0, 0xff, 0x0},
		{__LINE__, 0x4300c0, 0xfe, 0x0},
		{__LINE__, UINT64_C(0x1004300c0), 0xff, 0x0}, /* IN_TX: never inside */
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (unsigned cpl = 0; cpl < 4; cpl++) {
			struct unit_host host;

			host_create(&host, "skylake", 1, SUPPLY_EXECUTION);
			WRMSR(&host, EVTSEL0, rows[i].select);
			WRMSR(&host, GLOBAL_CTRL, rows[i].global);
			retire_lp(&host, 0, 0x1000, I, cpl, 1);
			CHECK_ROW_EQ(rows[i].line, RDMSR(&host, PMC0), rows[i].counts >> cpl & 1);
			host_destroy(&host);
		}
}

static void check_fixed(void)
{
	struct unit_host host;

	host_create(&host, "skylake", 1, SUPPLY_ALL);
	WRMSR(&host, FIXED_CTRL, 0x231);
	retire_lp(&host, 0, 0, I | C, 0, 1);
	CHECK_EQ(RDMSR(&host, FIXED0), 0); /* power-up: fixed counters are off in GLOBAL_CTRL */
	WRMSR(&host, GLOBAL_CTRL, UINT64_C(7) << 32);
	retire_lp(&host, 0, 0, I | C | SPMU_SIGBIT(REF_CYCLES), 0, 1);
	retire_lp(&host, 0, 0, I | C | SPMU_SIGBIT(REF_CYCLES), 3, 1);
	CHECK_EQ(RDMSR(&host, FIXED0), 1);
	CHECK_EQ(RDMSR(&host, FIXED0 + 1), 2);
	CHECK_EQ(RDMSR(&host, FIXED0 + 2), 1);
	WRMSR(&host, FIXED0 + 1, MAX48);
	WRMSR(&host, FIXED_CTRL, 0x0b0); /* counter 1 with PMI */
	spmu_write_lvt(host.core, 0, LVT_NMI);
	CHECK_EQ(retire_lp(&host, 0, 0, I | C, 3, 1) & SPMU_EV_PMI, SPMU_EV_PMI);
	CHECK_EQ(RDMSR(&host, FIXED0 + 1), 0);
	CHECK_EQ(CAUSES(&host), UINT64_C(1) << 33);
	host_destroy(&host);
}

/* Checks that the counter wraps exactly at its instruction, once. */
static void check_overflow(void)
{
	struct unit_host host;

	host_create(&host, "skylake", 1, SUPPLY_EXECUTION);
	spmu_write_lvt(host.core, 0, 0xe0);
	WRMSR(&host, EVTSEL0, COUNT_ALL | SELECT_INT | 0xc0);
	WRMSR(&host, PMC0, UINT64_C(0xfffffffb)); /* -5 */
	CHECK_EQ(host.meters[0].count, 1);
	CHECK_EQ(host.meters[0].meter[0].headroom, 4);
	for (unsigned n = 0; n < 4; n++)
		CHECK_EQ(retire(&host, n, 0), 0);
	CHECK_EQ(CAUSES(&host), 0);
	CHECK_EQ(RDMSR(&host, PMC0), MAX48);
	CHECK_EQ(retire(&host, 4, 0), SPMU_EV_PMI);
	CHECK_EQ(RDMSR(&host, PMC0), 0);
	CHECK_EQ(CAUSES(&host), 1);
	CHECK_EQ(host.pmi.vector, 0xe0);
	CHECK_EQ(retire(&host, 5, 0), 0);
	CHECK_EQ(host.pmis, 1);
	/* A count of two goes past zero. */
	WRMSR(&host, EVTSEL0 + 1, COUNT_ALL | 0x01c7);
	WRMSR(&host, A_PMC0 + 1, MAX48);
	retire(&host, 6, SPMU_SIGBIT(FP_SCALAR_DOUBLE) | SPMU_SIGBIT(FMA_SCALAR_DOUBLE));
	CHECK_EQ(RDMSR(&host, PMC0 + 1), 1);
	CHECK_EQ(CAUSES(&host), 3);
	host_destroy(&host);
}

/* Checks unit.h: counts the host subtracts are counted, and lists change with the epoch. */
static void check_meters(void)
{
	struct unit_host host;
	struct spmu_meters *meters;
	uint32_t epoch;

	host_create(&host, "skylake", 1, SUPPLY_EXECUTION);
	meters = &host.meters[0];
	CHECK_EQ(meters->count, 0);
	epoch = meters->epoch;
	WRMSR(&host, EVTSEL0, COUNT_ALL | 0xc0);
	WRMSR(&host, EVTSEL0 + 1, COUNT_ALL | 0xc0); /* shares the meter */
	CHECK_EQ(meters->count, 1);
	CHECK(meters->epoch != epoch);
	epoch = meters->epoch;
	WRMSR(&host, EVTSEL0 + 2, COUNT_USER | 0xc0); /* other rings: a separate meter */
	WRMSR(&host, EVTSEL0 + 3, COUNT_ALL | 0xc4);
	CHECK_EQ(meters->count, 3);
	CHECK(meters->epoch != epoch);
	epoch = meters->epoch;
	WRMSR(&host, A_PMC0 + 1, MAX48 - 1000);
	CHECK_EQ(meters->epoch, epoch); /* only headroom has changed */
	CHECK_EQ(meters->meter[0].headroom, 1000);
	meters->meter[0].headroom -= 600;
	CHECK_EQ(RDMSR(&host, PMC0), 600);
	CHECK_EQ(RDMSR(&host, PMC0 + 1), MAX48 - 400);
	CHECK_EQ(RDMSR(&host, PMC0 + 2), 0);
	CHECK_EQ(meters->meter[0].headroom, 400);
	meters->meter[0].headroom -= 400;
	retire(&host, 1, 0);
	CHECK_EQ(RDMSR(&host, PMC0 + 1), 0);
	CHECK_EQ(CAUSES(&host), 2);
	CHECK_EQ(RDMSR(&host, PMC0), 1001);
	WRMSR(&host, GLOBAL_CTRL, 0);
	CHECK_EQ(meters->count, 0);
	retire(&host, 1, 0);
	CHECK_EQ(RDMSR(&host, PMC0), 1001);
	host_destroy(&host);
}

/* Checks 18.2.3: AnyThread counts the instructions of both threads. */
static void check_any(void)
{
	struct unit_host host;

	host_create(&host, "skylake", 2, SUPPLY_EXECUTION);
	WRMSR(&host, EVTSEL0, COUNT_ALL | SELECT_ANY | SELECT_INT | 0xc0);
	WRMSR(&host, EVTSEL0 + 1, COUNT_ALL | 0xc0);
	WRMSR(&host, A_PMC0, MAX48 - 10);
	spmu_write_lvt(host.core, 0, LVT_NMI);
	spmu_write_lvt(host.core, 1, LVT_NMI);
	CHECK_EQ(host.meters[1].count, 1);
	CHECK_EQ(host.meters[0].meter[0].headroom + host.meters[1].meter[0].headroom, 10);
	host.meters[0].meter[0].headroom -= 3;
	host.meters[1].meter[0].headroom -= 5;
	CHECK_EQ(RDMSR(&host, PMC0), MAX48 - 2);
	CHECK_EQ(RDMSR(&host, PMC0 + 1), 3);
	for (unsigned n = 0; n < 3; n++)
		retire_lp(&host, 1, 0x10 + n, I, 3, 1);
	CHECK_EQ(RDMSR(&host, PMC0), 0);
	CHECK_EQ(CAUSES(&host), 1);
	CHECK_EQ(CAUSES_LP(&host, 1), 0);
	CHECK_EQ(host.pmis, 1);
	CHECK_EQ(host.pmi_lp, 0); /* the owner gets the interrupt */
	host_destroy(&host);
}

/* Checks threshold, invert and edge over a fixed sequence of clocks with 0 to 3 branches. */
static void check_clocks(void)
{
	static const struct {
		int line;
		uint64_t bits;
		unsigned count;
	} rows[] = {
		{__LINE__, CMASK(1), 5},
		{__LINE__, CMASK(2), 3},
		{__LINE__, CMASK(3), 1},
		{__LINE__, CMASK(4), 0},
		{__LINE__, CMASK(1) | SELECT_INV, 3},
		{__LINE__, CMASK(2) | SELECT_INV, 5},
		{__LINE__, CMASK(4) | SELECT_INV, 8},
		{__LINE__, CMASK(1) | SELECT_E, 3},
		{__LINE__, CMASK(2) | SELECT_E, 3},
		{__LINE__, CMASK(1) | SELECT_E | SELECT_INV, 2},
		{__LINE__, SELECT_E, 3},
		{__LINE__, SELECT_E | SELECT_INV, 3}, /* CMASK 0: INV is ignored */
		{__LINE__, SELECT_INV, 9},
	};
	static const unsigned branches[] = {2, 1, 0, 0, 3, 0, 1, 2};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct unit_host host;

		host_create(&host, "skylake", 1, SUPPLY_ALL);
		WRMSR(&host, EVTSEL0, COUNT_ALL | rows[i].bits | 0xc4);
		for (unsigned clock = 0; clock < sizeof(branches) / sizeof(branches[0]); clock++) {
			unsigned begins = clock ? 1 : 0; /* WRMSR has begun the first clock */

			if (branches[clock] == 0)
				retire_lp(&host, 0, 0, I, 3, begins);
			for (unsigned n = 0; n < branches[clock]; n++)
				retire_lp(&host, 0, 0, I | SPMU_SIGBIT(JMP_REL), 3,
					  n == 0 ? begins : 0);
		}
		retire_lp(&host, 0, 0, I, 3, 1); /* the last clock ends */
		CHECK_ROW_EQ(rows[i].line, RDMSR(&host, PMC0), rows[i].count);
		host_destroy(&host);
	}
}

/* Checks insn.cycles above 1: the clocks between two instructions have no occurrence. */
static void check_gaps(void)
{
	static const struct {
		int line;
		uint64_t bits;
		unsigned count;
	} rows[] = {
		{__LINE__, CMASK(1), 3},
		{__LINE__, CMASK(1) | SELECT_E, 2},
		{__LINE__, CMASK(1) | SELECT_INV, 4},
		{__LINE__, CMASK(1) | SELECT_INV | SELECT_E, 1},
	};
	static const unsigned cycles[] = {0, 1, 5};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct unit_host host;

		host_create(&host, "skylake", 1, SUPPLY_ALL);
		WRMSR(&host, EVTSEL0, COUNT_ALL | rows[i].bits | 0xc4);
		for (unsigned n = 0; n < 3; n++)
			retire_lp(&host, 0, 0, I | SPMU_SIGBIT(JMP_REL), 3, cycles[n]);
		CHECK_ROW_EQ(rows[i].line, RDMSR(&host, PMC0), rows[i].count);
		host_destroy(&host);
	}
}

/* Checks that clocks without instructions in bulk equal them one by one, also across a freeze. */
static void check_idle(void)
{
	static const uint64_t bits[] = {0,
					CMASK(1),
					CMASK(1) | SELECT_INV,
					CMASK(1) | SELECT_E,
					CMASK(2) | SELECT_INV | SELECT_E,
					SELECT_INT};

	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
		struct unit_host bulk, single;

		host_create(&bulk, "skylake", 1, SUPPLY_ALL);
		host_create(&single, "skylake", 1, SUPPLY_ALL);
		for (unsigned h = 0; h < 2; h++) {
			struct unit_host *host = h ? &single : &bulk;

			WRMSR(host, DEBUGCTL, 1u << 12);
			WRMSR(host, EVTSEL0, COUNT_ALL | bits[i] | 0x3c);
			WRMSR(host, EVTSEL0 + 1, COUNT_ALL | 0x3c);
			WRMSR(host, A_PMC0, MAX48 - 40);
		}
		spmu_clocks(bulk.core, 0, C, 100, 0);
		for (unsigned n = 0; n < 100; n++)
			spmu_clocks(single.core, 0, C, 1, 0);
		for (unsigned n = 0; n < 2; n++)
			CHECK_EQ(RDMSR(&bulk, PMC0 + n), RDMSR(&single, PMC0 + n));
		CHECK_EQ(RDMSR(&bulk, STATUS), RDMSR(&single, STATUS));
		if (bits[i] == SELECT_INT)
			CHECK_EQ(RDMSR(&bulk, PMC0 + 1), 41);
		host_destroy(&bulk);
		host_destroy(&single);
	}
}

/*
 * Checks that BR_MISP_RETIRED of a kind of branch counts the branches that the host calls
 * mispredicted (chapter 19), as do similar events of other families. Core 2 also has the predicted
 * ones.
 */
static void mispredicted_kinds(void)
{
	static const struct {
		int line;
		const char *model;
		unsigned event,
			want; /* 1: conditional, taken; 10: not taken; 100: call; 1000: return */
	} rows[] = {
		{__LINE__, "skylake", 0x01c5, 11},	{__LINE__, "skylake", 0x02c5, 100},
		{__LINE__, "skylake", 0x20c5, 1101},	{__LINE__, "skylake", 0x00c5, 1111},
		{__LINE__, "icelake", 0x08c5, 1000},	{__LINE__, "silvermont", 0x7ec5, 11},
		{__LINE__, "silvermont", 0xf7c5, 1000}, {__LINE__, "core", 0x00ca, 1101},
		{__LINE__, "core2", 0x02c4, 10},	{__LINE__, "core2", 0x08c4, 1101},
		{__LINE__, "core2", 0x01c4, 20},	{__LINE__, "core2", 0x04c4, 2202},
	};
	static const uint64_t kinds[] = {SPMU_SIGBIT(COND_TAKEN), SPMU_SIGBIT(COND_NTAKEN),
					 SPMU_SIGBIT(CALL_IND), SPMU_SIGBIT(RET_NEAR)};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct unit_host host;
		unsigned times = 1;

		host_create(&host, rows[i].model, 1, SUPPLY_ALL);
		WRMSR(&host, EVTSEL0, COUNT_ALL | rows[i].event);
		for (unsigned k = 0; k < COUNT(kinds); k++, times *= 10)
			for (unsigned n = 0; n < 3 * times; n++)
				retire(&host, 0x1000,
				       kinds[k] | (n < times ? SPMU_SIGBIT(BRANCH_MISS) : 0));
		CHECK_ROW_EQ(rows[i].line, RDMSR(&host, PMC0), rows[i].want);
		host_destroy(&host);

		/* Without mispredictions the event counts nothing. */
		host_create(&host, rows[i].model, 1, SUPPLY_EXECUTION);
		WRMSR(&host, EVTSEL0, COUNT_ALL | rows[i].event);
		CHECK_ROW_EQ(rows[i].line, host.meters[0].count, 0);
		host_destroy(&host);
	}
}

/* Checks enabled counters for events that the host does not supply, or the model does not know. */
static void check_absent(void)
{
	const uint64_t fixed1 = UINT64_C(1) << 33;
	struct unit_host host;

	host_create(&host, "skylake", 1, SUPPLY_EXECUTION);
	WRMSR(&host, GLOBAL_CTRL, 0);
	WRMSR(&host, EVTSEL0, COUNT_ALL | 0xc0);
	WRMSR(&host, EVTSEL0 + 1, COUNT_ALL | 0x412e); /* last-level cache misses */
	WRMSR(&host, EVTSEL0 + 2, COUNT_ALL | 0xff);   /* no event */
	WRMSR(&host, EVTSEL0 + 3, 0x412e);	       /* not enabled */
	WRMSR(&host, FIXED_CTRL, 0x33);		       /* instructions, core cycles */
	CHECK_EQ(spmu_absent_counters(host.core, 0), 0);
	WRMSR(&host, GLOBAL_CTRL, 0x30000000f);
	CHECK_EQ(spmu_absent_counters(host.core, 0), 0x6 | fixed1);
	WRMSR(&host, GLOBAL_CTRL, 0xd);
	CHECK_EQ(spmu_absent_counters(host.core, 0), 0x4);
	CHECK_EQ(spmu_absent_counters(host.core, 1), 0);
	host_destroy(&host);

	host_create(&host, "skylake", 1, SUPPLY_ALL);
	WRMSR(&host, EVTSEL0 + 1, COUNT_ALL | 0x412e);
	WRMSR(&host, GLOBAL_CTRL, 2);
	CHECK_EQ(spmu_absent_counters(host.core, 0), 0);
	host_destroy(&host);

	host_create(&host, "pentium", 1, SUPPLY_EXECUTION);
	WRMSR(&host, 0x11, 0x16 | 3 << 6 | 0x03 << 16 | 3 << 22); /* instructions, read misses */
	CHECK_EQ(spmu_absent_counters(host.core, 0), 2);
	host_destroy(&host);

	host_create(&host, "netburst", 1, SUPPLY_EXECUTION);
	WRMSR(&host, 0x3cc, UINT64_C(3) << 25 | 1u << 9 | 12); /* mispredicted branches */
	WRMSR(&host, 0x36c, 0x3b000);
	CHECK_EQ(spmu_absent_counters(host.core, 0), 1u << 12);
	WRMSR(&host, 0x3cc, UINT64_C(6) << 25 | 15u << 9 | 12); /* branches */
	CHECK_EQ(spmu_absent_counters(host.core, 0), 0);
	host_destroy(&host);
}

int main(void)
{
	RUN(check_events());
	RUN(check_rings());
	RUN(check_fixed());
	RUN(check_overflow());
	RUN(check_meters());
	RUN(check_any());
	RUN(check_clocks());
	RUN(check_gaps());
	RUN(check_idle());
	RUN(mispredicted_kinds());
	RUN(check_absent());
	return test_summary();
}
