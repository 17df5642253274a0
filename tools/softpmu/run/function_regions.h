/* SPDX-License-Identifier: MIT */
/* function_regions.h: --region and --toggle: functions of the program that are regions. */
#ifndef SOFTPMU_TOOL_FUNCTION_REGIONS_H
#define SOFTPMU_TOOL_FUNCTION_REGIONS_H

#include <hosts/user/launch.h>

#define FUNCTION_REGIONS_MAX 64 /* options */

struct function_regions {
	struct function_region {
		const char *pattern;
		bool toggles; /* --toggle */
		bool found;   /* some function matches */
	} wanted[FUNCTION_REGIONS_MAX];
	size_t count;
	struct function_files *files; /* that have been read */
	bool lost;		      /* there was no place for some functions */
};

/* Takes the argument of one of the options of `command`.  Returns -1 to go on, otherwise the status
 * to end with, after a message. */
int function_regions_take(struct function_regions *regions, const char *command,
			  const char *pattern, bool toggles);

/* Returns whether events count in functions only. */
bool function_regions_toggle(const struct function_regions *regions);

/* Tells the run of the functions, if there are some. */
void function_regions_request(struct function_regions *regions, struct launch_request *request);

/* After the run: says which options have matched nothing. */
void function_regions_say(const struct function_regions *regions);
void function_regions_free(struct function_regions *regions);

#endif
