/* SPDX-License-Identifier: MIT */
/*
 * profile.c: reads the records of a perf.data and visits the samples in order of time.  An exact
 * profile has instructions instead of samples (profile_exact.c).
 *
 * Records without a time come first, as in perf.  processes.c finds the place of each sample.
 * Records are not kept in memory: each visit reads the file.  If its records are not in order, the
 * place of each is kept.
 */
#include "tools/softpmu/profile/profile.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/profile/processes.h"

/* Where a record is. */
struct profile_entry {
	uint64_t time_ns;
	uint64_t offset; /* in the file */
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

/* Returns the time of a record, 0 if it has none or is of a type that is not used. */
static uint64_t time_of(const struct perfdata_record *record)
{
	switch (record->type) {
	case PERF_RECORD_SAMPLE:
		return record->sample.time_ns;
	case PERFDATA_RECORD_AUXTRACE:
		return record->trace.time_ns;
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return record->mmap.time_ns;
	case PERF_RECORD_COMM:
		return record->comm.time_ns;
	case PERF_RECORD_FORK:
		return record->task.time_ns;
	default:
		return 0;
	}
}

static bool is_used(const struct perfdata_record *record)
{
	return record->type == PERF_RECORD_SAMPLE || record->type == PERFDATA_RECORD_AUXTRACE ||
	       record->type == PERF_RECORD_MMAP || record->type == PERF_RECORD_MMAP2 ||
	       record->type == PERF_RECORD_COMM || record->type == PERF_RECORD_FORK;
}

static int by_time(const void *one, const void *other)
{
	const struct profile_entry *a = one, *b = other;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/* Reads the whole file.  Returns false if its records are not in order of time. */
static bool check_records(struct profile *profile)
{
	struct perfdata_record record;
	uint64_t last_ns = 0;
	bool sorted = true;
	char *error = NULL;
	int more;

	while ((more = perfdata_next(profile->reader, &record, &error)) > 0) {
		if (!is_used(&record))
			continue;
		sorted &= time_of(&record) >= last_ns;
		last_ns = time_of(&record);
	}
	if (more < 0) {
		tool_error("%s; the records before that are used", error);
		free(error);
		profile->incomplete = true;
	}
	return sorted;
}

static void sort_records(struct profile *profile)
{
	struct perfdata_record record;
	uint64_t offset;
	char *error = NULL;

	perfdata_rewind(profile->reader);
	for (;;) {
		offset = perfdata_offset(profile->reader);
		if (perfdata_next(profile->reader, &record, &error) <= 0)
			break;
		if (!is_used(&record))
			continue;
		profile->entries = tool_room(profile->entries, &profile->room, profile->count,
					     sizeof(*profile->entries));
		profile->entries[profile->count++] =
			(struct profile_entry){time_of(&record), offset};
	}
	free(error); /* check_records() has reported it */
	qsort(profile->entries, profile->count, sizeof(*profile->entries), by_time);
}

static struct profile *open_exact(const char *path, const char *root)
{
	struct profile *profile;
	char *error = NULL;
	struct exact *exact = exact_file_read(path, &error);

	if (!exact) {
		tool_error("%s", error);
		free(error);
		return NULL;
	}
	profile = tool_alloc(sizeof(*profile));
	profile->exact = exact;
	profile->path = tool_copy(path);
	profile->processes = processes_new(NULL, root);
	profile_exact_names(profile);
	return profile;
}

struct profile *profile_open(const char *path, const char *root)
{
	struct perfdata_reader *reader;
	struct profile *profile;
	char *error = NULL;

	if (exact_file_is(path))
		return open_exact(path, root);
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
	if (!check_records(profile))
		sort_records(profile);
	return profile;
}

size_t profile_event_count(const struct profile *profile)
{
	return profile->exact ? profile->exact->event_count : perfdata_event_count(profile->reader);
}

const char *profile_event_name(const struct profile *profile, size_t event)
{
	return profile->exact ? profile->exact->events[event].name
			      : perfdata_event_at(profile->reader, event)->name;
}

const char *profile_about(const struct profile *profile, const char *what)
{
	if (!profile->exact)
		return perfdata_about_text(profile->reader, what);
	return strcmp(what, "command line") ? NULL : profile->exact->command;
}

void profile_close(struct profile *profile)
{
	if (!profile)
		return;
	processes_free(profile->processes);
	if (profile->exact)
		profile_exact_free_names(profile);
	exact_free(profile->exact);
	if (profile->reader)
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
static void callers_of_branches(struct visit *visit, const struct perfdata_sample *from,
				const struct processes_when *when, struct profile_sample *sample)
{
	for (size_t i = 0; i < from->branch_count; i++) {
		uint64_t ip = from->branches[i].from;
		struct profile_place caller =
			processes_place(visit->profile->processes, when, ip, ip >> 63);

		add_caller(visit, sample, &caller);
	}
}

/* Takes the callers from the chain of the kernel.  Its first address is the sample's own.  The
 * others are return addresses, and the call is before them: it can be a function's last
 * instruction. */
static void callers_of_chain(struct visit *visit, const struct perfdata_sample *from,
			     const struct processes_when *when, struct profile_sample *sample)
{
	bool kernel = false, first = true;

	for (size_t i = 0; i < from->chain_count; i++) {
		uint64_t ip = from->chain[i].ip;
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

static void find_callers(struct visit *visit, const struct perfdata_sample *from,
			 const struct processes_when *when, struct profile_sample *sample)
{
	if (profile_has_call_stack(perfdata_event_at(visit->profile->reader, sample->event)))
		callers_of_branches(visit, from, when, sample);
	else
		callers_of_chain(visit, from, when, sample);
	sample->callers = visit->callers;
}

static void find_branches(struct visit *visit, const struct perfdata_sample *from,
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
		const struct perfdata_branch *branch = &from->branches[i];

		visit->branches[i] = (struct profile_branch){
			.from = processes_place(processes, when, branch->from, branch->from >> 63),
			.to = processes_place(processes, when, branch->to, branch->to >> 63),
			.flags = branch->flags};
	}
}

static void visit_sample(struct visit *visit, const struct perfdata_sample *from)
{
	struct processes *processes = visit->profile->processes;
	const struct processes_when when = {from->pid, from->time_ns};
	uint16_t mode = from->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	struct profile_sample sample = {
		.event = from->event,
		.count = 1,
		/* A sample without a period counts as one occurrence. */
		.period = from->period ? from->period : 1,
		.time_ns = from->time_ns,
		.data_address = from->address,
		.data_source = from->data_source,
		.weight = from->weight,
		.pid = from->pid,
		.tid = from->tid,
		.cpu = from->cpu,
		.comm = processes_comm_of(processes, from->pid, from->tid),
		.at = processes_place(processes, &when, from->ip, mode == PERF_RECORD_MISC_KERNEL),
		.branch_count = from->branch_count};

	if (visit->parts & PROFILE_BRANCHES)
		find_branches(visit, from, &when, &sample);
	if (visit->parts & PROFILE_CALLERS)
		find_callers(visit, from, &when, &sample);
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

/* Returns the flags of struct perf_branch_from.  Bit 1 is "predicted".  Only NetBurst's records
 * have a prediction, so a clear bit says nothing. */
static uint64_t branch_flags(const struct perfdata_bts *bts)
{
	return bts->misc >> 4 & 1 ? 2 : 0;
}

/* Visits each branch of a stretch of the trace as a sample of period 1 at its source. */
static void visit_trace(struct visit *visit, const struct perfdata_trace *from)
{
	struct processes *processes = visit->profile->processes;
	struct processes_when when = {processes_of_thread(processes, from->tid), from->time_ns};
	struct profile_branch branch;
	struct profile_sample sample = {.event = from->event,
					.count = 1,
					.period = 1,
					.time_ns = from->time_ns,
					.pid = when.pid,
					.tid = from->tid,
					.comm = processes_comm_of(processes, when.pid, from->tid),
					.branch_count = 1};

	if (visit->parts & PROFILE_BRANCHES)
		sample.branches = &branch;
	/* Mappings may have changed since the last stretch. */
	memset(visit->found, 0, FOUND_PLACES * sizeof(*visit->found));
	for (uint64_t i = 0; i < from->count; i++) {
		const struct perfdata_bts *bts = &from->records[i];

		sample.at = *find_place(processes, visit->found, &when, bts->from);
		if (visit->parts & PROFILE_BRANCHES) {
			branch.from = sample.at;
			branch.to = *find_place(processes, visit->found, &when, bts->to);
			branch.flags = branch_flags(bts);
		}
		visit->each(visit->opaque, &sample);
	}
}

static void visit_record(struct visit *visit, const struct perfdata_record *record)
{
	struct processes *processes = visit->profile->processes;

	switch (record->type) {
	case PERF_RECORD_SAMPLE:
		visit_sample(visit, &record->sample);
		break;
	case PERFDATA_RECORD_AUXTRACE:
		visit_trace(visit, &record->trace);
		break;
	case PERF_RECORD_COMM:
		processes_comm(processes, record->comm.pid, record->comm.tid, record->comm.comm,
			       record->comm.exec);
		break;
	case PERF_RECORD_FORK:
		processes_fork(processes, record->task.pid, record->task.tid, record->task.ppid);
		break;
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		processes_mmap(processes, &record->mmap);
		break;
	default:
		break;
	}
}

/* Errors have been reported when the file was opened, and end the records again. */
static void visit_all(struct visit *visit)
{
	struct perfdata_reader *reader = visit->profile->reader;
	struct perfdata_record record;
	char *error = NULL;

	visit->found = tool_alloc(FOUND_PLACES * sizeof(*visit->found));
	processes_rewind(visit->profile->processes);
	if (visit->profile->count) {
		for (size_t i = 0; i < visit->profile->count; i++) {
			perfdata_seek(reader, visit->profile->entries[i].offset);
			if (perfdata_next(reader, &record, &error) > 0)
				visit_record(visit, &record);
		}
	} else {
		perfdata_rewind(reader);
		while (perfdata_next(reader, &record, &error) > 0)
			visit_record(visit, &record);
	}
	free(error);
	free(visit->found);
	free(visit->branches);
	free(visit->callers);
}

void profile_say_empty(const struct profile *profile)
{
	tool_error("%s has no samples%s", profile->path,
		   filter_is_empty(&profile->filter) ? "" : " that the filters take");
}

struct filtered {
	const struct filter *filter;
	profile_visitor *visit;
	void *opaque;
};

static void visit_filtered(void *opaque, const struct profile_sample *sample)
{
	const struct filtered *f = opaque;

	if (filter_takes(f->filter, sample->comm, sample->pid, sample->tid, &sample->at))
		f->visit(f->opaque, sample);
}

void profile_each(struct profile *profile, unsigned parts, profile_visitor *visit, void *opaque)
{
	struct filtered filtered = {&profile->filter, visit, opaque};

	if (!(parts & PROFILE_ALL) && !filter_is_empty(&profile->filter)) {
		visit = visit_filtered;
		opaque = &filtered;
	}
	if (profile->exact) {
		profile_exact_insns(profile, visit, opaque);
		return;
	}
	visit_all(&(struct visit){
		.profile = profile, .each = visit, .opaque = opaque, .parts = parts});
}
