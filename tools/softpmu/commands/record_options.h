/* SPDX-License-Identifier: MIT */
/* record_options.h: what `softpmu record` is asked for. */
#ifndef SOFTPMU_TOOL_RECORD_OPTIONS_H
#define SOFTPMU_TOOL_RECORD_OPTIONS_H

#include "tools/softpmu/run/record.h"

/* Reads the command line.  Returns -1 to go on; then optind is the place of the program.
 * Otherwise returns the status to end with. */
int record_options_parse(struct record *record, int argc, char **argv);

#endif
