/* SPDX-License-Identifier: MIT */
/*
 * pinned.c: memory that the program registers with io_uring(7) as buffers.  The kernel keeps its
 * pages and writes to them at any time, whatever their protection is.  Writable code there runs
 * like code on a stack.
 *
 * Simplified: memory that becomes code only after its registration, or that moves (mremap), is
 * not known.  To buffers that are not registered, the kernel writes like the program, at an
 * unknown time.  If code has been translated there, this ends with EFAULT.
 */
#include "engine/linux/pinned.h"

#include <linux/io_uring.h>

#include "engine/linux/pass_on.h"
#include "engine/memory/access.h"
#include "engine/rt/call.h"
#include "engine/rt/lock.h"
#include "engine/rt/sys.h"
#include "engine/watch/watch.h"

#define REGISTERED_RING (UINT64_C(1) << 31) /* the ring is named by its own number */

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
		if (!access_readable(c->a[2], sizeof(all)))
			break;
		memcpy(&all, (const void *)c->a[2], sizeof(all));
		return (struct buffers){all.data, all.nr};
	case IORING_REGISTER_BUFFERS_UPDATE:
		if (!access_readable(c->a[2], sizeof(some)))
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

	lock_take();
	for (uint64_t at = b.at; b.n && access_readable(at, sizeof(struct buffer)); b.n--) {
		struct buffer one;

		memcpy(&one, (const void *)at, sizeof(one));
		watch_pin(one.start, one.bytes);
		at += sizeof(one);
	}
	lock_release();
	return pass_on(c);
}
