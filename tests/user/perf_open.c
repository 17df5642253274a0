/* SPDX-License-Identifier: MIT */
/*
 * perf_open.c: a program that opens events of its own (perf_event_open(2)), in many ways.  It
 * prints a line for each case; perf_open.sh has what must be there.
 */
#define _GNU_SOURCE
#include <cpuid.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define TURNS 1000u

static struct perf_event_attr attr_of(uint64_t config)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(struct perf_event_attr),
		.config = config,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
}

static int open_event(struct perf_event_attr *attr, pid_t pid, int group, unsigned long flags)
{
	return (int)syscall(SYS_perf_event_open, attr, pid, -1, group, flags);
}

static int instructions(void)
{
	struct perf_event_attr attr = attr_of(PERF_COUNT_HW_INSTRUCTIONS);

	return open_event(&attr, 0, -1, 0);
}

static uint64_t count(int fd)
{
	uint64_t value = 0;

	return read(fd, &value, sizeof(value)) == sizeof(value) ? value : UINT64_MAX;
}

static void say(const char *name, uint64_t value)
{
	printf("%s: %lld\n", name, (long long)value);
}

static void say_error(const char *name, long result)
{
	printf("%s: %s\n", name, result < 0 ? strerrorname_np(errno) : "done");
}

/*
 * Switches the event on, makes so many turns and switches it off.  The event sees 2 * turns + 4
 * instructions and turns + 1 branches: MOV, the loop, MOV, MOV, SYSCALL.
 */
static void section(int fd, unsigned turns, unsigned long flags)
{
	long result;

	__asm__ volatile("syscall\n\t"
			 "movl %[turns], %%ecx\n"
			 "1:\tdecl %%ecx\n\t"
			 "jnz 1b\n\t"
			 "movl %[ioctl], %%eax\n\t"
			 "movl %[disable], %%esi\n\t"
			 "syscall"
			 : "=a"(result)
			 : "a"(SYS_ioctl), "D"((long)fd), "S"((long)PERF_EVENT_IOC_ENABLE),
			   "d"(flags), [turns] "r"(turns), [ioctl] "i"(SYS_ioctl),
			   [disable] "i"(PERF_EVENT_IOC_DISABLE)
			 : "rcx", "r11", "memory", "cc");
	if (result)
		say("switched off", (uint64_t)result);
}

static void spin(uint64_t turns)
{
	__asm__ volatile("1:\tdecq %0\n\tjnz 1b" : "+r"(turns) : : "cc");
}

/* --- one event of the running thread --- */

static void exact(void)
{
	struct perf_event_attr attr = attr_of(PERF_COUNT_HW_BRANCH_INSTRUCTIONS);
	int fd = instructions(), branches = open_event(&attr, 0, -1, 0);

	say("nothing yet", count(fd));
	section(fd, TURNS, 0);
	say("exact", count(fd));
	section(fd, 1, 0);
	say("and 6 more", count(fd));
	say("reset", (uint64_t)ioctl(fd, PERF_EVENT_IOC_RESET, 0));
	say("after reset", count(fd));
	section(branches, TURNS, 0);
	say("branches", count(branches));
	section(fd, TURNS, 0);
	say("the other is not disturbed", count(branches));
	close(fd);
	close(branches);
}

/* An event that is open at once counts until it is closed: READ is what it sees between two. */
static void running(void)
{
	struct perf_event_attr attr = attr_of(PERF_COUNT_HW_INSTRUCTIONS);
	uint64_t first, second, value[2] = {0};
	int fd;

	attr.disabled = 0;
	fd = open_event(&attr, 0, -1, 0);
	__asm__ volatile("movl %[read], %%eax\n\t"
			 "syscall\n\t"
			 "movl %[read], %%eax\n\t"
			 "leaq 8(%%rsi), %%rsi\n\t"
			 "syscall"
			 :
			 : "D"((long)fd), "S"(value), "d"(8L), [read] "i"(SYS_read)
			 : "rax", "rcx", "r11", "memory", "cc");
	first = value[0];
	second = value[1];
	say("between two reads", second - first);
	close(fd);
}

/* --- descriptors --- */

static void descriptors(void)
{
	struct perf_event_attr attr = attr_of(PERF_COUNT_HW_INSTRUCTIONS);
	int fd, copy, plain, ends[2];
	struct pollfd ready;
	uint64_t value;

	fd = open_event(&attr, 0, -1, PERF_FLAG_FD_CLOEXEC);
	plain = open_event(&attr, 0, -1, 0);
	say("numbers", (uint64_t)(plain - fd));
	say("close on exec", (uint64_t)fcntl(fd, F_GETFD));
	say("not on exec", (uint64_t)fcntl(plain, F_GETFD));
	copy = dup(fd);
	section(copy, TURNS, 0);
	close(fd);
	say("by a copy", count(copy));
	say_error("closed", read(fd, &value, sizeof(value)));
	say_error("too short", read(copy, &value, 4));
	say_error("nowhere", syscall(SYS_read, copy, 8, 8));
	ready = (struct pollfd){.fd = copy, .events = POLLIN};
	say("poll", (uint64_t)poll(&ready, 1, 0));
	close(copy);
	say_error("at last", ioctl(copy, PERF_EVENT_IOC_ENABLE, 0));
	dup2(plain, 100);
	close(plain);
	section(100, TURNS, 0);
	say("by another number", count(100));
	say_error("another file in its place", pipe(ends) || dup2(ends[0], 100));
	say_error("that is no event", ioctl(100, PERF_EVENT_IOC_RESET, 0));
}

/* A descriptor in a message to a child leads to the same event. */
static void messages(void)
{
	char control[CMSG_SPACE(sizeof(int))] = {0}, byte = 0;
	struct iovec io = {&byte, 1};
	struct msghdr message = {.msg_iov = &io,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 .msg_controllen = sizeof(control)};
	struct cmsghdr *part = CMSG_FIRSTHDR(&message);
	int ends[2], fd;
	pid_t child;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		exit(1);
	fflush(stdout);
	child = fork();
	if (!child) {
		if (recvmsg(ends[1], &message, 0) != 1 || !CMSG_FIRSTHDR(&message))
			_exit(1);
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
		say("in a message", count(fd));
		fflush(stdout);
		_exit(0);
	}
	fd = instructions();
	section(fd, TURNS, 0);
	part->cmsg_level = SOL_SOCKET;
	part->cmsg_type = SCM_RIGHTS;
	part->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(part), &fd, sizeof(fd));
	sendmsg(ends[0], &message, 0);
	close(fd);
	waitpid(child, NULL, 0);
}

/* --- groups --- */

static void groups(void)
{
	struct perf_event_attr attr = attr_of(PERF_COUNT_HW_INSTRUCTIONS);
	uint64_t value[12];
	int leader, first, second;

	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	leader = open_event(&attr, 0, -1, 0);
	attr.config = PERF_COUNT_HW_BRANCH_INSTRUCTIONS;
	attr.disabled = 0;
	first = open_event(&attr, 0, leader, 0);
	attr.type = PERF_TYPE_RAW;
	attr.config = 0x82d0;
	second = open_event(&attr, 0, leader, 0);
	section(leader, TURNS, 0);
	say("bytes of a group", (uint64_t)read(leader, value, sizeof(value)));
	say("events of a group", value[0]);
	say("leader", value[1]);
	say("first", value[3]);
	say("second", value[5]);
	ioctl(first, PERF_EVENT_IOC_ID, &value[10]);
	say("its number", (uint64_t)(value[10] == value[4] && value[4] != value[2]));
	/* The leader is off, so no sibling counts. */
	section(first, TURNS, 0);
	read(leader, value, sizeof(value));
	say("a sibling alone", value[3]);
	ioctl(leader, PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP);
	section(second, TURNS, PERF_IOC_FLAG_GROUP);
	read(leader, value, sizeof(value));
	say("all by one call", value[1]);
	say("all branches by one call", value[3]);
	say_error("no room", read(leader, value, 48));
	close(leader);
	ioctl(second, PERF_EVENT_IOC_DISABLE, 0);
	ioctl(first, PERF_EVENT_IOC_RESET, 0);
	section(first, TURNS, 0);
	read(first, value, sizeof(value));
	say("without the leader", value[1]);
}

/* As many as a unit has counters; then more events in all. */
static void counters(void)
{
	struct perf_event_attr attr = attr_of(0xc4);
	int leader, fd[20], n = 0;
	uint64_t sum = 0;

	attr.type = PERF_TYPE_RAW;
	leader = open_event(&attr, 0, -1, 0);
	while ((fd[n] = open_event(&attr, 0, leader, 0)) >= 0)
		n++;
	say_error("one too many", fd[n]);
	say("in a group", (uint64_t)n + 1);
	while (n)
		close(fd[--n]);
	close(leader);
	for (int i = 0; i < 20; i++)
		fd[i] = open_event(&attr, 0, -1, 0);
	for (int i = 0; i < 20; i++)
		ioctl(fd[i], PERF_EVENT_IOC_ENABLE, 0);
	spin(TURNS);
	for (int i = 19; i >= 0; i--)
		ioctl(fd[i], PERF_EVENT_IOC_DISABLE, 0);
	for (int i = 0; i < 20; i++)
		sum += count(fd[i]) >= TURNS && count(fd[i]) < 2 * TURNS;
	say("twenty at a time", sum);
}

/* --- times --- */

static void times(void)
{
	struct perf_event_attr attr = attr_of(PERF_COUNT_HW_INSTRUCTIONS);
	uint64_t off[3], on[3], later[3];
	int fd;

	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	fd = open_event(&attr, 0, -1, 0);
	spin(1000000);
	read(fd, off, sizeof(off));
	section(fd, 10000000, 0);
	read(fd, on, sizeof(on));
	spin(1000000);
	read(fd, later, sizeof(later));
	say("time before", off[1]);
	say("time runs", (uint64_t)(on[1] > 100000));
	say("all the time", (uint64_t)(on[1] == on[2]));
	say("time stands", (uint64_t)(later[1] == on[1]));
	ioctl(fd, PERF_EVENT_IOC_RESET, 0);
	read(fd, later, sizeof(later));
	say("time remains", (uint64_t)(later[1] == on[1]));
}

/* Touches pages while the event is on, and while it is off. */
static void faults(void)
{
	struct perf_event_attr attr = attr_of(PERF_COUNT_SW_PAGE_FAULTS);
	char *pages =
		mmap(NULL, 400 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t off;
	int fd;

	attr.type = PERF_TYPE_SOFTWARE;
	fd = open_event(&attr, 0, -1, 0);
	madvise(pages, 400 * 4096, MADV_NOHUGEPAGE);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	for (unsigned i = 0; i < 100; i++)
		pages[4096 * i] = 1;
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	off = count(fd);
	for (unsigned i = 100; i < 400; i++)
		pages[4096 * i] = 1;
	say("page faults", off / 100 * 100);
	say("off", count(fd) - off);
}

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

/* --- reading a counter without a system call --- */

/* As linux/perf_event.h says. */
static uint64_t count_by_page(const volatile struct perf_event_mmap_page *page)
{
	uint32_t lock, low, high;
	uint64_t sum;

	do {
		lock = page->lock;
		__asm__ volatile("" : : : "memory");
		sum = (uint64_t)page->offset;
		if (page->cap_user_rdpmc && page->index) {
			__asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(page->index - 1));
			sum += (uint64_t)((int64_t)(((uint64_t)high << 32 | low)
						    << (64 - page->pmc_width)) >>
					  (64 - page->pmc_width));
		}
		__asm__ volatile("" : : : "memory");
	} while (page->lock != lock);
	return sum;
}

/* Returns what the counter counts between two RDPMC: RDPMC, MOV, MOV, and the loop. */
static uint32_t between(uint32_t counter)
{
	uint32_t difference;

	__asm__ volatile("rdpmc\n\t"
			 "movl %%eax, %%esi\n\t"
			 "movl %[turns], %%edi\n"
			 "1:\tdecl %%edi\n\t"
			 "jnz 1b\n\t"
			 "rdpmc\n\t"
			 "subl %%esi, %%eax"
			 : "=a"(difference)
			 : "c"(counter), [turns] "i"(TURNS)
			 : "rdx", "rsi", "rdi", "cc");
	return difference;
}

static void mapped(void)
{
	struct perf_event_attr attr = attr_of(PERF_COUNT_HW_INSTRUCTIONS);
	int fd = instructions(), branches, inherited;
	const volatile struct perf_event_mmap_page *page;
	uint64_t before, by_read, after;
	void *at;

	say("without a use",
	    (uint64_t)(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) != MAP_FAILED));
	say("three pages of a ring",
	    (uint64_t)(mmap(NULL, 4 * 4096, PROT_READ, MAP_SHARED, fd, 0) != MAP_FAILED));
	at = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		return;
	page = at;
	say("off", page->index);
	section(fd, TURNS, 0);
	say("what it has counted", (uint64_t)page->offset);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	say("by RDPMC", between(page->index - 1));
	count(fd); /* the dynamic linker has found read(2) */
	before = count_by_page(page);
	by_read = count(fd);
	after = count_by_page(page);
	say("the same count", (uint64_t)(before < by_read && by_read < after));
	say("nearly", (uint64_t)(after - before < 300));
	ioctl(fd, PERF_EVENT_IOC_RESET, 0);
	say("from 0", (uint64_t)(count_by_page(page) < 200));
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	say("off again", page->index);
	say("its count", (uint64_t)page->offset - count(fd));
	attr.config = PERF_COUNT_HW_BRANCH_INSTRUCTIONS;
	branches = open_event(&attr, 0, -1, 0);
	page = mmap(NULL, 2 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, branches, 0);
	ioctl(branches, PERF_EVENT_IOC_ENABLE, 0);
	say("branches", between(page->index - 1));
	say("a ring", page->data_size);
	say("without records", page->data_head);
	attr.inherit = 1;
	inherited = open_event(&attr, 0, -1, 0);
	say("an inherited one",
	    (uint64_t)(mmap(NULL, 4096, PROT_READ, MAP_SHARED, inherited, 0) != MAP_FAILED));
	munmap(at, 4096);
	section(fd, TURNS, 0);
	munmap((void *)page, 2 * 4096);
	ioctl(branches, PERF_EVENT_IOC_DISABLE, 0);
	say("not mapped any more", (uint64_t)(count(fd) > 2000));
}

/* --- what programs see of the processor --- */

static void cpuid(void)
{
	uint32_t a, b, c, d, name[12] = {0};
	char vendor[13] = "";

	__cpuid(0, a, b, c, d);
	memcpy(vendor, &b, 4);
	memcpy(vendor + 4, &d, 4);
	memcpy(vendor + 8, &c, 4);
	__cpuid(1, a, b, c, d);
	printf("%s\n%x\n", vendor, a);
	for (unsigned i = 0; i < 3; i++)
		__cpuid(0x80000002 + i, name[4 * i], name[4 * i + 1], name[4 * i + 2],
			name[4 * i + 3]);
	printf("%.48s\n", (const char *)name);
}

/* Those of vector code, and where another vendor's processor describes its caches. */
static void features(void)
{
	uint32_t a, b, c, d;

	__cpuid_count(7, 0, a, b, c, d);
	printf("%x\n", b);
	__cpuid(1, a, b, c, d);
	printf("%x\n", c >> 12 & 1u << 16);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	static const struct {
		const char *name;
		void (*run)(void);
	} cases[] = {
		{"exact", exact},	{"running", running},	{"descriptors", descriptors},
		{"messages", messages}, {"groups", groups},	{"counters", counters},
		{"times", times},	{"borrowed", borrowed}, {"inheritance", inheritance},
		{"others", others},	{"waiting", waiting},	{"endless", endless},
		{"many", many},		{"leavers", leavers},	{"mapped", mapped},
		{"random", at_random},	{"faults", faults},	{"cpuid", cpuid},
		{"features", features},
	};

	if (!strcmp(what, "executes"))
		executes(argv + 2);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (!strcmp(what, cases[i].name))
			cases[i].run();
	return 0;
}
