/* SPDX-License-Identifier: MIT */
/* machine_options.h: the options that choose a machine and change it. */
#ifndef SOFTPMU_TOOL_MACHINE_OPTIONS_H
#define SOFTPMU_TOOL_MACHINE_OPTIONS_H

#include <getopt.h>
#include <softpmu/unit.h>

#include "tools/softpmu/machine/parameter.h"

/* A change that an option asks for. */
struct machine_change {
	int option;
	const char *text;
};

struct machine_options {
	const char *name; /* NULL: not given; "": the machine of the model */
	const char *file;
	bool static_clocks;
	struct machine_change *change; /* in order */
	size_t changes, room;
};

/* Values of the options without a letter: above those of run_options.h. */
enum {
	MACHINE_OPTION_NAME = 1024,
	MACHINE_OPTION_FILE,
	MACHINE_OPTION_CACHE,
	MACHINE_OPTION_SET,
	MACHINE_OPTION_STATIC_CLOCKS,
};

#define MACHINE_OPTIONS                                                                            \
	{"machine", optional_argument, NULL, MACHINE_OPTION_NAME},                                 \
		{"machine-file", required_argument, NULL, MACHINE_OPTION_FILE},                    \
		{"cache", required_argument, NULL, MACHINE_OPTION_CACHE},                          \
		{"static-clocks", no_argument, NULL, MACHINE_OPTION_STATIC_CLOCKS},                \
	{                                                                                          \
		"set", required_argument, NULL, MACHINE_OPTION_SET                                 \
	}

/* Takes an option, with its argument or NULL.  Returns false if it is none of these. */
bool machine_options_take(struct machine_options *options, int option, const char *argument);

/* Returns whether any of them was given. */
bool machine_options_given(const struct machine_options *options);

/* Returns whether any of them asks for more than static clocks. */
bool machine_options_model(const struct machine_options *options);

/*
 * Makes the machine.  `models` is the name of the model, whose machine is the default.  Returns -1,
 * or the status to exit with after a message.
 */
int machine_options_make(const struct machine_options *options, const char *command,
			 const char *model, struct spmu_machine *machine);

void machine_options_free(struct machine_options *options);

/*
 * Finds a machine by its own name, or that of its model.  Without one, prints which there are and
 * returns NULL.
 */
const struct spmu_machine *machine_options_find(const char *command, const char *name);

/* machine_file.c: Reads a file of lines KEY = VALUE.  Returns false after a message. */
bool machine_file_read(struct spmu_machine *machine, const char *path);

#endif
