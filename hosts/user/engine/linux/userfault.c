/* SPDX-License-Identifier: MIT */
/*
 * userfault.c: a program that handles its own page faults (userfaultfd(2)) receives them as
 * natively.  It may also ask for events of fork, mremap and munmap.  Such a call then waits
 * until another thread has read the event.  The engine makes these calls with its lock held,
 * which that thread may need.  So it pretends that the kernel does not know these events.
 */
#include "engine/linux/userfault.h"

#include <asm/errno.h>
#include <linux/ioctl.h>
#include <linux/userfaultfd.h>

#include "engine/linux/pass_on.h"
#include "engine/memory/access.h"
#include "engine/rt/call.h"
#include "engine/rt/sys.h"

#define EVENTS                                                                                     \
	((uint64_t)(UFFD_FEATURE_EVENT_FORK | UFFD_FEATURE_EVENT_REMAP | UFFD_FEATURE_EVENT_UNMAP))

long userfault_ioctl(const struct syscall_arguments *c)
{
	struct uffdio_api *api = (struct uffdio_api *)c->a[2];
	long result;

	if ((uint32_t)c->a[1] != UFFDIO_API || !access_writable(c->a[2], sizeof(*api)))
		return pass_on(c);
	if (api->api == UFFD_API && api->features & EVENTS) {
		memset(api, 0, sizeof(*api));
		return -EINVAL;
	}
	result = pass_on(c);
	if (!is_error(result))
		api->features &= ~EVENTS;
	return result;
}
