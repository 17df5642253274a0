/* SPDX-License-Identifier: MIT */
/*
 * export.h: files for other programs that show profiles: a struct exporter for each.
 *
 * An exporter writes the samples of one event.  A new one is a file with a struct exporter and a
 * row in the list of export.c.
 */
#ifndef SOFTPMU_TOOL_EXPORT_H
#define SOFTPMU_TOOL_EXPORT_H

#include <stdio.h>

#include "tools/softpmu/profile/aggregation.h"

/* What an exporter is given. */
struct export_input {
	struct profile *profile;
	struct aggregation *aggregation; /* with threads and call chains */
	size_t event;
	bool any_event; /* the user named none */
};

struct exporter {
	const char *name;
	unsigned parts; /* of the aggregation, besides threads and call chains */
	bool binary;	/* not to be written to a terminal */
	bool times;	/* is about the times of samples, which an exact profile has not */
	void (*write)(const struct export_input *input, FILE *to);
};

extern const struct exporter export_folded, export_speedscope, export_pprof, export_callgrind,
	export_cachegrind, export_chrome, export_firefox, export_perfetto;

/* Returns NULL if there is no format of that name. */
const struct exporter *exporters_find(const char *name);

/* Returns the names of all formats, as "folded, speedscope". */
const char *exporters_names(void);

/* --- for exporters ------------------------------------------------------------------------ */

/* Writes the name of a place's function as a JSON string. */
void export_json_name(FILE *to, const struct aggregation_place *place);

/* Finds the source line of a function, or of a place with an address.  Returns false if it is not
 * known. */
bool export_line(const struct aggregation_place *place, const char **source, int *line);

/* The threads of the event, each once, in the order of their first stack. */
struct export_threads {
	struct aggregation_thread *list;
	size_t count;
};

struct export_threads export_threads(const struct export_input *input);

/* The samples of the event, in the order of time. */
struct export_sample {
	uint64_t time_ns, period;
	uint32_t tid, pid, cpu, frame;
	const char *comm;
};

struct export_samples {
	struct export_sample *list;
	size_t count;
};

struct export_samples export_samples(const struct export_input *input);

bool export_is_of(const struct export_sample *sample, const struct aggregation_thread *thread);

#endif
