/* SPDX-License-Identifier: MIT */
/*
 * perf_open_errors.c: calls of perf_event_open(2), read(2) and ioctl(2) that are wrong or unusual.
 * It prints the error of each on a line.  The argument says which events are opened: those of the
 * processor, or the kernel's own (software), which every kernel has.  So the same checks can be
 * compared with the kernel that runs here.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static uint32_t type = PERF_TYPE_HARDWARE;
static uint64_t config = PERF_COUNT_HW_INSTRUCTIONS;

struct call {
	struct perf_event_attr attr;
	const void *at; /* in place of attr */
	int pid, cpu, group;
	unsigned long flags;
};

static struct call right(void)
{
	return (struct call){
		.attr = {.type = type,
			 .size = sizeof(struct perf_event_attr),
			 .config = config,
			 .exclude_kernel = 1,
			 .exclude_hv = 1},
		.cpu = -1,
		.group = -1,
	};
}

static long make(struct call *c)
{
	return syscall(SYS_perf_event_open, c->at ? c->at : &c->attr, c->pid, c->cpu, c->group,
		       c->flags);
}

static void say(const char *what, long result)
{
	printf("%s: %s\n", what, result < 0 ? strerrorname_np(errno) : "done");
}

/* Prints what becomes of a call that is right but for `change`. */
#define OPEN(change)                                                                               \
	do {                                                                                       \
		struct call c = right();                                                           \
		long opened;                                                                       \
                                                                                                   \
		change;                                                                            \
		opened = make(&c);                                                                 \
		say(#change, opened);                                                              \
		if (opened >= 0)                                                                   \
			close((int)opened);                                                        \
	} while (0)

/* Checks that the kernel makes for events of all types. */
static void general(int fd)
{
	static uint8_t large[4096], larger[4100];
	struct call other = right();

	memcpy(large, &other.attr, sizeof(other.attr));
	memcpy(larger, &other.attr, sizeof(other.attr));
	((struct perf_event_attr *)large)->size = sizeof(large);
	((struct perf_event_attr *)larger)->size = sizeof(larger);
	OPEN((void)c);
	OPEN(c.at = (void *)8);
	OPEN(c.attr.size = 0);
	OPEN(c.attr.size = 1);
	OPEN(c.attr.size = PERF_ATTR_SIZE_VER0 - 1);
	OPEN(c.attr.size = PERF_ATTR_SIZE_VER0);
	OPEN(c.attr.size = PERF_ATTR_SIZE_VER1);
	OPEN(c.attr.size = PERF_ATTR_SIZE_VER5);
	OPEN(c.attr.size = 70);
	OPEN(c.at = large);
	large[4095] = 1;
	OPEN(c.at = (large[4095] = 1, large));
	say("size that is said then", ((struct perf_event_attr *)large)->size >= 112 ? 0 : -1);
	OPEN(c.at = larger);
	OPEN(c.flags = 1 << 4);
	OPEN(c.flags = 1ul << 40);
	OPEN(c.flags = PERF_FLAG_FD_CLOEXEC);
	OPEN(c.flags = PERF_FLAG_FD_NO_GROUP);
	OPEN(c.flags = PERF_FLAG_FD_OUTPUT);
	OPEN(c.flags = PERF_FLAG_PID_CGROUP; c.pid = -1);
	OPEN(c.flags = PERF_FLAG_PID_CGROUP; c.pid = 3);
	OPEN(c.pid = -1);
	OPEN(c.pid = -2);
	OPEN(c.pid = 4194304);
	OPEN(c.pid = (int)getpid());
	OPEN(c.cpu = -2);
	OPEN(c.cpu = 1 << 20);
	OPEN(c.cpu = 1 << 20; c.pid = -1);
	OPEN(c.pid = -1; c.cpu = 0);
	OPEN(c.group = 1000);
	OPEN(c.group = 0);
	OPEN(c.group = -2);
	OPEN(c.group = fd);
	OPEN(c.group = fd; c.flags = PERF_FLAG_FD_NO_GROUP);
	OPEN(c.group = fd; c.flags = PERF_FLAG_FD_OUTPUT);
	OPEN(c.group = fd; c.attr.inherit = 1);
	OPEN(c.group = fd; c.attr.pinned = 1);
	OPEN(c.group = fd; c.attr.exclusive = 1);
	OPEN(c.attr.pinned = 1);
	OPEN(c.attr.exclusive = 1);
	OPEN(c.attr.type = 1000);
	OPEN(c.attr.read_format = PERF_FORMAT_LOST);
	OPEN(c.attr.read_format = 1 << 5);
	OPEN(c.attr.read_format = UINT64_C(1) << 63);
	OPEN(c.attr.sample_type = UINT64_C(1) << 62);
	OPEN(c.attr.sample_type = PERF_SAMPLE_READ);
	OPEN(c.attr.sample_type = PERF_SAMPLE_IP);
	OPEN(c.attr.sample_type = PERF_SAMPLE_REGS_USER);
	OPEN(c.attr.sample_type = PERF_SAMPLE_REGS_USER; c.attr.sample_regs_user = 0xff0fff);
	OPEN(c.attr.sample_type = PERF_SAMPLE_REGS_USER; c.attr.sample_regs_user = 1 << 12);
	OPEN(c.attr.sample_type = PERF_SAMPLE_REGS_USER; c.attr.sample_regs_user = 1 << 24);
	OPEN(c.attr.sample_type = PERF_SAMPLE_STACK_USER; c.attr.sample_stack_user = 8);
	OPEN(c.attr.sample_type = PERF_SAMPLE_STACK_USER; c.attr.sample_stack_user = 12);
	OPEN(c.attr.sample_type = PERF_SAMPLE_STACK_USER; c.attr.sample_stack_user = 65536);
	OPEN(c.attr.sample_type = PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT);
	OPEN(c.attr.sample_type = PERF_SAMPLE_BRANCH_STACK);
	OPEN(c.attr.inherit = 1);
	OPEN(c.attr.inherit = 1; c.attr.read_format = PERF_FORMAT_GROUP);
	OPEN(c.attr.inherit_thread = 1);
	OPEN(c.attr.inherit_thread = c.attr.inherit = 1);
	OPEN(c.attr.inherit_stat = c.attr.inherit = 1);
	OPEN(c.attr.enable_on_exec = 1);
	OPEN(c.attr.remove_on_exec = 1);
	OPEN(c.attr.enable_on_exec = c.attr.remove_on_exec = 1);
	OPEN(c.attr.sigtrap = 1);
	OPEN(c.attr.__reserved_1 = 1 << 20);
	OPEN(c.attr.__reserved_2 = 1);
	OPEN(c.attr.watermark = 1);
	OPEN(c.attr.exclude_idle = c.attr.exclude_hv = 1);
	OPEN(c.attr.comm = c.attr.task = c.attr.mmap = 1);
}

/* The same for a descriptor. */
static void on_descriptor(int fd)
{
	uint64_t value = 0;
	struct call other = right();
	struct pollfd ready = {.fd = fd, .events = POLLIN};

	say("read nothing", read(fd, &value, 0));
	say("read 7 bytes", read(fd, &value, 7));
	say("read 8 bytes", read(fd, &value, 8));
	say("read 800 bytes", syscall(SYS_read, fd, &value, 800));
	say("read to nowhere", syscall(SYS_read, fd, 8, 8));
	say("enable", ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	say("enable a group", ioctl(fd, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP));
	say("disable", ioctl(fd, PERF_EVENT_IOC_DISABLE, 0));
	say("reset", ioctl(fd, PERF_EVENT_IOC_RESET, 0));
	say("refresh", ioctl(fd, PERF_EVENT_IOC_REFRESH, 1));
	say("period to nowhere", ioctl(fd, PERF_EVENT_IOC_PERIOD, 8));
	say("period", ioctl(fd, PERF_EVENT_IOC_PERIOD, &value));
	say("id", ioctl(fd, PERF_EVENT_IOC_ID, &value));
	say("id to nowhere", ioctl(fd, PERF_EVENT_IOC_ID, 8));
	say("no output", ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, -1));
	say("output to a file", ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, 0));
	say("output to nothing", ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, 1000));
	say("pause", ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1));
	say("modify", ioctl(fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &other.attr));
	say("modify by nothing", ioctl(fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, 8));
	other.attr.type = PERF_TYPE_BREAKPOINT;
	say("modify the type", ioctl(fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &other.attr));
	say("filter", ioctl(fd, PERF_EVENT_IOC_SET_FILTER, "x"));
	say("unknown", ioctl(fd, 0x2450));
	say("terminal", ioctl(fd, 0x5401, &value));
	poll(&ready, 1, 0);
	say("poll finds POLLHUP", ready.revents == POLLHUP ? 0 : -1);
	say("seek", lseek(fd, 0, SEEK_SET));
	say("write", write(fd, &value, 8));
}

static void say_bytes(const char *what, ssize_t result)
{
	if (result < 0)
		say(what, result);
	else
		printf("%s: %zd bytes\n", what, result);
}

/* Reads into several places: the event is read anew for each. */
static void in_parts(int fd)
{
	uint64_t value[4] = {0};
	struct iovec two[] = {{&value[0], 8}, {&value[1], 8}},
		     nowhere[] = {{&value[0], 8}, {(void *)8, 8}};
	struct iovec first[] = {{&value[0], 16}, {&value[2], 8}},
		     small[] = {{value, 8}, {value, 4}};
	struct iovec none = {value, 0}, large[] = {{value, 8}, {value, SIZE_MAX}};

	say_bytes("two parts", readv(fd, two, 2));
	say_bytes("a part that is larger", readv(fd, first, 2));
	say_bytes("a part that is smaller", readv(fd, small, 2));
	say_bytes("only smaller ones", readv(fd, &small[1], 1));
	say_bytes("a part at nowhere", readv(fd, nowhere, 2));
	say_bytes("only at nowhere", readv(fd, &nowhere[1], 1));
	say_bytes("no part", readv(fd, two, 0));
	say_bytes("an empty part", readv(fd, &none, 1));
	say_bytes("a part of -1 bytes", readv(fd, large, 2));
	say_bytes("-1 parts", syscall(SYS_readv, fd, two, -1));
	say_bytes("parts at nowhere", syscall(SYS_readv, fd, 8, 1));
	say_bytes("at a position", pread(fd, value, 8, 0));
	say_bytes("parts at a position", preadv(fd, two, 2, 0));
	say_bytes("at no position", preadv2(fd, two, 2, -1, 0));
	say_bytes("with a flag", preadv2(fd, two, 2, -1, RWF_NOWAIT));
}

/* What depends on the processor. */
static void of_processor(int fd)
{
	OPEN(c.attr.config = PERF_COUNT_HW_MAX);
	OPEN(c.attr.config = PERF_COUNT_HW_STALLED_CYCLES_FRONTEND);
	OPEN(c.attr.config = PERF_COUNT_HW_CPU_CYCLES);
	OPEN(c.attr.exclude_kernel = 0);
	OPEN(c.attr.exclude_user = 1);
	OPEN(c.attr.namespaces = 1);
	OPEN(c.attr.precise_ip = 1);
	OPEN(c.attr.sample_period = 1000);
	OPEN(c.attr.sample_period = UINT64_C(1) << 63);
	OPEN(c.attr.freq = 1; c.attr.sample_freq = 1000000);
	OPEN(c.attr.type = PERF_TYPE_HW_CACHE; c.attr.config = 0);
	OPEN(c.attr.type = PERF_TYPE_HW_CACHE; c.attr.config = 7);
	OPEN(c.attr.type = PERF_TYPE_HW_CACHE; c.attr.config = 0x30000);
	OPEN(c.attr.type = PERF_TYPE_RAW; c.attr.config = 0xc0);
	OPEN(c.attr.type = PERF_TYPE_RAW; c.attr.config = 0x2000c0);
	OPEN(c.attr.type = PERF_TYPE_RAW; c.attr.config = 0xffff);
	OPEN(c.attr.type = PERF_TYPE_SOFTWARE; c.attr.config = 1);
	OPEN(c.attr.type = PERF_TYPE_SOFTWARE; c.attr.config = 1; c.group = fd);
	OPEN(c.cpu = 0);
	say("mmap", mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED ? -1 : 0);
}

int main(int argc, char **argv)
{
	bool software = argc > 1 && !strcmp(argv[1], "software");
	struct call first;
	int fd;

	if (software) {
		type = PERF_TYPE_SOFTWARE;
		config = PERF_COUNT_SW_PAGE_FAULTS;
	}
	first = right();
	fd = (int)make(&first);
	if (fd < 0) {
		say("no event", fd);
		return 1;
	}
	general(fd);
	on_descriptor(fd);
	in_parts(fd);
	if (!software)
		of_processor(fd);
	return 0;
}
