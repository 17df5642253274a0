/* SPDX-License-Identifier: MIT */
/* record.h: what record.c (options, the run) and record_file.c (perf.data) share. */
#ifndef SOFTPMU_TOOL_RECORD_H
#define SOFTPMU_TOOL_RECORD_H

#include <src/perfdata/perfdata.h>

#include "branches.h"
#include "run.h"

struct record {
	const char *model_name, *output, *after_name;
	struct event_list events, after; /* --after: none or one */
	uint64_t period, frequency;	 /* -c, -F; 0: not given */
	uint64_t regs_mask;
	bool addresses, quiet, verbose;
	bool one_process; /* --no-inherit */
	uint32_t fixed;	  /* --deterministic: LINK_WANT_ */
	bool cold;	  /* --no-cache */
	bool strict;	  /* --strict */

	struct branches branches;
	bool call_graph; /* --call-graph lbr */

	const struct spmu_model *model;
	struct perfdata_writer *writer;
	size_t event_of[LINK_EVENTS_MAX]; /* the engine's events in the list; traces are none */
	size_t counted;
	bool traces, trace_begun;
	struct code *code; /* what branches are looked up in, NULL: they are not */
	struct mapped_file {
		char *path;
		uint8_t build_id[PERFDATA_BUILD_ID_MAX];
		uint8_t build_id_bytes;
	} * files;
	size_t file_count;
	uint64_t next_progress_ns;
	bool progress_shown;
};

/* Take in --after; -1 to go on, otherwise the status to end with, after a line. */
int record_after(struct record *record);

/* The sampled event as --after wants it. */
void record_start_after(const struct record *record, struct link_event *event);

/* Begin the file; false after a line on standard error. */
bool record_create(struct record *record, int argc, char **argv);

/* The launch_sink: a record of the engine's goes into the file. */
void record_take(void *opaque, const struct link_record *link, uint64_t time_ns, const void *trace);

#endif
