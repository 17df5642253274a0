/* SPDX-License-Identifier: MIT */
/*
 * actions.c: the program's dispositions of signals (sigaction(2)), and what the kernel is told
 * instead.  The kernel gets the engine's handler wherever the program has a handler or would
 * end, so that signals.c receives all such signals first.  Where the engine has nothing to do,
 * the kernel gets the program's disposition.
 */
#include <asm/errno.h>
#include <asm/unistd.h>

#include "engine/memory/access.h"
#include "engine/rt/context.h"
#include "engine/rt/lock.h"
#include "engine/rt/signal_state.h"
#include "engine/rt/sys.h"
#include "engine/signal/actions.h"
#include "engine/signal/signals.h"

/* Where the kernel begins the engine's handler, and where that returns. */
static const char *handler, *restorer;

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
		.handler = (uint64_t)handler,
		.flags = SA_SIGINFO | SA_ONSTACK | SA_RESTORER,
		.restorer = (uint64_t)restorer,
		.mask = ~UINT64_C(0),
	};
	uint64_t passed_on = SA_RESTART | SA_NOCLDSTOP | SA_NOCLDWAIT;

	ours.flags |= action_has_handler(sig) ? action_of(sig)->flags & passed_on : SA_RESTART;
	kernel_action(sig, &ours, NULL);
}

/* Lets the kernel do it where the engine has nothing to do. */
static void install(long sig)
{
	const struct kernel_action *wanted = action_of(sig);

	/* The engine never ignores its own faults.  A fault of the program ends it even then. */
	if ((wanted->handler == IGNORE && !is_fault_signal(sig)) ||
	    (wanted->handler == 0 && !action_ends(sig)))
		kernel_action(sig, wanted, NULL);
	else
		catch (sig);
}

struct kernel_action action_take(int sig)
{
	struct kernel_action action;

	lock_take();
	action = *action_of(sig);
	if (action.flags & SA_RESETHAND && action.handler > IGNORE) {
		action_of(sig)->handler = 0;
		install(sig);
	}
	lock_release();
	return action;
}

void actions_start(const char *entry, const char *back)
{
	handler = entry;
	restorer = back;
	for (long sig = 1; sig < SIGNALS; sig++) {
		kernel_action(sig, NULL, action_of(sig));
		install(sig);
	}
}

/* --- system calls of the program --- */

long actions_sigaction(long sig, uint64_t action, uint64_t old, uint64_t set_bytes)
{
	struct kernel_action before, after;

	if (sig < 1 || sig >= SIGNALS || set_bytes != 8 ||
	    ((sig == SIGKILL || sig == SIGSTOP) && action))
		return -EINVAL;
	if (action) {
		if (!access_readable(action, sizeof(after)))
			return -EFAULT;
		memcpy(&after, (const void *)action, sizeof(after));
	}
	lock_take();
	before = *action_of(sig);
	if (action) {
		*action_of(sig) = after;
		install(sig);
	}
	lock_release();
	if (old) {
		if (!access_writable(old, sizeof(before)))
			return -EFAULT;
		memcpy((void *)old, &before, sizeof(before));
	}
	return 0;
}

/* --- other processes and programs --- */

void actions_own_dispositions(struct dispositions *copy)
{
	*copy = *current->signals.process;
	copy->fault_waiters = 0;
	current->signals.process = copy;
}

void actions_clear_handlers(void)
{
	for (long sig = 1; sig < SIGNALS; sig++)
		if (action_has_handler(sig)) {
			*action_of(sig) = (struct kernel_action){0};
			install(sig);
		}
}

void actions_hand_over(void)
{
	for (int sig = 1; sig < SIGNALS; sig++)
		if (is_fault_signal(sig) && action_of(sig)->handler == IGNORE)
			kernel_action(sig, action_of(sig), NULL);
	held_give(false);
}

void actions_take_over(void)
{
	held_take_back();
	for (int sig = 1; sig < SIGNALS; sig++)
		if (is_fault_signal(sig))
			install(sig);
}
