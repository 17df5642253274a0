/* SPDX-License-Identifier: MIT */
/*
 * pinned.c: memory that the program registers with io_uring(7) as buffers.  The kernel keeps its
 * pages and writes to them at any time, whatever their protection: code there that may be written
 * to runs as code on a stack does.
 *
 * Simplified: memory that becomes code only after it was registered, or that moves (mremap), is not
 * known.  Buffers that are not registered the kernel writes to as the program does, at a time that
 * nobody tells: where code has been translated that ends with EFAULT.
 */
#include "pinned.h"

#include <linux/io_uring.h>

#include "engine.h"
#include "sys.h"
#include "threads.h"

#define REGISTERED_RING (UINT64_C(1) << 31) /* the ring is named by a number of its own */

struct buffer {
	uint64_t start, bytes;
};

struct buffers {
	uint64_t at; /* of struct buffer */
	uint32_t n;
};

static struct buffers buffers_of(const struct syscall_arguments *c)
{
	struct io_uring_rsrc_register all;
	struct io_uring_rsrc_update2 some;

	switch (c->a[1] & ~REGISTERED_RING) {
	case IORING_REGISTER_BUFFERS:
		return (struct buffers){c->a[2], (uint32_t)c->a[3]};
	case IORING_REGISTER_BUFFERS2:
		if (!memory_readable(c->a[2], sizeof(all)))
			break;
		memcpy(&all, (const void *)c->a[2], sizeof(all));
		return (struct buffers){all.data, all.nr};
	case IORING_REGISTER_BUFFERS_UPDATE:
		if (!memory_readable(c->a[2], sizeof(some)))
			break;
		memcpy(&some, (const void *)c->a[2], sizeof(some));
		return (struct buffers){some.data, some.nr};
	default:
		break;
	}
	return (struct buffers){0};
}

long pinned_register(const struct syscall_arguments *c)
{
	struct buffers b = buffers_of(c);

	engine_lock();
	for (uint64_t at = b.at; b.n && memory_readable(at, sizeof(struct buffer)); b.n--) {
		struct buffer one;

		memcpy(&one, (const void *)at, sizeof(one));
		memory_pin(one.start, one.bytes);
		at += sizeof(one);
	}
	engine_unlock();
	return syscall_pass_on(c);
}
