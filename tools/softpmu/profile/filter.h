/* SPDX-License-Identifier: MIT */
/* filter.h: which samples of a profile are used. */
#ifndef SOFTPMU_TOOL_FILTER_H
#define SOFTPMU_TOOL_FILTER_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

struct profile_place;

/* Lists with commas; NULL: all. */
struct filter {
	const char *comms, *pids, *tids;
	const char *dsos; /* paths, or their last components */
	const char *symbols;
};

/* Returns whether all samples are used. */
bool filter_is_empty(const struct filter *filter);

/* Returns whether what a thread did at a place is used. */
bool filter_takes(const struct filter *filter, const char *comm, uint32_t pid, uint32_t tid,
		  const struct profile_place *at);

/* The options of commands. */
enum { FILTER_PID = 1024, FILTER_TID };
#define FILTER_LETTERS "c:d:S:"
#define FILTER_OPTIONS                                                                             \
	{"comms", required_argument, NULL, 'c'}, {"dsos", required_argument, NULL, 'd'},           \
		{"symbols", required_argument, NULL, 'S'},                                         \
		{"pid", required_argument, NULL, FILTER_PID},                                      \
	{                                                                                          \
		"tid", required_argument, NULL, FILTER_TID                                         \
	}
#define FILTER_HELP                                                                                \
	"  -c, --comms NAME[,NAME...]  only samples of these commands\n"                           \
	"      --pid ID[,ID...]        only samples of these processes\n"                          \
	"      --tid ID[,ID...]        only samples of these threads\n"                            \
	"  -d, --dsos FILE[,FILE...]   only samples in these files\n"                              \
	"  -S, --symbols NAME[,NAME...]\n"                                                         \
	"                              only samples in these functions\n"

/* Takes an option.  Returns false if it is none of these. */
bool filter_option(struct filter *filter, int option, const char *argument);

#endif
