/* SPDX-License-Identifier: MIT */
/*
 * spaces.c: follows the records of processes, so that an address of one at some time leads to
 * a file and a function.
 *
 * An address outside of every mapping, or in a file that cannot be used, stays an address.  Code
 * that a process made is looked up in the jitdump that it wrote, or in its perf map.
 *
 * Simplified: kernel addresses are not resolved.
 */
#include "tools/softpmu/spaces.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/commands.h"
#include "tools/softpmu/jit.h"
#include "tools/softpmu/symbols.h"

struct mapping {
	uint64_t start, end, page_offset;
	const char *object;
	struct symbol_file *file;
	bool made; /* code that the program made */
};

/* The mappings of a process, oldest first. */
struct space {
	struct space *next;
	uint32_t pid;
	struct mapping *maps;
	size_t count, room;
	/* Of what the process made: its jitdump, else its perf map; NULL: it says nothing. */
	struct jit *dump, *perf_map;
};

/* A file that a process wrote of its code. */
struct jit_file {
	struct jit_file *next;
	const char *path;
	struct jit *jit; /* NULL: it cannot be used */
};

struct thread_name {
	struct thread_name *next;
	uint32_t pid, tid;
	const char *comm;
};

struct text {
	struct text *next;
	char text[];
};

struct spaces {
	struct perfdata_reader *reader;
	struct symbols *symbols;
	struct space *first;
	struct thread_name *comms;
	struct jit_file *jits;
	struct text *texts;
	const char *unknown, *kernel;
};

const char *spaces_intern(struct spaces *spaces, const char *text)
{
	struct text *entry;
	size_t bytes = strlen(text) + 1;

	for (entry = spaces->texts; entry; entry = entry->next) {
		if (!strcmp(entry->text, text))
			return entry->text;
	}
	entry = tool_alloc(sizeof(*entry) + bytes);
	memcpy(entry->text, text, bytes);
	entry->next = spaces->texts;
	spaces->texts = entry;
	return entry->text;
}

struct spaces *spaces_new(struct perfdata_reader *reader, const char *root)
{
	struct spaces *spaces = tool_alloc(sizeof(*spaces));

	spaces->reader = reader;
	spaces->symbols = symbols_new(root);
	spaces->unknown = spaces_intern(spaces, "[unknown]");
	spaces->kernel = spaces_intern(spaces, "[kernel]");
	return spaces;
}

static void forget(struct spaces *spaces)
{
	struct space *space;
	struct thread_name *comm;

	while ((space = spaces->first) != NULL) {
		spaces->first = space->next;
		free(space->maps);
		free(space);
	}
	while ((comm = spaces->comms) != NULL) {
		spaces->comms = comm->next;
		free(comm);
	}
}

void spaces_rewind(struct spaces *spaces)
{
	forget(spaces);
	for (const struct jit_file *jit = spaces->jits; jit; jit = jit->next) {
		if (jit->jit)
			jit_rewind(jit->jit);
	}
}

void spaces_free(struct spaces *spaces)
{
	struct jit_file *jit;
	struct text *text;

	if (!spaces)
		return;
	forget(spaces);
	symbols_free(spaces->symbols);
	while ((jit = spaces->jits) != NULL) {
		spaces->jits = jit->next;
		jit_close(jit->jit);
		free(jit);
	}
	while ((text = spaces->texts) != NULL) {
		spaces->texts = text->next;
		free(text);
	}
	free(spaces);
}

static struct space *find_space(struct spaces *spaces, uint32_t pid, bool make)
{
	struct space *space;

	for (space = spaces->first; space; space = space->next) {
		if (space->pid == pid)
			return space;
	}
	if (!make)
		return NULL;
	space = tool_alloc(sizeof(*space));
	space->pid = pid;
	space->next = spaces->first;
	spaces->first = space;
	return space;
}

static void add_map(struct space *space, const struct mapping *map)
{
	if (space->count == space->room) {
		space->room = space->room ? 2 * space->room : 32;
		space->maps = tool_grow(space->maps, space->room * sizeof(*space->maps));
	}
	space->maps[space->count++] = *map;
}

/* The file of that path; NULL when it is of no use. */
static struct jit *find_jit(struct spaces *spaces, const char *path)
{
	const char *trouble;
	struct jit_file *jit;

	for (jit = spaces->jits; jit; jit = jit->next) {
		if (jit->path == path)
			return jit->jit;
	}
	jit = tool_alloc(sizeof(*jit));
	jit->path = path;
	jit->jit = jit_open(spaces->symbols, path, &trouble);
	/* Most programs make no code and no map of it. */
	if (!jit->jit && (trouble != JIT_NOT_THERE || jit_is_dump(path)))
		fprintf(stderr, "softpmu: no functions of %s: %s\n", path, trouble);
	jit->next = spaces->jits;
	spaces->jits = jit;
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
static void follow_anonymous(struct spaces *spaces, const struct perfdata_mmap *mmap,
			     struct mapping *map)
{
	char path[64], object[64];

	snprintf(path, sizeof(path), JIT_MAP, mmap->pid);
	snprintf(object, sizeof(object), "[JIT] tid %u", mmap->pid);
	map->object = spaces_intern(spaces, object);
	map->made = true;
	find_space(spaces, mmap->pid, true)->perf_map =
		find_jit(spaces, spaces_intern(spaces, path));
}

void spaces_mmap(struct spaces *spaces, const struct perfdata_mmap *mmap)
{
	uint8_t id[PERFDATA_BUILD_ID_MAX];
	size_t bytes = mmap->build_id_bytes;
	struct mapping map = {.start = mmap->start,
			      .end = mmap->start + mmap->length,
			      .page_offset = mmap->page_offset,
			      .object = spaces_intern(spaces, mmap->path)};

	if (jit_is_dump(mmap->path))
		find_space(spaces, mmap->pid, true)->dump = find_jit(spaces, map.object);
	if (bytes)
		memcpy(id, mmap->build_id, bytes);
	else
		bytes = perfdata_build_id(spaces->reader, mmap->path, id);
	if (is_anonymous(mmap->path))
		follow_anonymous(spaces, mmap, &map);
	map.file = symbols_file(spaces->symbols, mmap->path, id, bytes);
	add_map(find_space(spaces, mmap->pid, true), &map);
}

void spaces_comm(struct spaces *spaces, uint32_t pid, uint32_t tid, const char *name, bool exec)
{
	struct thread_name *comm;

	if (exec) {
		struct space *space = find_space(spaces, pid, false);

		if (space) {
			space->count = 0;
			space->dump = space->perf_map = NULL;
		}
	}
	for (comm = spaces->comms; comm; comm = comm->next) {
		if (comm->tid == tid)
			break;
	}
	if (!comm) {
		comm = tool_alloc(sizeof(*comm));
		comm->next = spaces->comms;
		spaces->comms = comm;
	}
	comm->pid = pid;
	comm->tid = tid;
	comm->comm = spaces_intern(spaces, name);
}

const char *spaces_comm_of(const struct spaces *spaces, uint32_t pid, uint32_t tid)
{
	const struct thread_name *comm, *process = NULL;

	for (comm = spaces->comms; comm; comm = comm->next) {
		if (comm->tid == tid)
			return comm->comm;
		if (comm->tid == pid)
			process = comm;
	}
	return process ? process->comm : spaces->unknown;
}

uint32_t spaces_process_of(const struct spaces *spaces, uint32_t tid)
{
	for (const struct thread_name *comm = spaces->comms; comm; comm = comm->next) {
		if (comm->tid == tid)
			return comm->pid;
	}
	return tid;
}

void spaces_fork(struct spaces *spaces, uint32_t pid, uint32_t tid, uint32_t parent_pid)
{
	const struct space *parent = find_space(spaces, parent_pid, false);
	struct space *space;
	size_t i;

	spaces_comm(spaces, pid, tid, spaces_comm_of(spaces, parent_pid, parent_pid), false);
	if (!parent || pid == parent_pid)
		return;
	space = find_space(spaces, pid, true);
	space->count = 0;
	space->dump = parent->dump;
	space->perf_map = parent->perf_map;
	for (i = 0; i < parent->count; i++)
		add_map(space, &parent->maps[i]);
}

static const struct mapping *find_map(struct spaces *spaces, uint32_t pid, uint64_t ip)
{
	const struct space *space = find_space(spaces, pid, false);
	size_t i;

	for (i = space ? space->count : 0; i-- > 0;) {
		if (ip >= space->maps[i].start && ip < space->maps[i].end)
			return &space->maps[i];
	}
	return NULL;
}

/* Of code that the process made: what its own file of functions says. */
static struct symbol_file *find_made(struct spaces *spaces, const struct spaces_where *where,
				     uint64_t ip)
{
	const struct space *space = find_space(spaces, where->pid, false);
	struct symbol_file *file = NULL;

	if (space->dump)
		file = jit_find(space->dump, where->time_ns, ip);
	if (!file && space->perf_map)
		file = jit_find(space->perf_map, where->time_ns, ip);
	return file;
}

void spaces_place(struct spaces *spaces, const struct spaces_where *where, uint64_t ip, bool kernel,
		  struct profile_sample *sample)
{
	const struct mapping *map;
	struct symbol_file *made;

	sample->ip = sample->address = ip;
	sample->object = spaces->unknown;
	sample->level = '.';
	if (kernel) {
		sample->level = 'k';
		sample->object = spaces->kernel;
		return;
	}
	map = find_map(spaces, where->pid, ip);
	if (!map)
		return;
	sample->object = map->object;
	made = map->made ? find_made(spaces, where, ip) : NULL;
	sample->file = made ? made : map->file;
	if (made)
		sample->symbol = symbol_file_find(made, ip);
	else if (symbol_file_address(sample->file, ip - map->start + map->page_offset,
				     &sample->address))
		sample->symbol = symbol_file_find(sample->file, sample->address);
	else
		sample->address = ip;
}
