/* SPDX-License-Identifier: MIT */
/*
 * ring.c: records to the tool.  When the ring is full the program waits; nothing is
 * dropped while somebody reads.
 */
#include <asm/errno.h>
#include <asm/unistd.h>
#include <linux/futex.h>

#include "descriptors.h"
#include "engine.h"
#include "sys.h"

#define MASK	   (LINK_RING_BYTES - 1)
#define PATH_ROOM  4096
#define TURN_WAITS 20000 /* of 0.1 ms */

void ring_wake(void)
{
	__atomic_add_fetch(&engine_link->head_futex, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&engine_link->tool_waits, __ATOMIC_SEQ_CST))
		syscall3(__NR_futex, (long)&engine_link->head_futex, FUTEX_WAKE, 1);
}

/* When the tool is gone nobody reads. */
static bool is_read(void)
{
	return !__atomic_load_n(&engine_link->tool_gone, __ATOMIC_ACQUIRE) &&
	       (descriptors_kept() >= 0 || /* its number may mean nothing here */
		syscall2(__NR_kill, engine_link->tool_pid, 0) != -ESRCH);
}

/*
 * Processes take turns.  A turn is a copy of a few bytes, without waiting in it; one that takes
 * too long belongs to a process that was killed meanwhile.
 */
static void take_turn(void)
{
	uint32_t *word = &engine_link->writer, owner = 0;
	long pause[2] = {0, 100000};
	unsigned waits = 0;

	while (!__atomic_compare_exchange_n(word, &owner, current->tid, false, __ATOMIC_ACQUIRE,
					    __ATOMIC_RELAXED)) {
		if (waits++ < TURN_WAITS) {
			syscall4(__NR_futex, (long)word, FUTEX_WAIT, owner, (long)pause);
			owner = 0;
		}
	}
}

static void end_turn(void)
{
	__atomic_store_n(&engine_link->writer, 0, __ATOMIC_RELEASE);
}

void ring_end_turn_of(uint32_t tid)
{
	__atomic_compare_exchange_n(&engine_link->writer, &tid, 0, false, __ATOMIC_RELEASE,
				    __ATOMIC_RELAXED);
}

bool ring_wait(uint32_t *word, uint32_t value)
{
	long timeout[2] = {0, 100000000};

	while (__atomic_load_n(word, __ATOMIC_ACQUIRE) == value) {
		if (!is_read())
			return false;
		ring_wake();
		syscall4(__NR_futex, (long)word, FUTEX_WAIT, value, (long)timeout);
	}
	return true;
}

static bool has_room(uint64_t bytes)
{
	const struct link *l = engine_link;

	return __atomic_load_n(&l->head, __ATOMIC_ACQUIRE) + bytes -
		       __atomic_load_n(&l->tail, __ATOMIC_SEQ_CST) <=
	       LINK_RING_BYTES;
}

static bool wait_for_room(uint64_t bytes)
{
	struct link *l = engine_link;

	while (!has_room(bytes)) {
		uint32_t seen = __atomic_load_n(&l->tail_futex, __ATOMIC_SEQ_CST);
		long timeout[2] = {0, 100000000};

		if (!is_read())
			return false;
		__atomic_store_n(&l->engine_waits, 1, __ATOMIC_SEQ_CST);
		ring_wake();
		if (!has_room(bytes))
			syscall4(__NR_futex, (long)&l->tail_futex, FUTEX_WAIT, seen, (long)timeout);
		__atomic_store_n(&l->engine_waits, 0, __ATOMIC_SEQ_CST);
	}
	return true;
}

static bool is_mute(void)
{
	return !current->observed || engine_link->want & LINK_WANT_MUTE;
}

void ring_write(const struct link_record *record)
{
	struct link *l = engine_link;
	uint32_t at, first;
	uint64_t used;

	if (is_mute())
		return;
	take_turn();
	while (!has_room(record->bytes)) {
		end_turn();
		if (!wait_for_room(record->bytes))
			return;
		take_turn();
	}
	at = (uint32_t)l->head & MASK;
	first = LINK_RING_BYTES - at < record->bytes ? LINK_RING_BYTES - at : record->bytes;
	used = l->head - __atomic_load_n(&l->tail, __ATOMIC_RELAXED);
	memcpy(l->ring + at, record, first);
	memcpy(l->ring, (const uint8_t *)record + first, record->bytes - first);
	__atomic_store_n(&l->head, l->head + record->bytes, __ATOMIC_RELEASE);
	end_turn();
	/* Wake the tool when there is a worthwhile amount, not for each record. */
	if (used < LINK_RING_BYTES / 4 && used + record->bytes >= LINK_RING_BYTES / 4)
		ring_wake();
}

void name_of_fd(int fd, char *path, size_t bytes)
{
	char link_name[32];
	struct text t;
	long n;

	text_start(&t, link_name, sizeof(link_name));
	text_add(&t, "/proc/self/fd/");
	text_add_number(&t, (uint64_t)fd);
	n = syscall3(__NR_readlink, (long)link_name, (long)path, (long)bytes - 1);
	path[is_error(n) ? 0 : n] = 0;
}

void ring_mmap(uint64_t start, uint64_t bytes, uint64_t page_offset, int protection, int flags,
	       int fd, const char *name)
{
	union {
		struct link_mmap m;
		char room[sizeof(struct link_mmap) + PATH_ROOM + 8];
	} r;
	uint64_t stat[18] = {0};
	struct text t;

	counting_drain();
	if (is_mute())
		return;
	memset(&r, 0, sizeof(r.m));
	text_start(&t, r.m.path, PATH_ROOM);
	if (name)
		text_add(&t, name);
	else
		name_of_fd(fd, r.m.path, PATH_ROOM);
	if (fd >= 0 && !is_error(syscall2(__NR_fstat, fd, (long)stat))) {
		r.m.device_major = (uint32_t)(stat[0] >> 8 & 0xfff);
		r.m.device_minor = (uint32_t)((stat[0] & 0xff) | (stat[0] >> 12 & 0xfff00));
		r.m.inode = stat[1];
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
	ring_write(&r.m.header);
}

static void task(uint32_t ppid, uint32_t ptid, bool ended)
{
	struct link_task r = {
		.header = {LINK_REC_TASK, sizeof(r)},
		.pid = current->pid,
		.tid = current->tid,
		.ppid = ppid,
		.ptid = ptid,
		.tsc = read_tsc(),
		.ended = ended,
	};

	ring_write(&r.header);
}

void ring_begin(uint32_t ppid, uint32_t ptid)
{
	task(ppid, ptid, false);
}

void ring_end(void)
{
	uint32_t parent = (uint32_t)syscall1(__NR_getppid, 0);

	task(parent, parent, true);
}

void ring_comm(const char *name, bool exec)
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
}
