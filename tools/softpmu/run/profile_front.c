/* SPDX-License-Identifier: MIT */
/* profile_front.c: the command for which profile runs, if it is not the user's. */
#include "tools/softpmu/run/profile_front.h"

#include <stddef.h>

static struct profile_front *front_of_run;

void profile_front_set(struct profile_front *front)
{
	front_of_run = front;
}

struct profile_front *profile_front_of_run(void)
{
	return front_of_run;
}
