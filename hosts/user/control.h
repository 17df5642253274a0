/* SPDX-License-Identifier: MIT */
/* control.h: events that are switched on and off while the program runs (control.c). */
#ifndef SOFTPMU_HOST_CONTROL_H
#define SOFTPMU_HOST_CONTROL_H

#include <pthread.h>

#include <hosts/user/drain.h>

struct control {
	struct run *run;
	uint64_t start_ns;
	int wake[2]; /* a pipe: its end is the end of the run */
	pthread_t thread;
	bool runs;
};

/* Writes what the request says of the beginning.  `wanted` may be NULL. */
void control_prepare(struct link *link, const struct launch_control *wanted);
/* Once the program runs, and when it has ended. */
void control_start(struct control *control, struct run *run);
void control_end(struct control *control);

#endif
