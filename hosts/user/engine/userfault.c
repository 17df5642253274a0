/* SPDX-License-Identifier: MIT */
/*
 * userfault.c: a program that handles its own page faults (userfaultfd(2)) is told of them as
 * natively.  It may also ask to be told of fork, mremap and munmap: such a call then waits until
 * another thread has read of it.  The engine makes these calls with its lock held, which that
 * thread may need.  So the kernel seems not to know these events.
 */
#include "userfault.h"

#include <asm/errno.h>
#include <linux/ioctl.h>
#include <linux/userfaultfd.h>

#include "engine.h"
#include "signals.h"
#include "sys.h"

#define EVENTS                                                                                     \
	((uint64_t)(UFFD_FEATURE_EVENT_FORK | UFFD_FEATURE_EVENT_REMAP | UFFD_FEATURE_EVENT_UNMAP))

long userfault_ioctl(const struct syscall_arguments *c)
{
	struct uffdio_api *api = (struct uffdio_api *)c->a[2];
	long result;

	if ((uint32_t)c->a[1] != UFFDIO_API || !memory_writable(c->a[2], sizeof(*api)))
		return syscall_pass_on(c);
	if (api->api == UFFD_API && api->features & EVENTS) {
		memset(api, 0, sizeof(*api));
		return -EINVAL;
	}
	result = syscall_pass_on(c);
	if (!is_error(result))
		api->features &= ~EVENTS;
	return result;
}
