/* SPDX-License-Identifier: MIT */
/*
 * filters.c: filters of system calls that the program installs (seccomp(2)).
 *
 * The engine makes calls of its own, here and in the programs that this one executes.  So a filter
 * gets a few instructions in front that allow every call from the engine's code, but for the two
 * places from which it makes the program's.  What a filter kills with is turned into a trap that
 * comes to the engine, so that the counts are complete when the program ends.  The strict mode, in
 * which the kernel would allow three calls, is kept by the engine alone.
 *
 * Calls that the engine answers itself (rt_sigaction, sigaltstack, exit, ARCH_SET_GS) are not
 * filtered; of execve a filter is asked by one that cannot succeed.
 */
#include <asm/errno.h>
#include <asm/unistd.h>
#include <linux/filter.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <stddef.h>

#include "engine.h"
#include "filters.h"
#include "keep.h"
#include "signals.h"
#include "sys.h"

#define MOST	    BPF_MAXINSNS
#define ACTION_DATA 0xffffu
#define OF_THE_ENGINE                                                                              \
	0x5350u /* data of a trap in place of killing the process; + 1: the thread                 \
		 */

extern const char __executable_start[], etext[]; /* the linker's: the engine's code */

/* What the kernel reads. */
struct program {
	uint16_t length;
	struct sock_filter *filter;
};

#define LOW(address)  ((uint32_t)(uint64_t)(address))
#define HIGH(address) ((uint32_t)((uint64_t)(address) >> 32))
#define IP_LOW	      ((uint32_t)offsetof(struct seccomp_data, instruction_pointer))

/* Calls from the engine's code, which is within 4 GiB. */
static unsigned allow_engine(struct sock_filter *to)
{
	const struct sock_filter front[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, IP_LOW + 4),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, HIGH(__executable_start), 0, 6),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, IP_LOW),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, LOW(__executable_start), 0, 4),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, LOW(etext), 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, LOW(syscall_after), 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, LOW(clone_after), 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_LD | BPF_IMM, 0), /* as it begins */
	};

	memcpy(to, front, sizeof(front));
	return sizeof(front) / sizeof(front[0]);
}

static void trap_in_place_of_kill(struct sock_filter *f)
{
	if (f->code != (BPF_RET | BPF_K))
		return;
	switch (f->k & ~ACTION_DATA) {
	case SECCOMP_RET_KILL_PROCESS:
		f->k = SECCOMP_RET_TRAP | OF_THE_ENGINE;
		break;
	case SECCOMP_RET_KILL_THREAD:
		f->k = SECCOMP_RET_TRAP | (OF_THE_ENGINE + 1);
		break;
	default:
		break;
	}
}

enum fatal filters_fatal(const siginfo_t *info)
{
	switch (info->si_errno) {
	case OF_THE_ENGINE:
		return FATAL_PROCESS;
	case OF_THE_ENGINE + 1:
		return FATAL_THREAD;
	default:
		return NOT_FATAL;
	}
}

/* Argument `at` of the call is the program's filter. */
static long install(const struct syscall_arguments *c, unsigned at)
{
	struct syscall_arguments ours = *c;
	struct program wanted, changed;
	uint64_t bytes = (MOST + 16) * sizeof(struct sock_filter);
	unsigned n;
	long result;

	if (!memory_readable(c->a[at], sizeof(wanted)))
		return -EFAULT;
	memcpy(&wanted, (const void *)c->a[at], sizeof(wanted));
	/* The kernel knows in which order it looks at what is wrong. */
	if (!wanted.length || wanted.length > MOST ||
	    !memory_readable((uint64_t)wanted.filter, wanted.length * sizeof(*wanted.filter)))
		return syscall_program(c->nr, c->a);
	changed.filter = engine_memory(bytes);
	n = allow_engine(changed.filter);
	changed.length = (uint16_t)(n + wanted.length);
	ours.a[at] = (uint64_t)&changed;
	memcpy(changed.filter + n, wanted.filter, wanted.length * sizeof(*wanted.filter));
	for (unsigned i = n; i < n + wanted.length; i++)
		trap_in_place_of_kill(changed.filter + i);
	if (n + wanted.length > MOST)
		engine_unsupported("the program installs a filter of system calls that is too long "
				   "for what has to stand in front of it");
	result = syscall_program(ours.nr, ours.a);
	engine_release(changed.filter, bytes);
	return result;
}

static long become_strict(void)
{
	if (syscall1(__NR_prctl, PR_GET_SECCOMP) == SECCOMP_MODE_FILTER)
		return -EINVAL;
	current->strict = true;
	return 0;
}

bool filters_take(const struct syscall_arguments *c, long *result)
{
	bool by_prctl = c->nr == __NR_prctl;
	uint64_t mode = by_prctl ? c->a[1] : c->a[0];

	if (by_prctl && c->a[0] != PR_SET_SECCOMP)
		return false;
	keep_nothing(); /* files are not written for a program that gave up such rights */
	_Static_assert(SECCOMP_SET_MODE_STRICT == 0 && SECCOMP_SET_MODE_FILTER == 1,
		       "operations of seccomp(2) are modes of prctl(2) but one");
	if (mode + !by_prctl == SECCOMP_MODE_STRICT) {
		if (!by_prctl && (c->a[1] || c->a[2]))
			*result = -EINVAL;
		else
			*result = become_strict();
		return true;
	}
	if (mode + !by_prctl != SECCOMP_MODE_FILTER)
		return false;
	*result = install(c, 2);
	return true;
}

bool filters_forbid(long nr)
{
	return current->strict && nr != __NR_read && nr != __NR_write && nr != __NR_exit &&
	       nr != __NR_rt_sigreturn;
}

/* What a filter has to say of this call; -EFAULT: nothing. */
long filters_ask_exec(long nr)
{
	static const uint64_t nothing[6];

	if (syscall1(__NR_prctl, PR_GET_SECCOMP) != SECCOMP_MODE_FILTER)
		return -EFAULT;
	return syscall_program(nr, nothing);
}
