/* SPDX-License-Identifier: MIT */
/* record.h: what the parts of `softpmu record` share: options and the state of the run. */
#ifndef SOFTPMU_TOOL_RECORD_H
#define SOFTPMU_TOOL_RECORD_H

#include <src/perfdata/perfdata.h>

#include "tools/softpmu/machine/machine_options.h"
#include "tools/softpmu/run/branches.h"
#include "tools/softpmu/run/record_switch.h"
#include "tools/softpmu/run/run.h"
#include "tools/softpmu/run/run_options.h"

/* Samples a second when neither -c nor -F is given. */
#define DEFAULT_FREQUENCY 4000

struct record {
	struct run_options run;
	const char *output, *after_name;
	int compression; /* -z; 0: none */
	int pipe_fd;	 /* -o -; 0: a file */
	int argc;	 /* the command line */
	char **argv;
	struct record_switch switching; /* --switch-output */
	struct machine_options machine_options;
	struct spmu_machine machine;			       /* size 0: none */
	struct event_list events, after;		       /* --after: none or one */
	uint64_t period, frequency;			       /* -c, -F; 0: not given */
	enum { JITTER_BY_RATE, JITTER_ON, JITTER_OFF } jitter; /* by rate: with -F */
	uint64_t regs_mask;
	bool addresses, weights, quiet;
	uint64_t load_threshold; /* of all events of load latency; 0: there is none */
	uint64_t frontend;	 /* MSR_PEBS_FRONTEND; 0: no event needs it */

	struct branches branches;
	enum { CHAINS_NONE, CHAINS_LBR, CHAINS_FP, CHAINS_DWARF } chains; /* --call-graph */
	uint32_t stack_bytes; /* of the stack, for CHAINS_DWARF */

	const struct spmu_model *model;
	struct perfdata_writer *writer;	  /* NULL: a file could not be begun; the rest is lost */
	size_t event_of[LINK_EVENTS_MAX]; /* the place in the list of each event of the engine */
	size_t counted;
	bool traces, trace_begun;
	struct code *code; /* for filters by instruction; NULL: not needed */
	struct mapped_file {
		char *path;
		uint8_t build_id[PERFDATA_BUILD_ID_MAX];
		uint8_t build_id_bytes;
	} * files;
	size_t file_count;
	uint64_t next_progress_ns;
	bool progress_shown;
};

/* Checks each event, gives it its period and counts what the engine is to sample.  Returns -1 to go
 * on, otherwise the status to end with, after a message. */
int record_events_check(struct record *record);

/* Returns whether samples tell where loads got their data: with addresses, by a model. */
static inline bool record_tells_source(const struct record *record)
{
	return record->machine.size && record->addresses;
}

/* Returns whether the event's periods vary (--jitter). */
static inline bool record_varies_period(const struct record *record, const struct event *event)
{
	return record->jitter == JITTER_BY_RATE ? event->frequency != 0
						: record->jitter == JITTER_ON;
}

/* Checks --after.  Returns -1 to go on, otherwise the status to exit with, after a message. */
int record_after(struct record *record);

/* Adds the start by --after to the sampled event. */
void record_after_start(const struct record *record, struct link_event *event);

/* Takes standard output for the samples.  From now on, what is written there goes to standard
 * error.  Returns false after a message. */
bool record_file_to_pipe(struct record *record);

/* Stores the call chain of a sample of the current process.  There is room for RECORD_CHAIN_MAX
 * addresses.  Returns how many there are. */
#define RECORD_CHAIN_MAX (1 + LINK_CHAIN_MAX)
size_t record_chain(struct record *record, const struct link_sample *link,
		    struct perfdata_address *chain);

/* Creates the file.  Returns false after a message. */
bool record_file_create(struct record *record);

/* Completes the file.  *bytes is its size.  Returns false after a message. */
bool record_file_finish(struct record *record, uint64_t *bytes);

/* Writes a record of the engine to the file.  This is the launch_sink. */
void record_file_take(void *opaque, const struct link_record *link, uint64_t time_ns,
		      const void *trace);

#endif
