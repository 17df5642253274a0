/* SPDX-License-Identifier: MIT */
/*
 * perf_tasks.c: a program that opens events (perf_event_open(2)) on its threads and processes, many
 * and at random.  It prints a line for each case; perf_open.sh has what must be there.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "perf_counting.h"

/* --- threads and processes --- */

static void *spin_in_thread(void *turns)
{
	spin((uint64_t)turns);
	return NULL;
}

static void run_thread(uint64_t turns)
{
	pthread_t thread;

	pthread_create(&thread, NULL, spin_in_thread, (void *)turns);
	pthread_join(thread, NULL);
}

static void run_child(uint64_t turns)
{
	pid_t child = fork();

	if (!child) {
		spin(turns);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

/* Prints the count without what the library did. */
static void say_about(const char *name, int fd)
{
	say(name, (count(fd) + 1000000) / 10000000);
}

static void inheritance(void)
{
	struct perf_event_attr attr = attr_of(PERF_COUNT_HW_BRANCH_INSTRUCTIONS);
	int own, all, threads;

	attr.disabled = 0;
	own = open_event(&attr, 0, -1, 0);
	attr.inherit = 1;
	all = open_event(&attr, 0, -1, 0);
	attr.inherit_thread = 1;
	threads = open_event(&attr, 0, -1, 0);
	run_thread(10000000);
	run_child(20000000);
	spin(40000000);
	say_about("the thread's own", own);
	say_about("with all", all);
	say_about("with threads", threads);
	/* What was inherited and has ended stays. */
	ioctl(all, PERF_EVENT_IOC_RESET, 0);
	say_about("after reset", all);
	ioctl(all, PERF_EVENT_IOC_DISABLE, 0);
	run_child(20000000);
	say_about("off in children", all);
}

/* A child that borrows the memory (vfork) has its parent's events only if it inherits them. */
static void borrowed(void)
{
	struct perf_event_attr attr = attr_of(PERF_COUNT_HW_BRANCH_INSTRUCTIONS);
	int own, all;
	pid_t child;

	attr.disabled = 0;
	own = open_event(&attr, 0, -1, 0);
	attr.inherit = 1;
	all = open_event(&attr, 0, -1, 0);
	child = vfork();
	if (!child) {
		spin(20000000);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	spin(10000000);
	say_about("without the vfork child", own);
	say_about("with the vfork child", all);
	child = vfork();
	if (!child) {
		spin(20000000);
		raise(SIGKILL);
	}
	waitpid(child, NULL, 0);
	spin(10000000);
	say_about("without the killed child", own);
}

static volatile uint32_t tid_of_other;
static volatile int go;

static void *wait_and_spin(void *turns)
{
	tid_of_other = (uint32_t)gettid();
	while (!go)
		usleep(1000);
	spin((uint64_t)turns);
	go = 2;
	while (go == 2)
		;
	return NULL;
}

/* An event on another thread, which runs or waits. */
static void others(void)
{
	struct perf_event_attr attr = attr_of(PERF_COUNT_HW_BRANCH_INSTRUCTIONS);
	uint64_t before, after;
	pthread_t thread;
	int fd;

	pthread_create(&thread, NULL, wait_and_spin, (void *)10000000);
	while (!tid_of_other)
		usleep(1000);
	attr.disabled = 0;
	fd = open_event(&attr, (pid_t)tid_of_other, -1, 0);
	usleep(20000);
	go = 1;
	while (go != 2)
		usleep(1000);
	before = count(fd);
	usleep(20000);
	after = count(fd);
	say("another thread counts", (uint64_t)(before >= 10000000));
	say("and goes on", (uint64_t)(after > before));
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	before = count(fd);
	usleep(20000);
	say("until it is off", count(fd) - before);
	go = 3;
	pthread_join(thread, NULL);
	say("it remains when the thread has ended", count(fd) - before);
	say_error("no such task", open_event(&attr, (pid_t)tid_of_other, -1, 0));
	say_error("not of the run", open_event(&attr, getppid(), -1, 0));
}

static int said[2], asked[2];

static void *spin_and_wait(void *unused)
{
	char byte = 0;

	tid_of_other = (uint32_t)gettid();
	read(asked[0], &byte, 1);
	spin(10000000);
	write(said[1], &byte, 1);
	read(asked[0], &byte, 1);
	return unused;
}

/* An event on a thread that is in a system call when the event is opened, and when it is read. */
static void waiting(void)
{
	struct perf_event_attr attr = attr_of(PERF_COUNT_HW_BRANCH_INSTRUCTIONS);
	pthread_t thread;
	char byte = 0;
	int fd;

	if (pipe(said) || pipe(asked))
		exit(1);
	tid_of_other = 0;
	pthread_create(&thread, NULL, spin_and_wait, NULL);
	attr.disabled = 0;
	while (!tid_of_other)
		usleep(1000);
	usleep(20000);
	fd = open_event(&attr, (pid_t)tid_of_other, -1, 0);
	write(asked[1], &byte, 1);
	read(said[0], &byte, 1);
	usleep(20000);
	say_about("while it waits", fd);
	write(asked[1], &byte, 1);
	pthread_join(thread, NULL);
}

/* The child executes the program given; the event begins with that. */
static void executes(char **argv)
{
	struct perf_event_attr attr = attr_of(PERF_COUNT_HW_INSTRUCTIONS);
	int ends[2], fd, never;
	pid_t child;
	char byte;

	if (pipe(ends))
		exit(1);
	child = fork();
	if (!child) {
		close(ends[1]);
		read(ends[0], &byte, 1);
		execv(argv[0], argv);
		_exit(127);
	}
	attr.inherit = 1;
	never = open_event(&attr, child, -1, 0);
	attr.enable_on_exec = 1;
	fd = open_event(&attr, child, -1, 0);
	close(ends[0]);
	close(ends[1]);
	waitpid(child, NULL, 0);
	say("executed", count(fd));
	say("never enabled", count(never));
}

/* A test that is killed does not end it, so it ends itself some time. */
static void endless(void)
{
	pthread_t thread;

	alarm(200);
	pthread_create(&thread, NULL, spin_in_thread, (void *)UINT64_MAX);
	spin(UINT64_MAX);
}

/* --- many --- */

/* Whoever opens and closes events in a loop does not disturb another, and uses nothing up. */
static void many(void)
{
	int fd = instructions();
	uint64_t wrong = 0;

	for (unsigned i = 0; i < 3000; i++) {
		int other = instructions();

		if (i % 3)
			section(other, 10, 0);
		if (i % 10 == 0)
			section(fd, 10, 0);
		wrong += other < 0 || (i % 3 && count(other) != 24);
		close(other);
	}
	say("wrong", wrong);
	say("undisturbed", count(fd));
}

/* Processes that end without a close leave no events behind. */
static void leavers(void)
{
	uint64_t good = 0;

	for (unsigned i = 0; i < 30; i++) {
		pid_t child = fork();

		if (!child) {
			unsigned opened = 0;

			for (unsigned k = 0; k < 40; k++)
				opened += instructions() >= 0;
			if (i % 2)
				raise(SIGKILL);
			_exit(opened == 40 ? 0 : 1);
		} else {
			int status;

			waitpid(child, &status, 0);
			good += i % 2 ? WIFSIGNALED(status) : !status;
		}
	}
	say("left", good);
}

/* --- at random --- */

static uint64_t random_state = 1;

static uint64_t pick(uint64_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (random_state >> 11) % below;
}

/* Mostly right, with a few wrong bits. */
static struct perf_event_attr random_attr(void)
{
	static const uint32_t types[] = {PERF_TYPE_HARDWARE, PERF_TYPE_RAW, PERF_TYPE_HW_CACHE,
					 PERF_TYPE_SOFTWARE};
	static const uint64_t configs[] = {0, 1, 4, 5, 0xc0, 0xc4, 0x1c4, 0x82d0, 0x10000c0};
	struct perf_event_attr attr = attr_of(configs[pick(9)]);

	attr.type = types[pick(4)];
	attr.disabled = pick(2);
	attr.inherit = pick(2);
	attr.enable_on_exec = pick(4) == 0;
	attr.read_format = pick(32);
	if (pick(8) == 0)
		((uint8_t *)&attr)[pick(sizeof(attr))] ^= (uint8_t)(1 << pick(8));
	return attr;
}

static void *idle(void *unused)
{
	tid_of_other = (uint32_t)gettid();
	while (go != 3) {
		spin(1000);
		if (pick(50) == 0)
			usleep(100);
	}
	return unused;
}

static void random_call(int *fd, pid_t child)
{
	static const unsigned long requests[] = {
		PERF_EVENT_IOC_ENABLE,	PERF_EVENT_IOC_DISABLE,	     PERF_EVENT_IOC_RESET,
		PERF_EVENT_IOC_REFRESH, PERF_EVENT_IOC_PERIOD,	     PERF_EVENT_IOC_ID,
		PERF_EVENT_IOC_ENABLE,	PERF_EVENT_IOC_PAUSE_OUTPUT, 0x2450};
	pid_t tasks[] = {0, 0, (pid_t)tid_of_other, child, getpid(), 1};
	struct perf_event_attr attr = random_attr();
	unsigned k = (unsigned)pick(24);
	uint64_t words[80];
	void *at;

	switch (pick(9)) {
	case 0:
	case 1:
		if (fd[k] >= 0)
			close(fd[k]);
		fd[k] = open_event(&attr, tasks[pick(6)], pick(3) ? -1 : fd[pick(24)],
				   pick(4) ? PERF_FLAG_FD_CLOEXEC : pick(16));
		break;
	case 2:
		if (fd[k] >= 0)
			close(fd[k]);
		fd[k] = dup(fd[pick(24)]);
		break;
	case 3:
		read(fd[k], words, pick(2) ? sizeof(words) : pick(64));
		break;
	case 4:
		if (pick(20) == 0)
			run_child(1000);
		break;
	case 5:
		if (pick(20) == 0)
			run_thread(1000);
		break;
	case 6:
		at = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd[k], 0);
		if (at != MAP_FAILED && pick(2))
			munmap(at, 4096);
		break;
	default:
		ioctl(fd[k], requests[pick(9)], pick(2) ? (uint64_t)words : pick(2));
	}
}

/* Whatever others do, an event counts what it should. */
static void at_random(void)
{
	const char *seed = getenv("PERF_SEED");
	int own = instructions(), fd[24];
	uint64_t wrong = 0, expected = 0;
	pthread_t thread;
	pid_t child;

	random_state = seed ? strtoull(seed, NULL, 10) : 1;
	child = fork();
	if (!child)
		for (;;) {
			spin(1000);
			if (pick(50) == 0)
				usleep(100);
		}
	pthread_create(&thread, NULL, idle, NULL);
	for (unsigned i = 0; i < 24; i++)
		fd[i] = -1;
	for (unsigned i = 0; i < 4000; i++) {
		random_call(fd, child);
		if (i % 10)
			continue;
		section(own, 10, 0);
		expected += 24;
		wrong += count(own) != expected;
	}
	go = 3;
	pthread_join(thread, NULL);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	say("wrong counts", wrong);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	static const struct perf_case cases[] = {
		{"borrowed", borrowed}, {"inheritance", inheritance}, {"others", others},
		{"waiting", waiting},	{"endless", endless},	      {"many", many},
		{"leavers", leavers},	{"random", at_random},
	};

	if (!strcmp(what, "executes"))
		executes(argv + 2);
	run_case(cases, sizeof(cases) / sizeof(cases[0]), what);
	return 0;
}
