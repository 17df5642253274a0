/* SPDX-License-Identifier: MIT */
/* rseq_state.h: what a thread's context knows of its restartable sequences (rseq.c). */
#ifndef SOFTPMU_ENGINE_RSEQ_STATE_H
#define SOFTPMU_ENGINE_RSEQ_STATE_H

#include <linux/rseq.h>

#include <stdbool.h>
#include <stdint.h>

struct restartable {
	uint32_t bytes, signature; /* of the area, as it was registered */
	uint64_t seen;		   /* the descriptor that was last seen there after bulk code */
	/* The section that the thread is in: its descriptor, 0: none; what that said. */
	uint64_t armed;
	uint64_t start, length, abort;
	bool refused; /* the kernel does not take the descriptor: an abort ends the program */
	uint32_t calls, spared; /* the thread's calls then; aborts in a row for more of them */
	struct rseq_cs guard;	/* what the kernel finds while an instruction of it runs */
};

#endif
