/* SPDX-License-Identifier: MIT */
/* streamer.h: the prefetcher that follows streams of lines (streamer.c). */
#ifndef SPMU_SRC_UARCH_STREAMER_H
#define SPMU_SRC_UARCH_STREAMER_H

#include <stdbool.h>
#include <stdint.h>

#define STREAMS		 32
#define STREAMER_AT_ONCE 2 /* lines that it asks for at a request */

struct stream {
	uint64_t page;
	uint64_t used;	/* number of the request that used it last; 0: free */
	uint16_t last;	/* line of the page that was requested last */
	uint16_t ahead; /* line that was prefetched last, from the second step on */
	int8_t steps;	/* in one direction: 0, 1 or -1, 2 or -2 */
};

struct streamer {
	struct stream stream[STREAMS];
	uint64_t requests;
};

/*
 * Notes a request of the first level for a line, whose size is 1 << line_shift bytes.  Returns how
 * many lines shall be prefetched, at most STREAMER_AT_ONCE, and their numbers in `next`.
 */
unsigned streamer_request(struct streamer *s, uint64_t line, unsigned line_shift, uint64_t *next);

#endif
