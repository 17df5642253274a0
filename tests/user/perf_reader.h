/* SPDX-License-Identifier: MIT */
/* perf_reader.h: events that sample, and a reader of their rings, for programs under test. */
#ifndef SOFTPMU_TESTS_PERF_READER_H
#define SOFTPMU_TESTS_PERF_READER_H

#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

struct ring {
	struct perf_event_mmap_page *page;
	const uint8_t *data;
	uint64_t bytes, at;
};

struct record {
	struct perf_event_header header;
	uint64_t word[8192];
};

static inline struct perf_event_attr attr_of(uint64_t config, uint64_t period, uint64_t type)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(struct perf_event_attr),
		.config = config,
		.sample_period = period,
		.sample_type = type,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
}

static inline int open_on(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	int fd = (int)syscall(SYS_perf_event_open, attr, pid, cpu, -1, 0);

	if (fd < 0)
		printf("perf_event_open: %s\n", strerrorname_np(errno));
	return fd;
}

static inline struct ring map(int fd, unsigned pages, int protection)
{
	long page = sysconf(_SC_PAGESIZE);
	void *at = mmap(NULL, (size_t)((1 + pages) * page), protection, MAP_SHARED, fd, 0);

	if (at == MAP_FAILED) {
		printf("mmap: %s\n", strerrorname_np(errno));
		exit(1);
	}
	return (struct ring){at, (uint8_t *)at + page, (uint64_t)(pages * page), 0};
}

static inline void copy(const struct ring *ring, uint64_t from, void *to, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		((uint8_t *)to)[i] = ring->data[(from + i) % ring->bytes];
}

/* Takes the next record; false: there is none. */
static inline bool next(struct ring *ring, struct record *record)
{
	uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);

	if (ring->at == head)
		return false;
	copy(ring, ring->at, &record->header, sizeof(record->header));
	copy(ring, ring->at, record, record->header.size);
	ring->at += record->header.size;
	__atomic_store_n(&ring->page->data_tail, ring->at, __ATOMIC_RELEASE);
	return true;
}

static inline void say(const char *name, uint64_t value)
{
	printf("%s: %lld\n", name, (long long)value);
	fflush(stdout);
}

static inline void say_error(const char *name, long result)
{
	printf("%s: %s\n", name, result < 0 ? strerrorname_np(errno) : "done");
	fflush(stdout);
}

static inline uint64_t count(int fd)
{
	uint64_t value[2] = {0, 0};

	return read(fd, value, sizeof(value)) > 0 ? value[0] : UINT64_MAX;
}

/* Returns what poll(2) finds without waiting. */
static inline int poll_now(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, 0) > 0 ? p.revents : 0;
}

/* Says how many samples the ring has, and how many records were lost. */
static inline void tally(const char *name, struct ring *ring)
{
	struct record r;
	unsigned samples = 0, lost = 0;

	while (next(ring, &r)) {
		samples += r.header.type == PERF_RECORD_SAMPLE;
		if (r.header.type == PERF_RECORD_LOST)
			lost += (unsigned)r.word[1];
	}
	printf("%s: %u %u\n", name, samples, lost);
}

#endif
