/* SPDX-License-Identifier: MIT */
/*
 * profile.c: the records of a perf.data, read and visited in order; spaces.c knows where each
 * sample fell.
 *
 * Records are taken in order of time, as perf does; what has no time comes first.
 */
#include "tools/softpmu/profile.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/commands.h"
#include "tools/softpmu/spaces.h"

/* What is kept of a record until all have been read. */
struct profile_entry {
	uint64_t time_ns;
	size_t order; /* in the file */
	uint32_t type, pid, tid;
	union {
		struct {
			uint64_t ip, period;
			const struct perfdata_branch *branches;
			uint32_t event;
			uint16_t misc, branch_count;
		} sample;
		struct {
			const struct perfdata_bts *records;
			uint64_t count;
			uint32_t event;
		} trace;
		const struct perfdata_mmap *mmap;
		struct {
			const char *comm;
			bool exec;
		} comm;
		uint32_t parent;
	};
};

/* A mapping record that outlives the reading loop. */
struct profile_copy {
	struct profile_copy *next;
	struct perfdata_mmap mmap;
};

const char *profile_short(const char *object)
{
	const char *slash = strrchr(object, '/');

	return object[0] == '/' && slash[1] ? slash + 1 : object;
}

void profile_complain(const struct symbol_file *file)
{
	const char *path = symbol_file_path(file);

	if (symbol_file_trouble(file) && path[0] == '/' && path[1] != '/')
		fprintf(stderr, "softpmu: no symbols of %s: %s\n", path, symbol_file_trouble(file));
}

/* Turn a record into an entry; false for types that do not matter here. */
static bool keep(struct profile *profile, const struct perfdata_record *record,
		 struct profile_entry *entry)
{
	struct profile_copy *copy;

	entry->type = record->type;
	switch (record->type) {
	case PERF_RECORD_SAMPLE:
		entry->time_ns = record->sample.time_ns;
		entry->pid = record->sample.pid;
		entry->tid = record->sample.tid;
		entry->sample.ip = record->sample.ip;
		/* A sample without a period stands for one. */
		entry->sample.period = record->sample.period ? record->sample.period : 1;
		entry->sample.event = (uint32_t)record->sample.event;
		entry->sample.misc = record->sample.misc;
		/* A record has fewer than 2^16 bytes. */
		entry->sample.branches = record->sample.branches;
		entry->sample.branch_count = (uint16_t)record->sample.branch_count;
		return true;
	case PERFDATA_RECORD_AUXTRACE:
		entry->time_ns = record->trace.time_ns;
		entry->tid = record->trace.tid;
		entry->trace.records = record->trace.records;
		entry->trace.count = record->trace.count;
		entry->trace.event = (uint32_t)record->trace.event;
		return true;
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		copy = tool_alloc(sizeof(*copy));
		copy->mmap = record->mmap;
		copy->next = profile->copies;
		profile->copies = copy;
		entry->time_ns = record->mmap.time_ns;
		entry->pid = record->mmap.pid;
		entry->tid = record->mmap.tid;
		entry->mmap = &copy->mmap;
		return true;
	case PERF_RECORD_COMM:
		entry->time_ns = record->comm.time_ns;
		entry->pid = record->comm.pid;
		entry->tid = record->comm.tid;
		entry->comm.comm = spaces_intern(profile->spaces, record->comm.comm);
		entry->comm.exec = record->comm.exec;
		return true;
	case PERF_RECORD_FORK:
		entry->time_ns = record->task.time_ns;
		entry->pid = record->task.pid;
		entry->tid = record->task.tid;
		entry->parent = record->task.ppid;
		return true;
	default:
		return false;
	}
}

static int by_time(const void *one, const void *other)
{
	const struct profile_entry *a = one, *b = other;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static void read_records(struct profile *profile)
{
	struct perfdata_record record;
	bool sorted = true;
	char *error = NULL;
	int more;

	while ((more = perfdata_next(profile->reader, &record, &error)) > 0) {
		struct profile_entry entry = {.order = profile->count};

		if (!keep(profile, &record, &entry))
			continue;
		if (profile->count == profile->room) {
			profile->room = profile->room ? 2 * profile->room : 4096;
			profile->entries = tool_grow(profile->entries,
						     profile->room * sizeof(*profile->entries));
		}
		if (profile->count && profile->entries[profile->count - 1].time_ns > entry.time_ns)
			sorted = false;
		profile->entries[profile->count++] = entry;
	}
	if (more < 0) {
		tool_error("%s; what stands before is used", error);
		free(error);
		profile->incomplete = true;
	}
	if (!sorted)
		qsort(profile->entries, profile->count, sizeof(*profile->entries), by_time);
}

struct profile *profile_open(const char *path, const char *root)
{
	struct perfdata_reader *reader;
	struct profile *profile;
	char *error = NULL;

	reader = perfdata_open(path, &error);
	if (!reader) {
		tool_error("%s", error);
		free(error);
		return NULL;
	}
	profile = tool_alloc(sizeof(*profile));
	profile->reader = reader;
	profile->path = tool_copy(path);
	profile->spaces = spaces_new(reader, root);
	read_records(profile);
	return profile;
}

void profile_close(struct profile *profile)
{
	struct profile_copy *copy;

	if (!profile)
		return;
	while ((copy = profile->copies) != NULL) {
		profile->copies = copy->next;
		free(copy);
	}
	spaces_free(profile->spaces);
	perfdata_close(profile->reader);
	free(profile->entries);
	free(profile->path);
	free(profile);
}

static void resolve(struct profile *profile, const struct profile_entry *entry,
		    struct profile_sample *sample)
{
	uint16_t mode = entry->sample.misc & PERF_RECORD_MISC_CPUMODE_MASK;

	*sample = (struct profile_sample){
		.event = entry->sample.event,
		.period = entry->sample.period,
		.comm = spaces_comm_of(profile->spaces, entry->pid, entry->tid)};
	spaces_place(profile->spaces, &(struct spaces_where){entry->pid, entry->time_ns},
		     entry->sample.ip, mode == PERF_RECORD_MISC_KERNEL, sample);
}

/* --- branches --------------------------------------------------------------------------- */

/* Traces come back to the same addresses: places that were found last, by address. */
#define FOUND_PLACES 4096

struct found {
	struct profile_sample place;
	bool valid;
};

static const struct profile_sample *find_place(struct profile *profile, struct found *found,
					       const struct spaces_where *where, uint64_t ip)
{
	found += (ip ^ ip >> 12) % FOUND_PLACES;
	if (!found->valid || found->place.ip != ip) {
		found->place = (struct profile_sample){.period = 1};
		spaces_place(profile->spaces, where, ip, ip >> 63, &found->place);
		found->valid = true;
	}
	return &found->place;
}

/* Both ends of each branch of the stretch, and where it was from as a sample of period 1. */
static void each_of_trace(struct profile *profile, const struct profile_entry *entry,
			  const struct profile_visitor *visitor)
{
	struct found *found = tool_alloc(FOUND_PLACES * sizeof(*found));
	struct spaces_where where = {spaces_process_of(profile->spaces, entry->tid),
				     entry->time_ns};
	const char *comm = spaces_comm_of(profile->spaces, where.pid, entry->tid);

	for (uint64_t i = 0; i < entry->trace.count; i++) {
		const struct perfdata_bts *bts = &entry->trace.records[i];
		struct profile_sample from, to;

		from = *find_place(profile, found, &where, bts->from);
		from.event = entry->trace.event;
		from.comm = comm;
		if (visitor->sample)
			visitor->sample(visitor->opaque, &from);
		if (!visitor->branch)
			continue;
		to = *find_place(profile, found, &where, bts->to);
		visitor->branch(visitor->opaque, &from, &to);
	}
	free(found);
}

static void each_of_stack(struct profile *profile, const struct profile_entry *entry,
			  const struct profile_visitor *visitor)
{
	const struct spaces_where where = {entry->pid, entry->time_ns};

	for (unsigned i = 0; visitor->branch && i < entry->sample.branch_count; i++) {
		const struct perfdata_branch *branch = &entry->sample.branches[i];
		struct profile_sample from = {
			.event = entry->sample.event,
			.period = 1,
			.comm = spaces_comm_of(profile->spaces, entry->pid, entry->tid)};
		struct profile_sample to = from;

		spaces_place(profile->spaces, &where, branch->from, branch->from >> 63, &from);
		spaces_place(profile->spaces, &where, branch->to, branch->to >> 63, &to);
		visitor->branch(visitor->opaque, &from, &to);
	}
}

void profile_visit(struct profile *profile, const struct profile_visitor *visitor)
{
	struct spaces *spaces = profile->spaces;
	size_t i;

	spaces_rewind(spaces);
	for (i = 0; i < profile->count; i++) {
		const struct profile_entry *entry = &profile->entries[i];
		struct profile_sample sample;

		switch (entry->type) {
		case PERF_RECORD_SAMPLE:
			if (visitor->sample) {
				resolve(profile, entry, &sample);
				visitor->sample(visitor->opaque, &sample);
			}
			each_of_stack(profile, entry, visitor);
			break;
		case PERFDATA_RECORD_AUXTRACE:
			each_of_trace(profile, entry, visitor);
			break;
		case PERF_RECORD_COMM:
			spaces_comm(spaces, entry->pid, entry->tid, entry->comm.comm,
				    entry->comm.exec);
			break;
		case PERF_RECORD_FORK:
			spaces_fork(spaces, entry->pid, entry->tid, entry->parent);
			break;
		default:
			spaces_mmap(spaces, entry->mmap);
			break;
		}
	}
}

void profile_each(struct profile *profile,
		  void (*each)(void *opaque, const struct profile_sample *sample), void *opaque)
{
	struct profile_visitor visitor = {.sample = each, .opaque = opaque};

	profile_visit(profile, &visitor);
}

void profile_print_about(const struct profile *profile)
{
	static const struct {
		const char *what, *label;
	} lines[] = {{"hostname", "hostname"}, {"os release", "os release"},
		     {"version", "version"},   {"cpu", "cpudesc"},
		     {"cpu id", "cpuid"},      {"command line", "cmdline"}};
	size_t i;

	puts("# ========");
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		const char *text = perfdata_about_text(profile->reader, lines[i].what);

		if (text)
			printf("# %s : %s\n", lines[i].label, text);
	}
	puts("# ========\n#");
}
