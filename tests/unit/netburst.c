/* SPDX-License-Identifier: MIT */
/*
 * netburst.c: NetBurst's counters, CCCRs and ESCRs on one thread (18.15.1 to 18.15.5).
 */
#include "tests/unit/netburst_host.h"

static const char *const models[] = {"netburst",   "prescott",	"prescott-2m",
				     "cedar-mill", "xeon-7100", "xeon-mp-8m-l3"};

static void each_model(void (*test)(struct unit_host *host))
{
	for (size_t i = 0; i < COUNT(models); i++) {
		struct unit_host host;

		host_create(&host, models[i], 1, SUPPLY_ALL);
		spmu_write_lvt(host.core, 0, LVT_NMI);
		test(&host);
		host_destroy(&host);
	}
}

/*
 * Checks table 18-63: a counter takes only an ESCR of its half of the block, by one select value.
 */
static void binding(struct unit_host *host)
{
	static const struct {
		int line;
		uint32_t escr; /* number 0; number 1 comes next */
		uint64_t event;
		unsigned select;
		uint32_t first, second; /* counters */
		uint64_t signal;
	} rows[] = {
		{__LINE__, FIRM_ESCR0, EVENT(0x08, 0x8000), 1, 0x00300, 0x00c00,
		 SPMU_SIGBIT(FP_128_SINGLE)},
		{__LINE__, TBPU_ESCR0, EVENT(0x04, 0x04), 2, 0x00030, 0x000c0,
		 SPMU_SIGBIT(CALL_REL)},
		{__LINE__, CRU_ESCR0, INSTR_RETIRED, 4, 0x13000, 0x2c000,
		 SPMU_SIGBIT(INSTRUCTIONS)},
		{__LINE__, CRU_ESCR2, BRANCH_RETIRED(15), 5, 0x13000, 0x2c000,
		 SPMU_SIGBIT(CALL_REL)},
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		for (unsigned half = 0; half < 2; half++)
			for (unsigned n = 0; n < COUNTERS; n++) {
				uint32_t reach = half ? rows[i].second : rows[i].first;

				spmu_reset(host->core, 0);
				WRMSR(host, rows[i].escr + half, rows[i].event | T0_USR);
				WRMSR(host, CCCR0 + n, COUNTS(rows[i].select));
				retire(host, 0x1000, rows[i].signal);
				CHECK_ROW_EQ(rows[i].line, RDMSR(host, COUNTER0 + n),
					     reach >> n & 1);
				WRMSR(host, CCCR0 + n, COUNTS((rows[i].select + 1) % 8));
				retire(host, 0x1000, rows[i].signal);
				CHECK_ROW_EQ(rows[i].line, RDMSR(host, COUNTER0 + n),
					     reach >> n & 1);
			}
}

/* Checks that the FSB's ESCRs in the BPU block count clocks while no instruction retires. */
static void clocks(struct unit_host *host)
{
	WRMSR(host, FSB_ESCR0, EVENT(0x13, 1) | T0_USR | T0_OS);
	WRMSR(host, CCCR0 + 1, COUNTS(6));
	(void)spmu_clocks(host->core, 0, SPMU_SIGBIT(CYCLES), 1000, 0);
	CHECK_EQ(RDMSR(host, COUNTER0 + 1), 1000);
}

/*
 * Checks 18.15.1: USR is CPL 1, 2 and 3, OS is CPL 0. The other thread's flags count nothing here.
 */
static void rings(struct unit_host *host)
{
	static const struct {
		int line;
		unsigned flags, want;
	} rows[] = {
		{__LINE__, 0, 0},
		{__LINE__, T0_OS, 1},
		{__LINE__, T0_USR, 3},
		{__LINE__, T0_OS | T0_USR, 4},
		{__LINE__, T1_OS | T1_USR, 0},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		spmu_reset(host->core, 0);
		WRMSR(host, CRU_ESCR0, INSTR_RETIRED | rows[i].flags);
		WRMSR(host, CCCR0 + 12, COUNTS(4));
		for (unsigned cpl = 0; cpl <= 3; cpl++)
			retire_lp(host, 0, 0x1000, SPMU_SIGBIT(INSTRUCTIONS), cpl, 1);
		CHECK_ROW_EQ(rows[i].line, RDMSR(host, COUNTER0 + 12), rows[i].want);
	}
}

/* Checks 18.15.3: ENABLE, and "any" active thread on a part without Hyper-Threading. */
static void enable(struct unit_host *host)
{
	count_instructions(host, 12, 0);
	retire(host, 0x1000, 0);
	CHECK_EQ(RDMSR(host, COUNTER0 + 12), 0);
	count_instructions(host, 12, ENABLE);
	retire(host, 0x1000, 0);
	CHECK_EQ(RDMSR(host, COUNTER0 + 12), 1);
	WRMSR(host, CCCR0 + 12, ENABLE | SELECT(4)); /* while no thread is active */
	retire(host, 0x1000, 0);
	CHECK_EQ(RDMSR(host, COUNTER0 + 12), 1);
}

/* Checks 18.15.5.1, 18.15.5.2: threshold, complement and edge, where each clock counts one. */
static void filter(struct unit_host *host)
{
	static const struct {
		int line;
		uint64_t cccr;
		unsigned want; /* in clocks of 1, 3, 3, 2 and 1 instructions; the last runs */
	} rows[] = {
		{__LINE__, 0, 10},
		{__LINE__, COMPARE, 5},
		{__LINE__, COMPARE | THRESHOLD(1), 3},
		{__LINE__, COMPARE | THRESHOLD(2), 2},
		{__LINE__, COMPARE | THRESHOLD(3), 0},
		{__LINE__, COMPARE | THRESHOLD(1) | EDGE, 1},
		{__LINE__, COMPARE | COMPLEMENT | THRESHOLD(1), 2}, /* with the clock before */
		{__LINE__, COMPARE | COMPLEMENT | THRESHOLD(2), 3},
		{__LINE__, COMPARE | COMPLEMENT | THRESHOLD(14), 5},
		{__LINE__, COMPLEMENT | THRESHOLD(2) | EDGE, 10}, /* nothing without COMPARE */
	};
	static const unsigned in_clock[] = {1, 3, 3, 2, 1};

	for (size_t i = 0; i < COUNT(rows); i++) {
		spmu_reset(host->core, 0);
		count_instructions(host, 12, ENABLE | rows[i].cccr);
		for (size_t c = 0; c < COUNT(in_clock); c++)
			for (unsigned k = 0; k < in_clock[c]; k++)
				retire_lp(host, 0, 0x1000, SPMU_SIGBIT(INSTRUCTIONS), 3, k == 0);
		CHECK_ROW_EQ(rows[i].line, RDMSR(host, COUNTER0 + 12), rows[i].want);
	}
}

/*
 * Checks 18.17.2: "at most 15" counts clocks, including those in other rings and without the event.
 * With EDGE it counts each time the condition becomes true.
 */
static void clocks_by_threshold(struct unit_host *host)
{
	static const struct {
		int line;
		uint64_t cccr;
		unsigned want;
	} rows[] = {
		{__LINE__, COMPARE | COMPLEMENT | THRESHOLD(15), 1003},
		{__LINE__, COMPARE | COMPLEMENT | THRESHOLD(15) | EDGE, 1},
		{__LINE__, COMPLEMENT | THRESHOLD(15), 2},
		{__LINE__, COMPARE | THRESHOLD(15), 0},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		spmu_reset(host->core, 0);
		count_instructions(host, 12, ENABLE | rows[i].cccr);
		retire(host, 0x1000, SPMU_SIGBIT(INSTRUCTIONS));
		retire(host, 0x1000, SPMU_SIGBIT(INSTRUCTIONS));
		(void)spmu_clocks(host->core, 0, SPMU_SIGBIT(CYCLES), 3, 3);
		(void)spmu_clocks(host->core, 0, SPMU_SIGBIT(CYCLES), 1000, 0);
		CHECK_ROW_EQ(rows[i].line, RDMSR(host, COUNTER0 + 12), rows[i].want);
	}
}

/* Checks 18.15.2: 40 bits, written as they are. */
static void width(struct unit_host *host)
{
	for (unsigned n = 0; n < COUNTERS; n++) {
		WRMSR(host, COUNTER0 + n, 0x80000000 + n);
		CHECK_EQ(RDMSR(host, COUNTER0 + n), 0x80000000 + n);
		WRMSR(host, COUNTER0 + n, MAX40 - n);
		CHECK_EQ(RDMSR(host, COUNTER0 + n), MAX40 - n);
	}
	CHECK(spmu_write_msr(host->core, 0, COUNTER0 + COUNTERS, 0) != SPMU_DONE);
}

/*
 * Checks 18.15.5.8. To interrupt after 100 counts the counter is preset to -99. It overflows at the
 * 99th, which sets OVF. The interrupt comes with the 100th.
 */
static void interrupt(struct unit_host *host)
{
	count_instructions(host, 12, ENABLE | OVF_PMI_T0);
	WRMSR(host, COUNTER0 + 12, (0 - UINT64_C(99)) & MAX40);
	for (unsigned i = 1; i <= 100; i++) {
		CHECK_EQ(host->pmis, 0);
		CHECK_EQ(RDMSR(host, CCCR0 + 12) & OVF ? 1 : 0, i > 99);
		retire(host, 0x1000 + i, 0);
	}
	CHECK_EQ(host->pmis, 1);
	CHECK_EQ(host->pmi.delivery, SPMU_DELIVER_NMI);
	CHECK_EQ(spmu_read_lvt(host->core, 0), LVT_NMI | LVT_MASKED);
	spmu_write_lvt(host->core, 0, LVT_NMI);
	retire(host, 0x1000, 0);
	CHECK_EQ(host->pmis, 1);
	CHECK(RDMSR(host, CCCR0 + 12) & OVF); /* sticky */
	CHECK_EQ(RDMSR(host, COUNTER0 + 12), 2);
}

/*
 * Checks that clearing OVF before the next count withdraws the interrupt. Without OVF_PMI there is
 * none.
 */
static void no_interrupt(struct unit_host *host)
{
	count_instructions(host, 12, ENABLE | OVF_PMI_T0);
	WRMSR(host, COUNTER0 + 12, MAX40);
	retire(host, 0x1000, 0);
	count_instructions(host, 12, ENABLE | OVF_PMI_T0);
	retire(host, 0x1000, 0);
	CHECK_EQ(host->pmis, 0);
	count_instructions(host, 12, ENABLE);
	WRMSR(host, COUNTER0 + 12, MAX40);
	retire(host, 0x1000, 0);
	retire(host, 0x1000, 0);
	CHECK_EQ(host->pmis, 0);
	CHECK(RDMSR(host, CCCR0 + 12) & OVF);
}

/* Checks 18.15.3: FORCE_OVF makes each count an overflow, whatever the counter holds. */
static void forced(struct unit_host *host)
{
	count_instructions(host, 13, ENABLE | FORCE_OVF | OVF_PMI_T0);
	for (unsigned i = 0; i < 4; i++) {
		CHECK_EQ(host->pmis, i ? i - 1 : 0);
		retire(host, 0x1000, 0);
		spmu_write_lvt(host->core, 0, LVT_NMI);
		CHECK(RDMSR(host, CCCR0 + 13) & OVF);
	}
	CHECK_EQ(host->pmis, 3);
	CHECK_EQ(RDMSR(host, COUNTER0 + 13), 4);
}

/* Checks 18.15.5.6: X overflows after 200 of A, then Y counts B; in bulk as one by one. */
static void cascade_example(struct unit_host *host)
{
	unsigned stretch;

	WRMSR(host, TBPU_ESCR0, EVENT(0x04, 0x04) | T0_USR);
	WRMSR(host, TBPU_ESCR0 + 1, EVENT(0x04, 0x08) | T0_USR);
	WRMSR(host, CCCR0 + 4, COUNTS(2));
	WRMSR(host, CCCR0 + 6, ANY_ACTIVE | SELECT(2) | CASCADE);
	WRMSR(host, COUNTER0 + 4, (0 - UINT64_C(200)) & MAX40);
	WRMSR(host, COUNTER0 + 6, (0 - UINT64_C(400)) & MAX40);
	CHECK_EQ(host->meters[0].count, 2); /* B's meter exists before Y counts */
	stretch = (unsigned)host->meters[0].meter[0].headroom;
	CHECK_EQ(stretch, 199);
	host->meters[0].meter[0].headroom -= 190;
	CHECK_EQ(host->meters[0].meter[1].headroom, INT64_MAX);
	host->meters[0].meter[1].headroom -= 1000;
	for (unsigned i = 0; i < 9; i++)
		retire(host, 0x1000, SPMU_SIGBIT(CALL_REL));
	retire(host, 0x1000, SPMU_SIGBIT(RET_NEAR));
	CHECK_EQ(RDMSR(host, COUNTER0 + 6), (0 - UINT64_C(400)) & MAX40);
	CHECK(!(retire(host, 0x1000, SPMU_SIGBIT(CALL_REL)) & SPMU_EV_METERS));
	CHECK_EQ(RDMSR(host, COUNTER0 + 4), 0);
	CHECK_EQ(RDMSR(host, CCCR0 + 6), ANY_ACTIVE | SELECT(2) | CASCADE);
	CHECK_EQ(host->meters[0].count, 2);
	CHECK_EQ(host->meters[0].meter[1].headroom, 399);
	for (unsigned i = 0; i < 400; i++) {
		CHECK(!(RDMSR(host, CCCR0 + 6) & OVF));
		retire(host, 0x1000, SPMU_SIGBIT(RET_NEAR));
	}
	CHECK(RDMSR(host, CCCR0 + 6) & OVF);
}

/*
 * Returns the counters that counter n starts: 0 and 2, 1 and 3 of each block. For the IQ's third
 * pair see 18.15.5.6.
 */
static uint32_t started_by(unsigned n, bool extended)
{
	static const uint32_t plain[COUNTERS] = {
		1u << 2,
		1u << 3,
		1u << 0,
		1u << 1,
		1u << 6,
		1u << 7,
		1u << 4,
		1u << 5,
		1u << 10,
		1u << 11,
		1u << 8,
		1u << 9,
		1u << 14,
		1u << 15,
		1u << 12 | 1u << 16,
		1u << 13 | 1u << 17,
		0,
		0,
	};
	/* Table 18-65: CASCNT4INTO0, CASCNT5INTO3, CASCNT5INTO4, CASCNT4INTO5. */
	if (extended)
		return n == 16 ? 1u << 12 | 1u << 17 : n == 17 ? 1u << 15 | 1u << 16 : 0;
	return plain[n];
}

/* Programs an event that counter n can count, by select value and signal. */
static uint64_t any_event(struct unit_host *host, unsigned n)
{
	if (n >= 12) {
		WRMSR(host, cru_low(n), INSTR_RETIRED | T0_USR);
		return SELECT(4);
	}
	if (n >= 8) {
		WRMSR(host, FIRM_ESCR0 + (n >= 10), EVENT(0x08, 0x8000) | T0_USR);
		return SELECT(1);
	}
	if (n >= 4) {
		WRMSR(host, TBPU_ESCR0 + (n >= 6), EVENT(0x04, 0x04) | T0_USR);
		return SELECT(2);
	}
	WRMSR(host, FSB_ESCR0 + (n >= 2), EVENT(0x13, 1) | T0_USR);
	return SELECT(6);
}

/* Returns the bit by which counter n waits for another. 0: it is reserved there. */
static uint64_t waits_by(unsigned n, bool extended)
{
	if (!extended)
		return CASCADE;
	return n == 12 || n >= 15 ? EXTENDED : 0;
}

/* Lets each counter's event occur once. Returns the counters other than n that moved. */
static uint32_t moved(struct unit_host *host, unsigned n)
{
	uint64_t before[COUNTERS];
	uint32_t set = 0;

	for (unsigned c = 0; c < COUNTERS; c++)
		before[c] = RDMSR(host, COUNTER0 + c);
	retire(host, 0x1000, SPMU_SIGBIT(CALL_REL) | SPMU_SIGBIT(FP_128_SINGLE));
	(void)spmu_clocks(host->core, 0, SPMU_SIGBIT(CYCLES), 1, 3);
	for (unsigned c = 0; c < COUNTERS; c++)
		if (c != n && RDMSR(host, COUNTER0 + c) != before[c])
			set |= 1u << c;
	return set;
}

/* Checks that counter n overflows and starts those that wait for it. */
static void cascade_all(struct unit_host *host, unsigned n, bool extended)
{
	spmu_reset(host->core, 0);
	for (unsigned c = 0; c < COUNTERS; c++)
		WRMSR(host, CCCR0 + c,
		      ANY_ACTIVE | any_event(host, c) | (c == n ? ENABLE : waits_by(c, extended)));
	WRMSR(host, COUNTER0 + n, MAX40);
	CHECK_EQ(moved(host, n), 0);
	CHECK(RDMSR(host, CCCR0 + n) & OVF);
}

static void cascade_pairs(struct unit_host *host)
{
	for (unsigned extended = 0; extended < 2; extended++)
		for (unsigned n = 0; n < COUNTERS; n++) {
			cascade_all(host, n, extended);
			CHECK_EQ(moved(host, n), started_by(n, extended));
			for (unsigned c = 0; c < COUNTERS; c++)
				CHECK_EQ(RDMSR(host, CCCR0 + c) & ENABLE, c == n ? ENABLE : 0);
		}
}

/*
 * Checks 18.15.5.5. Clearing OVF of the counter that started them halts cascaded counters. Clearing
 * the CASCADE flag (or that of extended cascading) of one halts that one. The next overflow starts
 * those that still wait. A saved state continues with the started counters.
 */
static void cascade_halts(struct unit_host *host)
{
	static uint8_t saved[16384];
	size_t bytes = spmu_state_bytes(host->core);

	for (unsigned extended = 0; extended < 2; extended++)
		for (unsigned n = 0; n < COUNTERS; n++) {
			uint32_t started = started_by(n, extended);

			cascade_all(host, n, extended);
			CHECK_EQ(spmu_save(host->core, saved, sizeof(saved)), SPMU_OK);
			WRMSR(host, CCCR0 + n, RDMSR(host, CCCR0 + n) & ~(uint64_t)OVF);
			CHECK_EQ(moved(host, n), 0);
			CHECK_EQ(spmu_load(host->core, saved, bytes), SPMU_OK);
			CHECK_EQ(moved(host, n), started);
			for (unsigned c = 0; c < COUNTERS; c++) {
				if (!(started >> c & 1))
					continue;
				WRMSR(host, CCCR0 + c,
				      RDMSR(host, CCCR0 + c) & ~waits_by(c, extended));
				started &= ~(1u << c);
				CHECK_EQ(moved(host, n), started);
			}
			cascade_all(host, n, extended);
			WRMSR(host, CCCR0 + n, RDMSR(host, CCCR0 + n) & ~(uint64_t)OVF);
			WRMSR(host, COUNTER0 + n, MAX40);
			CHECK_EQ(moved(host, n), 0);
			CHECK_EQ(moved(host, n), started_by(n, extended));
		}
}

/* Checks table 18-65: bit 11 exists in four CCCRs of the IQ. */
static void extended_bits(struct unit_host *host)
{
	for (unsigned n = 0; n < COUNTERS; n++) {
		bool there = n == 12 || n >= 15;

		CHECK_EQ(spmu_write_msr(host->core, 0, CCCR0 + n, EXTENDED),
			 there ? SPMU_DONE : SPMU_GP);
	}
}

/* Checks 18.15.1: a mask selects several events of a class, whose counts are added. */
static void masks(struct unit_host *host)
{
	static const struct {
		int line;
		uint64_t event;
		unsigned select, want; /* after a taken branch, an untaken one, and a call */
	} rows[] = {
		{__LINE__, INSTR_RETIRED, 4, 3},
		{__LINE__, EVENT(0x02, 1 | 4), 4, 3}, /* with the bogus ones, as Linux */
		{__LINE__, EVENT(0x02, 2), 4, 0},     /* tagged ones: nothing is tagged */
		{__LINE__, EVENT(0x02, 3), 4, 3},
		{__LINE__, BRANCH_RETIRED(15), 5, 3},
		{__LINE__, BRANCH_RETIRED(12), 5, 2},
		{__LINE__, BRANCH_RETIRED(3), 5, 1},
		{__LINE__, BRANCH_RETIRED(4), 5, 2}, /* none was mispredicted */
		{__LINE__, EVENT(0x3f, 0xffff), 5, 0},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		spmu_reset(host->core, 0);
		WRMSR(host, rows[i].select == 4 ? CRU_ESCR0 : CRU_ESCR2, rows[i].event | T0_USR);
		WRMSR(host, CCCR0 + 12, COUNTS(rows[i].select));
		retire(host, 0x1000, SPMU_SIGBIT(COND_TAKEN));
		retire(host, 0x1000, SPMU_SIGBIT(COND_NTAKEN));
		retire(host, 0x1000, SPMU_SIGBIT(CALL_REL));
		CHECK_ROW_EQ(rows[i].line, RDMSR(host, COUNTER0 + 12), rows[i].want);
	}
}

/*
 * Checks table 19-29. Each bit of branch_retired tells how the branch was predicted, and the counts
 * of several bits are added. A host that does not supply mispredictions has the sums alone.
 */
static void predictions(struct unit_host *host)
{
	/*
	 * Branches of each kind: not taken and predicted, not taken and mispredicted, and the same
	 * two taken.
	 */
	static const unsigned times[] = {1, 10, 100, 1000};
	struct unit_host plain;

	host_create(&plain, spmu_model_describe(host->model).name, 1, SUPPLY_EXECUTION);
	for (unsigned mask = 0; mask < 16; mask++) {
		unsigned want = 0, sums = 0;

		for (unsigned bit = 0; bit < 4; bit++) {
			want += mask >> bit & 1 ? times[bit] : 0;
			sums += (mask >> (bit & 2) & 3) == 3 ? times[bit] : 0;
		}
		for (unsigned who = 0; who < 2; who++) {
			struct unit_host *h = who ? &plain : host;

			spmu_reset(h->core, 0);
			WRMSR(h, CRU_ESCR2, BRANCH_RETIRED(mask) | T0_USR);
			WRMSR(h, CCCR0 + 12, COUNTS(5));
			for (unsigned bit = 0; bit < 4; bit++)
				for (unsigned n = 0; n < times[bit]; n++)
					retire(h, 0x1000,
					       (bit & 2 ? SPMU_SIGBIT(COND_TAKEN)
							: SPMU_SIGBIT(COND_NTAKEN)) |
						       (bit & 1 ? SPMU_SIGBIT(BRANCH_MISS) : 0));
			CHECK_EQ(RDMSR(h, COUNTER0 + 12), who ? sums : want);
		}
	}
	host_destroy(&plain);
}

/* Checks bulk: such branches come one by one, as the meter of their kinds has no headroom. */
static void predictions_in_bulk(struct unit_host *host)
{
	WRMSR(host, CRU_ESCR2, BRANCH_RETIRED(2) | T0_USR);
	WRMSR(host, CCCR0 + 12, COUNTS(5));
	CHECK_EQ(host->meters[0].count, 1);
	CHECK_EQ(host->meters[0].meter[0].signals, SPMU_SIGBIT(COND_NTAKEN));
	CHECK_EQ(host->meters[0].meter[0].headroom, 0);
	retire(host, 0x1000, SPMU_SIGBIT(COND_NTAKEN));
	retire(host, 0x1000, SPMU_SIGBIT(COND_NTAKEN) | SPMU_SIGBIT(BRANCH_MISS));
	CHECK_EQ(RDMSR(host, COUNTER0 + 12), 1);
	CHECK_EQ(host->meters[0].meter[0].headroom, 0);
}

/* Checks Vol. 2B RDPMC: 18 counters; ECX[31] reads 32 bits. */
static void rdpmc(struct unit_host *host)
{
	uint64_t value = 0;

	for (unsigned n = 0; n < COUNTERS; n++) {
		WRMSR(host, COUNTER0 + n, 0xab12345600 + n);
		CHECK_EQ(spmu_rdpmc(host->core, 0, n, 3, true, true, &value), SPMU_DONE);
		CHECK_EQ(value, 0xab12345600 + n);
		CHECK_EQ(spmu_rdpmc(host->core, 0, n | 0x80000000, 3, true, true, &value),
			 SPMU_DONE);
		CHECK_EQ(value, 0x12345600 + n);
		CHECK_EQ(spmu_rdpmc(host->core, 0, n, 3, false, true, &value), SPMU_GP);
	}
	CHECK_EQ(spmu_rdpmc(host->core, 0, 0x40000000, 0, true, true, &value), SPMU_GP);
	CHECK_EQ(spmu_rdpmc(host->core, 0, 26, 0, true, true, &value), SPMU_GP);
}

/*
 * Checks table 18-63: only models 0 to 2 have MSR_IQ_ESCR0 and 1. On later ones a CCCR that selects
 * them connects no event. Its counter counts nothing, or all clocks if it counts those with at most
 * 15 events.
 */
static void iq_escrs(struct unit_host *host)
{
	bool there = !strcmp(spmu_model_describe(host->model).name, "netburst");

	for (unsigned i = 0; i < 2; i++)
		CHECK_EQ(spmu_write_msr(host->core, 0, IQ_ESCR0 + i, T0_USR) == SPMU_DONE, there);
	for (unsigned n = 12; n < COUNTERS; n++) {
		WRMSR(host, CCCR0 + n, COUNTS(0) | COMPARE | COMPLEMENT | THRESHOLD(15));
		(void)spmu_clocks(host->core, 0, SPMU_SIGBIT(CYCLES), 100, 3);
		CHECK_EQ(RDMSR(host, COUNTER0 + n), 100);
		WRMSR(host, CCCR0 + n, COUNTS(0));
		(void)spmu_clocks(host->core, 0, SPMU_SIGBIT(CYCLES), 100, 3);
		CHECK_EQ(RDMSR(host, COUNTER0 + n), 100);
		WRMSR(host, CCCR0 + n, 0);
	}
}

/* Checks that a saved state contains an interrupt that is still to come. */
static void state(struct unit_host *host)
{
	static uint8_t saved[16384];
	size_t bytes = spmu_state_bytes(host->core);

	CHECK(bytes <= sizeof(saved));
	count_instructions(host, 12, ENABLE | OVF_PMI_T0);
	WRMSR(host, COUNTER0 + 12, MAX40);
	retire(host, 0x1000, 0);
	CHECK_EQ(spmu_save(host->core, saved, sizeof(saved)), SPMU_OK);
	spmu_reset(host->core, 0);
	CHECK_EQ(spmu_load(host->core, saved, bytes), SPMU_OK);
	CHECK_EQ(host->pmis, 0);
	CHECK_EQ(host->meters[0].meter[0].headroom, 0);
	retire(host, 0x1000, 0);
	CHECK_EQ(host->pmis, 1);
}

int main(void)
{
	RUN(each_model(binding));
	RUN(each_model(clocks));
	RUN(each_model(rings));
	RUN(each_model(enable));
	RUN(each_model(filter));
	RUN(each_model(clocks_by_threshold));
	RUN(each_model(width));
	RUN(each_model(interrupt));
	RUN(each_model(no_interrupt));
	RUN(each_model(forced));
	RUN(each_model(cascade_example));
	RUN(each_model(cascade_pairs));
	RUN(each_model(cascade_halts));
	RUN(each_model(extended_bits));
	RUN(each_model(masks));
	RUN(each_model(predictions));
	RUN(each_model(predictions_in_bulk));
	RUN(each_model(rdpmc));
	RUN(each_model(iq_escrs));
	RUN(each_model(state));
	return test_summary();
}
