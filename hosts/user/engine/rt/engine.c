/* SPDX-License-Identifier: MIT */
/*
 * engine.c: the memory that the engine shares with the tool, and the end of the run, as the
 * engine reports it to the tool.
 */
#include "engine/rt/engine.h"

#include <asm/unistd.h>
#include <linux/futex.h>

#include "engine/rt/context.h"
#include "engine/rt/sys.h"

struct link *engine_link;
char engine_program_path[LINK_PATH_MAX];

/* Another process of the run, not the tool, executed this program. */
static bool executed;

void engine_was_executed(void)
{
	executed = true;
}

void engine_wake_tool(void)
{
	__atomic_add_fetch(&engine_link->head_futex, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&engine_link->tool_waits, __ATOMIC_SEQ_CST))
		syscall3(__NR_futex, (long)&engine_link->head_futex, FUTEX_WAKE, 1);
}

/* Records how the run ended.  The first caller wins; later calls are ignored. */
static void say(enum link_state state, const char *message, int status)
{
	uint32_t running = LINK_RUNNING, starting = LINK_STARTING;
	struct text t;

	if (*message && __atomic_load_n(&engine_link->state, __ATOMIC_ACQUIRE) <= LINK_RUNNING) {
		text_start(&t, engine_link->message, sizeof(engine_link->message));
		text_add(&t, message);
		engine_link->exit_status = status;
	}
	if (!__atomic_compare_exchange_n(&engine_link->state, &running, state, false,
					 __ATOMIC_RELEASE, __ATOMIC_RELAXED) &&
	    !executed)
		__atomic_compare_exchange_n(&engine_link->state, &starting, state, false,
					    __ATOMIC_RELEASE, __ATOMIC_RELAXED);
	engine_wake_tool();
}

void engine_exited(void)
{
	say(LINK_EXITED, "", 0);
}

static _Noreturn void end(enum link_state state, const char *message, int status)
{
	if (engine_link) {
		say(state, message, status);
	} else {
		syscall3(__NR_write, 2, (long)message, (long)strlen(message));
	}
	for (;;)
		syscall1(__NR_exit_group, status);
}

void engine_fail(int exit_status, const char *message)
{
	if (executed)
		engine_unsupported(message);
	end(LINK_FAILED, message, exit_status);
}

void engine_unsupported(const char *message)
{
	end(LINK_UNSUPPORTED, message, 125);
}

bool engine_is_first_process(void)
{
	return current->pid == engine_link->first_pid;
}

void engine_count_processes(int change)
{
	if (current->observed)
		__atomic_add_fetch(&engine_link->processes, (uint32_t)change, __ATOMIC_RELAXED);
}
