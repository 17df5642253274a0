/* SPDX-License-Identifier: MIT */
/*
 * perf_ring.c: rings of records: their layouts, full rings, rings that are overwritten, wake-ups.
 *
 * The expected words are those of perf_event_open(2), counted by hand.
 */
#include "check.h"

#include <hosts/user/perf_event/perf_record.h>
#include <hosts/user/perf_event/perf_ring.h>
#include <string.h>

#define BYTES 4096u

static struct perf_event_mmap_page page;
static uint64_t data[BYTES / 8];
static const struct perf_ring_memory memory = {&page, (uint8_t *)data};
static const struct perf_sample_id of = {
	.pid = 1, .tid = 2, .cpu = 3, .time_ns = 4, .id = 5, .stream_id = 6};

/* --- layouts --- */

static size_t copy(void *to, uint64_t from, size_t bytes)
{
	memset(to, (int)from, bytes / 2);
	return bytes / 2;
}

static void samples(void)
{
	static const uint64_t registers[PERF_SAMPLE_REGISTERS] = {10, 11, 12, 13, 14, 15, 16, 0x99};
	static const uint64_t chain[] = {PERF_CONTEXT_USER, 7};
	static const uint64_t read[] = {77};
	static const struct perf_branch_entry branch = {.from = 20, .to = 21, .mispred = 1};
	static const uint64_t expected[] = {
		PERF_RECORD_SAMPLE |
			(uint64_t)(PERF_RECORD_MISC_USER | PERF_RECORD_MISC_EXACT_IP) << 32 |
			(uint64_t)30 * 8 << 48,
		5,
		100,
		1 | UINT64_C(2) << 32,
		4,
		101,
		5,
		6,
		3,
		102, /* identifier to period */
		77,  /* read */
		2,
		PERF_CONTEXT_USER,
		7, /* call chain */
		1,
		20,
		21,
		1, /* branches */
		2,
		10,
		0x99, /* registers: AX, SP */
		16,
		UINT64_C(0x9999999999999999),
		0,
		8, /* stack */
		8,
		9, /* weight, data source */
		0, /* transaction */
		2,
		11, /* registers: BX */
	};
	static const struct perf_event_attr attr = {
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID |
			       PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
			       PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_BRANCH_STACK |
			       PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER | PERF_SAMPLE_WEIGHT |
			       PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION |
			       PERF_SAMPLE_REGS_INTR,
		.sample_regs_user = 0x81,
		.sample_regs_intr = 2,
		.sample_stack_user = 16,
	};
	const struct perf_sample sample = {
		.of = of,
		.ip = 100,
		.address = 101,
		.period = 102,
		.exact = true,
		.read = read,
		.read_words = 1,
		.chain = chain,
		.chain_words = 2,
		.branch = &branch,
		.branches = 1,
		.registers = registers,
		.weight = 8,
		.data_source = 9,
		.copy = copy,
	};
	static uint64_t got[PERF_SAMPLE_MOST / 8];

	CHECK_EQ(perf_sample_write(got, &attr, &sample), sizeof(expected));
	CHECK(!memcmp(got, expected, sizeof(expected)));
}

/* What does not fit a record is left out of the copy of the stack. */
static void long_stack(void)
{
	static const uint64_t registers[PERF_SAMPLE_REGISTERS];
	const struct perf_event_attr attr = {
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_STACK_USER | PERF_SAMPLE_WEIGHT,
		.sample_stack_user = 65528,
	};
	const struct perf_sample sample = {.registers = registers, .weight = 8, .copy = copy};
	static uint64_t got[PERF_SAMPLE_MOST / 8];
	size_t bytes = perf_sample_write(got, &attr, &sample);

	CHECK_EQ(bytes, PERF_SAMPLE_MOST);
	CHECK_EQ(got[2], PERF_SAMPLE_MOST - 5 * 8);
	CHECK_EQ(got[bytes / 8 - 1], 8);
}

static void others(void)
{
	const struct perf_event_attr attr = {
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_CPU, .sample_id_all = 1, .mmap2 = 1};
	const struct perf_record_mapping mapping = {0x1000, 0x2000, 0x3000, 8,	      9,
						    10,	    5,	    2,	    "/a/name"};
	static const uint64_t mmap2[] = {PERF_RECORD_MMAP2 | (uint64_t)PERF_RECORD_MISC_USER << 32 |
						 (uint64_t)12 * 8 << 48,
					 1 | UINT64_C(2) << 32,
					 0x1000,
					 0x2000,
					 0x3000,
					 8 | UINT64_C(9) << 32,
					 10,
					 0,
					 5 | UINT64_C(2) << 32,
					 UINT64_C(0x656d616e2f612f), /* "/a/name" */
					 1 | UINT64_C(2) << 32,
					 3};
	uint64_t got[PERF_RECORD_MOST / 8];

	CHECK_EQ(perf_record_mmap(got, &attr, &of, &mapping), sizeof(mmap2));
	CHECK(!memcmp(got, mmap2, sizeof(mmap2)));
	CHECK_EQ(perf_record_comm(got, &attr, &of, "eightcha", true), 8 * (1 + 1 + 2 + 2));
	CHECK_EQ(got[0] >> 32 & 0xffff, PERF_RECORD_MISC_COMM_EXEC);
	CHECK_EQ(perf_record_task(got, &attr, &of, &(struct perf_record_task){1, 2, 3, 4}, true),
		 8 * (1 + 3 + 2));
	CHECK_EQ(got[0] & UINT32_MAX, PERF_RECORD_EXIT);
}

/* --- rings --- */

/* Writes a record of so many bytes that begins with `first`. */
static bool put(struct perf_ring *ring, const struct perf_event_attr *attr, unsigned type,
		size_t bytes, bool *wakes)
{
	uint64_t record[BYTES / 8] = {type | (uint64_t)bytes << 48};

	return perf_ring_write(ring, memory, attr, &of, record, bytes, wakes);
}

static void begin(struct perf_ring *ring, const struct perf_event_attr *attr, bool writable)
{
	memset(&page, 0, sizeof(page));
	memset(data, 0, sizeof(data));
	perf_ring_begin(ring, attr, BYTES, writable);
}

static void full(void)
{
	const struct perf_event_attr attr = {.watermark = 1, .wakeup_watermark = BYTES};
	struct perf_ring ring;
	unsigned n = 0;
	bool wakes;

	begin(&ring, &attr, true);
	while (put(&ring, &attr, PERF_RECORD_COMM, 40, &wakes))
		n++;
	CHECK_EQ(n, 102); /* one byte is always free */
	CHECK_EQ(ring.lost, 1);
	CHECK(!put(&ring, &attr, PERF_RECORD_COMM, 40, &wakes));
	CHECK_EQ(page.data_head, 102 * 40);
	page.data_tail = 40;
	/* The record that says how many are lost needs room, too. */
	CHECK(!put(&ring, &attr, PERF_RECORD_COMM, 40, &wakes));
	page.data_tail = 80;
	CHECK(put(&ring, &attr, PERF_RECORD_COMM, 40, &wakes));
	CHECK_EQ(page.data_head, 102 * 40 + 24 + 40);
	CHECK_EQ((uint32_t)data[510], PERF_RECORD_LOST);
	CHECK_EQ(data[511], 5);
	CHECK_EQ(data[0], 3);
	CHECK_EQ((uint32_t)data[1], PERF_RECORD_COMM);
	CHECK_EQ(ring.lost, 0);
}

static void paused(void)
{
	const struct perf_event_attr attr = {.sample_period = 1};
	struct perf_ring ring;
	bool wakes;

	begin(&ring, &attr, true);
	ring.paused = 1;
	CHECK(!put(&ring, &attr, PERF_RECORD_COMM, 40, &wakes));
	CHECK_EQ(page.data_head, 0);
	CHECK_EQ(ring.lost, 1);
	perf_ring_begin(&ring, &attr, 0, true);
	CHECK(!put(&ring, &attr, PERF_RECORD_COMM, 40, &wakes));
	CHECK_EQ(ring.lost, 0);
}

/* The newest record is at the head, and the reader goes on from there. */
static void overwritten(void)
{
	const struct perf_event_attr attr = {.write_backward = 1};
	struct perf_ring ring;
	bool wakes;

	begin(&ring, &attr, false);
	for (unsigned i = 0; i < 1000; i++)
		CHECK(put(&ring, &attr, PERF_RECORD_COMM, 40, &wakes));
	CHECK_EQ(page.data_head, (uint64_t)-40000);
	CHECK_EQ((uint32_t)data[(-40000 & (BYTES - 1)) / 8], PERF_RECORD_COMM);
}

/* Returns at which records, bit n for the n-th, the reader is woken. */
static uint64_t wakeups(const struct perf_event_attr *attr, unsigned type)
{
	struct perf_ring ring;
	uint64_t set = 0;
	bool wakes;

	begin(&ring, attr, true);
	for (unsigned i = 0; i < 64; i++) {
		CHECK(put(&ring, attr, type, 128, &wakes));
		page.data_tail = page.data_head;
		set |= (uint64_t)wakes << i;
	}
	return set;
}

static void wakes(void)
{
	const struct perf_event_attr none = {.sample_period = 1};
	const struct perf_event_attr third = {.sample_period = 1, .wakeup_events = 3};
	const struct perf_event_attr bytes = {.watermark = 1, .wakeup_watermark = 1024};

	/* Without a wish, when half of the ring is new. */
	CHECK_EQ(wakeups(&none, PERF_RECORD_SAMPLE), UINT64_C(0x0001000100010000));
	CHECK_EQ(wakeups(&bytes, PERF_RECORD_COMM), UINT64_C(0x0101010101010100));
	CHECK_EQ(wakeups(&third, PERF_RECORD_SAMPLE) & 0x7ff, 0x124);
	CHECK_EQ(wakeups(&third, PERF_RECORD_COMM), UINT64_C(0x0001000100010000));
}

/* A record that is larger than the ring overwrites itself, and nothing else. */
static void too_large(void)
{
	const struct perf_event_attr attr = {.sample_period = 1};
	static uint64_t record[3 * BYTES / 8 + 2], ring_and_guard[2 * BYTES / 8];
	const struct perf_ring_memory narrow = {&page, (uint8_t *)ring_and_guard};
	struct perf_ring ring;
	bool wakes;

	begin(&ring, &attr, false);
	for (unsigned i = 0; i < 3 * BYTES / 8 + 2; i++)
		record[i] = i + 1;
	CHECK(perf_ring_write(&ring, narrow, &attr, &of, record, sizeof(record), &wakes));
	CHECK_EQ(page.data_head, sizeof(record));
	CHECK_EQ(ring_and_guard[0], 3 * BYTES / 8 + 1);
	CHECK_EQ(ring_and_guard[1], 3 * BYTES / 8 + 2);
	CHECK_EQ(ring_and_guard[2], 2 * BYTES / 8 + 3);
	CHECK_EQ(ring_and_guard[BYTES / 8 - 1], 3 * BYTES / 8);
	for (unsigned i = BYTES / 8; i < 2 * BYTES / 8; i++)
		CHECK_EQ(ring_and_guard[i], 0);
}

int main(void)
{
	RUN(samples());
	RUN(long_stack());
	RUN(others());
	RUN(full());
	RUN(paused());
	RUN(overwritten());
	RUN(too_large());
	RUN(wakes());
	return test_summary();
}
