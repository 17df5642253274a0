/* SPDX-License-Identifier: MIT */
/*
 * run.h: what the subcommands that run a program share.
 */
#ifndef SOFTPMU_TOOL_RUN_H
#define SOFTPMU_TOOL_RUN_H

#include <hosts/user/launch.h>

#include "events.h"

/* Of a core that runs one thread: every counter of the model is there. */
#define RUN_THREADS 1

/* Find and check the program; false after a line on standard error, with the exit status. */
bool run_find(struct launch_program *program, char **argv, int *status);

/* An event as the engine takes it, to count (precise letters do not matter then) or to sample. */
struct link_event run_count(const struct event *event);
struct link_event run_sample(const struct event *event);

/* --deterministic, or --deterministic=time: what is asked of the engine; false: no such word. */
bool run_fixed(const char *word, uint32_t *want);

/* Say how the program ended when that is worth a line. */
void run_say_end(const struct launch_result *result);

/* The program and its arguments with spaces between, to free(). */
char *run_command_text(char **argv);

#endif
