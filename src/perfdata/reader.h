/* SPDX-License-Identifier: MIT */
/* reader.h: a perf.data that is read, as reader.c (records) and facts.c (features) share it. */
#ifndef SOFTPMU_PERFDATA_READER_H
#define SOFTPMU_PERFDATA_READER_H

#include <src/perfdata/layout.h>

/* An event and its ids in the file (a CPU each, in perf's own files). */
struct read_event {
	struct perfdata_event event;
	struct perfdata_section ids;
	char *name; /* event.name, when it is not in the file */
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
	char *command;		 /* its words joined */
	uint64_t at, end;	 /* of the records */
};

/* Whether the file has all of those bytes. */
bool reader_has(const struct perfdata_reader *reader, uint64_t offset, uint64_t bytes);

/* A cursor over a section, bad when the file does not have it. */
struct cursor reader_cursor(const struct perfdata_reader *reader, struct perfdata_section section);

/* What perfdata_open() takes from the features: where they are, the events' names, the command. */
void reader_read_features(struct perfdata_reader *reader);

#endif
