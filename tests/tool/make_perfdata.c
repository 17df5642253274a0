/* SPDX-License-Identifier: MIT */
/*
 * make_perfdata.c FILE: writes a perf.data from a description on standard input, for
 * tests of its readers.  Numbers as strtoull() takes them; a line is one of
 *
 *	event NAME
 *	comm PID TID TIME EXEC NAME
 *	mmap PID TIME START LENGTH OFFSET BUILD-ID|- PATH
 *	sample EVENT PID TID TIME PERIOD IP
 *
 * Events stand first.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/perfdata/perfdata.h"

#define EVENTS_MAX 8
#define WORDS_MAX  9

static struct perfdata_event events[EVENTS_MAX];
static size_t event_count;

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

static void add_event(const char *name)
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
}

static uint8_t hex(const char *digits)
{
	char pair[3] = {digits[0], digits[1], 0};

	return (uint8_t)strtoul(pair, NULL, 16);
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
	if (!strcmp(word[0], "sample") && words == 7) {
		struct perfdata_sample sample = {.event = number(word[1]),
						 .misc = PERF_RECORD_MISC_USER |
							 PERF_RECORD_MISC_EXACT_IP,
						 .pid = (uint32_t)number(word[2]),
						 .tid = (uint32_t)number(word[3]),
						 .time_ns = number(word[4]),
						 .period = number(word[5]),
						 .ip = number(word[6])};

		return perfdata_add_sample(writer, &sample);
	}
	die(word[0]);
	return false;
}

int main(int argc, char **argv)
{
	static char *command[] = {(char *)"make_perfdata", NULL};
	struct perfdata_about about = {.version = "0", .cpu_name = "none", .command = command};
	struct perfdata_writer *writer = NULL;
	char line[4096], *error = NULL;

	if (argc != 2)
		die("usage: make_perfdata FILE");
	while (fgets(line, sizeof(line), stdin)) {
		char *word[WORDS_MAX] = {0}, *rest = line;
		size_t words = 0;

		line[strcspn(line, "\n")] = '\0';
		while (words < WORDS_MAX && rest)
			word[words++] = strsep(&rest, " ");
		if (!strcmp(word[0], "event") && words == 2 && !writer) {
			add_event(word[1]);
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
	if (!writer || !perfdata_finish(writer, &error))
		die(error);
	return 0;
}
