/* SPDX-License-Identifier: MIT */
/*
 * profile.c: reads the records of a perf.data and visits the samples in order of time.
 *
 * Records without a time come first, as in perf.  processes.c finds the place of each sample.
 */
#include "tools/softpmu/profile/profile.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/profile/processes.h"

/* A record, as it is kept until all have been read. */
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

/* A copy of a mapping record. */
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

/* Makes an entry of a record.  Returns false for types that are not used. */
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
		/* A sample without a period counts as one occurrence. */
		entry->sample.period = record->sample.period ? record->sample.period : 1;
		entry->sample.event = (uint32_t)record->sample.event;
		entry->sample.misc = record->sample.misc;
		/* A record has less than 2^16 bytes, so the number fits. */
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
		entry->comm.comm = processes_intern(profile->processes, record->comm.comm);
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
		profile->entries = tool_room(profile->entries, &profile->room, profile->count,
					     sizeof(*profile->entries));
		if (profile->count && profile->entries[profile->count - 1].time_ns > entry.time_ns)
			sorted = false;
		profile->entries[profile->count++] = entry;
	}
	if (more < 0) {
		tool_error("%s; the records before that are used", error);
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
	profile->processes = processes_new(reader, root);
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
	processes_free(profile->processes);
	perfdata_close(profile->reader);
	free(profile->entries);
	free(profile->path);
	free(profile);
}

/* --- visiting --------------------------------------------------------------------------- */

struct visit {
	struct profile *profile;
	profile_visitor *each;
	void *opaque;
	bool with_branches;
	struct profile_branch *branches; /* of the current sample */
	size_t room;
	struct found *found;
};

static void visit_sample(struct visit *visit, const struct profile_entry *entry)
{
	struct processes *processes = visit->profile->processes;
	const struct processes_when when = {entry->pid, entry->time_ns};
	uint16_t mode = entry->sample.misc & PERF_RECORD_MISC_CPUMODE_MASK;
	struct profile_sample sample = {
		.event = entry->sample.event,
		.period = entry->sample.period,
		.comm = processes_comm_of(processes, entry->pid, entry->tid),
		.at = processes_place(processes, &when, entry->sample.ip,
				      mode == PERF_RECORD_MISC_KERNEL)};

	if (visit->with_branches) {
		sample.branch_count = entry->sample.branch_count;
		if (sample.branch_count > visit->room) {
			visit->room = sample.branch_count;
			visit->branches =
				tool_grow(visit->branches, visit->room * sizeof(*visit->branches));
		}
		sample.branches = visit->branches;
		for (size_t i = 0; i < sample.branch_count; i++) {
			const struct perfdata_branch *branch = &entry->sample.branches[i];

			visit->branches[i].from =
				processes_place(processes, &when, branch->from, branch->from >> 63);
			visit->branches[i].to =
				processes_place(processes, &when, branch->to, branch->to >> 63);
		}
	}
	visit->each(visit->opaque, &sample);
}

/* The places that were found last, by address: a trace comes back to the same addresses. */
#define FOUND_PLACES 4096

struct found {
	struct profile_place place;
	bool valid;
};

static const struct profile_place *find_place(struct processes *processes, struct found *found,
					      const struct processes_when *when, uint64_t ip)
{
	found += (ip ^ ip >> 12) % FOUND_PLACES;
	if (!found->valid || found->place.ip != ip) {
		found->place = processes_place(processes, when, ip, ip >> 63);
		found->valid = true;
	}
	return &found->place;
}

/* Visits each branch of a stretch of the trace as a sample of period 1 at its source. */
static void visit_trace(struct visit *visit, const struct profile_entry *entry)
{
	struct processes *processes = visit->profile->processes;
	struct processes_when when = {processes_of_thread(processes, entry->tid), entry->time_ns};
	struct profile_branch branch;
	struct profile_sample sample = {.event = entry->trace.event,
					.period = 1,
					.comm = processes_comm_of(processes, when.pid, entry->tid)};

	if (visit->with_branches) {
		sample.branches = &branch;
		sample.branch_count = 1;
	}
	/* Mappings may have changed since the last stretch. */
	memset(visit->found, 0, FOUND_PLACES * sizeof(*visit->found));
	for (uint64_t i = 0; i < entry->trace.count; i++) {
		const struct perfdata_bts *bts = &entry->trace.records[i];

		sample.at = *find_place(processes, visit->found, &when, bts->from);
		if (visit->with_branches) {
			branch.from = sample.at;
			branch.to = *find_place(processes, visit->found, &when, bts->to);
		}
		visit->each(visit->opaque, &sample);
	}
}

static void visit_all(struct visit *visit)
{
	struct processes *processes = visit->profile->processes;

	visit->found = tool_alloc(FOUND_PLACES * sizeof(*visit->found));
	processes_rewind(processes);
	for (size_t i = 0; i < visit->profile->count; i++) {
		const struct profile_entry *entry = &visit->profile->entries[i];

		switch (entry->type) {
		case PERF_RECORD_SAMPLE:
			visit_sample(visit, entry);
			break;
		case PERFDATA_RECORD_AUXTRACE:
			visit_trace(visit, entry);
			break;
		case PERF_RECORD_COMM:
			processes_comm(processes, entry->pid, entry->tid, entry->comm.comm,
				       entry->comm.exec);
			break;
		case PERF_RECORD_FORK:
			processes_fork(processes, entry->pid, entry->tid, entry->parent);
			break;
		default:
			processes_mmap(processes, entry->mmap);
			break;
		}
	}
	free(visit->found);
	free(visit->branches);
}

void profile_each(struct profile *profile, profile_visitor *visit, void *opaque)
{
	visit_all(&(struct visit){.profile = profile, .each = visit, .opaque = opaque});
}

void profile_each_with_branches(struct profile *profile, profile_visitor *visit, void *opaque)
{
	visit_all(&(struct visit){
		.profile = profile, .each = visit, .opaque = opaque, .with_branches = true});
}
