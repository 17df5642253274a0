/* SPDX-License-Identifier: MIT */
/* records.c: what the tool is told besides samples: mappings with code, names, tasks. */
#include <asm/unistd.h>
#include <linux/mman.h>

#include "engine/count/code_files.h"
#include "engine/count/costs.h"
#include "engine/count/count.h"
#include "engine/count/opened_records.h"
#include "engine/count/points.h"
#include "engine/count/flow.h"
#include "engine/count/flow_edges.h"
#include "engine/rt/context.h"
#include "engine/rt/file.h"
#include "engine/rt/sys.h"

#define PATH_ROOM 4096

/* Programs that have opened events may want to know it, too.  The kernel tells them the flags that
 * remain, and for memory without a file its address. */
static void tell_opened(const struct link_mmap *m, bool has_file)
{
	const struct perf_record_mapping mapping = {
		.start = m->start,
		.bytes = m->length,
		.offset = has_file ? m->page_offset : m->start,
		.device_major = m->device_major,
		.device_minor = m->device_minor,
		.inode = m->inode,
		.protection = m->protection,
		.flags = (m->flags & MAP_PRIVATE ? MAP_PRIVATE : MAP_SHARED) |
			 (m->flags & (MAP_LOCKED | MAP_HUGETLB)),
		.path = m->path,
	};

	opened_records_mmap(&mapping);
}

void record_mmap(uint64_t start, uint64_t bytes, uint64_t page_offset, int protection, int flags,
		 int fd, const char *name)
{
	union {
		struct link_mmap m;
		char room[sizeof(struct link_mmap) + PATH_ROOM + 8];
	} r;
	struct stat stat;
	struct text t;

	counting_drain();
	if (ring_is_mute() && !opened_records_want_mappings())
		return;
	memset(&r, 0, sizeof(r.m));
	text_start(&t, r.m.path, PATH_ROOM);
	if (name)
		text_add(&t, name);
	else
		file_name(fd, r.m.path, PATH_ROOM);
	if (fd >= 0 && file_stat(fd, &stat)) {
		r.m.device_major = (uint32_t)(stat.st_dev >> 8 & 0xfff);
		r.m.device_minor = (uint32_t)((stat.st_dev & 0xff) | (stat.st_dev >> 12 & 0xfff00));
		r.m.inode = stat.st_ino;
	}
	r.m.header.type = LINK_REC_MMAP;
	r.m.header.bytes = (uint32_t)((sizeof(r.m) + strlen(r.m.path) + 8) & ~UINT64_C(7));
	r.m.pid = current->pid;
	r.m.tid = current->tid;
	r.m.tsc = read_tsc();
	r.m.start = start;
	r.m.length = bytes;
	r.m.page_offset = page_offset;
	r.m.protection = (uint32_t)protection;
	r.m.flags = (uint32_t)flags;
	if (flow_is_wanted() && protection & PROT_EXEC)
		flow_edges_map(&r.m);
	else if (costs_wanted() && protection & PROT_EXEC)
		code_files_map(&r.m, NULL);
	else
		ring_write(&r.m.header);
	tell_opened(&r.m, fd >= 0 || memcmp(r.m.path, "//anon", 7) != 0);
	if (protection & PROT_EXEC)
		points_follow_mapping();
}

/* Writes a record of this thread.  The header is still without its size. */
static void write_task(struct link_task r)
{
	r.header.bytes = sizeof(r);
	r.pid = current->pid;
	r.tid = current->tid;
	r.tsc = read_tsc();
	ring_write(&r.header);
}

void record_begin(uint32_t ppid, uint32_t ptid, uint32_t fork)
{
	write_task((struct link_task){
		.header.type = LINK_REC_TASK, .ppid = ppid, .ptid = ptid, .fork = fork});
	opened_records_fork(ppid, ptid);
}

void record_end(void)
{
	uint32_t parent = (uint32_t)syscall1(__NR_getppid, 0);

	write_task((struct link_task){
		.header.type = LINK_REC_TASK, .ppid = parent, .ptid = parent, .ended = 1});
}

static void write_fork(uint32_t number, bool failed)
{
	if (flow_is_wanted())
		write_task((struct link_task){
			.header.type = LINK_REC_FORK, .fork = number, .ended = failed});
}

uint32_t record_fork(void)
{
	static uint32_t forks;
	uint32_t number = __atomic_add_fetch(&forks, 1, __ATOMIC_RELAXED);

	write_fork(number, false);
	return number;
}

void record_no_fork(uint32_t number)
{
	write_fork(number, true);
}

void record_comm(const char *name, bool exec)
{
	struct link_comm r = {
		.header = {LINK_REC_COMM, sizeof(r)},
		.pid = current->pid,
		.tid = current->tid,
		.tsc = read_tsc(),
		.exec = exec,
	};
	struct text t;

	counting_drain();
	text_start(&t, r.comm, sizeof(r.comm));
	text_add(&t, name);
	ring_write(&r.header);
	opened_records_comm(r.comm, exec);
}
