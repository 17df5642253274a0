/* SPDX-License-Identifier: MIT */
/*
 * perf_fuzz.c: opens events with random attributes and does random things with them.  PERF_SEED
 * chooses the sequence, the argument is the number of steps.  All that must be true afterwards: the
 * program is still there, and events that have nothing to do with it count as by hand.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include "perf_reader.h"
#include "perf_section.h"

#define EVENTS 40

/* Fields that are not refused. */
#define SERVED                                                                                     \
	((PERF_SAMPLE_TRANSACTION << 1 | (PERF_SAMPLE_TRANSACTION - 1)) & ~PERF_SAMPLE_WEIGHT)

static struct {
	int fd;
	void *at;
	size_t bytes;
	bool writable;
} event[EVENTS];

static unsigned opened, maps, reads;

static uint64_t state;

/* Returns a random number below n. */
static uint64_t below(uint64_t n)
{
	uint64_t x = state += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return (x ^ x >> 31) % n;
}

static uint64_t bits(uint64_t mask)
{
	return below(UINT64_MAX) & below(UINT64_MAX) & mask;
}

/* --- what is done --- */

static void drop(unsigned i)
{
	if (event[i].at && below(4))
		munmap(event[i].at, event[i].bytes);
	event[i].at = NULL;
	if (event[i].fd >= 0)
		close(event[i].fd);
	event[i].fd = -1;
}

static void open_one(unsigned i)
{
	static const uint64_t configs[] = {PERF_COUNT_HW_INSTRUCTIONS,
					   PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 0, 5};
	struct perf_event_attr attr = attr_of(configs[below(4)], 0, 0);
	int group = below(4) ? -1 : event[below(EVENTS)].fd;

	drop(i);
	if (!below(4))
		attr.type = (uint32_t)below(7);
	if (!below(4))
		attr.config = attr.type == PERF_TYPE_RAW ? 0xc4 : below(12);
	attr.disabled = below(2) & 1;
	/* Short periods would make the test slow. */
	attr.sample_period = below(3) ? 500 + below(100000) : 0;
	attr.freq = !below(4);
	if (attr.freq)
		attr.sample_freq = 1 + below(5000);
	attr.sample_type = bits(below(4) ? SERVED : PERF_SAMPLE_MAX - 1);
	attr.read_format = bits(PERF_FORMAT_MAX - 1);
	attr.branch_sample_type = below(4) ? PERF_SAMPLE_BRANCH_USER | 1u << (3 + below(5))
					   : bits(PERF_SAMPLE_BRANCH_MAX - 1);
	attr.sample_regs_user = bits(0xff0fff);
	attr.sample_regs_intr = bits(0xff0fff);
	attr.sample_stack_user = (uint32_t)below(1000) * 8;
	attr.sample_max_stack = (uint16_t)below(200);
	attr.precise_ip = below(3) ? 0 : below(4) & 3;
	attr.inherit = !below(3);
	attr.inherit_stat = attr.inherit;
	attr.pinned = !below(8);
	attr.exclusive = !below(8);
	attr.mmap = below(2) & 1;
	attr.mmap2 = below(2) & 1;
	attr.comm = below(2) & 1;
	attr.task = below(2) & 1;
	attr.watermark = below(2) & 1;
	attr.wakeup_events = (uint32_t)below(3000);
	attr.sample_id_all = below(2) & 1;
	attr.write_backward = !below(4);
	attr.enable_on_exec = !below(4);
	attr.remove_on_exec = !below(4);
	event[i].fd = (int)syscall(SYS_perf_event_open, &attr, below(4) ? 0 : (int)below(3) - 1,
				   (int)below(4) - 2, group, below(8) ? 0 : below(16));
	opened += event[i].fd >= 0;
}

static void map_one(unsigned i)
{
	if (event[i].at || event[i].fd < 0)
		return;
	event[i].bytes = (1 + (below(4) ? 1u << below(5) : below(4))) * 4096;
	event[i].writable = below(3);
	event[i].at =
		mmap(NULL, event[i].bytes, event[i].writable ? PROT_READ | PROT_WRITE : PROT_READ,
		     MAP_SHARED, event[i].fd, 0);
	if (event[i].at == MAP_FAILED)
		event[i].at = NULL;
	maps += event[i].at != NULL;
}

static void control(unsigned i)
{
	static const unsigned long requests[] = {
		PERF_EVENT_IOC_ENABLE, PERF_EVENT_IOC_DISABLE,	    PERF_EVENT_IOC_REFRESH,
		PERF_EVENT_IOC_RESET,  PERF_EVENT_IOC_PERIOD,	    PERF_EVENT_IOC_SET_OUTPUT,
		PERF_EVENT_IOC_ID,     PERF_EVENT_IOC_PAUSE_OUTPUT, FIOASYNC,
	};
	unsigned long request = requests[below(9)];
	uint64_t word = below(4) ? 1000 + below(1000000) : below(UINT64_MAX);

	if (request == PERF_EVENT_IOC_SET_OUTPUT)
		ioctl(event[i].fd, request, (long)event[below(EVENTS)].fd);
	else if (request == PERF_EVENT_IOC_ENABLE || request == PERF_EVENT_IOC_DISABLE ||
		 request == PERF_EVENT_IOC_RESET)
		ioctl(event[i].fd, request, below(2));
	else if (request == PERF_EVENT_IOC_REFRESH || request == PERF_EVENT_IOC_PAUSE_OUTPUT)
		ioctl(event[i].fd, request, below(5));
	else
		ioctl(event[i].fd, request, &word);
}

static void look(unsigned i)
{
	struct pollfd p = {.fd = event[i].fd, .events = POLLIN};
	uint64_t words[600];

	poll(&p, 1, 0);
	if (read(event[i].fd, words, below(2) ? sizeof(words) : below(64)) > 0)
		reads++;
}

/* The reader writes what it likes to its own page. */
static void tail(unsigned i)
{
	struct perf_event_mmap_page *page = event[i].at;

	if (page && event[i].writable)
		page->data_tail = below(4) ? page->data_head : below(UINT64_MAX);
}

static void child(void)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		for (volatile unsigned i = 0; i < 20000; i++)
			;
		_exit(0);
	}
	waitpid(pid, &status, 0);
	if (!WIFEXITED(status))
		say("the child's status", (uint64_t)status);
}

static void step(void)
{
	unsigned i = (unsigned)below(EVENTS);

	switch (below(10)) {
	case 0:
	case 1:
		open_one(i);
		break;
	case 2:
	case 3:
		map_one(i);
		break;
	case 4:
		drop(i);
		break;
	case 5:
	case 6:
		control(i);
		break;
	case 7:
		look(i);
		break;
	case 8:
		tail(i);
		break;
	default:
		if (below(4))
			for (volatile unsigned n = 0; n < 5000; n++)
				;
		else
			child();
	}
}

int main(int argc, char **argv)
{
	struct perf_event_attr attr = attr_of(PERF_COUNT_HW_INSTRUCTIONS, 0, 0);
	const char *seed = getenv("PERF_SEED");
	unsigned steps = argc > 1 ? (unsigned)atoi(argv[1]) : 1000, wrong = 0;
	int fd = open_on(&attr, 0, -1);

	signal(SIGIO, SIG_IGN);
	state = seed ? strtoull(seed, NULL, 0) : 1;
	for (unsigned i = 0; i < EVENTS; i++)
		event[i].fd = -1;
	for (unsigned i = 0; i < steps; i++) {
		uint64_t before = count(fd);

		step();
		section(fd, TURNS, 0);
		wrong += count(fd) - before != 2 * TURNS + 4;
	}
	say("wrong counts", wrong);
	say("many things worked",
	    opened > steps / 100 && maps > steps / 200 && reads > steps / 1000);
	return 0;
}
