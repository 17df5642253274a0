/* SPDX-License-Identifier: MIT */
/*
 * opened_signal.c: signals of opened events.
 *
 * The kernel sends them when a task makes the event's FIFO readable (opened_wake.c), with the code
 * POLL_IN.  The code of the last one before an event is switched off (PERF_EVENT_IOC_REFRESH) is
 * POLL_HUP.
 */
#include "engine/count/opened_signal.h"

#include "engine/count/opened.h"
#include "engine/count/opened_table.h"
#include "engine/rt/engine.h"
#include "engine/rt/file.h"

void opened_signal_arrived(siginfo_t *info)
{
	struct stat stat;
	int place;

	if (info->si_code != POLL_IN || !opened_wanted() ||
	    !__atomic_load_n(&engine_link->open_events, __ATOMIC_ACQUIRE) ||
	    !file_stat(info->si_fd, &stat))
		return;
	place = opened_find(stat.st_dev, stat.st_ino);
	if (place >= 0 && __atomic_exchange_n(&engine_link->open[place].hangs, 0, __ATOMIC_SEQ_CST))
		info->si_code = POLL_HUP;
}
