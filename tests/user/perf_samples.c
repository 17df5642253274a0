/* SPDX-License-Identifier: MIT */
/*
 * perf_samples.c: a program that samples itself, its threads and its children by events that it
 * opens (perf_event_open(2)), and reads its own rings.  It prints a line for each result;
 * perf_samples.sh has what must be there, counted by hand.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "perf_reader.h"

#define TURNS 1000u
#define PAGES 16u

/*
 * sampled(fd, turns, request): switches the event on by `request` with the argument 0 or 3, makes
 * so many turns and switches it off.  The event sees MOV, the loop, MOV, MOV, SYSCALL: that is
 * 2 * turns + 4 instructions and turns + 1 branches.  The loop's instructions have the even and odd
 * numbers from 2 on.
 */
void sampled(int fd, unsigned turns, unsigned request);
extern const char sampled_dec[], sampled_jnz[], sampled_end[], outer_return[];
void outer(int fd, unsigned turns, unsigned request);
__asm__(".text\n"
	"sampled:\n\t"
	"movl %esi, %r8d\n\t"
	"movl %edx, %esi\n\t"
	"movl $3, %edx\n\t"
	"cmpl $0x2402, %esi\n\t"
	"je 2f\n\t"
	"xorl %edx, %edx\n"
	"2:\tmovl $16, %eax\n\t"
	"syscall\n\t"
	"movl %r8d, %ecx\n"
	"sampled_dec:\n\t"
	"decl %ecx\n"
	"sampled_jnz:\n\t"
	"jnz sampled_dec\n\t"
	"movl $16, %eax\n\t"
	"movl $0x2401, %esi\n\t"
	"syscall\n"
	"sampled_end:\n\t"
	"ret\n"
	"outer:\n\t"
	"pushq %rbp\n\t"
	"movq %rsp, %rbp\n\t"
	"call sampled\n"
	"outer_return:\n\t"
	"popq %rbp\n\t"
	"ret\n");

/* --- where samples are --- */

/* Says how many samples are at each instruction of the loop, and elsewhere. */
static void places(const char *name, struct ring *ring)
{
	struct record r;
	unsigned dec = 0, jnz = 0, other = 0;

	while (next(ring, &r)) {
		if (r.header.type != PERF_RECORD_SAMPLE)
			continue;
		dec += r.word[0] == (uint64_t)sampled_dec;
		jnz += r.word[0] == (uint64_t)sampled_jnz;
		other += r.word[0] != (uint64_t)sampled_dec && r.word[0] != (uint64_t)sampled_jnz;
	}
	printf("%s: %u %u %u\n", name, dec, jnz, other);
}

static void sample(const char *name, uint64_t config, uint64_t period, unsigned precise)
{
	struct perf_event_attr attr = attr_of(config, period, PERF_SAMPLE_IP);
	struct ring ring;
	int fd;

	attr.precise_ip = precise & 3;
	fd = open_on(&attr, 0, -1);
	ring = map(fd, PAGES, PROT_READ | PROT_WRITE);
	sampled(fd, TURNS, PERF_EVENT_IOC_ENABLE);
	places(name, &ring);
	close(fd);
}

static void exact(void)
{
	sample("each 100th", PERF_COUNT_HW_INSTRUCTIONS, 100, 0);
	sample("each 101st", PERF_COUNT_HW_INSTRUCTIONS, 101, 0);
	sample("precise", PERF_COUNT_HW_INSTRUCTIONS, 100, 2);
	sample("one after", PERF_COUNT_HW_INSTRUCTIONS, 100, 1);
	sample("branches", PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 10, 2);
}

/* --- fields --- */

#define FIELDS                                                                                     \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |            \
	 PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |             \
	 PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ)

static void fields(void)
{
	struct perf_event_attr attr = attr_of(PERF_COUNT_HW_INSTRUCTIONS, 100, FIELDS);
	int fd = open_on(&attr, 0, -1);
	struct ring ring = map(fd, PAGES, PROT_READ | PROT_WRITE);
	uint64_t id = 0, before = 0, n = 0, wrong = 0;
	struct record r;

	ioctl(fd, PERF_EVENT_IOC_ID, &id);
	sampled(fd, TURNS, PERF_EVENT_IOC_ENABLE);
	while (next(&ring, &r)) {
		const uint64_t *w = r.word;

		n++;
		wrong += r.header.type != PERF_RECORD_SAMPLE || r.header.size != 8 + 10 * 8;
		wrong += w[0] != id || w[5] != id || w[6] != id;
		wrong += (uint32_t)w[2] != (uint32_t)getpid() ||
			 (uint32_t)(w[2] >> 32) != (uint32_t)gettid();
		wrong += w[3] < before;
		wrong += w[7] >= (uint64_t)sysconf(_SC_NPROCESSORS_CONF);
		wrong += w[8] != 100 || w[9] != 100 * n;
		before = w[3];
	}
	say("fields", n);
	say("wrong", wrong);
	close(fd);
}

static void parts(void)
{
	struct perf_event_attr attr =
		attr_of(PERF_COUNT_HW_INSTRUCTIONS, 100,
			PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_USER |
				PERF_SAMPLE_STACK_USER);
	struct ring ring;
	struct record r;
	const uint64_t *w = r.word;
	int fd;

	attr.sample_regs_user = 1 << 2 | 1 << 7 | 1 << 8; /* CX, SP, IP */
	attr.sample_stack_user = 32;
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY;
	attr.sample_max_stack = 2;
	fd = open_on(&attr, 0, -1);
	ring = map(fd, PAGES, PROT_READ | PROT_WRITE);
	outer(fd, TURNS, PERF_EVENT_IOC_ENABLE);
	if (!next(&ring, &r) || !next(&ring, &r))
		return;
	say("frames", w[0]);
	say("the first", w[2] == (uint64_t)sampled_jnz && w[1] == PERF_CONTEXT_USER);
	w += 1 + w[0];
	say("branches", w[0]);
	say("the newest", w[1] == (uint64_t)sampled_jnz && w[2] == (uint64_t)sampled_dec);
	w += 1 + 3 * w[0];
	/* After 200 instructions: MOV, 100 turns but for the last branch. */
	say("turns to go", w[1]);
	say("registers", w[3] == (uint64_t)sampled_jnz);
	say("stack", w[4]);
	say("return address", w[5] == (uint64_t)outer_return);
	say("all of it", w[9]);
	close(fd);
}

/* In a function that has a frame the chain goes on to its caller. */
__attribute__((noinline, optimize("no-omit-frame-pointer"))) static void framed(int fd)
{
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	for (volatile unsigned i = 0; i < 100; i++)
		;
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
}

static void chains(void)
{
	struct perf_event_attr attr =
		attr_of(PERF_COUNT_HW_INSTRUCTIONS, 50, PERF_SAMPLE_CALLCHAIN);
	int fd = open_on(&attr, 0, -1);
	struct ring ring = map(fd, PAGES, PROT_READ | PROT_WRITE);
	uint64_t good = 0, n = 0;
	struct record r;

	framed(fd);
	while (next(&ring, &r)) {
		uint64_t in = r.word[2] - (uint64_t)framed, from = r.word[3] - (uint64_t)chains;

		if (in >= 200) /* in the C library */
			continue;
		n++;
		good += r.word[0] >= 3 && from < 400;
	}
	say("has callers", n && good == n);
	close(fd);
}

/* --- rings --- */

static void wakes(void)
{
	struct perf_event_attr attr = attr_of(PERF_COUNT_HW_INSTRUCTIONS, 100, PERF_SAMPLE_IP);
	struct epoll_event waits = {.events = EPOLLIN}, seen;
	int fd, epoll = epoll_create1(0);
	struct ring ring;

	attr.wakeup_events = 15;
	fd = open_on(&attr, 0, -1);
	say("without a ring it hangs", poll_now(fd) == POLLHUP);
	ring = map(fd, PAGES, PROT_READ | PROT_WRITE);
	say("nothing yet", (uint64_t)poll_now(fd));
	sampled(fd, TURNS / 2, PERF_EVENT_IOC_ENABLE);
	say("too few", (uint64_t)poll_now(fd));
	sampled(fd, TURNS / 2, PERF_EVENT_IOC_ENABLE);
	say("woken", poll_now(fd) == POLLIN);
	say("once", (uint64_t)poll_now(fd));
	epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &waits);
	say("epoll: nothing", (uint64_t)epoll_wait(epoll, &seen, 1, 0));
	sampled(fd, TURNS, PERF_EVENT_IOC_ENABLE);
	say("epoll: woken", (uint64_t)epoll_wait(epoll, &seen, 1, 0));
	say("epoll: once", (uint64_t)epoll_wait(epoll, &seen, 1, 0));
	(void)ring;
	close(epoll);
	close(fd);
}

/* A sample has 24 bytes, so 170 of them fit into a page. */
static void full(void)
{
	struct perf_event_attr attr =
		attr_of(PERF_COUNT_HW_INSTRUCTIONS, 10, PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD);
	uint64_t value[2] = {0, 0};
	struct ring ring;
	int fd;

	attr.read_format = PERF_FORMAT_LOST;
	fd = open_on(&attr, 0, -1);
	ring = map(fd, 1, PROT_READ | PROT_WRITE);
	sampled(fd, TURNS, PERF_EVENT_IOC_ENABLE);
	tally("a full ring", &ring);
	sampled(fd, TURNS, PERF_EVENT_IOC_ENABLE);
	tally("a full ring that was read", &ring);
	say("read", read(fd, value, sizeof(value)) == sizeof(value));
	say("all lost", value[1]);
	close(fd);
}

static void controls(void)
{
	struct perf_event_attr attr = attr_of(PERF_COUNT_HW_INSTRUCTIONS, 100, PERF_SAMPLE_IP);
	uint64_t period = 500, none = 0;
	int fd = open_on(&attr, 0, -1);
	struct ring ring;

	say_error("pause without a ring", ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1));
	ring = map(fd, PAGES, PROT_READ | PROT_WRITE);
	say_error("pause", ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1));
	sampled(fd, TURNS, PERF_EVENT_IOC_ENABLE);
	tally("paused", &ring);
	ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 0);
	sampled(fd, TURNS, PERF_EVENT_IOC_ENABLE);
	tally("goes on", &ring);
	say_error("no period", ioctl(fd, PERF_EVENT_IOC_PERIOD, &none));
	say_error("another period", ioctl(fd, PERF_EVENT_IOC_PERIOD, &period));
	sampled(fd, TURNS, PERF_EVENT_IOC_ENABLE);
	tally("each 500th", &ring);
	say("all counted", count(fd));
	close(fd);
}

static void outputs(void)
{
	struct perf_event_attr one = attr_of(PERF_COUNT_HW_INSTRUCTIONS, 100, PERF_SAMPLE_ID),
			       two = attr_of(PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 100,
					     PERF_SAMPLE_ID);
	int first = open_on(&one, 0, -1), second = open_on(&two, 0, -1);
	uint64_t id[2] = {0, 0}, n[2] = {0, 0};
	struct ring ring;
	struct record r;

	say_error("to one without a ring", ioctl(second, PERF_EVENT_IOC_SET_OUTPUT, first));
	ring = map(first, PAGES, PROT_READ | PROT_WRITE);
	say_error("to itself", ioctl(first, PERF_EVENT_IOC_SET_OUTPUT, first));
	say_error("to the other", ioctl(second, PERF_EVENT_IOC_SET_OUTPUT, first));
	ioctl(first, PERF_EVENT_IOC_ID, &id[0]);
	ioctl(second, PERF_EVENT_IOC_ID, &id[1]);
	ioctl(first, PERF_EVENT_IOC_ENABLE, 0);
	sampled(second, TURNS, PERF_EVENT_IOC_ENABLE);
	ioctl(first, PERF_EVENT_IOC_DISABLE, 0);
	while (next(&ring, &r))
		for (unsigned i = 0; i < 2; i++)
			n[i] += r.word[0] == id[i];
	say("of the first", n[0] >= 20 && n[0] <= 22);
	say("of the second", n[1]);
	say_error("to none", ioctl(second, PERF_EVENT_IOC_SET_OUTPUT, -1L));
	sampled(second, TURNS, PERF_EVENT_IOC_ENABLE);
	tally("nothing more", &ring);
	close(first);
	close(second);
}

/* The newest record is at the head.  The reader goes from there to the end of what was written. */
static void backward(void)
{
	struct perf_event_attr attr =
		attr_of(PERF_COUNT_HW_INSTRUCTIONS, 10, PERF_SAMPLE_IP | PERF_SAMPLE_READ);
	struct ring ring;
	struct record r;
	uint64_t newest = 0, n = 0, wrong = 0;
	int fd;

	attr.write_backward = 1;
	fd = open_on(&attr, 0, -1);
	ring = map(fd, 1, PROT_READ);
	sampled(fd, TURNS, PERF_EVENT_IOC_ENABLE);
	for (uint64_t at = ring.page->data_head; n < 170; at += 24, n++) {
		copy(&ring, at, &r, 24);
		newest = n ? newest : r.word[1];
		wrong += r.word[1] != newest - 10 * n;
	}
	say("the newest", newest);
	say("older ones that are wrong", wrong);
	close(fd);
}

/* --- signals --- */

static volatile unsigned signals, hangups, elsewhere;
static int signal_fd;

static void take(int number, siginfo_t *info, void *context)
{
	uint64_t rip = (uint64_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];

	(void)number;
	signals++;
	hangups += info->si_code == POLL_HUP;
	elsewhere += info->si_fd != signal_fd || rip != (uint64_t)sampled_jnz;
}

static void want_signals(int fd)
{
	struct sigaction action = {.sa_sigaction = take, .sa_flags = SA_SIGINFO};
	struct f_owner_ex owner = {F_OWNER_TID, gettid()};

	signal_fd = fd;
	signals = hangups = elsewhere = 0;
	sigaction(SIGRTMIN, &action, NULL);
	fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK | O_ASYNC);
	fcntl(fd, F_SETSIG, SIGRTMIN);
	fcntl(fd, F_SETOWN_EX, &owner);
}

/* After the third overflow the event is off. */
static void signalled(void)
{
	struct perf_event_attr attr = attr_of(PERF_COUNT_HW_INSTRUCTIONS, 1000, PERF_SAMPLE_IP);
	struct perf_event_attr counts = attr_of(PERF_COUNT_HW_INSTRUCTIONS, 0, 0);
	int fd = open_on(&attr, 0, -1), counting = open_on(&counts, 0, -1);
	struct ring ring;

	say_error("of one that counts", ioctl(counting, PERF_EVENT_IOC_REFRESH, 3));
	want_signals(fd);
	sampled(fd, 10 * TURNS, PERF_EVENT_IOC_ENABLE);
	say("without a ring", signals >= 20);
	ring = map(fd, PAGES, PROT_READ | PROT_WRITE);
	ioctl(fd, PERF_EVENT_IOC_RESET, 0);
	want_signals(fd);
	sampled(fd, 10 * TURNS, PERF_EVENT_IOC_ENABLE);
	say("signals", signals >= 20);
	say("a signal for each sample", (uint64_t)(ring.page->data_head / 16 == signals));
	close(fd);

	attr.sample_period = 100;
	fd = open_on(&attr, 0, -1);
	(void)map(fd, PAGES, PROT_READ | PROT_WRITE);
	want_signals(fd);
	sampled(fd, TURNS, PERF_EVENT_IOC_REFRESH);
	say("at most three", signals);
	say("the last is POLL_HUP", hangups);
	close(fd);
	close(counting);
}

/* --- threads and processes --- */

static void *loop(void *turns)
{
	sampled(-1, (unsigned)(uintptr_t)turns, PERF_EVENT_IOC_ENABLE);
	return NULL;
}

/* One event for each processor, which threads and children inherit. */
static void inherited(void)
{
	struct perf_event_attr attr =
		attr_of(PERF_COUNT_HW_INSTRUCTIONS, 1000, PERF_SAMPLE_IP | PERF_SAMPLE_TID);
	long processors = sysconf(_SC_NPROCESSORS_CONF);
	struct ring ring[processors];
	uint64_t own = 0, threads = 0, children = 0;
	int fd[processors];
	pthread_t thread[2];
	struct record r;

	attr.inherit = 1;
	for (int cpu = 0; cpu < processors; cpu++) {
		fd[cpu] = open_on(&attr, 0, cpu);
		ring[cpu] = map(fd[cpu], 64, PROT_READ | PROT_WRITE);
		ioctl(fd[cpu], PERF_EVENT_IOC_ENABLE, 0);
	}
	for (unsigned i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, loop, (void *)(uintptr_t)100000);
	loop((void *)(uintptr_t)50000);
	for (unsigned i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	if (!fork()) {
		loop((void *)(uintptr_t)150000);
		_exit(0);
	}
	wait(NULL);
	for (int cpu = 0; cpu < processors; cpu++)
		while (next(&ring[cpu], &r)) {
			bool in = r.word[0] == (uint64_t)sampled_dec ||
				  r.word[0] == (uint64_t)sampled_jnz;
			uint32_t pid = (uint32_t)r.word[1], tid = (uint32_t)(r.word[1] >> 32);

			own += in && tid == (uint32_t)getpid();
			threads += in && pid == (uint32_t)getpid() && tid != pid;
			children += in && pid != (uint32_t)getpid();
		}
	/* In tens. */
	say("own", (own + 5) / 10);
	say("of threads", (threads + 5) / 10);
	say("of a child", (children + 5) / 10);
	for (int cpu = 0; cpu < processors; cpu++)
		close(fd[cpu]);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} cases[] = {
		{"exact", exact},	{"fields", fields},	  {"parts", parts},
		{"chains", chains},	{"wakes", wakes},	  {"full", full},
		{"controls", controls}, {"outputs", outputs},	  {"backward", backward},
		{"signals", signalled}, {"inherited", inherited},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (argc > 1 && !strcmp(cases[i].name, argv[1]))
			cases[i].run();
	return 0;
}
