/* SPDX-License-Identifier: MIT */
/*
 * run.h: what the subcommands that run a program share.
 */
#ifndef SOFTPMU_TOOL_RUN_H
#define SOFTPMU_TOOL_RUN_H

#include <hosts/user/launch.h>

#include "tools/softpmu/events/events.h"
#include "tools/softpmu/machine/machine_options.h"

/* The unit of a core with one thread has all counters of the model. */
#define RUN_THREADS 1

/* Finds and checks the program.  Returns false after a message, with the exit status. */
bool run_find(struct launch_program *program, char **argv, int *status);

/* Adds the events of these lists, of which the last is NULL.  Returns -1 to go on, otherwise the
 * status to exit with, after a message. */
int run_parse_events(struct event_list *events, const struct spmu_model *model, char **lists);

/* Return an event for the engine, to count (precise letters are ignored) or to sample. */
struct link_event run_count(const struct event *event);
struct link_event run_sample(const struct event *event);

/* Returns whether the model has a branch trace store. */
bool run_stores_traces(const struct spmu_model *model);

/*
 * Makes the machine if one of its options was given.  Adds what the machine counts to
 * launch_supply.  Returns -1, or the status to exit with after a message.
 */
int run_use_machine(const struct machine_options *options, const char *command,
		    const struct spmu_model *model, enum launch_clocks clocks,
		    struct spmu_machine *machine);

/* Returns which clocks there are by these options: `clocks`, or static ones. */
enum launch_clocks run_clocks(const struct machine_options *options, enum launch_clocks clocks);

/* Finds the threshold of the events of load latency; 0: there is none.  Returns -1, or after a
 * message the status to exit with: the processor has one register, so all have the same. */
int run_load_threshold(const struct event_list *events, uint64_t *threshold);
/* The same for the condition of the front end, MSR_PEBS_FRONTEND. */
int run_frontend(const struct event_list *events, uint64_t *value);

/* Says how the program ended if it did not simply exit. */
void run_say_end(const struct launch_result *result);

/* Returns the program and its arguments, separated by spaces, to free(). */
char *run_command_text(char **argv);

#endif
