/* SPDX-License-Identifier: MIT */
/*
 * filters.c: filters of system calls that the program installs (seccomp(2)).
 *
 * The engine makes calls of its own, here and in the programs that this one executes.  So every
 * answer of a filter except "allow" goes through a few instructions at the filter's end.  These
 * allow calls from the engine's code, except from the two places where it makes the program's
 * calls.  The kernel still recognizes what a filter allows by the number of the call alone, so
 * such calls cost as little as natively.
 *
 * An answer graver than a trap, which kills, becomes a trap that the engine receives.  So the
 * counts are complete when the program ends.  The engine then evaluates the filters as the
 * program gave them (filter_chain.c), and does what the kernel would have done.
 *
 * The engine alone implements the strict mode, in which the kernel would allow three calls.  If
 * a filter does not simply allow exit(2) or exit_group(2), a process that makes the call instead
 * of the program finds its answer.  A call that cannot succeed finds the filters' answer about
 * execve.  Other calls that the engine answers itself (rt_sigaction, sigaltstack, ARCH_SET_GS)
 * are not filtered.
 */
#include <asm/errno.h>
#include <asm/unistd.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/mman.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <linux/wait.h>
#include <stddef.h>

#include "engine/cache/persistent.h"
#include "engine/linux/filters.h"
#include "engine/memory/access.h"
#include "engine/rt/call.h"
#include "engine/rt/context.h"
#include "engine/rt/engine.h"
#include "engine/rt/filter_chain.h"
#include "engine/rt/lock.h"
#include "engine/rt/sys.h"
#include "engine/rt/threads.h"
#include "engine/signal/faults.h"
#include "engine/x86/enter.h"

#define MOST BPF_MAXINSNS

/* The structure that the kernel reads. */
struct program {
	uint16_t length;
	struct sock_filter *filter;
};

#define LOW(address)  ((uint32_t)(uint64_t)(address))
#define HIGH(address) ((uint32_t)((uint64_t)(address) >> 32))
#define IP_LOW	      ((uint32_t)offsetof(struct seccomp_data, instruction_pointer))
#define NEGATIVE      0x80000000u

#define ANSWERS_MOST 64 /* different answers of a filter */

/* The program's filter after the change. */
struct changed {
	struct sock_filter *filter;
	unsigned n, room;
	unsigned end; /* where the answer in A is returned */
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

/* Appends code that returns the answer in A.  Calls from the engine's code, which is within 4
 * GiB, are allowed. */
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
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, NEGATIVE, 1, 0), /* actions are signed */
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, SECCOMP_RET_TRAP, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
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
	return filter_is_graver(k, SECCOMP_RET_TRAP) ? SECCOMP_RET_TRAP : k;
}

/* Returns the place where this constant answer is returned. */
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

/* Changes the filter.  Jumps only go forward, so what loads an answer is before the end. */
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

static bool has_answers(const struct sock_filter *f, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (is_answer(f + i))
			return true;
	return false;
}

/* --- installing --- */

static void take_over(struct context *c)
{
	filter_leave(c->filters);
	c->filters = filter_share(current->filters);
}

static bool has_succeeded(const struct syscall_arguments *c, bool synchronizes, long result)
{
	if (synchronizes && !(c->a[1] & SECCOMP_FILTER_FLAG_NEW_LISTENER))
		return !result; /* otherwise the number of a thread that has other filters */
	return !is_error(result);
}

/* No thread reads its filters between the two calls, because the lock is held. */
static long install_both(const struct syscall_arguments *ours, const struct program *original)
{
	bool synchronizes = ours->nr == __NR_seccomp && ours->a[1] & SECCOMP_FILTER_FLAG_TSYNC;
	long result;

	lock_take();
	result = syscall_program(ours->nr, ours->a);
	if (has_succeeded(ours, synchronizes, result)) {
		*filter_chain() = filter_add(*filter_chain(), original->filter, original->length);
		if (synchronizes && !current->is_vfork_child)
			threads_of_process(take_over);
	}
	lock_release();
	return result;
}

/* Installs the changed filter.  The filter is readable. */
static long install_changed(const struct syscall_arguments *c, unsigned at, const struct program *p)
{
	struct syscall_arguments ours = *c;
	uint64_t bytes = MOST * sizeof(struct sock_filter);
	struct changed changed = {.n = p->length, .room = MOST};
	struct program given, original = {.length = p->length, .filter = NULL};
	long result;

	changed.filter = heap_allocate(bytes);
	original.filter = heap_allocate(bytes);
	memcpy(original.filter, p->filter, p->length * sizeof(*p->filter));
	memcpy(changed.filter, original.filter, p->length * sizeof(*p->filter));
	if (has_answers(changed.filter, p->length))
		change(&changed, p->length);
	if (changed.n > changed.room)
		engine_unsupported("the program installs a filter of system calls that is too long "
				   "for what has to stand at its end");
	given = (struct program){(uint16_t)changed.n, changed.filter};
	ours.a[at] = (uint64_t)&given;
	result = install_both(&ours, &original);
	heap_release(changed.filter, bytes);
	heap_release(original.filter, bytes);
	return result;
}

/* Installs the program's filter, which is argument `at` of the call. */
static long install(const struct syscall_arguments *c, unsigned at)
{
	struct syscall_arguments unreadable = *c;
	struct program wanted;

	/* The kernel knows the order of its checks. */
	if (!access_readable(c->a[at], sizeof(wanted))) {
		unreadable.a[at] = UINT64_MAX; /* even if another thread maps the memory now */
		return syscall_program(c->nr, unreadable.a);
	}
	memcpy(&wanted, (const void *)c->a[at], sizeof(wanted));
	if (!wanted.length || wanted.length > MOST ||
	    !access_readable((uint64_t)wanted.filter, wanted.length * sizeof(*wanted.filter)))
		return syscall_program(c->nr, c->a);
	return install_changed(c, at, &wanted);
}

/* --- who has which --- */

const struct filter *filters_installed(void)
{
	return *filter_chain();
}

void filters_were_installed(struct filter *newest)
{
	current->filters = newest;
}

void filters_inherit(struct context *c)
{
	c->filters = filter_share(*filter_chain());
	c->vfork_filters = NULL;
}

void filters_begin_process(void)
{
	if (!current->is_vfork_child)
		return;
	filter_leave(current->filters);
	current->filters = current->vfork_filters;
	current->vfork_filters = NULL;
}

struct filter *filters_lend(void)
{
	struct filter *before = current->vfork_filters;

	current->vfork_filters = filter_share(*filter_chain());
	return before;
}

void filters_take_back(struct filter *before)
{
	filter_leave(current->vfork_filters);
	current->vfork_filters = before;
}

/* --- traps --- */

/* --- calls that the engine does not simply pass on --- */

static bool are_sure_to_allow(const struct syscall_arguments *c)
{
	struct seccomp_data call = {
		.nr = (int)c->nr,
		.arch = AUDIT_ARCH_X86_64,
		.instruction_pointer = (uint64_t)syscall_after,
	};

	memcpy(call.args, c->a, sizeof(call.args));
	return (filter_answer(*filter_chain(), &call) & ~ACTION_DATA) == SECCOMP_RET_ALLOW;
}

/* A copy of the process makes the call, and reports if the call returns. */
bool filters_allow_exit(const struct syscall_arguments *c)
{
	volatile uint32_t *returned;
	long at, pid;
	bool allowed;

	if (are_sure_to_allow(c))
		return true;
	at = sys_map(heap_place(MOST), MOST, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	if (is_error(at))
		return true;
	returned = (volatile uint32_t *)at;
	pid = sys_call6(__NR_clone, 0, 0, 0, 0, 0, 0);
	if (!pid) {
		syscall_program(c->nr, c->a);
		*returned = 1;
		syscall1(__NR_exit_group, 0);
	}
	if (!is_error(pid))
		syscall4(__NR_wait4, pid, 0, __WALL, 0);
	allowed = !*returned;
	heap_release((void *)at, MOST);
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
	persistent_off(); /* no files are written for a program that gave up such rights */
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

/* Returns the filters' answer about this call; -EFAULT: they let it through. */
long filters_ask_exec(long nr)
{
	static const uint64_t nothing[6];

	if (syscall1(__NR_prctl, PR_GET_SECCOMP) != SECCOMP_MODE_FILTER)
		return -EFAULT;
	return syscall_program(nr, nothing);
}
