/* SPDX-License-Identifier: MIT */
/* profile_front.h: what a command for which profile runs asks, and what it is told. */
#ifndef SOFTPMU_TOOL_PROFILE_FRONT_H
#define SOFTPMU_TOOL_PROFILE_FRONT_H

#include <stdbool.h>
#include <stdint.h>

struct profile_front {
	bool begins_stopped, events_off; /* as in struct launch_request */
	bool done;			 /* there is a file, and it is complete */
	int pid;
	unsigned refused; /* requests of the program that were not done */
	uint64_t sum;	  /* of the first event */
};

/* The next cmd_profile() runs for this command, with the requests of valgrind. */
void profile_front_set(struct profile_front *front);
/* Returns that, or NULL if profile is a command of its own. */
struct profile_front *profile_front_of_run(void);

#endif
