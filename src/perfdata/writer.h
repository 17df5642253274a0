/* SPDX-License-Identifier: MIT */
/*
 * writer.h: a perf.data that is being written, and what its parts (writer.c, append.c) share.
 */
#ifndef SOFTPMU_PERFDATA_WRITER_H
#define SOFTPMU_PERFDATA_WRITER_H

#include <src/perfdata/layout.h>

#define BUFFER_BYTES (256u << 10)

struct perfdata_writer {
	int fd;
	char *path;
	bool is_new;	/* a file that was made, not a device */
	bool moved_old; /* what had that name is NAME.old now */
	struct perfdata_header header;
	struct feature_source about;

	uint8_t *buffer; /* records that are not in the file yet */
	size_t buffered;
	uint64_t buffered_samples;
	uint64_t written, written_samples; /* whole records in the file */
	uint64_t before, before_samples;   /* the same before the last stretch */
	bool trace_last;		   /* which is of a trace, not of records in the buffer */
	uint64_t traced;		   /* branches in the file */
	uint32_t *trace_tids; /* threads that have a trace; perf wants each to have a number */
	size_t trace_tid_count;
	uint64_t trace_bytes; /* of them, padding left out */
	int error;
};

/* How many bytes got there; errno tells why not all. */
size_t writer_put(int fd, const void *bytes, size_t count, uint64_t offset);

/* Bring the buffer to the file; writer->error tells that not all of it got there. */
void writer_flush(struct perfdata_writer *writer);

/* Cut the file behind what is `written`; and leave later stretches of traces out of the index. */
void writer_cut(struct perfdata_writer *writer);
void writer_forget_traces(struct perfdata_writer *writer);

#endif
