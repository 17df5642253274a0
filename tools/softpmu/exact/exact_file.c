/* SPDX-License-Identifier: MIT */
/*
 * exact_file.c: writes and reads the file of an exact profile.  softpmu-profile(1) describes it.
 *
 * It is text.  The first line has the version.  Each other line begins with a word that says what
 * it is.  The last line has the number of lines before it, so a file that was cut off is noticed.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/exact/exact.h"

#define FIRST_WORDS "softpmu exact profile "
#define VERSION	    2
#define VERSION_OLD 1 /* without names */

/* --- writing ---------------------------------------------------------------------------------- */

struct writer {
	FILE *to;
	uint64_t lines;
};

/* Writes a text that ends the line.  Newlines in it are escaped. */
static void put_text(struct writer *writer, const char *text)
{
	for (; *text; text++) {
		if (*text == '\\' || *text == '\n')
			putc('\\', writer->to);
		putc(*text == '\n' ? 'n' : *text, writer->to);
	}
	putc('\n', writer->to);
	writer->lines++;
}

static void put_costs(struct writer *writer, const struct exact *exact, uint64_t times,
		      const uint64_t *cost)
{
	fprintf(writer->to, " %" PRIu64, times);
	for (size_t e = 0; e < exact->event_count; e++)
		fprintf(writer->to, " %" PRIu64, cost[e]);
	putc('\n', writer->to);
	writer->lines++;
}

static void put_place(struct writer *writer, struct exact_place at)
{
	fprintf(writer->to, " %" PRIu32 " %" PRIx64, at.object, at.address);
}

static void put_head(struct writer *writer, const struct exact *exact)
{
	fprintf(writer->to, FIRST_WORDS "%d\ncommand ", VERSION);
	writer->lines++;
	put_text(writer, exact->command);
	fputs("model ", writer->to);
	put_text(writer, exact->model);
	for (size_t e = 0; e < exact->event_count; e++) {
		fprintf(writer->to, "event %" PRIu64 " ", exact->events[e].counted);
		put_text(writer, exact->events[e].name);
	}
	for (size_t i = 0; i < exact->object_count; i++) {
		const struct exact_object *object = &exact->objects[i];

		fputs("object ", writer->to);
		for (size_t b = 0; b < object->build_id_bytes; b++)
			fprintf(writer->to, "%02x", object->build_id[b]);
		fputs(object->build_id_bytes ? " " : "- ", writer->to);
		put_text(writer, object->path);
	}
}

static void put_names(struct writer *writer, const struct exact *exact)
{
	for (size_t i = 0; i < exact->object_count; i++)
		for (size_t n = 0; n < exact->objects[i].name_count; n++) {
			const struct exact_name *name = &exact->objects[i].names[n];

			fprintf(writer->to, "n %zu %" PRIx64 " %" PRIx64 " ", i, name->start,
				name->end);
			put_text(writer, name->name);
		}
}

static void put_thread(struct writer *writer, const struct exact *exact,
		       const struct exact_thread *thread)
{
	fprintf(writer->to, "thread %" PRIu32 " %" PRIu32 " ", thread->pid, thread->tid);
	put_text(writer, thread->comm);
	for (size_t i = 0; i < thread->insn_count; i++) {
		putc('i', writer->to);
		put_place(writer, thread->insns[i].at);
		put_costs(writer, exact, thread->insns[i].times, thread->insns[i].cost);
	}
	for (size_t i = 0; i < thread->call_count; i++) {
		putc('c', writer->to);
		put_place(writer, thread->calls[i].at);
		put_place(writer, thread->calls[i].callee);
		put_costs(writer, exact, thread->calls[i].times, thread->calls[i].cost);
	}
	for (size_t i = 0; i < thread->function_count; i++) {
		putc('f', writer->to);
		put_place(writer, thread->functions[i].at);
		put_costs(writer, exact, thread->functions[i].times, thread->functions[i].cost);
	}
}

bool exact_file_write(const struct exact *exact, const char *path)
{
	struct writer writer = {.to = fopen(path, "we")};
	bool bad;

	if (!writer.to)
		return false;
	put_head(&writer, exact);
	put_names(&writer, exact);
	for (size_t t = 0; t < exact->thread_count; t++)
		put_thread(&writer, exact, exact->threads[t]);
	fprintf(writer.to, "end %" PRIu64 "\n", writer.lines);
	errno = 0;
	bad = fflush(writer.to) || ferror(writer.to);
	bad |= fclose(writer.to) != 0;
	if (bad && !errno)
		errno = EIO;
	return !bad;
}

/* --- reading ---------------------------------------------------------------------------------- */

struct reader {
	FILE *from;
	char *line; /* without its newline */
	char *at;   /* what has not been read of it */
	size_t room;
	uint64_t lines;
	struct exact *exact;
	struct exact_thread *thread; /* NULL: none yet */
	bool ended;
};

static bool is_exact(FILE *from)
{
	char first[sizeof(FIRST_WORDS)] = "";

	return fread(first, 1, sizeof(first) - 1, from) == sizeof(first) - 1 &&
	       !strcmp(first, FIRST_WORDS);
}

bool exact_file_is(const char *path)
{
	struct stat stat_of;
	FILE *from;
	bool is;

	/* Opening a pipe could block, and would take its first bytes. */
	if (stat(path, &stat_of) || !S_ISREG(stat_of.st_mode))
		return false;
	from = fopen(path, "re");
	is = from && is_exact(from);
	if (from)
		fclose(from);
	return is;
}

static bool next_line(struct reader *reader)
{
	ssize_t length = getline(&reader->line, &reader->room, reader->from);

	if (length <= 0 || reader->line[length - 1] != '\n' ||
	    strlen(reader->line) != (size_t)length)
		return false;
	reader->line[length - 1] = '\0';
	reader->at = reader->line;
	return true;
}

/* Reads the next number and the blank before it. */
static bool take_number(struct reader *reader, int base, uint64_t *number)
{
	char *end;

	if (reader->at[0] != ' ' || !isxdigit((unsigned char)reader->at[1]))
		return false;
	errno = 0;
	*number = strtoull(reader->at + 1, &end, base);
	if (errno || (*end && *end != ' '))
		return false;
	reader->at = end;
	return true;
}

static bool take_word32(struct reader *reader, uint32_t *number)
{
	uint64_t value;

	if (!take_number(reader, 10, &value) || value > UINT32_MAX)
		return false;
	*number = (uint32_t)value;
	return true;
}

/* Reads the text after a blank, to the end of the line, to free().  NULL: there is none. */
static char *take_text(struct reader *reader)
{
	char *to = reader->at + 1;
	const char *from = to;

	if (reader->at[0] != ' ')
		return NULL;
	for (; *from; from++) {
		if (*from == '\\' && *++from == 'n')
			*to++ = '\n';
		else if (*from)
			*to++ = *from;
		else
			return NULL;
	}
	*to = '\0';
	return tool_copy(reader->at + 1);
}

static bool take_place(struct reader *reader, struct exact_place *at)
{
	return take_word32(reader, &at->object) && at->object < reader->exact->object_count &&
	       take_number(reader, 16, &at->address);
}

static bool take_costs(struct reader *reader, uint64_t *times, uint64_t *cost)
{
	bool good = take_number(reader, 10, times);

	for (size_t e = 0; good && e < reader->exact->event_count; e++)
		good = take_number(reader, 10, &cost[e]);
	return good && !*reader->at;
}

static bool take_event(struct reader *reader)
{
	struct exact *exact = reader->exact;
	struct exact_event *event = &exact->events[exact->event_count];

	if (exact->event_count == EXACT_EVENTS_MAX || exact->thread_count ||
	    !take_number(reader, 10, &event->counted))
		return false;
	event->name = take_text(reader);
	exact->event_count += event->name != NULL;
	return event->name;
}

static unsigned digit(char hexadecimal)
{
	return hexadecimal <= '9' ? (unsigned)hexadecimal - '0'
				  : ((unsigned)hexadecimal | 32) - 'a' + 10;
}

static bool take_build_id(struct reader *reader, struct exact_object *object)
{
	const char *at = reader->at + 1;

	if (*reader->at != ' ')
		return false;
	for (; *at != '-' && *at != ' '; at += 2) {
		if (object->build_id_bytes == sizeof(object->build_id) ||
		    !isxdigit((unsigned char)at[0]) || !isxdigit((unsigned char)at[1]))
			return false;
		object->build_id[object->build_id_bytes++] =
			(uint8_t)(digit(at[0]) << 4 | digit(at[1]));
	}
	reader->at = (char *)at + (*at == '-');
	return true;
}

static bool take_object(struct reader *reader)
{
	struct exact *exact = reader->exact;
	struct exact_object object = {.path = NULL};

	if (!take_build_id(reader, &object))
		return false;
	object.path = take_text(reader);
	if (!object.path)
		return false;
	exact->objects = tool_room(exact->objects, &exact->object_room, exact->object_count,
				   sizeof(*exact->objects));
	exact->objects[exact->object_count++] = object;
	return true;
}

static bool take_name(struct reader *reader)
{
	struct exact_place at;
	struct exact_object *object;
	uint64_t end;
	char *name;

	if (!take_place(reader, &at) || !take_number(reader, 16, &end) || end <= at.address)
		return false;
	object = &reader->exact->objects[at.object];
	if (object->name_count && at.address <= object->names[object->name_count - 1].start)
		return false;
	name = take_text(reader);
	if (!name)
		return false;
	exact_add_name(object, at.address, end, name);
	free(name);
	return true;
}

static bool take_thread(struct reader *reader)
{
	uint32_t pid, tid;
	size_t number;
	char *comm;

	if (!take_word32(reader, &pid) || !take_word32(reader, &tid))
		return false;
	comm = take_text(reader);
	if (!comm)
		return false;
	number = exact_add_thread(reader->exact, pid, tid, comm);
	reader->thread = reader->exact->threads[number];
	free(comm);
	return true;
}

static bool take_insn(struct reader *reader)
{
	struct exact_thread *thread = reader->thread;
	struct exact_insn insn = {.times = 0};

	if (!thread || !take_place(reader, &insn.at) || !take_costs(reader, &insn.times, insn.cost))
		return false;
	thread->insns = tool_room(thread->insns, &thread->insn_room, thread->insn_count,
				  sizeof(*thread->insns));
	thread->insns[thread->insn_count++] = insn;
	return true;
}

static bool take_call(struct reader *reader)
{
	struct exact_thread *thread = reader->thread;
	struct exact_call call = {.times = 0};

	if (!thread || !take_place(reader, &call.at) || !take_place(reader, &call.callee) ||
	    !take_costs(reader, &call.times, call.cost))
		return false;
	thread->calls = tool_room(thread->calls, &thread->call_room, thread->call_count,
				  sizeof(*thread->calls));
	thread->calls[thread->call_count++] = call;
	return true;
}

static bool take_function(struct reader *reader)
{
	struct exact_thread *thread = reader->thread;
	struct exact_function function = {.times = 0};

	if (!thread || !take_place(reader, &function.at) ||
	    !take_costs(reader, &function.times, function.cost))
		return false;
	thread->functions = tool_room(thread->functions, &thread->function_room,
				      thread->function_count, sizeof(*thread->functions));
	thread->functions[thread->function_count++] = function;
	return true;
}

static bool take_end(struct reader *reader)
{
	uint64_t lines;

	reader->ended = take_number(reader, 10, &lines) && lines == reader->lines && !*reader->at;
	return reader->ended;
}

static bool take_command(struct reader *reader)
{
	free(reader->exact->command);
	reader->exact->command = take_text(reader);
	return reader->exact->command;
}

static bool take_model(struct reader *reader)
{
	free(reader->exact->model);
	reader->exact->model = take_text(reader);
	return reader->exact->model;
}

static bool take_line(struct reader *reader)
{
	static const struct {
		const char *word;
		bool (*take)(struct reader *reader);
	} lines[] = {{"i", take_insn},	      {"c", take_call},		 {"f", take_function},
		     {"n", take_name},	      {"thread", take_thread},	 {"event", take_event},
		     {"object", take_object}, {"command", take_command}, {"model", take_model},
		     {"end", take_end}};
	size_t length = strcspn(reader->line, " ");

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		if (strlen(lines[i].word) == length &&
		    !strncmp(lines[i].word, reader->line, length)) {
			reader->at = reader->line + length;
			return lines[i].take(reader);
		}
	}
	return false;
}

/* Reads everything.  Returns NULL, or a message to free(). */
static char *read_all(struct reader *reader, const char *path)
{
	unsigned long version;

	if (!next_line(reader) || strncmp(reader->line, FIRST_WORDS, strlen(FIRST_WORDS)) != 0)
		return tool_print("%s is not an exact profile", path);
	version = strtoul(reader->line + strlen(FIRST_WORDS), NULL, 10);
	if (version < VERSION_OLD || version > VERSION)
		return tool_print("%s has version %lu of the format of exact profiles; this "
				  "softpmu reads versions %d to %d",
				  path, version, VERSION_OLD, VERSION);
	reader->lines = 1;
	while (!reader->ended && next_line(reader)) {
		if (!take_line(reader))
			return tool_print("%s is damaged: line %" PRIu64 " is wrong", path,
					  reader->lines + 1);
		reader->lines++;
	}
	if (!reader->ended)
		return tool_print("%s is damaged: its end is missing", path);
	if (!reader->exact->command || !reader->exact->model || !reader->exact->event_count)
		return tool_print("%s is damaged: it has no command, model or event", path);
	return NULL;
}

struct exact *exact_file_read(const char *path, char **error)
{
	struct reader reader = {.from = fopen(path, "re")};

	if (!reader.from) {
		*error = tool_print("cannot read %s: %s", path, strerror(errno));
		return NULL;
	}
	reader.exact = exact_new();
	*error = read_all(&reader, path);
	fclose(reader.from);
	free(reader.line);
	if (!*error)
		return reader.exact;
	exact_free(reader.exact);
	return NULL;
}
