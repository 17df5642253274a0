/* SPDX-License-Identifier: MIT */
/*
 * perf_open.c: a program that opens events of its own (perf_event_open(2)) on one task, in many
 * ways, and reads them.  It prints a line for each case; perf_open.sh has what must be there.
 */
#define _GNU_SOURCE
#include <cpuid.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "perf_counting.h"

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
	static const struct perf_case cases[] = {
		{"exact", exact},	{"running", running},	{"descriptors", descriptors},
		{"messages", messages}, {"groups", groups},	{"counters", counters},
		{"times", times},	{"mapped", mapped},	{"faults", faults},
		{"cpuid", cpuid},	{"features", features},
	};

	run_case(cases, sizeof(cases) / sizeof(cases[0]), what);
	return 0;
}
