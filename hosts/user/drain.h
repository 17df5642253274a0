/* SPDX-License-Identifier: MIT */
/* drain.h: a running program, as launch.c (start and end) and drain.c (records) share it. */
#ifndef SOFTPMU_HOST_DRAIN_H
#define SOFTPMU_HOST_DRAIN_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include <hosts/user/launch.h>

/* A TSC value and the nanoseconds of CLOCK_MONOTONIC at the same time. */
struct moment {
	uint64_t tsc, ns;
};

struct run {
	struct link *link;
	size_t link_bytes;
	const uint8_t *traces; /* LINK_TRACE_BUFFERS buffers, after the link; NULL: none */
	int link_fd, image_fd;
	pid_t pid;
	const struct launch_program *program;
	const struct launch_request *request;
	uint64_t tail;
	bool damaged;
	/* TSC and clock when the ring was drained: the time before, and the last time */
	struct moment before, now;
	struct sigaction old[NSIG];
	sigset_t old_mask;
};

uint64_t drain_now_ns(void);
struct moment drain_read_clocks(void);

/* Passes records to the sink until the program has ended.  Returns wait4()'s status. */
int drain_serve(struct run *run, struct rusage *usage);

#endif
