/* SPDX-License-Identifier: MIT */
/* run.h: a program that runs, as launch.c (start and end) and drain.c (records) share it. */
#ifndef SOFTPMU_HOST_RUN_H
#define SOFTPMU_HOST_RUN_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include <hosts/user/launch.h>

/* A TSC value and CLOCK_MONOTONIC's nanoseconds at the same moment. */
struct moment {
	uint64_t tsc, ns;
};

struct run {
	struct link *link;
	size_t link_bytes;
	const uint8_t *traces; /* LINK_TRACE_BUFFERS of them behind the link, NULL: none */
	int link_fd, image_fd;
	pid_t pid;
	const struct launch_program *program;
	const struct launch_request *request;
	uint64_t tail;
	bool damaged;
	/* TSC and clock at the last two looks at the ring: records lie between them */
	struct moment before, now;
	struct sigaction old[NSIG];
	sigset_t old_mask;
};

uint64_t run_now_ns(void);
struct moment run_read_clocks(void);

/* Hand records to the sink until the program is gone; wait4()'s status. */
int run_serve(struct run *run, struct rusage *usage);

#endif
