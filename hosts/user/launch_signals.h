/* SPDX-License-Identifier: MIT */
/* launch_signals.h: the tool's signals while a program runs (launch_signals.c). */
#ifndef SPMU_HOSTS_USER_LAUNCH_SIGNALS_H
#define SPMU_HOSTS_USER_LAUNCH_SIGNALS_H

#include <hosts/user/control.h>
#include <hosts/user/drain.h>

/* Install the handlers with all signals blocked, and put back what was there before. */
void launch_signals_take(struct run *run);
void launch_signals_restore(const struct run *run);

/* Says which process gets the requests to end; 0: none. */
void launch_signals_go_to(pid_t pid);

/* Returns the last request to end, a signal's number, or 0. */
int launch_signals_asked(void);

#endif
