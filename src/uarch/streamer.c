/* SPDX-License-Identifier: MIT */
/*
 * streamer.c: the streamer, a prefetcher of the second level, as Intel's Optimization Reference
 * Manual describes it (248966, "Data Prefetching" of Sandy Bridge).
 *
 * It watches the requests of the first level.  It follows 32 streams, at most one in each page of
 * 4 KB, forward or backward.  A stream gets up to two lines at a request, and runs at most 20 lines
 * ahead.  It does not leave the page.
 *
 * Not documented, and a guess: a stream is found at its third request in one direction.
 * Simplified: what is asked for arrives at once, and always in the second level.
 */
#include "src/uarch/streamer.h"

#include <stddef.h>

#define PAGE_SHIFT 12
#define AHEAD	   20
#define STEPS	   2 /* until a stream is found */

/* Returns the stream of a page, or NULL.  *oldest: the one that can be given to another page. */
static struct stream *find(struct streamer *s, uint64_t page, struct stream **oldest)
{
	*oldest = &s->stream[0];
	for (unsigned i = 0; i < STREAMS; i++) {
		struct stream *stream = &s->stream[i];

		if (stream->used && stream->page == page)
			return stream;
		if (stream->used < (*oldest)->used)
			*oldest = stream;
	}
	return NULL;
}

/* Notes a step to a line of the page.  A change of direction begins a new stream. */
static void step(struct stream *stream, unsigned to)
{
	int direction = to > stream->last ? 1 : -1;

	if (stream->steps * direction <= 0)
		stream->steps = (int8_t)direction;
	else if (stream->steps * direction < STEPS)
		stream->steps = (int8_t)(stream->steps + direction);
	else
		return;
	stream->ahead = (uint16_t)to;
}

unsigned streamer_request(struct streamer *s, uint64_t line, unsigned line_shift, uint64_t *next)
{
	unsigned shift = line_shift < PAGE_SHIFT ? PAGE_SHIFT - line_shift : 0;
	uint64_t page = line >> shift, first = page << shift;
	int lines = 1 << shift, at = (int)(line - first), direction, ahead;
	struct stream *oldest, *stream = find(s, page, &oldest);
	unsigned count = 0;

	s->requests++;
	if (!stream) {
		*oldest = (struct stream){.page = page, .last = (uint16_t)at, .used = s->requests};
		return 0;
	}
	stream->used = s->requests;
	if (at != stream->last)
		step(stream, (unsigned)at);
	stream->last = (uint16_t)at;
	if (stream->steps != STEPS && stream->steps != -STEPS)
		return 0;
	direction = stream->steps > 0 ? 1 : -1;
	ahead = stream->ahead;
	/* The program may have passed what was prefetched. */
	if ((at - ahead) * direction > 0)
		ahead = at;
	while (count < STREAMER_AT_ONCE && (ahead + direction - at) * direction <= AHEAD &&
	       ahead + direction >= 0 && ahead + direction < lines) {
		ahead += direction;
		next[count++] = first + (uint64_t)ahead;
	}
	stream->ahead = (uint16_t)ahead;
	return count;
}
