/* SPDX-License-Identifier: MIT */
/*
 * processes.c: finds the file and the function at an address of a process at some time.
 *
 * An address outside of every mapping, or in a file that cannot be used, has no function.  Code
 * that a process generated is looked up in the jitdump that it wrote, then in its perf map.
 *
 * Simplified: kernel addresses are not resolved.
 */
#include "tools/softpmu/profile/processes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/base/numbering.h"
#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/symbols/address_spaces.h"
#include "tools/softpmu/symbols/jit.h"
#include "tools/softpmu/symbols/symbols.h"

/* A file in which a process described its code. */
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

struct processes {
	struct perfdata_reader *reader;
	struct symbols *symbols;
	struct address_spaces *spaces;
	struct thread_name *comms;
	struct jit_file *jits;
	char **texts;
	size_t text_count, text_room;
	struct numbering text_numbers;
	const char *unknown, *kernel;
};

static bool same_text(const void *texts, uint32_t number, const void *text)
{
	return !strcmp(((char *const *)texts)[number], text);
}

const char *processes_intern(struct processes *processes, const char *text)
{
	uint64_t hash = 0;
	uint32_t number;

	for (const char *at = text; *at; at++)
		hash = numbering_mix(hash, (unsigned char)*at);
	number = numbering_find(&processes->text_numbers, hash, same_text, processes->texts, text);
	if (number == processes->text_count) {
		processes->texts = tool_room(processes->texts, &processes->text_room,
					     processes->text_count, sizeof(*processes->texts));
		processes->texts[processes->text_count++] = tool_copy(text);
	}
	return processes->texts[number];
}

struct processes *processes_new(struct perfdata_reader *reader, const char *root)
{
	struct processes *processes = tool_alloc(sizeof(*processes));

	processes->reader = reader;
	processes->symbols = symbols_new(root);
	processes->spaces = address_spaces_new();
	processes->unknown = processes_intern(processes, "[unknown]");
	processes->kernel = processes_intern(processes, "[kernel]");
	return processes;
}

static void forget(struct processes *processes)
{
	struct thread_name *comm;

	address_spaces_clear(processes->spaces);
	while ((comm = processes->comms) != NULL) {
		processes->comms = comm->next;
		free(comm);
	}
}

void processes_rewind(struct processes *processes)
{
	forget(processes);
	for (const struct jit_file *jit = processes->jits; jit; jit = jit->next) {
		if (jit->jit)
			jit_rewind(jit->jit);
	}
}

void processes_free(struct processes *processes)
{
	struct jit_file *jit;

	if (!processes)
		return;
	forget(processes);
	address_spaces_free(processes->spaces);
	symbols_free(processes->symbols);
	while ((jit = processes->jits) != NULL) {
		processes->jits = jit->next;
		jit_close(jit->jit);
		free(jit);
	}
	for (size_t i = 0; i < processes->text_count; i++)
		free(processes->texts[i]);
	free(processes->texts);
	numbering_free(&processes->text_numbers);
	free(processes);
}

/* --- mappings ------------------------------------------------------------------------ */

/* Returns the file of that path, or NULL if it is of no use. */
static struct jit *find_jit(struct processes *processes, const char *path)
{
	const char *trouble;
	struct jit_file *jit;

	for (jit = processes->jits; jit; jit = jit->next) {
		if (jit->path == path)
			return jit->jit;
	}
	jit = tool_alloc(sizeof(*jit));
	jit->path = path;
	jit->jit = jit_open(processes->symbols, path, &trouble);
	/* Most programs generate no code and write no perf map. */
	if (!jit->jit && (trouble != jit_not_there || jit_is_dump(path)))
		fprintf(stderr, "softpmu: no functions of %s: %s\n", path, trouble);
	jit->next = processes->jits;
	processes->jits = jit;
	return jit->jit;
}

/* Returns true for the names that perf takes for memory without a file. */
static bool is_anonymous(const char *path)
{
	return !strcmp(path, "//anon") || !strncmp(path, "/dev/zero", 9) ||
	       !strncmp(path, "/anon_hugepage", 14) || !strncmp(path, "[stack", 6) ||
	       !strncmp(path, "/SYSV", 5) || !strcmp(path, "[heap]");
}

/* Opens the perf map that a process may have written of the code in its anonymous memory. */
static void follow_anonymous(struct processes *processes, uint32_t pid, struct address_mapping *map)
{
	char path[64], object[64];

	snprintf(path, sizeof(path), JIT_MAP, pid);
	snprintf(object, sizeof(object), "[JIT] tid %u", pid);
	map->path = processes_intern(processes, object);
	map->generated = true;
	address_spaces_code(processes->spaces, pid)->perf_map =
		find_jit(processes, processes_intern(processes, path));
}

void processes_mmap(struct processes *processes, const struct perfdata_mmap *mmap)
{
	uint8_t id[PERFDATA_BUILD_ID_MAX];
	size_t bytes = mmap->build_id_bytes;
	struct address_mapping map = {.start = mmap->start,
				      .page_offset = mmap->page_offset,
				      .path = processes_intern(processes, mmap->path)};

	if (__builtin_add_overflow(mmap->start, mmap->length, &map.end))
		map.end = UINT64_MAX;
	if (jit_is_dump(mmap->path))
		address_spaces_code(processes->spaces, mmap->pid)->dump =
			find_jit(processes, map.path);
	if (bytes)
		memcpy(id, mmap->build_id, bytes);
	else
		bytes = perfdata_build_id(processes->reader, mmap->path, id);
	if (is_anonymous(mmap->path))
		follow_anonymous(processes, mmap->pid, &map);
	map.file = symbols_file(processes->symbols, mmap->path, id, bytes);
	address_spaces_map(processes->spaces, mmap->pid, &map);
}

/* --- threads ------------------------------------------------------------------------- */

void processes_comm(struct processes *processes, uint32_t pid, uint32_t tid, const char *name,
		    bool exec)
{
	struct thread_name *comm;

	if (exec)
		address_spaces_exec(processes->spaces, pid);
	for (comm = processes->comms; comm; comm = comm->next) {
		if (comm->tid == tid)
			break;
	}
	if (!comm) {
		comm = tool_alloc(sizeof(*comm));
		comm->next = processes->comms;
		processes->comms = comm;
	}
	comm->pid = pid;
	comm->tid = tid;
	comm->comm = processes_intern(processes, name);
}

const char *processes_comm_of(const struct processes *processes, uint32_t pid, uint32_t tid)
{
	const struct thread_name *comm, *process = NULL;

	for (comm = processes->comms; comm; comm = comm->next) {
		if (comm->tid == tid)
			return comm->comm;
		if (comm->tid == pid)
			process = comm;
	}
	return process ? process->comm : processes->unknown;
}

uint32_t processes_of_thread(const struct processes *processes, uint32_t tid)
{
	for (const struct thread_name *comm = processes->comms; comm; comm = comm->next) {
		if (comm->tid == tid)
			return comm->pid;
	}
	return tid;
}

void processes_fork(struct processes *processes, uint32_t pid, uint32_t tid, uint32_t parent)
{
	processes_comm(processes, pid, tid, processes_comm_of(processes, parent, parent), false);
	address_spaces_fork(processes->spaces, pid, parent);
}

/* --- places -------------------------------------------------------------------------- */

/* Returns the function that the process described at the address, as a file of its own. */
static struct symbol_file *find_generated(struct processes *processes,
					  const struct processes_when *when, uint64_t ip)
{
	const struct address_code *code = address_spaces_code(processes->spaces, when->pid);
	struct symbol_file *file = NULL;

	if (code->dump)
		file = jit_find(code->dump, when->time_ns, ip);
	if (!file && code->perf_map)
		file = jit_find(code->perf_map, when->time_ns, ip);
	return file;
}

struct profile_place processes_place(struct processes *processes, const struct processes_when *when,
				     uint64_t ip, bool kernel)
{
	struct profile_place place = {
		.ip = ip, .address = ip, .object = processes->unknown, .level = '.'};
	const struct address_mapping *map;
	struct symbol_file *generated;

	if (kernel) {
		place.level = 'k';
		place.object = processes->kernel;
		return place;
	}
	map = address_spaces_find(processes->spaces, when->pid, ip);
	if (!map)
		return place;
	place.object = map->path;
	generated = map->generated ? find_generated(processes, when, ip) : NULL;
	place.file = generated ? generated : map->file;
	if (generated)
		place.symbol = symbol_file_find(generated, ip);
	else if (symbol_file_address(place.file, ip - map->start + map->page_offset,
				     &place.address))
		place.symbol = symbol_file_find(place.file, place.address);
	else
		place.address = ip;
	return place;
}

/* Code in memory without a file is known by the perf map that its process wrote. */
static void find_in_map(struct processes *processes, uint32_t pid, struct profile_place *place)
{
	char path[64], object[64];
	struct jit *map;

	snprintf(path, sizeof(path), JIT_MAP, pid);
	snprintf(object, sizeof(object), "[JIT] tid %u", pid);
	place->object = processes_intern(processes, object);
	map = find_jit(processes, processes_intern(processes, path));
	place->file = map ? jit_find(map, UINT64_MAX, place->address) : NULL;
	if (place->file)
		place->symbol = symbol_file_find(place->file, place->address);
}

struct profile_place processes_place_in(struct processes *processes, uint32_t pid, const char *path,
					const uint8_t *build_id, size_t build_id_bytes,
					uint64_t address)
{
	struct profile_place place = {.ip = address,
				      .address = address,
				      .object = processes_intern(processes, path),
				      .level = '.'};

	if (is_anonymous(path)) {
		find_in_map(processes, pid, &place);
		return place;
	}
	place.file = symbols_file(processes->symbols, path, build_id, build_id_bytes);
	place.symbol = symbol_file_find(place.file, address);
	return place;
}
