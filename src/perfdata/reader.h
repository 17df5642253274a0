/* SPDX-License-Identifier: MIT */
/* reader.h: a perf.data that is being read; reader.c (records) and facts.c (features) share it. */
#ifndef SOFTPMU_PERFDATA_READER_H
#define SOFTPMU_PERFDATA_READER_H

#include <src/perfdata/layout.h>

/* An event and its ids in the file (one for each CPU in perf's own files). */
struct read_event {
	struct perfdata_event event;
	struct perfdata_section ids;
	char *name; /* event.name, if it is not in the file */
};

struct perfdata_reader {
	char *path;
	uint8_t *file;
	uint64_t bytes;
	struct perfdata_header header;
	struct read_event *events;
	size_t event_count;
	struct perfdata_section feature[FEATURES_MAX];
	struct trace_info trace; /* from AUXTRACE_INFO */
	char *command;		 /* its words, joined */
	uint8_t *records;	 /* the file, or a copy with expanded records */
	uint64_t begin, at, end; /* where they are */
	uint8_t *expanded;	 /* that copy; NULL: there is none */
	uint64_t expanded_bytes;
	bool damaged;	   /* the copy ends where compressed records are damaged */
	uint64_t released; /* records before it have no memory, unless they are read again */
};

/* Returns true if the file has all of these bytes. */
bool reader_has(const struct perfdata_reader *reader, uint64_t offset, uint64_t bytes);

/* Returns a cursor over a section. It is bad if the file does not have the section. */
struct cursor reader_cursor(const struct perfdata_reader *reader, struct perfdata_section section);

/* Returns the bytes of the record there, with the data that follows it.  Returns 0 if the records
 * end before that. */
uint64_t reader_record_bytes(const struct perfdata_reader *reader, uint64_t at,
			     struct perf_event_header *header);

/* Finds events and features in the records of the pipe form (pipe.c).  Returns what is wrong. */
const char *reader_read_pipe(struct perfdata_reader *reader);

/* Copies a stream to a file that has no name.  Returns the file, or -1 and errno (expand.c). */
int expand_stream(int from);

/* Replaces the records by a copy in which none is compressed.  Returns what is wrong. */
const char *expand_records(struct perfdata_reader *reader);

/*
 * Reads what perfdata_open() needs of the features: where they are, the events' names, the command.
 */
void reader_read_features(struct perfdata_reader *reader);

#endif
