/* SPDX-License-Identifier: MIT */
/*
 * perf_attr.c: the checks of perf_event_open(2) that depend on the arguments alone, in the kernel's
 * order: if several things are wrong, the error is the kernel's.
 */
#include <asm/errno.h>
#include <string.h>

#include "perf_attr.h"

#define LARGEST	  4096u /* what the kernel reads: a page */
#define TOP_BIT	  (UINT64_C(1) << 63)
#define USER_REGS ((UINT64_C(1) << 24) - 1) /* asm/perf_regs.h: up to R15 ... */
#define NO_REGS	  (UINT64_C(0xf) << 12)	    /* ... without DS, ES, FS and GS */

#define BRANCH_RINGS (PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_KERNEL | PERF_SAMPLE_BRANCH_HV)
#define WEIGHTS	     (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT)

long perf_attr_bytes(uint32_t size)
{
	if (!size)
		return PERF_ATTR_SIZE_VER0;
	return size < PERF_ATTR_SIZE_VER0 || size > LARGEST ? -E2BIG : (long)size;
}

long perf_attr_take(struct perf_event_attr *to, const void *from, uint32_t bytes)
{
	uint32_t known = bytes < sizeof(*to) ? bytes : (uint32_t)sizeof(*to);

	for (uint32_t i = known; i < bytes; i++)
		if (((const uint8_t *)from)[i])
			return -E2BIG;
	memset(to, 0, sizeof(*to));
	memcpy(to, from, known);
	to->size = bytes;
	return 0;
}

/* --- each part of the structure --- */

static long check_branches(struct perf_event_attr *attr)
{
	uint64_t mask = attr->branch_sample_type;

	if (!(attr->sample_type & PERF_SAMPLE_BRANCH_STACK))
		return 0;
	if (mask & ~(uint64_t)(PERF_SAMPLE_BRANCH_MAX - 1) || !(mask & ~(uint64_t)BRANCH_RINGS))
		return -EINVAL;
	if (!(mask & BRANCH_RINGS)) {
		mask |= attr->exclude_user ? 0 : PERF_SAMPLE_BRANCH_USER;
		mask |= attr->exclude_kernel ? 0 : PERF_SAMPLE_BRANCH_KERNEL;
		mask |= attr->exclude_hv ? 0 : PERF_SAMPLE_BRANCH_HV;
		attr->branch_sample_type = mask;
	}
	return mask & (PERF_SAMPLE_BRANCH_KERNEL | PERF_SAMPLE_BRANCH_HV) ? -EACCES : 0;
}

static bool are_registers(uint64_t mask)
{
	return mask && !(mask & (~USER_REGS | NO_REGS));
}

static long check_sample_parts(const struct perf_event_attr *attr)
{
	if (attr->sample_type & PERF_SAMPLE_REGS_USER && !are_registers(attr->sample_regs_user))
		return -EINVAL;
	if (attr->sample_type & PERF_SAMPLE_STACK_USER &&
	    (attr->sample_stack_user >= UINT16_MAX || attr->sample_stack_user % 8))
		return -EINVAL;
	if (attr->sample_type & PERF_SAMPLE_REGS_INTR && !are_registers(attr->sample_regs_intr))
		return -EINVAL;
	return (attr->sample_type & WEIGHTS) == WEIGHTS ? -EINVAL : 0;
}

static long check_inheritance(const struct perf_event_attr *attr)
{
	if (!attr->inherit && attr->inherit_thread)
		return -EINVAL;
	if (attr->remove_on_exec && attr->enable_on_exec)
		return -EINVAL;
	return attr->sigtrap && !attr->remove_on_exec ? -EINVAL : 0;
}

/* What the kernel checks while it copies the structure. */
static long check_structure(struct perf_event_attr *attr)
{
	long result;

	if (attr->__reserved_1 || attr->__reserved_2 || attr->__reserved_3)
		return -EINVAL;
	if (attr->sample_type & ~(uint64_t)(PERF_SAMPLE_MAX - 1) ||
	    attr->read_format & ~(uint64_t)(PERF_FORMAT_MAX - 1))
		return -EINVAL;
	result = check_branches(attr);
	if (!result)
		result = check_sample_parts(attr);
	if (!attr->sample_max_stack)
		attr->sample_max_stack = PERF_ATTR_MAX_STACK;
	return result ? result : check_inheritance(attr);
}

static long check_rights(const struct perf_event_attr *attr)
{
	if (!attr->exclude_kernel || attr->namespaces)
		return -EACCES;
	if (attr->freq ? attr->sample_freq > PERF_ATTR_MAX_RATE : attr->sample_period & TOP_BIT)
		return -EINVAL;
	return attr->sample_type & PERF_SAMPLE_PHYS_ADDR ? -EACCES : 0;
}

long perf_attr_check(struct perf_event_attr *attr)
{
	long result = check_structure(attr);

	if (!result)
		result = check_rights(attr);
	if (result)
		return result;
	/* One number of a sample cannot be the sum of several tasks. */
	return attr->inherit && attr->sample_type & PERF_SAMPLE_READ ? -EINVAL : 0;
}

long perf_attr_check_call(int32_t pid, int32_t cpu, uint64_t flags)
{
	const uint64_t known = PERF_FLAG_FD_NO_GROUP | PERF_FLAG_FD_OUTPUT | PERF_FLAG_PID_CGROUP |
			       PERF_FLAG_FD_CLOEXEC;

	if (flags & ~known)
		return -EINVAL;
	if (flags & PERF_FLAG_PID_CGROUP && (pid == -1 || cpu == -1))
		return -EINVAL;
	return 0;
}
