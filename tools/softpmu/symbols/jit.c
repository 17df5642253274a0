/* SPDX-License-Identifier: MIT */
/*
 * jit.c: finds functions that a program generated, in a file that the program wrote about them: a
 * jitdump or a perf map.
 *
 * The format of a jitdump is Linux's (tools/perf/Documentation/jitdump-specification.txt), version
 * 1: a header, then records with times.  The records that load or move code are used.  An address
 * can hold several functions, one after the other, so answers depend on the time of the sample.  A
 * perf map is a text with lines "START SIZE NAME".  It has no times, so the last line for an
 * address is used.
 *
 * The time of a sample is interpolated and can be a little before its function was loaded.  So an
 * address that has no function yet belongs to the next function that will be there.
 *
 * Simplified: no source lines (JIT_CODE_DEBUG_INFO, from which perf inject makes line tables) and
 * no unwinding information.  All code of a file whose times are TSC values is taken as loaded from
 * the beginning.
 */
#define _GNU_SOURCE
#include "tools/softpmu/symbols/jit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/softpmu/base/tool.h"

#define MAGIC	       0x4a695444u
#define VERSION	       1u
#define FLAG_ARCH_TIME 1u
#define RECORD_LOAD    0u
#define RECORD_MOVE    1u

struct header {
	uint32_t magic, version, bytes, machine, pad, pid;
	uint64_t time, flags;
};

struct record {
	uint32_t id, bytes;
	uint64_t time;
};

struct load {
	struct record record;
	uint32_t pid, tid;
	uint64_t vma, address, bytes, index;
	/* the name and the code follow */
};

struct move {
	struct record record;
	uint32_t pid, tid;
	uint64_t vma, from, to, bytes, index;
};

/* Code that was loaded or moved. */
struct made {
	uint64_t time, start, end;
	struct symbol_file *file;
};

struct jit {
	const uint8_t *bytes;
	size_t size;
	char *text; /* a perf map: a copy of the bytes, cut into lines */
	bool arch_time;
	struct made *made; /* in the order of the file */
	size_t count, room;
	size_t next;	  /* the first of them that is not in `now` yet */
	struct made *now; /* by address, not overlapping */
	size_t now_count;
};

const char jit_not_there[] = "it is not there";

bool jit_is_dump(const char *path)
{
	const char *name = strrchr(path, '/');
	size_t digits;

	name = name ? name + 1 : path;
	if (strncmp(name, "jit-", 4) != 0)
		return false;
	digits = strspn(name + 4, "0123456789");
	return digits && !strcmp(name + 4 + digits, ".dump");
}

/* --- a jitdump ----------------------------------------------------------------------- */

static void add(struct jit *jit, const struct made *made)
{
	jit->made = tool_room(jit->made, &jit->room, jit->count, sizeof(*jit->made));
	jit->made[jit->count] = *made;
	if (jit->arch_time)
		jit->made[jit->count].time = 0;
	jit->count++;
}

/* Adds code that was loaded.  Its name must end within the record; the code follows the name. */
static void add_load(struct jit *jit, struct symbols *symbols, const char *path, const uint8_t *at,
		     size_t size)
{
	struct load load;
	struct made made;
	const char *name = (const char *)at + sizeof(load);
	size_t room, length;

	if (size < sizeof(load))
		return;
	memcpy(&load, at, sizeof(load));
	room = size - sizeof(load);
	length = strnlen(name, room);
	if (length == room || load.bytes > room - length - 1 ||
	    load.address + load.bytes < load.address)
		return;
	made = (struct made){
		.time = load.record.time, .start = load.address, .end = load.address + load.bytes};
	made.file = symbols_code(symbols, path, &(struct symbol){name, made.start, made.end, NULL},
				 (const uint8_t *)name + length + 1);
	add(jit, &made);
}

/* Adds code that was moved: the newest code at the old place. */
static void add_move(struct jit *jit, struct symbols *symbols, const char *path, const uint8_t *at,
		     size_t size)
{
	struct move move;

	if (size < sizeof(move))
		return;
	memcpy(&move, at, sizeof(move));
	for (size_t i = jit->count; i-- > 0;) {
		const struct symbol *symbol;
		struct made made = jit->made[i];

		if (made.start != move.from || move.to + move.bytes < move.to)
			continue;
		symbol = symbol_file_find(made.file, made.start);
		made.time = move.record.time;
		made.start = move.to;
		made.end = move.to + (symbol->end - symbol->start);
		made.file = symbols_code(symbols, path,
					 &(struct symbol){symbol->name, made.start, made.end, NULL},
					 symbol_file_code(made.file));
		add(jit, &made);
		return;
	}
}

static void read_records(struct jit *jit, struct symbols *symbols, const char *path, size_t at)
{
	struct record record;

	while (at < jit->size && jit->size - at >= sizeof(record)) {
		memcpy(&record, jit->bytes + at, sizeof(record));
		if (record.bytes < sizeof(record) || record.bytes > jit->size - at)
			return;
		if (record.id == RECORD_LOAD)
			add_load(jit, symbols, path, jit->bytes + at, record.bytes);
		if (record.id == RECORD_MOVE)
			add_move(jit, symbols, path, jit->bytes + at, record.bytes);
		at += record.bytes;
	}
}

static const char *read_dump(struct jit *jit, struct symbols *symbols, const char *path)
{
	struct header header = {0};

	if (jit->size >= sizeof(header))
		memcpy(&header, jit->bytes, sizeof(header));
	if (header.magic != MAGIC || header.version != VERSION || header.bytes < sizeof(header))
		return "it is not a jitdump of version 1";
	jit->arch_time = header.flags & FLAG_ARCH_TIME;
	read_records(jit, symbols, path, header.bytes);
	return NULL;
}

/* --- a perf map ---------------------------------------------------------------------- */

/* Reads "START SIZE NAME" with hexadecimal numbers.  Ignores other lines. */
static void read_line(struct jit *jit, struct symbols *symbols, const char *path, char *line)
{
	struct made made = {0};
	uint64_t bytes;
	char *end;

	made.start = strtoull(line, &end, 16);
	if (end == line || *end != ' ')
		return;
	line = end + 1;
	bytes = strtoull(line, &end, 16);
	if (end == line || *end != ' ' || !end[1] || !bytes || made.start + bytes < made.start)
		return;
	made.end = made.start + bytes;
	made.file = symbols_code(symbols, path,
				 &(struct symbol){end + 1, made.start, made.end, NULL}, NULL);
	add(jit, &made);
}

static void read_map(struct jit *jit, struct symbols *symbols, const char *path)
{
	char *at = jit->text = tool_alloc(jit->size + 1), *line;

	memcpy(jit->text, jit->bytes, jit->size);
	while ((line = strsep(&at, "\n")))
		read_line(jit, symbols, path, line);
}

/* --- files --------------------------------------------------------------------------- */

static const char *map_file(struct jit *jit, struct symbols *symbols, const char *path)
{
	char *full = tool_print("%s%s", symbols_root(symbols), path);
	int fd = open(full, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	const char *trouble = NULL;
	struct stat status;
	void *bytes;

	free(full);
	if (fd < 0)
		return errno == ENOENT ? jit_not_there : "it cannot be opened";
	/* Other users can write files of that name. */
	if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || !status.st_size)
		trouble = "it is not a regular file";
	else if (status.st_uid != geteuid() && status.st_uid != 0)
		trouble = "it belongs to another user";
	if (!trouble) {
		jit->size = (size_t)status.st_size;
		bytes = mmap(NULL, jit->size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (bytes == MAP_FAILED)
			trouble = "it cannot be read";
		else
			jit->bytes = bytes;
	}
	close(fd);
	return trouble;
}

struct jit *jit_open(struct symbols *symbols, const char *path, const char **trouble)
{
	struct jit *jit = tool_alloc(sizeof(*jit));

	*trouble = map_file(jit, symbols, path);
	if (!*trouble && jit_is_dump(path))
		*trouble = read_dump(jit, symbols, path);
	else if (!*trouble)
		read_map(jit, symbols, path);
	if (*trouble) {
		jit_close(jit);
		return NULL;
	}
	jit->now = tool_alloc(2 * jit->count * sizeof(*jit->now));
	return jit;
}

void jit_close(struct jit *jit)
{
	if (!jit)
		return;
	if (jit->bytes)
		munmap((void *)(uintptr_t)jit->bytes, jit->size);
	free(jit->text);
	free(jit->made);
	free(jit->now);
	free(jit);
}

/* --- the code at a time -------------------------------------------------------------- */

void jit_rewind(struct jit *jit)
{
	jit->next = 0;
	jit->now_count = 0;
}

/* Returns the index of the first function that ends after the address. */
static size_t find_now(const struct jit *jit, uint64_t address)
{
	size_t low = 0, high = jit->now_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (jit->now[middle].end > address)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* Adds a function in place of all that it overlaps. */
static void make(struct jit *jit, const struct made *made)
{
	size_t first = find_now(jit, made->start), last = first;

	while (last < jit->now_count && jit->now[last].start < made->end)
		last++;
	memmove(&jit->now[first + 1], &jit->now[last], (jit->now_count - last) * sizeof(*jit->now));
	jit->now[first] = *made;
	jit->now_count += 1 + first - last;
}

struct symbol_file *jit_find(struct jit *jit, uint64_t time_ns, uint64_t address)
{
	size_t at;

	while (jit->next < jit->count && jit->made[jit->next].time <= time_ns)
		make(jit, &jit->made[jit->next++]);
	at = find_now(jit, address);
	if (at < jit->now_count && jit->now[at].start <= address)
		return jit->now[at].file;
	for (at = jit->next; at < jit->count; at++) {
		if (address >= jit->made[at].start && address < jit->made[at].end)
			return jit->made[at].file;
	}
	return NULL;
}
