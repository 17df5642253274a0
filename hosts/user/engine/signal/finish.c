/* SPDX-License-Identifier: MIT */
/*
 * finish.c: the end of a thread or a process, by exit or by a signal: first its counts and
 * records are complete.
 *
 */
#include <asm/unistd.h>

#include "engine/count/count.h"
#include "engine/count/flow.h"
#include "engine/count/follow.h"
#include "engine/count/opened.h"
#include "engine/persist/persist.h"
#include "engine/rt/context.h"
#include "engine/rt/engine.h"
#include "engine/rt/signal_state.h"
#include "engine/rt/sys.h"
#include "engine/rt/threads.h"
#include "engine/signal/actions.h"
#include "engine/signal/finish.h"
#include "engine/signal/signals.h"

/* The tool writes the end of the first process. */
void finish_thread(void)
{
	counting_finish();
	follow_end();
	if (!engine_is_first_process() || current->tid != current->pid)
		record_end();
}

void finish_process(void)
{
	if (current->is_vfork_child) {
		flow_end();
		counting_drain(); /* the parent goes on to count */
		if (opened_wanted())
			follow_end();
		record_end();
		current->left = true;
	} else {
		threads_finish(finish_thread);
		finish_thread();
		if (threads_shared())
			threads_leave();
		else
			persist_save();
	}
	if (engine_is_first_process())
		engine_exited();
	else
		engine_count_processes(-1);
}

void finish_by_exit(long nr, int status)
{
	finish_process();
	for (;;)
		syscall1(nr, status);
}

/* Not called while the engine's handler runs, because the signal must not be blocked. */
void finish_raise(int sig)
{
	action_default(sig);
	syscall3(__NR_tgkill, current->pid, current->tid, sig);
	sys_signal_mask(SIG_UNBLOCK, BIT_OF(sig));
	for (;;)
		syscall1(__NR_exit_group, 128 + sig);
}

void finish_by_signal(int sig, enum fatal what)
{
	if (what == FATAL_THREAD && !current->is_vfork_child)
		thread_end(sig, finish_thread);
	finish_process();
	finish_raise(sig);
}
