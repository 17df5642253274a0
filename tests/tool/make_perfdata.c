/* SPDX-License-Identifier: MIT */
/*
 * make_perfdata.c FILE: writes a perf.data from a description on standard input, for tests of its
 * readers.  strtoull() reads the numbers.  These lines describe the events, and come first:
 *
 *	branches TYPE		Samples have branch stacks.  TYPE is a PERF_SAMPLE_BRANCH_ number.
 *	chains 1		Samples have call chains, of their address and their callers.
 *	event NAME		The file has an event.
 *	bts NAME		The file has an intel_bts event.
 *
 * Each other line writes one record:
 *
 *	fork PID TID PPID TIME	A process has a new thread, or a new process if PID is not PPID.
 *	comm PID TID TIME EXEC NAME
 *				A thread has this name.  EXEC is 1 if it executed a program.
 *	mmap PID TIME START LENGTH OFFSET BUILD-ID PATH
 *				A process maps a file.  "-" means no build ID.
 *	sample EVENT PID TID TIME PERIOD IP [FROM:TO:FLAGS ...] [@CALLER ...]
 *				A sample, with its branch stack, and its callers, innermost first.
 *	trace PID TID TIME [FROM:TO ...]
 *				A part of a branch trace.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/perfdata/perfdata.h"

#define EVENTS_MAX 8
#define WORDS_MAX  4096

static struct perfdata_event events[EVENTS_MAX];
static size_t event_count;
static uint64_t branch_type;
static bool has_chains, trace_begun;

static void die(const char *what)
{
	fprintf(stderr, "make_perfdata: %s\n", what);
	exit(1);
}

static uint64_t number(const char *word)
{
	char *end;
	uint64_t value = strtoull(word, &end, 0);

	if (*end || end == word)
		die(word);
	return value;
}

static void add_event(const char *name, bool trace)
{
	size_t number_of_event = event_count;

	if (event_count == EVENTS_MAX)
		die("too many events");
	event_count++;
	events[number_of_event] = (struct perfdata_event){
		.name = strdup(name),
		.attr = {.type = PERF_TYPE_RAW,
			 .size = sizeof(struct perf_event_attr),
			 .config = 0x1c0 + number_of_event,
			 .sample_period = 1000,
			 .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
					PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD,
			 .sample_id_all = 1,
			 .exclude_kernel = 1,
			 .precise_ip = 2,
			 .mmap = 1,
			 .mmap2 = 1,
			 .comm = 1}};
	if (branch_type && !trace) {
		events[number_of_event].attr.sample_type |= PERF_SAMPLE_BRANCH_STACK;
		events[number_of_event].attr.branch_sample_type = branch_type;
	}
	if (has_chains || branch_type & PERF_SAMPLE_BRANCH_CALL_STACK)
		events[number_of_event].attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
	if (trace) {
		events[number_of_event].attr.type = PERFDATA_TYPE_INTEL_BTS;
		events[number_of_event].attr.config = 0;
		events[number_of_event].attr.sample_period = 1;
	}
}

/* Reads "A:B:C"; missing numbers are 0. */
static void numbers(const char *word, uint64_t value[3])
{
	char copy[128], *at = copy, *part;

	snprintf(copy, sizeof(copy), "%s", word);
	for (unsigned i = 0; i < 3; i++) {
		part = strsep(&at, ":");
		value[i] = part ? number(part) : 0;
	}
}

static uint8_t hex(const char *digits)
{
	char pair[3] = {digits[0], digits[1], 0};

	return (uint8_t)strtoul(pair, NULL, 16);
}

static bool add_sample(struct perfdata_writer *writer, char *const word[], size_t words)
{
	struct perfdata_branch branches[WORDS_MAX];
	struct perfdata_address chain[WORDS_MAX] = {{PERF_CONTEXT_USER}, {number(word[6])}};
	struct perfdata_sample sample = {.event = number(word[1]),
					 .misc = PERF_RECORD_MISC_USER | PERF_RECORD_MISC_EXACT_IP,
					 .pid = (uint32_t)number(word[2]),
					 .tid = (uint32_t)number(word[3]),
					 .time_ns = number(word[4]),
					 .period = number(word[5]),
					 .ip = number(word[6]),
					 .chain = chain,
					 .chain_count = 2,
					 .branches = branches};

	for (size_t i = 7; i < words; i++) {
		uint64_t value[3];

		if (word[i][0] == '@') {
			chain[sample.chain_count++].ip = number(word[i] + 1);
			continue;
		}
		numbers(word[i], value);
		branches[sample.branch_count++] =
			(struct perfdata_branch){value[0], value[1], value[2]};
	}
	return perfdata_add_sample(writer, &sample);
}

static bool add_trace(struct perfdata_writer *writer, char *const word[], size_t words)
{
	struct perfdata_bts records[WORDS_MAX];
	struct perfdata_trace trace = {.pid = (uint32_t)number(word[1]),
				       .tid = (uint32_t)number(word[2]),
				       .time_ns = number(word[3]),
				       .records = records};

	if (!trace_begun && !perfdata_begin_trace(writer, trace.pid, trace.tid, trace.time_ns))
		return false;
	trace_begun = true;
	for (size_t i = 4; i < words; i++) {
		uint64_t value[3];

		numbers(word[i], value);
		records[trace.count++] = (struct perfdata_bts){value[0], value[1], value[2]};
	}
	return perfdata_add_trace(writer, &trace);
}

static bool add(struct perfdata_writer *writer, char *const word[], size_t words)
{
	if (!strcmp(word[0], "comm") && words == 6) {
		struct perfdata_comm comm = {.pid = (uint32_t)number(word[1]),
					     .tid = (uint32_t)number(word[2]),
					     .time_ns = number(word[3]),
					     .exec = number(word[4]) != 0,
					     .comm = word[5]};

		return perfdata_add_comm(writer, &comm);
	}
	if (!strcmp(word[0], "fork") && words == 5) {
		struct perfdata_task task = {.pid = (uint32_t)number(word[1]),
					     .tid = (uint32_t)number(word[2]),
					     .ppid = (uint32_t)number(word[3]),
					     .ptid = (uint32_t)number(word[3]),
					     .time_ns = number(word[4])};

		return perfdata_add_fork(writer, &task);
	}
	if (!strcmp(word[0], "mmap") && words == 8) {
		struct perfdata_mmap map = {.pid = (uint32_t)number(word[1]),
					    .tid = (uint32_t)number(word[1]),
					    .time_ns = number(word[2]),
					    .start = number(word[3]),
					    .length = number(word[4]),
					    .page_offset = number(word[5]),
					    .protection = 5,
					    .flags = 2,
					    .path = word[7]};

		while (word[6][0] != '-' && word[6][2 * map.build_id_bytes] &&
		       map.build_id_bytes < PERFDATA_BUILD_ID_MAX) {
			map.build_id[map.build_id_bytes] = hex(word[6] + 2 * map.build_id_bytes);
			map.build_id_bytes++;
		}
		return perfdata_add_mmap(writer, &map);
	}
	if (!strcmp(word[0], "sample") && words >= 7)
		return add_sample(writer, word, words);
	if (!strcmp(word[0], "trace") && words >= 4)
		return add_trace(writer, word, words);
	die(word[0]);
	return false;
}

int main(int argc, char **argv)
{
	static char *command[] = {(char *)"make_perfdata", NULL};
	struct perfdata_about about = {.version = "0", .cpu_name = "none", .command = command};
	struct perfdata_writer *writer = NULL;
	char *line = NULL, *error = NULL;
	size_t room = 0;
	uint64_t bytes;

	if (argc != 2)
		die("usage: make_perfdata FILE");
	while (getline(&line, &room, stdin) > 0) {
		static char *word[WORDS_MAX];
		char *rest = line;
		size_t words = 0;

		line[strcspn(line, "\n")] = '\0';
		while (words < WORDS_MAX && rest)
			word[words++] = strsep(&rest, " ");
		if (words == 2 && !writer) {
			if (!strcmp(word[0], "chains"))
				has_chains = number(word[1]);
			else if (!strcmp(word[0], "branches"))
				branch_type = number(word[1]);
			else
				add_event(word[1], !strcmp(word[0], "bts"));
			continue;
		}
		if (!writer)
			writer = perfdata_create(argv[1], events, event_count, &about, &error);
		if (!writer)
			die(error);
		if (!add(writer, word, words))
			die("the record was not taken");
	}
	if (!writer)
		writer = perfdata_create(argv[1], events, event_count, &about, &error);
	if (!writer || !perfdata_finish(writer, &bytes, &error))
		die(error);
	return 0;
}
