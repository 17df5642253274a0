/* SPDX-License-Identifier: MIT */
/*
 * actions.c: what the program wants done about each signal (sigaction(2)), and what the kernel is
 * told instead: the engine's handler wherever the program has one or would end, so that all such
 * signals come to signals.c first; the program's own wish where the engine has nothing to do.
 */
#include <asm/errno.h>
#include <asm/unistd.h>

#include "actions.h"
#include "engine.h"
#include "sys.h"
#include "threads.h"

extern const char signal_entry[], signal_return[]; /* enter.S */

static long kernel_action(long sig, const struct kernel_action *new, struct kernel_action *old)
{
	return syscall4(__NR_rt_sigaction, sig, (long)new, (long)old, 8);
}

bool action_ends(long sig)
{
	return sig != SIGCHLD && sig != SIGCONT && sig != SIGURG && sig != SIGWINCH &&
	       sig != SIGKILL && sig != SIGSTOP && sig != SIGTSTP && sig != SIGTTIN &&
	       sig != SIGTTOU;
}

void action_default(long sig)
{
	struct kernel_action def = {0};

	kernel_action(sig, &def, NULL);
}

static void catch (long sig)
{
	struct kernel_action ours = {
		.handler = (uint64_t)signal_entry,
		.flags = SA_SIGINFO | SA_ONSTACK | SA_RESTORER,
		.restorer = (uint64_t)signal_return,
		.mask = ~UINT64_C(0),
	};
	uint64_t passed_on = SA_RESTART | SA_NOCLDSTOP | SA_NOCLDWAIT;

	ours.flags |= action_has_handler(sig) ? action_of(sig)->flags & passed_on : SA_RESTART;
	kernel_action(sig, &ours, NULL);
}

/* Let the kernel do it where the engine has nothing to do. */
static void install(long sig)
{
	const struct kernel_action *wanted = action_of(sig);

	/* Faults of ours are never ignored; a program's own end it even so. */
	if ((wanted->handler == IGNORE && !is_fault_signal(sig)) ||
	    (wanted->handler == 0 && !action_ends(sig)))
		kernel_action(sig, wanted, NULL);
	else
		catch (sig);
}

struct kernel_action action_take(int sig)
{
	struct kernel_action action;

	engine_lock();
	action = *action_of(sig);
	if (action.flags & SA_RESETHAND && action.handler > IGNORE) {
		action_of(sig)->handler = 0;
		install(sig);
	}
	engine_unlock();
	return action;
}

void actions_start(void)
{
	for (long sig = 1; sig < SIGNALS; sig++) {
		kernel_action(sig, NULL, action_of(sig));
		install(sig);
	}
}

/* --- system calls of the program --- */

long signals_action(long sig, uint64_t action, uint64_t old, uint64_t set_bytes)
{
	struct kernel_action before, after;

	if (sig < 1 || sig >= SIGNALS || set_bytes != 8 ||
	    ((sig == SIGKILL || sig == SIGSTOP) && action))
		return -EINVAL;
	if (action) {
		if (!memory_readable(action, sizeof(after)))
			return -EFAULT;
		memcpy(&after, (const void *)action, sizeof(after));
	}
	engine_lock();
	before = *action_of(sig);
	if (action) {
		*action_of(sig) = after;
		install(sig);
	}
	engine_unlock();
	if (old) {
		if (!memory_writable(old, sizeof(before)))
			return -EFAULT;
		memcpy((void *)old, &before, sizeof(before));
	}
	return 0;
}

/* --- other processes and programs --- */

void signals_own_dispositions(struct dispositions *copy)
{
	*copy = *current->signals.process;
	copy->fault_waiters = 0;
	current->signals.process = copy;
}

static struct dispositions *unused;

struct dispositions *dispositions_copy(const struct dispositions *of)
{
	struct dispositions *copy = unused;

	if (copy)
		unused = copy->next;
	else
		copy = engine_memory(sizeof(*copy));
	*copy = *of;
	copy->users = 1;
	copy->fault_waiters = 0;
	return copy;
}

struct dispositions *dispositions_share(struct dispositions *of)
{
	of->users++;
	return of;
}

void dispositions_leave(struct dispositions *of)
{
	if (--of->users)
		return;
	of->next = unused;
	unused = of;
}

void signals_clear_handlers(void)
{
	for (long sig = 1; sig < SIGNALS; sig++)
		if (action_has_handler(sig)) {
			*action_of(sig) = (struct kernel_action){0};
			install(sig);
		}
}

void signals_hand_over(void)
{
	for (int sig = 1; sig < SIGNALS; sig++)
		if (is_fault_signal(sig) && action_of(sig)->handler == IGNORE)
			kernel_action(sig, action_of(sig), NULL);
	signals_give_faults(false);
}

void signals_take_over(void)
{
	signals_take_faults_back();
	for (int sig = 1; sig < SIGNALS; sig++)
		if (is_fault_signal(sig))
			install(sig);
}
