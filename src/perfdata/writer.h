/* SPDX-License-Identifier: MIT */
/* writer.h: a perf.data that is being written; writer.c, append.c, stretch.c and pipe.c share
 * it. */
#ifndef SOFTPMU_PERFDATA_WRITER_H
#define SOFTPMU_PERFDATA_WRITER_H

#include <src/perfdata/pack.h>

#define BUFFER_BYTES (256u << 10)

/* Compressed records of a full buffer: each but the last has more than half of PACK_BYTES. */
#define PACKS_MAX (2 * BUFFER_BYTES / PACK_BYTES + 2)

struct perfdata_writer {
	int fd;
	bool pipe; /* the pipe form: nothing that was written can be changed */
	char *path;
	bool is_new;	/* a new file, not a device */
	bool moved_old; /* the previous file of this name is NAME.old now */
	struct perfdata_header header;
	struct feature_source about;

	uint8_t *buffer; /* records that are not in the file yet */
	size_t buffered;
	uint64_t buffered_samples;
	struct packer *packer; /* NULL: records are not compressed */
	uint8_t *packed;       /* the last stretch, compressed */
	struct pack {
		size_t bytes; /* of a compressed record */
		uint64_t samples;
	} pack[PACKS_MAX];
	unsigned packs;
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
size_t writer_put(const struct perfdata_writer *writer, const void *bytes, size_t count,
		  uint64_t offset);

/* Counts the whole records in the first `bytes` bytes of the last stretch, and the samples among
 * them. */
size_t writer_whole_records(const struct perfdata_writer *writer, size_t bytes, uint64_t *samples);

/* Writes what the pipe form has instead of a header.  Returns false if it cannot be written. */
bool writer_pipe_front(struct perfdata_writer *writer);

/* Writes the buffer to the file. writer->error is set if not all of it could be written. */
void writer_flush(struct perfdata_writer *writer);

/* Cuts the file after what is `written`, and removes later stretches of traces from the index. */
void writer_cut(struct perfdata_writer *writer);
void writer_forget_traces(struct perfdata_writer *writer);

#endif
