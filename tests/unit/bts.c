/* SPDX-License-Identifier: MIT */
/*
 * bts.c: branch trace store: records (Vol. 3B 17.4.9), which branches are recorded (17.4.5, 17.4.6,
 * tables 17-5 and 17-6), and circular and interrupting buffers (17.4.9.3). Also hostile areas,
 * memory that refuses writes, and what the tap tells a host that stores the records itself.
 */
#include "tests/unit/unit_host.h"

#define BTS_BASE (MEMORY_BASE + 0x1000)
#define RECORD	 24u

#define TR	(1u << 6)
#define BTS	(1u << 7)
#define BTINT	(1u << 8)
#define OFF_OS	(1u << 9)
#define OFF_USR (1u << 10)
#define ON	(TR | BTS)

#define AREA(base, index, maximum, threshold)                                                      \
	{                                                                                          \
		.bts_base = (base), .bts_index = (index), .bts_maximum = (maximum),                \
		.bts_threshold = (threshold)                                                       \
	}

static const struct spmu_ds_layout *layout_of(const char *model, bool ia32e)
{
	return spmu_model_ds_layout(spmu_model_find(model), ia32e);
}

static void put_area(struct unit_host *host, const struct spmu_ds_area *area)
{
	CHECK_EQ(spmu_ds_encode(layout_of("skylake", true), area, host->memory, MEMORY_BYTES),
		 SPMU_OK);
}

/* Makes a buffer for `records` records, with the threshold after `threshold` of them. */
static void start(struct unit_host *host, unsigned records, unsigned threshold, uint64_t debugctl)
{
	struct spmu_ds_area area = {
		.bts_base = BTS_BASE,
		.bts_index = BTS_BASE,
		.bts_maximum = BTS_BASE + (uint64_t)records * RECORD,
		.bts_threshold = BTS_BASE + (uint64_t)threshold * RECORD,
	};

	host_create(host, "skylake", 1, SUPPLY_EXECUTION);
	spmu_set_ia32e(host->core, 0, true);
	put_area(host, &area);
	spmu_write_lvt(host->core, 0, LVT_NMI);
	WRMSR(host, DS_AREA_MSR, DS_AREA);
	WRMSR(host, DEBUGCTL, debugctl);
}

static unsigned stored(struct unit_host *host)
{
	return (unsigned)((host_area(host).bts_index - BTS_BASE) / RECORD);
}

static struct spmu_bts_record record_at(struct unit_host *host, unsigned n)
{
	struct spmu_bts_record record = {0};

	CHECK_EQ(spmu_bts_decode(layout_of("skylake", true),
				 host->memory + (BTS_BASE - MEMORY_BASE) + n * RECORD, RECORD,
				 &record),
		 SPMU_OK);
	return record;
}

/* Takes `count` jumps from `from` on, 16 bytes apart, in one call. */
static unsigned jumps(struct unit_host *host, uint64_t from, size_t count)
{
	struct spmu_branch branches[300];

	for (size_t i = 0; i < count; i++)
		branches[i] = (struct spmu_branch){.from = from + 16 * i,
						   .to = from + 16 * i + 7,
						   .signal = SPMU_SIG_JMP_REL,
						   .cpl = 3,
						   .next_cpl = 3};
	return spmu_branches(host->core, 0, branches, count);
}

/*
 * Checks both formats byte by byte. The predicted bit is read and written, though no unit sets it.
 */
static void formats(void)
{
	static const uint8_t wide[24] = {0x10, 0x20, 0x30, 0x40, 0x50, 0, 0, 0, 1, 2, 3, 4,
					 5,    6,    7,	   0xff, 0x10, 0, 0, 0, 0, 0, 0, 0};
	static const uint8_t narrow[12] = {0x10, 0x20, 0x30, 0x40, 1, 2, 3, 4, 0x10, 0, 0, 0};
	const struct spmu_ds_layout layouts[] = {{.field_bytes = 8, .bts_bytes = 24},
						 {.field_bytes = 4, .bts_bytes = 12}};
	const struct spmu_ds_layout none = {.field_bytes = 8};
	const struct spmu_bts_record made = {0x5040302010, UINT64_C(0xff07060504030201), true};

	for (unsigned i = 0; i < 2; i++) {
		struct spmu_bts_record seen;
		uint8_t bytes[24];

		CHECK_EQ(spmu_bts_encode(&layouts[i], &made, bytes, layouts[i].bts_bytes - 1u),
			 SPMU_E_SPACE);
		CHECK_EQ(spmu_bts_encode(&layouts[i], &made, bytes, sizeof(bytes)), SPMU_OK);
		CHECK(!memcmp(bytes, i ? narrow : wide, layouts[i].bts_bytes));
		CHECK_EQ(spmu_bts_decode(&layouts[i], bytes, layouts[i].bts_bytes - 1u, &seen),
			 SPMU_E_SPACE);
		CHECK_EQ(spmu_bts_decode(&layouts[i], bytes, layouts[i].bts_bytes, &seen), SPMU_OK);
		CHECK_EQ(seen.from, i ? made.from & UINT32_MAX : made.from);
		CHECK_EQ(seen.to, i ? made.to & UINT32_MAX : made.to);
		CHECK_EQ(seen.predicted, true);
		CHECK_EQ(spmu_bts_encode(NULL, &made, bytes, sizeof(bytes)), SPMU_E_ARGUMENT);
		CHECK_EQ(spmu_bts_encode(&none, &made, bytes, sizeof(bytes)), SPMU_E_UNAVAILABLE);
		CHECK_EQ(spmu_bts_decode(&none, bytes, sizeof(bytes), &seen), SPMU_E_UNAVAILABLE);
	}
}

/* Checks which flags store which branches (tables 17-5 and 17-6). */
static void flags(void)
{
	static const struct {
		int line;
		uint32_t debugctl;
		bool os, usr;
	} rows[] = {
		{__LINE__, 0, false, false},
		{__LINE__, TR, false, false},
		{__LINE__, BTS, false, false},
		{__LINE__, BTS | BTINT, false, false},
		{__LINE__, ON, true, true},
		{__LINE__, ON | OFF_OS, false, true},
		{__LINE__, ON | OFF_USR, true, false},
		{__LINE__, ON | OFF_OS | OFF_USR, false, false},
		{__LINE__, ON | BTINT, true, true},
		{__LINE__, ON | BTINT | OFF_OS, false, true},
		{__LINE__, ON | BTINT | OFF_USR, true, false},
		{__LINE__, ON | BTINT | OFF_OS | OFF_USR, false, false},
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		for (unsigned cpl = 0; cpl <= 3; cpl++) {
			struct unit_host host;
			bool want = cpl ? rows[i].usr : rows[i].os;

			start(&host, 4, 5, rows[i].debugctl);
			CHECK_ROW_EQ(rows[i].line, host.meters[0].tap.rings,
				     rows[i].os * 1 + rows[i].usr * 2);
			CHECK_ROW_EQ(rows[i].line, host.meters[0].tap.signals,
				     rows[i].os || rows[i].usr ? SPMU_SIGSET_TAKEN : 0);
			retire_lp(&host, 0, 0x401000, SPMU_SIGBIT(RET_NEAR), cpl, 1);
			CHECK_ROW_EQ(rows[i].line, stored(&host), want);
			host_destroy(&host);
		}
}

/* Checks that every kind of taken branch, including events, is stored, and nothing else. */
static void kinds(void)
{
	for (unsigned signal = 0; signal < SPMU_SIGNALS; signal++) {
		bool taken = SPMU_SIGSET_TAKEN >> signal & 1;
		struct spmu_branch branch = {.from = 0x401000,
					     .to = UINT64_C(0xffffffff81000000),
					     .signal = (uint8_t)signal,
					     .cpl = 3,
					     .flags = SPMU_BRANCH_EVENT};
		struct unit_host host;

		start(&host, 4, 5, ON);
		spmu_branches(host.core, 0, &branch, 1);
		CHECK_EQ(stored(&host), taken);
		retire(&host, 0x401004, UINT64_C(1) << signal);
		CHECK_EQ(stored(&host), 2 * taken);
		if (taken) {
			CHECK_EQ(record_at(&host, 0).from, 0x401000);
			CHECK_EQ(record_at(&host, 0).to, UINT64_C(0xffffffff81000000));
			CHECK_EQ(record_at(&host, 0).predicted, false);
			CHECK_EQ(record_at(&host, 1).from, 0x401004);
			CHECK_EQ(record_at(&host, 1).to, 0x401008);
		}
		host_destroy(&host);
	}
}

/*
 * Checks BTINT 0: the index goes back to the base, without an interrupt if the threshold is higher.
 */
static void circular(void)
{
	for (unsigned once = 0; once <= 1; once++) {
		struct unit_host host;

		start(&host, 5, 6, ON);
		for (unsigned n = 0; n < 12 && !once; n++)
			CHECK_EQ(jumps(&host, 0x1000 + 16 * n, 1), 0);
		if (once)
			CHECK_EQ(jumps(&host, 0x1000, 12), 0);
		CHECK_EQ(stored(&host), 2);
		CHECK_EQ(record_at(&host, 0).from, 0x1000 + 16 * 10);
		CHECK_EQ(record_at(&host, 1).from, 0x1000 + 16 * 11);
		for (unsigned n = 2; n < 5; n++)
			CHECK_EQ(record_at(&host, n).from, 0x1000 + 16 * (5 + n));
		CHECK_EQ(host.memory[BTS_BASE - MEMORY_BASE + 5 * RECORD], 0); /* not past it */
		CHECK_EQ(host.pmis, 0);
		host_destroy(&host);
	}
}

/*
 * Checks the note in 17.4.9.3: clearing BTINT alone does not keep the threshold from interrupting.
 */
static void circular_threshold(void)
{
	struct unit_host host;

	start(&host, 5, 2, ON);
	CHECK_EQ(jumps(&host, 0x1000, 1), 0);
	CHECK_EQ(jumps(&host, 0x1010, 1), SPMU_EV_PMI);
	CHECK_EQ(CAUSES(&host), 0);
	host_destroy(&host);
}

/*
 * Checks BTINT 1: one interrupt at the threshold, as delivery sets the mask bit. A full buffer
 * stores nothing.
 */
static void interrupting(void)
{
	for (unsigned once = 0; once <= 1; once++) {
		struct unit_host host;

		start(&host, 4, 3, ON | BTINT);
		if (once) {
			CHECK_EQ(jumps(&host, 0x1000, 9), SPMU_EV_PMI);
		} else {
			CHECK_EQ(jumps(&host, 0x1000, 1), 0);
			CHECK_EQ(jumps(&host, 0x1010, 1), 0);
			CHECK_EQ(jumps(&host, 0x1020, 1), SPMU_EV_PMI);
			CHECK_EQ(jumps(&host, 0x1030, 1), 0); /* masked by delivery */
			CHECK_EQ(jumps(&host, 0x1040, 1), 0);
		}
		CHECK_EQ(host.pmis, 1);
		CHECK_EQ(host.pmi.delivery, SPMU_DELIVER_NMI);
		CHECK_EQ(CAUSES(&host), 0); /* no overflow, no OvfBuf (17.4.9.5) */
		CHECK_EQ(stored(&host), 4);
		CHECK_EQ(record_at(&host, 3).from, 0x1030);
		CHECK_EQ(host_area(&host).bts_index, host_area(&host).bts_maximum);
		CHECK_EQ(host.memory[BTS_BASE - MEMORY_BASE + 4 * RECORD], 0);
		host_destroy(&host);
	}
}

/* Checks 17.4.7: the threshold of the BTS buffer freezes; the instruction itself still counts. */
static void freezes(void)
{
	struct unit_host host;

	start(&host, 8, 2, ON | BTINT | 1u | 3u << 11);
	WRMSR(&host, EVTSEL0, COUNT_ALL | SELECT_INT | 0xc0);
	WRMSR(&host, A_PMC0, MAX48 - 1);
	retire(&host, 0x100, SPMU_SIGBIT(JMP_REL));
	CHECK_EQ(retire(&host, 0x104, SPMU_SIGBIT(JMP_REL)), SPMU_EV_PMI | SPMU_EV_METERS);
	CHECK_EQ(host.pmis, 1); /* one for the counter and the buffer */
	CHECK_EQ(CAUSES(&host), CTR_FRZ | LBR_FRZ | 1);
	CHECK_EQ(RDMSR(&host, LBR_TOS), 2);
	retire(&host, 0x108, SPMU_SIGBIT(JMP_REL));
	CHECK_EQ(stored(&host), 3); /* the freeze is not for branch traces */
	CHECK_EQ(RDMSR(&host, LBR_TOS), 2);
	CHECK_EQ(RDMSR(&host, PMC0), 0);
	host_destroy(&host);

	/*
	 * In the middle of many branches: those after the threshold find last branch records
	 * frozen.
	 */
	start(&host, 8, 2, ON | BTINT | 1u | 3u << 11);
	CHECK_EQ(jumps(&host, 0x1000, 6), SPMU_EV_PMI);
	CHECK_EQ(RDMSR(&host, LBR_TOS), 2);
	CHECK_EQ(RDMSR(&host, LBR_FROM + 2), 0x1010);
	CHECK_EQ(stored(&host), 6);
	host_destroy(&host);
}

/* Checks areas that software should not make: the records are lost, and nothing else happens. */
static void hostile(void)
{
	static const struct {
		int line;
		struct spmu_ds_area area;
		uint32_t debugctl;
		unsigned records; /* how many of three branches are stored */
		uint64_t index;	  /* afterwards */
	} rows[] = {
		/* before the base, past the maximum, maximum below the base */
		{__LINE__, AREA(BTS_BASE, BTS_BASE - 24, BTS_BASE + 96, -1ull), ON, 0,
		 BTS_BASE - 24},
		{__LINE__, AREA(BTS_BASE, BTS_BASE + 97, BTS_BASE + 96, -1ull), ON, 0,
		 BTS_BASE + 97},
		{__LINE__, AREA(BTS_BASE, BTS_BASE, BTS_BASE - 1, -1ull), ON, 0, BTS_BASE},
		{__LINE__, AREA(BTS_BASE, BTS_BASE, BTS_BASE - 1, 0), ON | BTINT, 0, BTS_BASE},
		/* smaller than a record */
		{__LINE__, AREA(BTS_BASE, BTS_BASE, BTS_BASE + 23, -1ull), ON, 0, BTS_BASE},
		{__LINE__, AREA(BTS_BASE, BTS_BASE, BTS_BASE + 23, 0), ON | BTINT, 0, BTS_BASE},
		/* not a multiple of the record: the last piece is not used */
		{__LINE__, AREA(BTS_BASE, BTS_BASE, BTS_BASE + 71, -1ull), ON, 3, BTS_BASE + 24},
		{__LINE__, AREA(BTS_BASE, BTS_BASE, BTS_BASE + 71, -1ull), ON | BTINT, 2,
		 BTS_BASE + 48},
		{__LINE__, AREA(BTS_BASE, BTS_BASE + 7, BTS_BASE + 96, -1ull), ON | BTINT, 3,
		 BTS_BASE + 79},
		/* at the maximum already */
		{__LINE__, AREA(BTS_BASE, BTS_BASE + 96, BTS_BASE + 96, -1ull), ON, 3,
		 BTS_BASE + 72},
		{__LINE__, AREA(BTS_BASE, BTS_BASE + 96, BTS_BASE + 96, 0), ON | BTINT, 0,
		 BTS_BASE + 96},
		/* not mapped, to the end of the address space */
		{__LINE__, AREA(0x1000, 0x1000, 0x2000, -1ull), ON, 0, 0x1000},
		{__LINE__, AREA(-96ull, -96ull, -1ull, -1ull), ON, 0, -96ull},
		{__LINE__, AREA(-96ull, -10ull, -1ull, -1ull), ON | BTINT, 0, -10ull},
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		for (unsigned path = 0; path < 3; path++) {
			struct unit_host host;
			struct spmu_ds_area seen;

			start(&host, 4, 5, 0);
			put_area(&host, &rows[i].area);
			WRMSR(&host, DEBUGCTL, rows[i].debugctl);
			if (path == 0)
				jumps(&host, 0x1000, 3);
			for (unsigned n = 0; n < 3 && path == 1; n++)
				jumps(&host, 0x1000 + 16 * n, 1);
			for (unsigned n = 0; n < 3 && path == 2; n++)
				retire(&host, 0x1000 + 16 * n, SPMU_SIGBIT(JMP_REL));
			seen = host_area(&host);
			CHECK_ROW_EQ(rows[i].line, seen.bts_index, rows[i].index);
			CHECK_ROW_EQ(rows[i].line, seen.bts_base, rows[i].area.bts_base);
			CHECK_ROW_EQ(rows[i].line, host.pmis, 0);
			CHECK_ROW_EQ(rows[i].line, host.writes,
				     rows[i].records ? (path ? 2 * rows[i].records : host.writes)
						     : 0);
			host_destroy(&host);
		}
}

/* Checks that a refused write loses its record, and that the records after it are stored. */
static void refused(void)
{
	for (unsigned path = 0; path < 2; path++)
		for (unsigned nth = 1; nth <= 8; nth++) {
			struct unit_host host;
			unsigned lost = 0;

			start(&host, 8, 9, ON | BTINT);
			host.refuse_writes = nth;
			if (path == 0) {
				/* one run, then its records one by one */
				jumps(&host, 0x1000, 4);
				lost = nth == 2 ? 4 : 0; /* if the index is refused, all four */
			} else {
				for (unsigned n = 0; n < 4; n++)
					jumps(&host, 0x1000 + 16 * n, 1);
				lost = 1; /* the record or the index is refused */
			}
			CHECK_EQ(stored(&host), 4 - lost);
			CHECK_EQ(CAUSES(&host), 0);
			for (unsigned n = 0; n + lost < 4; n++) {
				unsigned skipped = path && n >= (nth - 1) / 2;

				CHECK_EQ(record_at(&host, n).from, 0x1000 + 16 * (n + skipped));
			}
			host_destroy(&host);
		}
}

/* Checks that a record that is not stored does not interrupt, whatever the threshold is. */
static void refused_at_threshold(void)
{
	for (unsigned nth = 0; nth <= 2; nth++) { /* none, the record, the index */
		struct unit_host host;

		start(&host, 8, 1, ON | BTINT);
		host.refuse_writes = nth;
		CHECK_EQ(jumps(&host, 0x1000, 1), nth ? 0 : SPMU_EV_PMI);
		spmu_write_lvt(host.core, 0, LVT_NMI);
		host.refuse_writes = nth;
		CHECK_EQ(retire(&host, 0x1000, SPMU_SIGBIT(JMP_REL)), nth ? 0 : SPMU_EV_PMI);
		CHECK_EQ(stored(&host), nth ? 0 : 2);
		host_destroy(&host);
	}
	for (unsigned nth = 1; nth <= 2; nth++) { /* past the threshold already */
		struct unit_host host;

		start(&host, 8, 1, ON | BTINT);
		jumps(&host, 0x1000, 3);
		spmu_write_lvt(host.core, 0, LVT_NMI);
		host.refuse_writes = nth;
		CHECK_EQ(jumps(&host, 0x1000, 1), 0);
		CHECK_EQ(stored(&host), 3);
		host_destroy(&host);
	}
}

/* Checks that the record that passes a threshold between two records interrupts. */
static void odd_threshold(void)
{
	for (unsigned past = 1; past < RECORD; past += 11) {
		const struct spmu_ds_area area =
			AREA(BTS_BASE, BTS_BASE, BTS_BASE + 240, BTS_BASE + RECORD + past);
		struct unit_host host;

		start(&host, 4, 5, 0);
		put_area(&host, &area);
		WRMSR(&host, DEBUGCTL, ON | BTINT);
		CHECK_EQ(host.meters[0].tap.headroom, 2);
		CHECK_EQ(jumps(&host, 0x1000, 1), 0);
		CHECK_EQ(jumps(&host, 0x1010, 1), SPMU_EV_PMI);
		host_destroy(&host);
	}
}

/* Checks that nothing happens if there is no memory at IA32_DS_AREA. */
static void no_area(void)
{
	struct unit_host host;

	start(&host, 4, 1, ON | BTINT);
	WRMSR(&host, DS_AREA_MSR, 0x1000);
	CHECK_EQ(host.meters[0].tap.bts_next, 0);
	CHECK_EQ(jumps(&host, 0x1000, 4), 0);
	CHECK_EQ(retire(&host, 0x1000, SPMU_SIGBIT(JMP_REL)), 0);
	CHECK_EQ(host.writes, 0);
	host_destroy(&host);
}

/* Checks that long runs in one call, several times around the buffer, equal branches one by one. */
static void many(void)
{
	for (unsigned records = 1; records <= 200; records += 37)
		for (unsigned count = 1; count <= 300; count += 23) {
			struct unit_host all, single;

			start(&all, records, records + 1, ON);
			start(&single, records, records + 1, ON);
			jumps(&all, 0x1000, count);
			for (unsigned n = 0; n < count; n++)
				jumps(&single, 0x1000 + 16 * n, 1);
			CHECK(!memcmp(all.memory, single.memory, MEMORY_BYTES));
			CHECK_EQ(all.meters[0].tap.bts_next, single.meters[0].tap.bts_next);
			CHECK_EQ(all.meters[0].tap.headroom, single.meters[0].tap.headroom);
			host_destroy(&all);
			host_destroy(&single);
		}
}

/* Checks 17.4.9.2: without DTES64 the area and its records are narrow outside IA-32e mode. */
static void narrow(void)
{
	const struct spmu_ds_layout *layout = layout_of("core", false);
	const struct spmu_ds_area area = AREA(0x1000, 0x1000, 0x1000 + 36, 0x1000 + 24);
	struct unit_host host;
	struct spmu_bts_record record;
	struct spmu_ds_area seen;

	if (!CHECK(layout && layout->bts_bytes == 12))
		return;
	host_create(&host, "core", 1, SUPPLY_EXECUTION);
	host.base = 0; /* its memory begins at 0 */
	CHECK_EQ(spmu_ds_encode(layout, &area, host.memory, MEMORY_BYTES), SPMU_OK);
	spmu_write_lvt(host.core, 0, LVT_NMI);
	WRMSR(&host, DEBUGCTL, ON | BTINT);
	CHECK_EQ(host.meters[0].tap.headroom, 2);
	CHECK_EQ(host.meters[0].tap.bts_next, 0); /* hosts store wide records only */
	CHECK_EQ(jumps(&host, 0x8048000, 4), SPMU_EV_PMI);
	CHECK_EQ(spmu_ds_decode(layout, host.memory, MEMORY_BYTES, &seen), SPMU_OK);
	CHECK_EQ(seen.bts_index, 0x1000 + 36);
	for (unsigned n = 0; n < 3; n++) {
		CHECK_EQ(spmu_bts_decode(layout, host.memory + 0x1000 + 12 * n, 12, &record),
			 SPMU_OK);
		CHECK_EQ(record.from, 0x8048000 + 16 * n);
		CHECK_EQ(record.to, 0x8048000 + 16 * n + 7);
	}
	CHECK_EQ(host.memory[0x1000 + 36], 0);
	host_destroy(&host);
}

/* Checks what the tap tells a host that stores the records itself. */
static void tap(void)
{
	static const struct {
		int line;
		uint32_t debugctl;
		uint64_t select;
		unsigned records, threshold, before;
		uint64_t room, next; /* next: from the base, in records, plus 1; 0: none */
	} rows[] = {
		{__LINE__, ON, 0, 10, 11, 0, 10, 1},
		{__LINE__, ON, 0, 10, 11, 3, 7, 4},
		{__LINE__, ON, 0, 10, 11, 10, 10, 1}, /* went back to the base */
		{__LINE__, ON | BTINT, 0, 10, 8, 0, 8, 1},
		{__LINE__, ON | BTINT, 0, 10, 8, 6, 2, 7},
		{__LINE__, ON | BTINT, 0, 10, 8, 9, 1, 10}, /* each one interrupts now */
		{__LINE__, ON | BTINT, 0, 10, 8, 10, UINT64_MAX, 0},
		{__LINE__, ON | 1, 0, 10, 11, 0, 10, 1},
		{__LINE__, ON | 1, 4, 10, 11, 0, 10, 0},     /* LBR needs the kind */
		{__LINE__, ON | 1, 1, 10, 11, 0, 10, 0},     /* or the ring */
		{__LINE__, ON | 1, 0x3c4, 10, 11, 0, 10, 0}, /* or calls from returns */
		{__LINE__, ON | OFF_OS, 0, 10, 11, 0, 10, 1},
		{__LINE__, ON | OFF_OS | 1, 0, 10, 11, 0, 10, 0}, /* LBR needs both rings */
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct unit_host host;

		start(&host, rows[i].records, rows[i].threshold, 0);
		WRMSR(&host, LBR_SELECT, rows[i].select);
		WRMSR(&host, DEBUGCTL, rows[i].debugctl);
		if (rows[i].before)
			jumps(&host, 0x1000, rows[i].before);
		CHECK_ROW_EQ(rows[i].line, host.meters[0].tap.keep_last, 0);
		CHECK_ROW_EQ(rows[i].line, host.meters[0].tap.headroom, rows[i].room);
		CHECK_ROW_EQ(rows[i].line, host.meters[0].tap.bts_next,
			     rows[i].next ? BTS_BASE + (rows[i].next - 1) * RECORD : 0);
		host_destroy(&host);
	}
}

/* Stores records as a host does that writes them itself, from tap.bts_next on. */
static unsigned store(struct unit_host *host, uint64_t from, unsigned count)
{
	for (unsigned n = 0; n < count; n++) {
		struct spmu_bts_record record = {from + 16 * n, from + 16 * n + 7, false};

		CHECK_EQ(spmu_bts_encode(layout_of("skylake", true), &record,
					 host->memory +
						 (host->meters[0].tap.bts_next - MEMORY_BASE) +
						 n * RECORD,
					 RECORD),
			 SPMU_OK);
	}
	return spmu_branches_stored(host->core, 0, count);
}

/*
 * Checks that the result equals that of spmu_branches(), including last branch records and
 * interrupts.
 */
static void stored_by_host(void)
{
	for (unsigned btint = 0; btint <= 1; btint++) {
		uint32_t debugctl = ON | 1 | (btint ? BTINT : 0);
		struct unit_host itself, unit;
		uint64_t from = 0x1000;

		start(&itself, 50, btint ? 45 : 51, debugctl);
		start(&unit, 50, btint ? 45 : 51, debugctl);
		for (unsigned step = 1; step < 60; step++) {
			unsigned count = 1 + step * 7 % 40;

			if (!itself.meters[0].tap.bts_next)
				break;
			if (count > itself.meters[0].tap.headroom)
				count = (unsigned)itself.meters[0].tap.headroom;
			CHECK_EQ(store(&itself, from, count), jumps(&unit, from, count));
			from += 16 * count;
			CHECK(!memcmp(itself.memory, unit.memory, MEMORY_BYTES));
			CHECK_EQ(itself.meters[0].tap.headroom, unit.meters[0].tap.headroom);
			CHECK_EQ(itself.meters[0].tap.bts_next, unit.meters[0].tap.bts_next);
			CHECK_EQ(itself.pmis, unit.pmis);
			for (unsigned n = 0; n < 32; n++)
				CHECK_EQ(RDMSR(&itself, LBR_FROM + n), RDMSR(&unit, LBR_FROM + n));
			CHECK_EQ(RDMSR(&itself, LBR_TOS), RDMSR(&unit, LBR_TOS));
		}
		CHECK_EQ(itself.pmis, btint);
		host_destroy(&itself);
		host_destroy(&unit);
	}
}

/* Checks that wrong reports of a host move nothing past the buffer. */
static void stored_wrongly(void)
{
	struct unit_host host;
	struct spmu_ds_area area;

	start(&host, 10, 8, ON | BTINT);
	CHECK_EQ(spmu_branches_stored(host.core, 1, 1), 0);
	CHECK_EQ(spmu_branches_stored(host.core, 0, 0), 0);
	CHECK_EQ(stored(&host), 0);
	CHECK_EQ(spmu_branches_stored(host.core, 0, SIZE_MAX), SPMU_EV_PMI); /* at most `room` */
	CHECK_EQ(stored(&host), 8);
	area = host_area(&host);
	area.bts_index = BTS_BASE; /* software emptied the buffer without a report */
	put_area(&host, &area);
	CHECK_EQ(spmu_branches_stored(host.core, 0, 1), 0);
	CHECK_EQ(stored(&host), 0);
	CHECK_EQ(host.meters[0].tap.bts_next, BTS_BASE); /* now the unit knows */
	host_destroy(&host);

	start(&host, 10, 8, 0);
	CHECK_EQ(spmu_branches_stored(host.core, 0, 3), 0);
	CHECK_EQ(stored(&host), 0);
	host_destroy(&host);
}

int main(void)
{
	RUN(formats());
	RUN(flags());
	RUN(kinds());
	RUN(circular());
	RUN(circular_threshold());
	RUN(interrupting());
	RUN(freezes());
	RUN(hostile());
	RUN(refused());
	RUN(refused_at_threshold());
	RUN(odd_threshold());
	RUN(no_area());
	RUN(narrow());
	RUN(many());
	RUN(tap());
	RUN(stored_by_host());
	RUN(stored_wrongly());
	return test_summary();
}
