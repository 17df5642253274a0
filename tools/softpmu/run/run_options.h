/* SPDX-License-Identifier: MIT */
/* run_options.h: the options of stat, record and trace that say how a program runs. */
#ifndef SOFTPMU_TOOL_RUN_OPTIONS_H
#define SOFTPMU_TOOL_RUN_OPTIONS_H

#include "tools/softpmu/run/control.h"
#include "tools/softpmu/run/function_regions.h"

struct run_options {
	const char *model_name; /* -M; NULL: the default */
	uint32_t want;		/* -i, --deterministic, --no-cache, --strict: LINK_WANT_ */
	bool verbose;		/* -v */
	struct control_options control;
	struct function_regions functions; /* --region, --toggle */
};

/* Values of the options without a letter.  Those of a command's own options begin at
 * RUN_OPTIONS_END. */
enum {
	RUN_OPTION_DETERMINISTIC = 256,
	RUN_OPTION_NO_CACHE,
	RUN_OPTION_STRICT,
	RUN_OPTION_CONTROL,
	RUN_OPTION_REGION,
	RUN_OPTION_TOGGLE,
	RUN_OPTIONS_END
};

/* Takes an option that getopt_long() has found and that is none of the command's own.  Returns -1
 * to go on, otherwise the status to exit with, after a message. */
int run_options_take(struct run_options *run, const char *command, int option, char **argv);

/* Refuses --toggle with what also switches events on and off.  Returns -1 to go on. */
int run_options_check(const struct run_options *run, const char *command);

#endif
