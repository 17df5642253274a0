/* SPDX-License-Identifier: MIT */
/* writer.h: a perf.data that is being written; writer.c and append.c share it. */
#ifndef SOFTPMU_PERFDATA_WRITER_H
#define SOFTPMU_PERFDATA_WRITER_H

#include <src/perfdata/layout.h>

#define BUFFER_BYTES (256u << 10)

struct perfdata_writer {
	int fd;
	char *path;
	bool is_new;	/* a new file, not a device */
	bool moved_old; /* the previous file of this name is NAME.old now */
	struct perfdata_header header;
	struct feature_source about;

	uint8_t *buffer; /* records that are not in the file yet */
	size_t buffered;
	uint64_t buffered_samples;
	uint64_t written, written_samples; /* whole records in the file */
	uint64_t before, before_samples;   /* the same before the last stretch */
	bool trace_last;		   /* the last stretch is of a trace, not of records in the
					      buffer */
	uint64_t traced;		   /* branches in the file */
	uint32_t *trace_tids; /* threads that have a trace; perf needs a number for each */
	size_t trace_tid_count;
	uint64_t trace_bytes; /* of the traces, without padding */
	int error;
};

/* Returns how many bytes were written. If not all were, errno says why. */
size_t writer_put(int fd, const void *bytes, size_t count, uint64_t offset);

/* Writes the buffer to the file. writer->error is set if not all of it could be written. */
void writer_flush(struct perfdata_writer *writer);

/* Cuts the file after what is `written`, and removes later stretches of traces from the index. */
void writer_cut(struct perfdata_writer *writer);
void writer_forget_traces(struct perfdata_writer *writer);

#endif
