/* SPDX-License-Identifier: MIT */
/*
 * profile.c: follows the records of a perf.data to know, for each sample, which
 * file was mapped where it fell.
 *
 * Records are taken in order of time, as perf does; what has no time comes
 * first.  A later mapping covers earlier ones, exec empties a process, fork copies it.
 * A sample outside of every mapping, or in a file that cannot be used, keeps its address.
 *
 * Code that a process made is looked up in the jitdump that it wrote, or in its perf map.
 *
 * Simplified: kernel addresses are not resolved.
 */
#include "tools/softpmu/profile.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tools/softpmu/commands.h"
#include "tools/softpmu/jit.h"

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

struct profile_map {
	uint64_t start, end, page_offset;
	const char *object;
	struct symbol_file *file;
	bool made; /* code that the program made */
};

/* The mappings of a process, oldest first. */
struct profile_space {
	struct profile_space *next;
	uint32_t pid;
	struct profile_map *maps;
	size_t count, room;
	/* Of what the process made: its jitdump, else its perf map; NULL: it says nothing. */
	struct jit *dump, *perf_map;
};

/* A file that a process wrote of its code. */
struct profile_jit {
	struct profile_jit *next;
	const char *path;
	struct jit *jit; /* NULL: it cannot be used */
};

struct profile_comm {
	struct profile_comm *next;
	uint32_t pid, tid;
	const char *comm;
};

struct profile_text {
	struct profile_text *next;
	char text[];
};

/* A mapping record that outlives the reading loop. */
struct profile_copy {
	struct profile_copy *next;
	struct perfdata_mmap mmap;
};

static const char *intern(struct profile *profile, const char *text)
{
	struct profile_text *entry;
	size_t bytes = strlen(text) + 1;

	for (entry = profile->texts; entry; entry = entry->next) {
		if (!strcmp(entry->text, text))
			return entry->text;
	}
	entry = tool_alloc(sizeof(*entry) + bytes);
	memcpy(entry->text, text, bytes);
	entry->next = profile->texts;
	profile->texts = entry;
	return entry->text;
}

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
		entry->comm.comm = intern(profile, record->comm.comm);
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
	profile->symbols = symbols_new(root);
	profile->unknown = intern(profile, "[unknown]");
	profile->kernel = intern(profile, "[kernel]");
	read_records(profile);
	return profile;
}

static void free_spaces(struct profile *profile)
{
	struct profile_space *space;
	struct profile_comm *comm;

	while ((space = profile->spaces) != NULL) {
		profile->spaces = space->next;
		free(space->maps);
		free(space);
	}
	while ((comm = profile->comms) != NULL) {
		profile->comms = comm->next;
		free(comm);
	}
}

void profile_close(struct profile *profile)
{
	struct profile_copy *copy;
	struct profile_text *text;
	struct profile_jit *jit;

	if (!profile)
		return;
	free_spaces(profile);
	while ((copy = profile->copies) != NULL) {
		profile->copies = copy->next;
		free(copy);
	}
	while ((text = profile->texts) != NULL) {
		profile->texts = text->next;
		free(text);
	}
	symbols_free(profile->symbols);
	while ((jit = profile->jits) != NULL) {
		profile->jits = jit->next;
		jit_close(jit->jit);
		free(jit);
	}
	perfdata_close(profile->reader);
	free(profile->entries);
	free(profile->path);
	free(profile);
}

static struct profile_space *find_space(struct profile *profile, uint32_t pid, bool make)
{
	struct profile_space *space;

	for (space = profile->spaces; space; space = space->next) {
		if (space->pid == pid)
			return space;
	}
	if (!make)
		return NULL;
	space = tool_alloc(sizeof(*space));
	space->pid = pid;
	space->next = profile->spaces;
	profile->spaces = space;
	return space;
}

static void add_map(struct profile_space *space, const struct profile_map *map)
{
	if (space->count == space->room) {
		space->room = space->room ? 2 * space->room : 32;
		space->maps = tool_grow(space->maps, space->room * sizeof(*space->maps));
	}
	space->maps[space->count++] = *map;
}

/* The file of that path; NULL when it is of no use. */
static struct jit *find_jit(struct profile *profile, const char *path)
{
	const char *trouble;
	struct profile_jit *jit;

	for (jit = profile->jits; jit; jit = jit->next) {
		if (jit->path == path)
			return jit->jit;
	}
	jit = tool_alloc(sizeof(*jit));
	jit->path = path;
	jit->jit = jit_open(profile->symbols, path, &trouble);
	/* Most programs make no code and no map of it. */
	if (!jit->jit && (trouble != JIT_NOT_THERE || jit_is_dump(path)))
		fprintf(stderr, "softpmu: no functions of %s: %s\n", path, trouble);
	jit->next = profile->jits;
	profile->jits = jit;
	return jit->jit;
}

/* What perf takes for memory without a file. */
static bool is_anonymous(const char *path)
{
	return !strcmp(path, "//anon") || !strncmp(path, "/dev/zero", 9) ||
	       !strncmp(path, "/anon_hugepage", 14) || !strncmp(path, "[stack", 6) ||
	       !strncmp(path, "/SYSV", 5) || !strcmp(path, "[heap]");
}

/* Code that the process made is named by files that it may have written. */
static void follow_anonymous(struct profile *profile, const struct perfdata_mmap *mmap,
			     struct profile_map *map)
{
	char path[64], object[64];

	snprintf(path, sizeof(path), JIT_MAP, mmap->pid);
	snprintf(object, sizeof(object), "[JIT] tid %u", mmap->pid);
	map->object = intern(profile, object);
	map->made = true;
	find_space(profile, mmap->pid, true)->perf_map = find_jit(profile, intern(profile, path));
}

static void follow_mmap(struct profile *profile, const struct perfdata_mmap *mmap)
{
	uint8_t id[PERFDATA_BUILD_ID_MAX];
	size_t bytes = mmap->build_id_bytes;
	struct profile_map map = {.start = mmap->start,
				  .end = mmap->start + mmap->length,
				  .page_offset = mmap->page_offset,
				  .object = intern(profile, mmap->path)};

	if (jit_is_dump(mmap->path))
		find_space(profile, mmap->pid, true)->dump = find_jit(profile, map.object);
	if (bytes)
		memcpy(id, mmap->build_id, bytes);
	else
		bytes = perfdata_build_id(profile->reader, mmap->path, id);
	if (is_anonymous(mmap->path))
		follow_anonymous(profile, mmap, &map);
	map.file = symbols_file(profile->symbols, mmap->path, id, bytes);
	add_map(find_space(profile, mmap->pid, true), &map);
}

static void follow_comm(struct profile *profile, const struct profile_entry *entry)
{
	struct profile_comm *comm;

	if (entry->comm.exec) {
		struct profile_space *space = find_space(profile, entry->pid, false);

		if (space) {
			space->count = 0;
			space->dump = space->perf_map = NULL;
		}
	}
	for (comm = profile->comms; comm; comm = comm->next) {
		if (comm->tid == entry->tid)
			break;
	}
	if (!comm) {
		comm = tool_alloc(sizeof(*comm));
		comm->next = profile->comms;
		profile->comms = comm;
	}
	comm->pid = entry->pid;
	comm->tid = entry->tid;
	comm->comm = entry->comm.comm;
}

/* A thread is called as the one of that number, else as its process. */
static const char *comm_of(const struct profile *profile, uint32_t pid, uint32_t tid)
{
	const struct profile_comm *comm, *process = NULL;

	for (comm = profile->comms; comm; comm = comm->next) {
		if (comm->tid == tid)
			return comm->comm;
		if (comm->tid == pid)
			process = comm;
	}
	return process ? process->comm : profile->unknown;
}

static void follow_fork(struct profile *profile, const struct profile_entry *entry)
{
	const struct profile_space *parent = find_space(profile, entry->parent, false);
	struct profile_entry named = *entry;
	struct profile_space *space;
	size_t i;

	named.comm.comm = comm_of(profile, entry->parent, entry->parent);
	named.comm.exec = false;
	follow_comm(profile, &named);
	if (!parent || entry->pid == entry->parent)
		return;
	space = find_space(profile, entry->pid, true);
	space->count = 0;
	space->dump = parent->dump;
	space->perf_map = parent->perf_map;
	for (i = 0; i < parent->count; i++)
		add_map(space, &parent->maps[i]);
}

static const struct profile_map *find_map(struct profile *profile, uint32_t pid, uint64_t ip)
{
	const struct profile_space *space = find_space(profile, pid, false);
	size_t i;

	for (i = space ? space->count : 0; i-- > 0;) {
		if (ip >= space->maps[i].start && ip < space->maps[i].end)
			return &space->maps[i];
	}
	return NULL;
}

/* In which process, and when. */
struct profile_where {
	uint32_t pid;
	uint64_t time_ns;
};

/* Of code that the process made: what its own file of functions says. */
static struct symbol_file *find_made(struct profile *profile, const struct profile_where *where,
				     uint64_t ip)
{
	const struct profile_space *space = find_space(profile, where->pid, false);
	struct symbol_file *file = NULL;

	if (space->dump)
		file = jit_find(space->dump, where->time_ns, ip);
	if (!file && space->perf_map)
		file = jit_find(space->perf_map, where->time_ns, ip);
	return file;
}

static void place(struct profile *profile, const struct profile_where *where, uint64_t ip,
		  bool kernel, struct profile_sample *sample)
{
	const struct profile_map *map;
	struct symbol_file *made;

	sample->ip = sample->address = ip;
	sample->object = profile->unknown;
	sample->level = '.';
	if (kernel) {
		sample->level = 'k';
		sample->object = profile->kernel;
		return;
	}
	map = find_map(profile, where->pid, ip);
	if (!map)
		return;
	sample->object = map->object;
	made = map->made ? find_made(profile, where, ip) : NULL;
	sample->file = made ? made : map->file;
	if (made)
		sample->symbol = symbol_file_find(made, ip);
	else if (symbol_file_address(sample->file, ip - map->start + map->page_offset,
				     &sample->address))
		sample->symbol = symbol_file_find(sample->file, sample->address);
	else
		sample->address = ip;
}

static void resolve(struct profile *profile, const struct profile_entry *entry,
		    struct profile_sample *sample)
{
	uint16_t mode = entry->sample.misc & PERF_RECORD_MISC_CPUMODE_MASK;

	*sample = (struct profile_sample){.event = entry->sample.event,
					  .period = entry->sample.period,
					  .comm = comm_of(profile, entry->pid, entry->tid)};
	place(profile, &(struct profile_where){entry->pid, entry->time_ns}, entry->sample.ip,
	      mode == PERF_RECORD_MISC_KERNEL, sample);
}

/* --- branches --------------------------------------------------------------------------- */

/* Traces come back to the same addresses: places that were found last, by address. */
#define FOUND_PLACES 4096

struct found {
	struct profile_sample place;
	bool valid;
};

static const struct profile_sample *find_place(struct profile *profile, struct found *found,
					       const struct profile_where *where, uint64_t ip)
{
	found += (ip ^ ip >> 12) % FOUND_PLACES;
	if (!found->valid || found->place.ip != ip) {
		found->place = (struct profile_sample){.period = 1};
		place(profile, where, ip, ip >> 63, &found->place);
		found->valid = true;
	}
	return &found->place;
}

/* AUXTRACE names the thread alone. */
static uint32_t process_of(const struct profile *profile, uint32_t tid)
{
	for (const struct profile_comm *comm = profile->comms; comm; comm = comm->next) {
		if (comm->tid == tid)
			return comm->pid;
	}
	return tid;
}

/* Both ends of each branch of the stretch, and where it was from as a sample of period 1. */
static void each_of_trace(struct profile *profile, const struct profile_entry *entry,
			  const struct profile_visitor *visitor)
{
	struct found *found = tool_alloc(FOUND_PLACES * sizeof(*found));
	struct profile_where where = {process_of(profile, entry->tid), entry->time_ns};
	const char *comm = comm_of(profile, where.pid, entry->tid);

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
	const struct profile_where where = {entry->pid, entry->time_ns};

	for (unsigned i = 0; visitor->branch && i < entry->sample.branch_count; i++) {
		const struct perfdata_branch *branch = &entry->sample.branches[i];
		struct profile_sample from = {.event = entry->sample.event,
					      .period = 1,
					      .comm = comm_of(profile, entry->pid, entry->tid)};
		struct profile_sample to = from;

		place(profile, &where, branch->from, branch->from >> 63, &from);
		place(profile, &where, branch->to, branch->to >> 63, &to);
		visitor->branch(visitor->opaque, &from, &to);
	}
}

void profile_visit(struct profile *profile, const struct profile_visitor *visitor)
{
	size_t i;

	free_spaces(profile);
	for (const struct profile_jit *jit = profile->jits; jit; jit = jit->next) {
		if (jit->jit)
			jit_rewind(jit->jit);
	}
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
			follow_comm(profile, entry);
			break;
		case PERF_RECORD_FORK:
			follow_fork(profile, entry);
			break;
		default:
			follow_mmap(profile, entry->mmap);
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
