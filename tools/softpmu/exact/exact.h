/* SPDX-License-Identifier: MIT */
/*
 * exact.h: an exact profile: how often each instruction ran, what it and each call cost, by thread.
 *
 * Addresses are those of an object's program headers; of memory without a file those of the
 * process.  A cost has a number for each event of the profile.
 */
#ifndef SOFTPMU_TOOL_EXACT_H
#define SOFTPMU_TOOL_EXACT_H

#include "src/perfdata/perfdata.h"
#include "tools/softpmu/base/numbering.h"

#define EXACT_EVENTS_MAX 13

struct exact_event {
	char *name;
	uint64_t counted; /* by the unit, in the whole run */
};

/* A function, as the file named it when it ran. */
struct exact_name {
	uint64_t start, end;
	char *name; /* as the compiler wrote it */
};

struct exact_object {
	char *path;
	uint8_t build_id[PERFDATA_BUILD_ID_MAX];
	size_t build_id_bytes;
	struct exact_name *names; /* of functions that ran, sorted by their start */
	size_t name_count, name_room;
};

struct exact_place {
	uint32_t object;
	uint64_t address;
};

/* An instruction. */
struct exact_insn {
	struct exact_place at;
	uint64_t times;
	uint64_t cost[EXACT_EVENTS_MAX];
};

/* The calls of a function by an instruction.  The cost is inclusive.  While such a call has not
 * returned, what the same call costs in a recursion is not added again. */
struct exact_call {
	struct exact_place at, callee;
	uint64_t times;
	uint64_t cost[EXACT_EVENTS_MAX];
};

/* A function with what it called.  The cost of a recursion is not added again. */
struct exact_function {
	struct exact_place at;
	uint64_t times; /* that it was entered */
	uint64_t cost[EXACT_EVENTS_MAX];
};

/* A thread, from its start or from the program that it executed. */
struct exact_thread {
	uint32_t pid, tid;
	char *comm;
	struct exact_insn *insns;
	struct exact_call *calls;
	struct exact_function *functions;
	size_t insn_count, insn_room, call_count, call_room, function_count, function_room;
	struct numbering insn_numbers, call_numbers, function_numbers;
};

struct exact {
	char *command, *model;
	struct exact_event events[EXACT_EVENTS_MAX];
	struct exact_object *objects;
	struct exact_thread **threads;
	size_t event_count, object_count, object_room, thread_count, thread_room;
};

struct exact *exact_new(void);
void exact_free(struct exact *exact);

/* Returns the number of the object of that path, which is added if it is new. */
uint32_t exact_object(struct exact *exact, const char *path);

/* Adds a name to an object, after those of lower addresses. */
void exact_add_name(struct exact_object *object, uint64_t start, uint64_t end, const char *name);

/* Adds a thread.  Returns its number. */
size_t exact_add_thread(struct exact *exact, uint32_t pid, uint32_t tid, const char *comm);

/* Return the entry of a thread, which is added if it is new.  Valid until the next call. */
struct exact_insn *exact_insn(struct exact_thread *thread, struct exact_place at);
struct exact_call *exact_call(struct exact_thread *thread, struct exact_place at,
			      struct exact_place callee);
struct exact_function *exact_function(struct exact_thread *thread, struct exact_place at);

/* Returns what all instructions of all threads cost. */
uint64_t exact_sum(const struct exact *exact, size_t event);

/* Sorts the entries of each thread by address. */
void exact_sort(struct exact *exact);

/* exact_file.c */
/* Writes the file.  Returns false with errno. */
bool exact_file_write(const struct exact *exact, const char *path);
/* Returns whether the file exists and begins as an exact profile. */
bool exact_file_is(const char *path);
/* Reads a file.  Returns NULL with a line in *error, to free(). */
struct exact *exact_file_read(const char *path, char **error);

#endif
