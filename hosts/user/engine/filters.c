/* SPDX-License-Identifier: MIT */
/*
 * filters.c: filters of system calls that the program installs (seccomp(2)).
 *
 * The engine makes calls of its own, here and in the programs that this one executes.  So whatever
 * a filter says but "allow" goes through a few instructions at its end.  These allow calls from
 * the engine's code, but for the two places from which it makes the program's.  What a filter
 * allows by the call's number alone is still known to the kernel as such, and costs as little as
 * natively.  What a filter kills with is turned into a trap that comes to the engine, so that
 * the counts are complete when the program ends.  The strict mode, in which the kernel would
 * allow three calls, is kept by the engine alone.
 *
 * A filter is asked about exit(2) and exit_group(2) by a process that makes the call in the
 * program's place; of execve by a call that cannot succeed.  Other calls that the engine answers
 * itself (rt_sigaction, sigaltstack, ARCH_SET_GS) are not filtered.
 */
#include <asm/errno.h>
#include <asm/unistd.h>
#include <linux/filter.h>
#include <linux/mman.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <linux/wait.h>
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

#define ANSWERS_MOST 64 /* different ones, of a filter */

/* The program's filter as it is changed. */
struct changed {
	struct sock_filter *filter;
	unsigned n, room;
	unsigned end; /* where the answer in A is given */
	struct {
		uint32_t k;
		unsigned at;
	} answer[ANSWERS_MOST];
	unsigned answers;
};

static void append(struct changed *c, const struct sock_filter *from, unsigned n)
{
	if (c->n + n <= c->room)
		memcpy(c->filter + c->n, from, n * sizeof(*from));
	c->n += n;
}

/* Gives the answer in A: but calls from the engine's code, which is within 4 GiB, are allowed. */
static void append_end(struct changed *c, bool computes)
{
	const struct sock_filter end[] = {
		BPF_STMT(BPF_ST, 0),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, IP_LOW + 4),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, HIGH(__executable_start), 0, 6),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, IP_LOW),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, LOW(__executable_start), 0, 4),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, LOW(etext), 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, LOW(syscall_after), 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, LOW(clone_after), 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_LD | BPF_MEM, 0),
	};
	const struct sock_filter computed[] = {
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, ~ACTION_DATA),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SECCOMP_RET_KILL_PROCESS, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SECCOMP_RET_KILL_THREAD, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JA, 2, 0, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP | OF_THE_ENGINE),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP | (OF_THE_ENGINE + 1)),
		BPF_STMT(BPF_LD | BPF_MEM, 0),
	};
	const struct sock_filter give = BPF_STMT(BPF_RET | BPF_A, 0);

	c->end = c->n;
	append(c, end, sizeof(end) / sizeof(end[0]));
	if (computes)
		append(c, computed, sizeof(computed) / sizeof(computed[0]));
	append(c, &give, 1);
}

static uint32_t without_kill(uint32_t k)
{
	switch (k & ~ACTION_DATA) {
	case SECCOMP_RET_KILL_PROCESS:
		return SECCOMP_RET_TRAP | OF_THE_ENGINE;
	case SECCOMP_RET_KILL_THREAD:
		return SECCOMP_RET_TRAP | (OF_THE_ENGINE + 1);
	default:
		return k;
	}
}

/* Where this constant answer is given. */
static unsigned answer_at(struct changed *c, uint32_t k)
{
	const struct sock_filter load = BPF_STMT(BPF_LD | BPF_IMM, k);
	struct sock_filter jump;
	unsigned i = 0;

	while (i < c->answers && c->answer[i].k != k)
		i++;
	if (i == ANSWERS_MOST)
		engine_unsupported("the program installs a filter of system calls with more "
				   "different answers than can be followed");
	if (i == c->answers) {
		c->answer[c->answers++].k = k;
		c->answer[i].at = c->n;
		append(c, &load, 1);
		jump = (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, c->end - c->n - 1);
		append(c, &jump, 1);
	}
	return c->answer[i].at;
}

static bool is_answer(const struct sock_filter *f)
{
	return f->code == (BPF_RET | BPF_A) ||
	       (f->code == (BPF_RET | BPF_K) && (f->k & ~ACTION_DATA) != SECCOMP_RET_ALLOW);
}

/* Jumps go forward only: what loads an answer is before the end. */
static void change(struct changed *c, unsigned length)
{
	bool computes = false;
	unsigned n, to;

	for (unsigned i = 0; i < length; i++)
		if (c->filter[i].code == (BPF_RET | BPF_A))
			computes = true;
		else if (is_answer(c->filter + i))
			answer_at(c, without_kill(c->filter[i].k));
	n = c->n;
	append_end(c, computes);
	if (c->n > c->room)
		return;
	for (unsigned i = length + 1; i < n; i += 2)
		c->filter[i].k = c->end - i - 1;
	for (unsigned i = 0; i < length; i++) {
		struct sock_filter *f = c->filter + i;

		if (!is_answer(f))
			continue;
		to = f->code == (BPF_RET | BPF_A) ? c->end : answer_at(c, without_kill(f->k));
		*f = (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, to - i - 1);
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

static bool has_answers(const struct sock_filter *f, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (is_answer(f + i))
			return true;
	return false;
}

static bool installed; /* by this process or one that it comes from */

/* The filter is readable. */
static long install_changed(const struct syscall_arguments *c, unsigned at, const struct program *p)
{
	struct syscall_arguments ours = *c;
	uint64_t bytes = MOST * sizeof(struct sock_filter);
	struct changed changed = {.n = p->length, .room = MOST};
	struct program given;
	long result;

	changed.filter = engine_memory(bytes);
	memcpy(changed.filter, p->filter, p->length * sizeof(*p->filter));
	if (has_answers(changed.filter, p->length))
		change(&changed, p->length);
	if (changed.n > changed.room)
		engine_unsupported("the program installs a filter of system calls that is too long "
				   "for what has to stand at its end");
	given = (struct program){(uint16_t)changed.n, changed.filter};
	ours.a[at] = (uint64_t)&given;
	result = syscall_program(ours.nr, ours.a);
	engine_release(changed.filter, bytes);
	if (result >= 0)
		installed = true;
	return result;
}

/* Argument `at` of the call is the program's filter. */
static long install(const struct syscall_arguments *c, unsigned at)
{
	struct program wanted;

	if (!memory_readable(c->a[at], sizeof(wanted)))
		return -EFAULT;
	memcpy(&wanted, (const void *)c->a[at], sizeof(wanted));
	/* The kernel knows in which order it looks at what is wrong. */
	if (!wanted.length || wanted.length > MOST ||
	    !memory_readable((uint64_t)wanted.filter, wanted.length * sizeof(*wanted.filter)))
		return syscall_program(c->nr, c->a);
	return install_changed(c, at, &wanted);
}

bool filters_installed(void)
{
	return installed;
}

void filters_were_installed(void)
{
	installed = true;
}

/* A copy of the process makes the call: it says so if the call comes back. */
bool filters_allow_exit(const struct syscall_arguments *c)
{
	volatile uint32_t *returned;
	long at, pid;
	bool allowed;

	if (!installed)
		return true;
	at = map_memory(engine_place(MOST), MOST, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (is_error(at))
		return true;
	returned = (volatile uint32_t *)at;
	pid = syscall6(__NR_clone, 0, 0, 0, 0, 0, 0);
	if (!pid) {
		syscall_program(c->nr, c->a);
		*returned = 1;
		syscall1(__NR_exit_group, 0);
	}
	if (!is_error(pid))
		syscall4(__NR_wait4, pid, 0, __WALL, 0);
	allowed = !*returned;
	engine_release((void *)at, MOST);
	return allowed;
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
