/* SPDX-License-Identifier: MIT */
/* control.h: -D, --timeout and --control, by which stat and record let events count, or the
 * program run, part of the time; and -I, by which stat shows counts meanwhile. */
#ifndef SOFTPMU_TOOL_CONTROL_H
#define SOFTPMU_TOOL_CONTROL_H

#include <hosts/user/launch.h>

struct control_options {
	bool given; /* one of them */
	struct launch_control launch;
	const char *name[LINK_EVENTS_MAX];
	uint32_t *time; /* what launch.times points to */
};

/* Takes the argument of -D, --timeout, -I or --control of `command`.  Returns -1 to go on.
 * Otherwise returns the status to end with, after a message. */
int control_delay(struct control_options *control, const char *command, const char *text);
int control_timeout(struct control_options *control, const char *command, const char *text);
int control_interval(struct control_options *control, const char *command, const char *text);
int control_channel(struct control_options *control, const char *command, const char *text);

/* What a run is asked for; NULL: nothing.  control->name has the names of the run's events. */
const struct launch_control *control_request(struct control_options *control);

#endif
