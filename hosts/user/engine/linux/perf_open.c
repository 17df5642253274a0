/* SPDX-License-Identifier: MIT */
/*
 * perf_open.c: perf_event_open(2) for events of the processor, on tasks of the run.
 *
 * Events of other types go to the kernel.  What is served here, and what is refused, is in
 * docs/perf_event.md.
 */
#include "engine/linux/perf_open.h"

#include <asm/errno.h>
#include <asm/unistd.h>
#include <linux/fcntl.h>
#include <linux/time.h>

#include <hosts/user/perf_event/perf_attr.h>
#include <hosts/user/perf_event/perf_select.h>

#include "engine/count/ask.h"
#include "engine/count/opened.h"
#include "engine/count/opened_table.h"
#include "engine/count/opened_wake.h"
#include "engine/count/unit_host.h"
#include "engine/count/units.h"
#include "engine/linux/pass_on.h"
#include "engine/linux/perf_descriptor.h"
#include "engine/memory/access.h"
#include "engine/rt/context.h"
#include "engine/rt/engine.h"
#include "engine/rt/file.h"
#include "engine/rt/lock.h"
#include "engine/rt/sys.h"

#define BEGIN_NS 50000	    /* between looks for a task that has not begun */
#define BEGINS	 40000	    /* of them: two seconds */
#define SERVE	 INT64_MAX  /* no result of the call */
#define CLOSED	 64	    /* events that are forgotten at a time */
#define TAKEN	 UINT64_MAX /* the serial of an event that is about to be opened */

/* What the call asks for. */
struct asked {
	struct perf_event_attr attr;
	struct spmu_request request;
	int32_t pid, cpu, group_fd;
	uint64_t flags;
	uint32_t load_threshold; /* as in struct link_open_request */
	int leader;		 /* the place of the group's leader; -1: none */
	int follower;		 /* the task's place among link.follower; -1: all tasks */
};

/* --- arguments --- */

/* The kernel does not see the program's mappings of code, and its samples are in translated code.
 * So an event that never happens and tells of mappings is not left to it.  Nor is a clock that
 * samples. */
static bool tells(const struct perf_event_attr *attr)
{
	return attr->mmap || attr->mmap2 || attr->mmap_data || attr->comm || attr->task;
}

static bool is_ours(const struct perf_event_attr *attr)
{
	if (attr->type == PERF_TYPE_SOFTWARE)
		return attr->config == PERF_COUNT_SW_DUMMY
			       ? tells(attr)
			       : perf_select_is_clock(attr) && perf_attr_samples(attr);
	return attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE ||
	       attr->type == PERF_TYPE_RAW;
}

/* Says how large the structure is that is known here. */
static long too_large(uint64_t at)
{
	uint64_t size = at + __builtin_offsetof(struct perf_event_attr, size);

	if (!access_writable(size, sizeof(uint32_t)))
		return -EFAULT;
	*(uint32_t *)size = sizeof(struct perf_event_attr);
	return -E2BIG;
}

static long read_attr(struct perf_event_attr *attr, uint64_t at)
{
	long bytes = perf_attr_bytes(((const struct perf_event_attr *)at)->size);

	if (is_error(bytes))
		return too_large(at);
	if (!access_readable(at, (uint64_t)bytes))
		return -EFAULT;
	if (perf_attr_take(attr, (const void *)at, (uint32_t)bytes))
		return too_large(at);
	return perf_attr_check(attr);
}

/* An event that the kernel counts cannot be in a group with one of ours. */
static long find_leader(struct asked *a)
{
	char name[32];

	a->leader = -1;
	if (a->group_fd == -1)
		return 0;
	a->leader = perf_descriptor_event(a->group_fd);
	if (a->leader < 0) {
		file_name(a->group_fd, name, sizeof(name));
		return memcmp(name, "anon_inode:[perf", 16) ? -EBADF : -EINVAL;
	}
	if (a->flags & PERF_FLAG_FD_OUTPUT)
		return -EINVAL; /* it has not worked since Linux 2.6.35 */
	if (a->flags & PERF_FLAG_FD_NO_GROUP)
		a->leader = -1;
	return 0;
}

/* Returns whether the task executes the engine's image, as a child does before it has an entry. */
static bool is_of_engine(int32_t tid)
{
	char path[32], own[64] = "", its[64] = "";
	struct text t;

	text_start(&t, path, sizeof(path));
	text_add(&t, "/proc/");
	text_add_number(&t, (uint64_t)tid);
	text_add(&t, "/exe");
	syscall3(__NR_readlink, (long)"/proc/self/exe", (long)own, sizeof(own));
	return syscall3(__NR_readlink, (long)path, (long)its, sizeof(its)) > 0 &&
	       !memcmp(own, its, sizeof(own));
}

/* A task that was started a moment ago may not have an entry yet. */
static int wait_for_task(int32_t tid)
{
	const long pause[2] = {0, BEGIN_NS};
	struct syscall_arguments wait = {__NR_nanosleep, {(uint64_t)pause}};
	int place = ask_find((uint32_t)tid);

	for (unsigned i = 0; place < 0 && i < BEGINS && is_of_engine(tid); i++) {
		pass_on(&wait);
		place = ask_find((uint32_t)tid);
	}
	return place;
}

static long find_task(struct asked *a)
{
	a->follower = -1;
	if (a->pid == -1)
		return 0;
	if (a->pid < 0)
		return -ESRCH;
	a->follower = a->pid ? wait_for_task(a->pid) : ask_find(current->tid);
	if (a->follower >= 0)
		return 0;
	return a->pid ? -ESRCH : -ENOENT; /* a process out of reach counts nothing */
}

/* Returns how many processors the kernel has numbers for. */
static int32_t processors(void)
{
	char text[64];
	long fd = syscall4(__NR_openat, AT_FDCWD, (long)"/sys/devices/system/cpu/possible",
			   O_RDONLY | O_CLOEXEC, 0);
	long bytes = is_error(fd) ? 0 : syscall3(__NR_read, fd, (long)text, sizeof(text));
	int32_t last = 0;

	if (!is_error(fd))
		syscall1(__NR_close, fd);
	if (bytes <= 0)
		return INT32_MAX;
	for (long i = 0; i < bytes; i++) /* "0-3" */
		last = text[i] >= '0' && text[i] <= '9' ? last * 10 + text[i] - '0'
		       : text[i] == '\n'		? last
							: 0;
	return last + 1;
}

static long check_processor(const struct asked *a)
{
	if (a->cpu < -1 || (a->cpu == -1 && a->pid == -1) ||
	    (a->cpu >= 0 && a->cpu >= processors()))
		return -EINVAL;
	return 0;
}

static bool is_software(const struct asked *a)
{
	return a->attr.type == PERF_TYPE_SOFTWARE;
}

/* --- groups --- */

static struct spmu_request request_of(const struct link_open *event)
{
	return (struct spmu_request){
		.size = sizeof(struct spmu_request),
		.select = event->request.select,
		.code = event->request.code,
		.counters = event->request.counters,
		.fixed = (int8_t)event->request.fixed,
		.period = event->request.period,
		.precise = event->request.precise,
		.offcore = event->request.offcore,
	};
}

static bool needs_unit(const struct link_open *event)
{
	return !event->request.software || event->request.period;
}

/* Returns whether one unit has counters for the event and its group. */
static bool fits(const struct asked *a)
{
	struct spmu_request all[LINK_OPENED_MAX + 1];
	unsigned n = 1;
	bool fit;

	if (is_software(a) || (a->leader < 0 && !a->request.period && !a->request.offcore &&
			       (a->request.counters || a->request.fixed >= 0)))
		return true;
	all[0] = a->request;
	lock_take();
	opened_lock();
	for (unsigned i = 0; a->leader >= 0 && i < engine_link->open_used; i++)
		if (engine_link->open[i].serial && needs_unit(&engine_link->open[i]) &&
		    engine_link->open[i].leader == (uint32_t)a->leader && n <= LINK_OPENED_MAX)
			all[n++] = request_of(&engine_link->open[i]);
	opened_unlock();
	fit = units_fit(all, n);
	lock_release();
	return fit;
}

static uint32_t target_of(const struct asked *a)
{
	return a->follower < 0 ? LINK_OPEN_ALL : engine_link->follower[a->follower].tid;
}

static long check_group(const struct asked *a)
{
	const struct link_open *leader;

	if (a->leader < 0)
		return 0;
	leader = &engine_link->open[a->leader];
	if (leader->leader != (uint32_t)a->leader || leader->target != target_of(a) ||
	    leader->cpu != a->cpu)
		return -EINVAL;
	return a->attr.exclusive || a->attr.pinned ? -EINVAL : 0;
}

static bool inherits_otherwise(const struct asked *a)
{
	return a->leader >= 0 && engine_link->open[a->leader].attr.inherit != a->attr.inherit;
}

/* --- the event --- */

/* An event of all tasks is one of those that they start. */
static uint32_t flags_of(const struct asked *a)
{
	const struct perf_event_attr *attr = &a->attr;

	return (attr->inherit || a->follower < 0 ? LINK_OPEN_INHERIT : 0) |
	       (attr->inherit_thread ? LINK_OPEN_INHERIT_THREAD : 0) |
	       (attr->enable_on_exec ? LINK_OPEN_EXEC_ENABLES : 0) |
	       (attr->remove_on_exec ? LINK_OPEN_EXEC_REMOVES : 0);
}

/* Adds the event to the lists of the tasks that count it.  Another processor than the run's has no
 * task.  The lock of the table is held. */
static bool add_to_tasks(const struct asked *a, unsigned place)
{
	uint32_t flags = engine_link->open[place].flags | (a->attr.disabled ? 0 : LINK_OPEN_ON);

	if (a->cpu >= 0 && a->cpu != engine_link->open_cpu)
		return true;
	if (a->follower >= 0)
		return opened_add(&engine_link->opened[a->follower], place, flags);
	for (uint32_t i = 0; i < engine_link->followers; i++) {
		uint32_t tid = __atomic_load_n(&engine_link->follower[i].tid, __ATOMIC_SEQ_CST);

		if (tid && tid != LINK_FOLLOWER_CLAIMED)
			opened_add(&engine_link->opened[i], place, flags);
	}
	return true;
}

/* The lock of the table is held. */
static bool enter(const struct asked *a, int place, const struct perf_inode *inode, uint32_t named)
{
	struct link_open *event = &engine_link->open[place];

	if (!opened_claim_threshold(a->load_threshold))
		return false;
	*event = (struct link_open){
		.serial = ++engine_link->open_serial,
		.inode = inode->inode,
		.device = inode->device,
		.leader = a->leader < 0 ? (uint32_t)place : (uint32_t)a->leader,
		.target = target_of(a),
		.flags = flags_of(a),
		.switched = !a->attr.disabled,
		.cpu = a->cpu,
		.named = named,
		.owner = current->process,
		.attr = a->attr,
		.request = {a->request.select, a->request.code, a->request.counters,
			    a->request.fixed, a->request.precise, a->request.period,
			    a->request.offcore, a->load_threshold,
			    is_software(a) ? (uint32_t)a->attr.config + 1 : 0},
	};
	/* Before it looks for tasks: a task that it does not see looks for the event. */
	__atomic_add_fetch(&engine_link->open_events, 1, __ATOMIC_SEQ_CST);
	if (add_to_tasks(a, (unsigned)place))
		return true;
	event->serial = 0;
	__atomic_sub_fetch(&engine_link->open_events, 1, __ATOMIC_SEQ_CST);
	return false;
}

static int take_place(void)
{
	int place;

	opened_lock();
	place = opened_free_place();
	if (place >= 0)
		engine_link->open[place] =
			(struct link_open){.serial = TAKEN, .leader = (uint32_t)place};
	opened_unlock();
	return place;
}

/* Returns the number of a FIFO for an event that may wake somebody; 0: it cannot. */
static uint32_t name_for(const struct asked *a)
{
	bool in_group = a->leader >= 0 && engine_link->open[a->leader].named;

	if (!perf_attr_samples(&a->attr) && !tells(&a->attr) && !in_group)
		return 0;
	return __atomic_add_fetch(&engine_link->open_named, 1, __ATOMIC_RELAXED);
}

static long make(const struct asked *a)
{
	int place = take_place();
	uint32_t named = name_for(a);
	struct perf_inode inode;
	long fd = -ENOSPC;
	bool entered;

	if (place < 0) {
		perf_open_collect();
		place = take_place();
	}
	if (place < 0)
		return -ENOSPC;
	fd = perf_descriptor_make(a->flags & PERF_FLAG_FD_CLOEXEC, named, &inode);
	opened_lock();
	entered = !is_error(fd) && enter(a, place, &inode, named);
	if (!entered)
		engine_link->open[place].serial = 0;
	opened_unlock();
	if (entered && named)
		opened_wake((unsigned)place); /* until it has a ring */
	if (entered || is_error(fd))
		return fd;
	syscall1(__NR_close, fd);
	return -ENOSPC;
}

static long select(struct asked *a)
{
	const struct spmu_model *model = spmu_model_find(engine_link->model);
	struct perf_supply supply = {unit_host_supply(), engine_link->static_clocks};

	a->load_threshold = perf_select_load_threshold(model, &a->attr);
	return (is_software(a) ? perf_select_software : perf_select)(model, &supply, &a->attr,
								     &a->request);
}

/* The clocks that the kernel can read in an interrupt. */
static long check_clock(const struct perf_event_attr *attr)
{
	return attr->use_clockid && attr->clockid != CLOCK_MONOTONIC &&
			       attr->clockid != CLOCK_MONOTONIC_RAW
		       ? -EINVAL
		       : 0;
}

/* The tasks begin to count. */
static void begin(const struct asked *a)
{
	uint32_t own = (uint32_t)(current->follower - engine_link->follower);

	if (current->follower && (a->follower < 0 || (uint32_t)a->follower == own))
		opened_follow(&engine_link->opened[own]);
	if (a->follower < 0)
		ask_counting(engine_link->open_serial);
	else if (!current->follower || (uint32_t)a->follower != own)
		ask_one((unsigned)a->follower);
}

static long open(struct asked *a)
{
	long result = find_task(a);

	if (!result && inherits_otherwise(a))
		result = -EINVAL;
	if (!result)
		result = check_processor(a);
	if (!result)
		result = select(a);
	if (!result)
		result = check_clock(&a->attr);
	if (!result && !fits(a))
		result = -EINVAL;
	if (!result)
		result = check_group(a);
	if (result)
		return result;
	result = make(a);
	if (!is_error(result))
		begin(a);
	return result;
}

/* Lets the kernel open an event of another type.  SERVE: it refuses a software event, or the event
 * belongs to a group of ours. */
static long by_kernel(const struct syscall_arguments *c, uint32_t type, bool in_group)
{
	bool software = type == PERF_TYPE_SOFTWARE;
	long result;

	if (in_group)
		return software ? SERVE : -EINVAL;
	result = pass_on(c);
	return software && (result == -EPERM || result == -EACCES || result == -ENOSYS) ? SERVE
											: result;
}

long perf_open(const struct syscall_arguments *c)
{
	struct asked a = {.pid = (int32_t)c->a[1],
			  .cpu = (int32_t)c->a[2],
			  .group_fd = (int32_t)c->a[3],
			  .flags = c->a[4]};
	const struct perf_event_attr *attr = (const struct perf_event_attr *)c->a[0];
	long result;

	if (!opened_wanted() || !access_readable(c->a[0], PERF_ATTR_SIZE_VER0))
		return pass_on(c);
	if (!is_ours(attr)) {
		result = by_kernel(c, attr->type, perf_descriptor_event(a.group_fd) >= 0);
		if (result != SERVE)
			return result;
	}
	result = perf_attr_check_call(a.pid, a.cpu, a.flags);
	if (!result)
		result = read_attr(&a.attr, c->a[0]);
	if (!result)
		result = find_leader(&a);
	return result ? result : open(&a);
}

void perf_open_collect(void)
{
	unsigned place[CLOSED], n;
	uint64_t last = __atomic_load_n(&engine_link->open_serial, __ATOMIC_ACQUIRE);

	if (!__atomic_load_n(&engine_link->open_events, __ATOMIC_ACQUIRE))
		return;
	n = perf_descriptors_closed(place, CLOSED);
	opened_lock();
	for (unsigned i = 0; i < n; i++) {
		uint64_t serial = engine_link->open[place[i]].serial;

		/* Later ones may have been opened after the look at the locks. */
		if (serial && serial <= last)
			opened_forget(place[i]);
	}
	opened_unlock();
	if (n && current->follower)
		opened_follow(&engine_link->opened[current->follower - engine_link->follower]);
}
