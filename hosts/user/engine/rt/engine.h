/* SPDX-License-Identifier: MIT */
/* engine.h: the memory shared with the tool, and how the run ends (engine.c). */
#ifndef SOFTPMU_ENGINE_ENGINE_H
#define SOFTPMU_ENGINE_ENGINE_H

#include <hosts/user/link.h>
#include <stdbool.h>

/* The shared memory with the tool. */
extern struct link *engine_link;

/* Wakes the tool if it waits for records. */
void engine_wake_tool(void);
/* Tells the tool that the first process has ended; its counts and records are complete. */
void engine_exited(void);
/* Another process of the run has executed this program: what the engine cannot start is then the
 * end of a run that has begun. */
void engine_was_executed(void);
/* Returns true if the tool asks for that (LINK_WANT_). */
static inline bool engine_wants(uint32_t what)
{
	return engine_link->want & what;
}
/* Returns the bytes of a record of the log of control flow. */
static inline unsigned engine_flow_bytes(void)
{
	return link_flow_bytes(engine_link->events);
}

extern char engine_program_path[LINK_PATH_MAX]; /* the ELF file of the program, without links */

/* Returns true in the process that the tool started. */
bool engine_is_first_process(void);
/* Changes the number of other processes that the tool has to wait for. */
void engine_count_processes(int change);

/* Ends the run, because the request or the program cannot be used (only at the start). */
_Noreturn void engine_fail(int exit_status, const char *message);

/* Ends the run, because the program did what the engine cannot follow yet. */
_Noreturn void engine_unsupported(const char *message);

#endif
