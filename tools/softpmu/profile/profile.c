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
			const struct perfdata_address *chain;
			uint32_t event, cpu;
			uint16_t misc, branch_count, chain_count;
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
		entry->sample.cpu = record->sample.cpu;
		entry->sample.misc = record->sample.misc;
		entry->sample.chain = record->sample.chain;
		/* A record has less than 2^16 bytes, so the numbers fit. */
		entry->sample.chain_count = (uint16_t)record->sample.chain_count;
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
	unsigned parts;
	struct profile_branch *branches; /* of the current sample */
	struct profile_place *callers;	 /* of the current sample */
	size_t branch_room, caller_room;
	struct found *found;
};

bool profile_has_call_stack(const struct perfdata_event *event)
{
	return event->attr.branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK;
}

bool profile_has_callers(const struct perfdata_event *event)
{
	return event->attr.sample_type & PERF_SAMPLE_CALLCHAIN || profile_has_call_stack(event);
}

static void add_caller(struct visit *visit, struct profile_sample *sample,
		       const struct profile_place *caller)
{
	visit->callers = tool_room(visit->callers, &visit->caller_room, sample->caller_count,
				   sizeof(*visit->callers));
	visit->callers[sample->caller_count++] = *caller;
}

/* Takes the callers from last branch records in call-stack mode: these are the addresses of the
 * call instructions. */
static void callers_of_branches(struct visit *visit, const struct profile_entry *entry,
				const struct processes_when *when, struct profile_sample *sample)
{
	for (size_t i = 0; i < entry->sample.branch_count; i++) {
		uint64_t ip = entry->sample.branches[i].from;
		struct profile_place caller =
			processes_place(visit->profile->processes, when, ip, ip >> 63);

		add_caller(visit, sample, &caller);
	}
}

/* Takes the callers from the chain of the kernel.  Its first address is the sample's own.  The
 * others are return addresses, and the call is before them: it can be a function's last
 * instruction. */
static void callers_of_chain(struct visit *visit, const struct profile_entry *entry,
			     const struct processes_when *when, struct profile_sample *sample)
{
	bool kernel = false, first = true;

	for (size_t i = 0; i < entry->sample.chain_count; i++) {
		uint64_t ip = entry->sample.chain[i].ip;
		struct profile_place caller;

		if (ip >= PERF_CONTEXT_MAX) {
			kernel = ip == PERF_CONTEXT_KERNEL;
			continue;
		}
		if (!first) {
			caller = processes_place(visit->profile->processes, when, ip - 1, kernel);
			add_caller(visit, sample, &caller);
		}
		first = false;
	}
}

static void find_callers(struct visit *visit, const struct profile_entry *entry,
			 const struct processes_when *when, struct profile_sample *sample)
{
	if (profile_has_call_stack(perfdata_event_at(visit->profile->reader, sample->event)))
		callers_of_branches(visit, entry, when, sample);
	else
		callers_of_chain(visit, entry, when, sample);
	sample->callers = visit->callers;
}

static void find_branches(struct visit *visit, const struct profile_entry *entry,
			  const struct processes_when *when, struct profile_sample *sample)
{
	struct processes *processes = visit->profile->processes;

	if (sample->branch_count > visit->branch_room) {
		visit->branch_room = sample->branch_count;
		visit->branches =
			tool_grow(visit->branches, visit->branch_room * sizeof(*visit->branches));
	}
	sample->branches = visit->branches;
	for (size_t i = 0; i < sample->branch_count; i++) {
		const struct perfdata_branch *branch = &entry->sample.branches[i];

		visit->branches[i] = (struct profile_branch){
			.from = processes_place(processes, when, branch->from, branch->from >> 63),
			.to = processes_place(processes, when, branch->to, branch->to >> 63),
			.flags = branch->flags};
	}
}

static void visit_sample(struct visit *visit, const struct profile_entry *entry)
{
	struct processes *processes = visit->profile->processes;
	const struct processes_when when = {entry->pid, entry->time_ns};
	uint16_t mode = entry->sample.misc & PERF_RECORD_MISC_CPUMODE_MASK;
	struct profile_sample sample = {
		.event = entry->sample.event,
		.period = entry->sample.period,
		.time_ns = entry->time_ns,
		.pid = entry->pid,
		.tid = entry->tid,
		.cpu = entry->sample.cpu,
		.comm = processes_comm_of(processes, entry->pid, entry->tid),
		.at = processes_place(processes, &when, entry->sample.ip,
				      mode == PERF_RECORD_MISC_KERNEL),
		.branch_count = entry->sample.branch_count};

	if (visit->parts & PROFILE_BRANCHES)
		find_branches(visit, entry, &when, &sample);
	if (visit->parts & PROFILE_CALLERS)
		find_callers(visit, entry, &when, &sample);
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

/* Returns the flags of struct perf_branch_entry.  Bit 1 is "predicted".  Only NetBurst's records have
 * a prediction, so a clear bit says nothing. */
static uint64_t branch_flags(const struct perfdata_bts *bts)
{
	return bts->misc >> 4 & 1 ? 2 : 0;
}

/* Visits each branch of a stretch of the trace as a sample of period 1 at its source. */
static void visit_trace(struct visit *visit, const struct profile_entry *entry)
{
	struct processes *processes = visit->profile->processes;
	struct processes_when when = {processes_of_thread(processes, entry->tid), entry->time_ns};
	struct profile_branch branch;
	struct profile_sample sample = {.event = entry->trace.event,
					.period = 1,
					.time_ns = entry->time_ns,
					.pid = when.pid,
					.tid = entry->tid,
					.comm = processes_comm_of(processes, when.pid, entry->tid),
					.branch_count = 1};

	if (visit->parts & PROFILE_BRANCHES)
		sample.branches = &branch;
	/* Mappings may have changed since the last stretch. */
	memset(visit->found, 0, FOUND_PLACES * sizeof(*visit->found));
	for (uint64_t i = 0; i < entry->trace.count; i++) {
		const struct perfdata_bts *bts = &entry->trace.records[i];

		sample.at = *find_place(processes, visit->found, &when, bts->from);
		if (visit->parts & PROFILE_BRANCHES) {
			branch.from = sample.at;
			branch.to = *find_place(processes, visit->found, &when, bts->to);
			branch.flags = branch_flags(bts);
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
	free(visit->callers);
}

void profile_each(struct profile *profile, unsigned parts, profile_visitor *visit, void *opaque)
{
	visit_all(&(struct visit){
		.profile = profile, .each = visit, .opaque = opaque, .parts = parts});
}
