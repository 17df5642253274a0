/* SPDX-License-Identifier: MIT */
/*
 * pebs.c: the rules of precise event-based sampling, one function for each, with the section of the
 * manual (Vol. 3B 18.8.1.1, 18.13.1, 17.4.9).
 */
#include "tests/unit/unit_host.h"

#define JUMP  SPMU_SIGBIT(JMP_REL)
#define LOAD  SPMU_SIGBIT(LOADS)
#define STORE SPMU_SIGBIT(STORES)

static const uint64_t minus_5[4] = {MAX48 - 4, MAX48 - 4, MAX48 - 4, MAX48 - 4};

/* Lets PMC0 count near branches precisely, `left` events before it wraps. */
static void start(struct unit_host *host, unsigned records, unsigned threshold, uint64_t left)
{
	host_create(host, "skylake", 1, SUPPLY_EXECUTION);
	spmu_write_lvt(host->core, 0, LVT_NMI);
	host_ds(host, records, threshold, minus_5);
	WRMSR(host, EVTSEL0, COUNT_ALL | 0x20c4);
	WRMSR(host, A_PMC0, (MAX48 + 1 - left) & MAX48);
	WRMSR(host, PEBS_ENABLE, 1);
}

/* Checks 18.8.1.1: the overflow arms; the first event after it makes the record. */
static void overflow_arms(void)
{
	struct unit_host host;

	start(&host, 8, 8, 3);
	for (unsigned n = 1; n <= 2; n++)
		retire(&host, n, JUMP);
	CHECK_EQ(CAUSES(&host), 0);
	CHECK_EQ(retire(&host, 3, JUMP), 0);
	CHECK_EQ(CAUSES(&host), 1);
	CHECK_EQ(host.meters[0].meter[0].headroom, 0);
	CHECK_EQ(host_records(&host), 0);
	CHECK_EQ(retire(&host, 4, 0), 0); /* no event of this counter */
	CHECK_EQ(retire(&host, 5, JUMP), SPMU_EV_RECORD);
	CHECK_EQ(host_records(&host), 1);
	CHECK_EQ(host_record(&host, 0).eventing_ip, 5);
	CHECK_EQ(host.pmis, 0);
	host_destroy(&host);
}

/* Checks 18.13.1.1, table 18-55: the contents of a record. */
static void record_contents(void)
{
	struct unit_host host;
	struct spmu_pebs_record record;
	struct spmu_registers expected;

	start(&host, 8, 8, 1);
	retire(&host, 0x4000, JUMP);
	host.tsc = 0x123456;
	CHECK_EQ(retire(&host, 0x5000, JUMP), SPMU_EV_RECORD);
	record = host_record(&host, 0);
	host_registers(&host, 0, &expected);
	CHECK(!memcmp(&record.regs, &expected, sizeof(expected)));
	CHECK_EQ(record.regs.rip, 0x5004); /* after the instruction */
	CHECK_EQ(record.eventing_ip, 0x5000);
	CHECK_EQ(record.tsc, 0x123456 + 10);
	CHECK_EQ(record.applicable, 1);
	CHECK_EQ(record.data_address, 0); /* branches have none */
	CHECK_EQ(record.data_source, 0);
	CHECK_EQ(record.latency, 0);
	CHECK_EQ(record.tx_abort, 0);
	/* Offsets, straight from the table. */
	for (unsigned i = 0; i < 18; i++) {
		uint64_t word;

		memcpy(&word, host.memory + 0x1000 + 8 * i, 8);
		CHECK_EQ(word, i == 1 ? 0x5004 : 0x1100 + i);
	}
	{
		static const struct {
			int line;
			unsigned offset;
			uint64_t value;
		} rows[] = {
			{__LINE__, 0x90, 1},
			{__LINE__, 0x98, 0},
			{__LINE__, 0xa0, 0},
			{__LINE__, 0xa8, 0},
			{__LINE__, 0xb0, 0x5000},
			{__LINE__, 0xb8, 0},
			{__LINE__, 0xc0, 0x123456 + 10},
		};

		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			uint64_t word;

			memcpy(&word, host.memory + 0x1000 + rows[i].offset, 8);
			CHECK_ROW_EQ(rows[i].line, word, rows[i].value);
		}
	}
	host_destroy(&host);
}

/* Checks 18.13.1.3, 18.11.3: events of memory have the address of the load or of the store. */
static void data_address(void)
{
	static const struct {
		int line;
		uint32_t code;
		uint64_t signals, address;
	} rows[] = {
		{__LINE__, 0x81d0, LOAD, 0x2000},
		{__LINE__, 0x82d0, STORE, 0x2000},
		{__LINE__, 0x21d0, LOAD | SPMU_SIGBIT(LOCK_LOADS), 0x2000},
		/* With a load at 2000H and a store at 2008H. */
		{__LINE__, 0x81d0, LOAD | STORE, 0x2000},
		{__LINE__, 0x82d0, LOAD | STORE, 0x2008},
		{__LINE__, 0x83d0, LOAD | STORE, 0x2000},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct unit_host host;

		start(&host, 8, 8, 1);
		WRMSR(&host, EVTSEL0, COUNT_ALL | rows[i].code);
		retire(&host, 0x10, rows[i].signals);
		CHECK_ROW_EQ(rows[i].line, retire(&host, 0x20, rows[i].signals), SPMU_EV_RECORD);
		CHECK_ROW_EQ(rows[i].line, host_record(&host, 0).data_address, rows[i].address);
		CHECK_ROW_EQ(rows[i].line, host_record(&host, 0).data_source, 0);
		host_destroy(&host);
	}
}

/* Checks 18.8.1.1: after the record the status is cleared and the counter reloaded. */
static void clears_and_reloads(void)
{
	struct unit_host host;

	start(&host, 64, 64, 1);
	retire(&host, 1, JUMP);
	retire(&host, 2, JUMP);
	CHECK_EQ(CAUSES(&host), 0);
	CHECK_EQ(RDMSR(&host, PMC0), MAX48 - 4);
	/* Five events to the overflow, one for the record. */
	for (unsigned n = 3; n < 3 + 60; n++)
		retire(&host, n, JUMP);
	CHECK_EQ(host_records(&host), 11);
	for (unsigned n = 0; n < 11; n++)
		CHECK_EQ(host_record(&host, n).eventing_ip, 2 + 6 * n);
	host_destroy(&host);
}

/* Checks that the reload undoes the wrap of the event that makes the record. */
static void wraps_again(void)
{
	struct unit_host host;

	start(&host, 8, 8, 1);
	retire(&host, 1, JUMP);
	WRMSR(&host, A_PMC0, MAX48); /* armed as before */
	CHECK_EQ(retire(&host, 2, JUMP), SPMU_EV_RECORD);
	CHECK_EQ(CAUSES(&host), 0);
	CHECK_EQ(RDMSR(&host, PMC0), MAX48 - 4);
	CHECK_EQ(retire(&host, 3, JUMP), 0); /* not armed any more */
	host_destroy(&host);
}

/* Checks 18.8.1.1: the reset value is cut to the counter's width. */
static void reload_is_cut(void)
{
	static const uint64_t wide[4] = {UINT64_C(0xffff123456789abc)};
	struct unit_host host;

	start(&host, 8, 8, 1);
	host_ds(&host, 8, 8, wide);
	retire(&host, 1, JUMP);
	retire(&host, 2, JUMP);
	CHECK_EQ(RDMSR(&host, PMC0), UINT64_C(0x123456789abc));
	host_destroy(&host);
}

/* Checks 18.8.1.1: "If a counter is not enabled for PEBS, its value will not be modified". */
static void others_not_reloaded(void)
{
	struct unit_host host;

	start(&host, 8, 8, 1);
	WRMSR(&host, EVTSEL0 + 1, COUNT_ALL | 0x20c4);
	WRMSR(&host, A_PMC0 + 1, MAX48);
	retire(&host, 1, JUMP);
	CHECK_EQ(CAUSES(&host), 3);
	retire(&host, 2, JUMP);
	CHECK_EQ(CAUSES(&host), 2);
	CHECK_EQ(RDMSR(&host, PMC0 + 1), 1);
	CHECK_EQ(host_record(&host, 0).applicable, 1);
	host_destroy(&host);
}

/* Checks 18.13.1.1: counters that are armed together share a record that names them all. */
static void shared_record(void)
{
	struct unit_host host;

	start(&host, 8, 8, 1);
	WRMSR(&host, EVTSEL0 + 2, COUNT_ALL | 0x81d0);
	WRMSR(&host, EVTSEL0 + 3, COUNT_ALL | 0x20c4);
	WRMSR(&host, A_PMC0 + 2, MAX48);
	WRMSR(&host, A_PMC0 + 3, MAX48);
	WRMSR(&host, PEBS_ENABLE, 0xd);
	retire(&host, 1, JUMP | LOAD);
	CHECK_EQ(CAUSES(&host), 0xd);
	CHECK_EQ(retire(&host, 2, JUMP), SPMU_EV_RECORD); /* not the load's */
	CHECK_EQ(host_records(&host), 1);
	CHECK_EQ(host_record(&host, 0).applicable, 0x9);
	CHECK_EQ(CAUSES(&host), 0x4);
	CHECK_EQ(RDMSR(&host, PMC0 + 2), 0);
	CHECK_EQ(RDMSR(&host, PMC0 + 3), MAX48 - 4);
	CHECK_EQ(retire(&host, 3, LOAD), SPMU_EV_RECORD);
	CHECK_EQ(host_record(&host, 1).applicable, 0x4);
	CHECK_EQ(host_record(&host, 1).data_address, 0x300);
	host_destroy(&host);
}

/* Checks 18.8.1.1: reaching the threshold sets OvfBuf and interrupts, whatever the INT bit. */
static void threshold_interrupts(void)
{
	struct unit_host host;

	start(&host, 8, 2, 1);
	retire(&host, 1, JUMP);
	CHECK_EQ(retire(&host, 2, JUMP), SPMU_EV_RECORD);
	CHECK_EQ(CAUSES(&host), 0);
	for (unsigned n = 3; n < 8; n++)
		retire(&host, n, JUMP);
	CHECK_EQ(host.pmis, 0);
	CHECK_EQ(retire(&host, 8, JUMP), SPMU_EV_RECORD | SPMU_EV_PMI);
	CHECK_EQ(CAUSES(&host), OVFBUF);
	CHECK_EQ(host.pmis, 1);
	host_destroy(&host);
}

/* Checks the bounds (18.8.1.1): a record that does not fit is skipped entirely. */
static void bounds_skip(void)
{
	static const struct {
		int line;
		int64_t base, index, maximum; /* from PEBS_BASE */
		bool written, full;
	} rows[] = {
		{__LINE__, 0, 0, RECORD_BYTES, true, false},
		{__LINE__, 0, 0, RECORD_BYTES + 1, true, false},
		{__LINE__, 0, 8, RECORD_BYTES + 8, true, false}, /* no alignment is required */
		{__LINE__, 0, 0, RECORD_BYTES - 1, false, true},
		{__LINE__, 0, RECORD_BYTES, RECORD_BYTES, false, true},
		{__LINE__, 0, 2 * RECORD_BYTES, RECORD_BYTES, false, true},
		{__LINE__, 8, 0, 4 * RECORD_BYTES, false, false}, /* before the buffer */
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct unit_host host;
		struct spmu_ds_area area;
		uint8_t before[MEMORY_BYTES];

		start(&host, 8, 100, 1);
		area = host_area(&host);
		area.pebs_base = PEBS_BASE + (uint64_t)rows[i].base;
		area.pebs_index = PEBS_BASE + (uint64_t)rows[i].index;
		area.pebs_maximum = PEBS_BASE + (uint64_t)rows[i].maximum;
		CHECK_EQ(spmu_ds_encode(spmu_model_ds_layout(spmu_model_find("skl"), true), &area,
					host.memory, MEMORY_BYTES),
			 SPMU_OK);
		memcpy(before, host.memory, MEMORY_BYTES);
		retire(&host, 1, JUMP);
		CHECK_ROW_EQ(rows[i].line, retire(&host, 2, JUMP),
			     rows[i].written ? SPMU_EV_RECORD : 0);
		CHECK_ROW(rows[i].line,
			  (memcmp(before, host.memory, MEMORY_BYTES) == 0) == !rows[i].written);
		CHECK_ROW_EQ(rows[i].line, CAUSES(&host),
			     rows[i].written ? 0 : (rows[i].full ? OVFBUF : 0) | 1);
		CHECK_ROW_EQ(rows[i].line, RDMSR(&host, PMC0), rows[i].written ? MAX48 - 4 : 1);
		CHECK_ROW_EQ(rows[i].line, host.pmis, 0); /* "no signaling" */
		host_destroy(&host);
	}
}

/* Checks that addresses at the end of the address space do not wrap around. */
static void bounds_do_not_wrap(void)
{
	struct unit_host host;
	struct spmu_ds_area area;

	start(&host, 8, 100, 1);
	area = host_area(&host);
	area.pebs_base = 0;
	area.pebs_index = UINT64_MAX - 10;
	area.pebs_maximum = UINT64_MAX;
	CHECK_EQ(spmu_ds_encode(spmu_model_ds_layout(spmu_model_find("skl"), true), &area,
				host.memory, MEMORY_BYTES),
		 SPMU_OK);
	retire(&host, 1, JUMP);
	CHECK_EQ(retire(&host, 2, JUMP), 0);
	CHECK_EQ(host.writes, 0);
	host_destroy(&host);
}

/* Checks that sampling continues after a full buffer is emptied, as the counter stayed armed. */
static void room_again(void)
{
	struct unit_host host;

	start(&host, 1, 100, 1);
	for (unsigned n = 1; n <= 8; n++)
		retire(&host, n, JUMP);
	CHECK_EQ(host_records(&host), 1);
	CHECK_EQ(CAUSES(&host), OVFBUF | 1);
	host_ds(&host, 1, 100, minus_5);
	CHECK_EQ(retire(&host, 9, JUMP), SPMU_EV_RECORD);
	CHECK_EQ(host_record(&host, 0).eventing_ip, 9);
	CHECK_EQ(CAUSES(&host), OVFBUF);
	host_destroy(&host);
}

/* Checks 17.4.9.2: memory that is not there loses the record and nothing else. */
static void memory_refuses(void)
{
	for (unsigned refuse = 0; refuse <= 2; refuse++) {
		struct unit_host host;

		start(&host, 8, 8, 1);
		if (refuse == 0)
			WRMSR(&host, DS_AREA_MSR, 0x1000);
		host.refuse_writes = refuse; /* the record, or the index */
		retire(&host, 1, JUMP);
		CHECK_EQ(retire(&host, 2, JUMP), 0);
		CHECK_EQ(CAUSES(&host), 1);
		CHECK_EQ(RDMSR(&host, PMC0), 1);
		CHECK_EQ(host_records(&host), 0);
		host_destroy(&host);
	}
}

/* Checks 18.13.1.2, table 18-56 and note: which counters and events are precise. */
static void who_is_precise(void)
{
	static const struct {
		int line;
		unsigned counter;
		uint64_t select;
		bool precise;
	} rows[] = {
		{__LINE__, 0, 0x4320c4, true},	{__LINE__, 3, 0x4320c4, true},
		{__LINE__, 4, 0x4320c4, false}, /* no PEBS on IA32_PMC4 and above */
		{__LINE__, 0, 0x4300c4, false}, /* counts, makes no record */
		{__LINE__, 1, 0x4301c0, true},	/* INST_RETIRED.PREC_DIST */
		{__LINE__, 0, 0x4300c0, true},	{__LINE__, 0, 0x6320c4, false}, /* AnyThread */
		{__LINE__, 0, 0x4720c4, false},					/* edge */
		{__LINE__, 0, 0x14320c4, true},					/* threshold */
		{__LINE__, 0, 0xc320c4, true},					/* invert */
		{__LINE__, 0, 0x4304c4, true}, /* ALL_BRANCHES, precise form */
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct unit_host host;

		start(&host, 8, 8, 1);
		WRMSR(&host, EVTSEL0, 0);
		WRMSR(&host, EVTSEL0 + rows[i].counter, rows[i].select);
		WRMSR(&host, A_PMC0 + rows[i].counter, MAX48);
		if (rows[i].counter < 4)
			WRMSR(&host, PEBS_ENABLE, 1u << rows[i].counter);
		for (unsigned n = 0; n < 8; n++) {
			retire(&host, n, JUMP);
			retire(&host, n, 0);
			retire(&host, n, JUMP);
		}
		CHECK_ROW_EQ(rows[i].line, host_records(&host) > 0, rows[i].precise);
		if (!rows[i].precise) /* it counted on */
			CHECK_ROW(rows[i].line, CAUSES(&host) == 1u << rows[i].counter);
		host_destroy(&host);
	}
}

/* Checks figure 18-21: switching a counter's PEBS off disarms it. */
static void disabled_disarms(void)
{
	struct unit_host host;

	start(&host, 8, 8, 1);
	retire(&host, 1, JUMP);
	WRMSR(&host, PEBS_ENABLE, 0);
	WRMSR(&host, PEBS_ENABLE, 1);
	CHECK_EQ(retire(&host, 2, JUMP), 0);
	CHECK_EQ(host_records(&host), 0);
	CHECK_EQ(CAUSES(&host), 1);
	host_destroy(&host);
}

/* Checks 18.2.1.1: with INT set the overflow that arms also interrupts. */
static void overflow_interrupts(void)
{
	struct unit_host host;

	start(&host, 8, 8, 1);
	WRMSR(&host, EVTSEL0, COUNT_ALL | SELECT_INT | 0x20c4);
	CHECK_EQ(retire(&host, 1, JUMP), SPMU_EV_PMI);
	CHECK_EQ(retire(&host, 2, JUMP), SPMU_EV_RECORD);
	CHECK_EQ(host.pmis, 1);
	host_destroy(&host);
}

/* Checks that an event of another ring neither arms nor records. */
static void rings_filter(void)
{
	struct unit_host host;

	start(&host, 8, 8, 1);
	WRMSR(&host, EVTSEL0, COUNT_USER | 0x20c4);
	retire_lp(&host, 0, 1, JUMP, 0, 1);
	CHECK_EQ(CAUSES(&host), 0);
	retire_lp(&host, 0, 2, JUMP, 3, 1);
	CHECK_EQ(retire_lp(&host, 0, 3, JUMP, 0, 1), 0);
	CHECK_EQ(retire_lp(&host, 0, 4, JUMP, 3, 1), SPMU_EV_RECORD);
	CHECK_EQ(host_record(&host, 0).eventing_ip, 4);
	host_destroy(&host);
}

/*
 * Checks a precise event of retirement that counts core clocks: "fewer than 16 retire" is true in
 * each clock (18.2.1.1). It counts many clocks at a time, and the next instruction makes the
 * record.
 */
static void clocks_by_retirement(void)
{
	static const struct {
		const char *model;
		unsigned event;
	} rows[] = {{"skylake", 0xc0}, {"sandybridge", 0x1c2}, {"nehalem", 0xc0}, {"core2", 0xc0}};
	const uint64_t clock = SPMU_SIGBIT(CYCLES);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct unit_host host;

		host_create(&host, rows[i].model, 1, SUPPLY_ALL);
		host_ds(&host, 8, 8, minus_5);
		WRMSR(&host, EVTSEL0, COUNT_ALL | SELECT_INV | CMASK(16) | rows[i].event);
		WRMSR(&host, PMC0, (uint32_t)-100);
		WRMSR(&host, PEBS_ENABLE, 1);
		CHECK_EQ(host.meters[0].meter[0].signals, clock);
		CHECK_EQ(host.meters[0].meter[0].headroom, 99);
		host.meters[0].meter[0].headroom -= 97;
		spmu_clocks(host.core, 0, clock, 2, 3);
		CHECK_EQ(retire(&host, 1, clock), 0);
		CHECK_EQ(RDMSR(&host, PMC0), 0);
		CHECK_EQ(host_records(&host), 0);
		CHECK_EQ(retire(&host, 2, 0), SPMU_EV_RECORD); /* in the same clock */
		CHECK_EQ(host_record(&host, 0).regs.rip, host.next_ip);
		host_destroy(&host);
	}
}

/* Checks a host without clocks: its instructions are its clocks, with a micro-operation in each. */
static void no_clocks(void)
{
	static const unsigned events[] = {0xc0, 0x1c2};

	for (size_t i = 0; i < COUNT(events); i++) {
		struct unit_host host;

		host_create(&host, "sandybridge", 1, SUPPLY_EXECUTION);
		WRMSR(&host, EVTSEL0, COUNT_ALL | SELECT_INV | CMASK(16) | events[i]);
		WRMSR(&host, PMC0, 0);
		for (unsigned n = 0; n < 5; n++)
			retire(&host, n, 0);
		CHECK_EQ(RDMSR(&host, PMC0), 5);
		host_destroy(&host);
	}
}

/*
 * Checks silent overflows. The overflow only arms (18.8.1.1), so it makes no callback (unit.h). It
 * makes one if it also interrupts, or moves a pin (18.2.1.1, PC: at overflow if clear).
 */
static void silent_overflow(void)
{
	const uint64_t branches = COUNT_ALL | SELECT_PC | 0x20c4;
	struct unit_host host;
	unsigned reads;

	start(&host, 8, 8, 3);
	CHECK_EQ(host.meters[0].meter[0].headroom, 2);
	CHECK_EQ(host.meters[0].meter[0].silent, 0);
	WRMSR(&host, EVTSEL0, branches);
	CHECK_EQ(host.meters[0].meter[0].silent, 1);
	host.meters[0].meter[0].headroom -= 2;
	reads = host.reads;
	CHECK_EQ(retire(&host, 1, JUMP), 0);
	CHECK_EQ(host.reads, reads);
	CHECK_EQ(host.meters[0].meter[0].headroom, 0);
	CHECK_EQ(host.meters[0].meter[0].silent, 0); /* the next event makes the record */
	CHECK_EQ(retire(&host, 2, JUMP), SPMU_EV_RECORD);
	CHECK_EQ(host.meters[0].meter[0].silent, 1);
	WRMSR(&host, EVTSEL0, branches | SELECT_INT);
	CHECK_EQ(host.meters[0].meter[0].silent, 0);
	WRMSR(&host, EVTSEL0, branches);
	CHECK_EQ(host.meters[0].meter[0].silent, 1);
	WRMSR(&host, PEBS_ENABLE, 0);
	CHECK_EQ(host.meters[0].meter[0].silent, 0);
	host_destroy(&host);
}

int main(void)
{
	RUN(clocks_by_retirement());
	RUN(silent_overflow());
	RUN(no_clocks());
	RUN(overflow_arms());
	RUN(record_contents());
	RUN(data_address());
	RUN(clears_and_reloads());
	RUN(wraps_again());
	RUN(reload_is_cut());
	RUN(others_not_reloaded());
	RUN(shared_record());
	RUN(threshold_interrupts());
	RUN(bounds_skip());
	RUN(bounds_do_not_wrap());
	RUN(room_again());
	RUN(memory_refuses());
	RUN(who_is_precise());
	RUN(disabled_disarms());
	RUN(overflow_interrupts());
	RUN(rings_filter());
	return test_summary();
}
