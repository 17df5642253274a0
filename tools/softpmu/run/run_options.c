/* SPDX-License-Identifier: MIT */
/*
 * run_options.c: the options of stat, record and trace that say how a program runs.
 */
#include <getopt.h>
#include <string.h>

#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/run/run_options.h"

/* Takes the argument of --deterministic; NULL: it has none. */
static int take_deterministic(struct run_options *run, const char *command, const char *word)
{
	if (word && strcmp(word, "time") != 0)
		return tool_usage_error(command,
					"--deterministic takes 'time' or no value, not '%s'", word);
	run->want &= ~(uint32_t)LINK_WANT_TIME;
	run->want |= LINK_WANT_DETERMINISTIC | (word ? LINK_WANT_TIME : 0);
	return -1;
}

int run_options_take(struct run_options *run, const char *command, int option, char **argv)
{
	switch (option) {
	case 'M':
		run->model_name = optarg;
		return -1;
	case 'i':
		run->want |= LINK_WANT_ONE;
		return -1;
	case 'v':
		run->verbose = true;
		return -1;
	case 'D':
		return control_delay(&run->control, command, optarg);
	case RUN_OPTION_CONTROL:
		return control_channel(&run->control, command, optarg);
	case RUN_OPTION_REGION:
	case RUN_OPTION_TOGGLE:
		return function_regions_take(&run->functions, command, optarg,
					     option == RUN_OPTION_TOGGLE);
	case RUN_OPTION_DETERMINISTIC:
		return take_deterministic(run, command, optarg);
	case RUN_OPTION_NO_CACHE:
		run->want |= LINK_WANT_COLD;
		return -1;
	case RUN_OPTION_STRICT:
		run->want |= LINK_WANT_STRICT;
		return -1;
	default:
		return tool_bad_option(command, option, argv);
	}
}

int run_options_check(const struct run_options *run, const char *command)
{
	if (run->control.given && function_regions_toggle(&run->functions))
		return tool_usage_error(command, "--toggle cannot be combined with -D or "
						 "--control");
	return -1;
}
