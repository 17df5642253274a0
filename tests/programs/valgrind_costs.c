/* SPDX-License-Identifier: MIT */
/* valgrind_costs.c: requests of callgrind between functions whose misses are known. */
#include <string.h>

#include <valgrind/callgrind.h>

#define LINE 64

static volatile char array[256 * LINE];

static __attribute__((noinline)) void touch(void)
{
	for (unsigned i = 0; i < sizeof(array); i += LINE)
		(void)array[i];
}

static __attribute__((noinline)) void work(int n)
{
	for (volatile int i = 0; i < n; i++)
		;
}

static __attribute__((noinline)) void inner(int n)
{
	work(n);
	CALLGRIND_DUMP_STATS_AT("inner");
	work(n);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	touch();
	if (!strcmp(what, "start")) {
		CALLGRIND_START_INSTRUMENTATION;
		touch();
		touch();
		CALLGRIND_STOP_INSTRUMENTATION;
		touch();
		CALLGRIND_START_INSTRUMENTATION;
		touch();
	} else if (!strcmp(what, "toggle")) {
		touch();
		touch();
	} else if (!strcmp(what, "dump")) {
		work(10);
		CALLGRIND_ZERO_STATS;
		work(100);
		CALLGRIND_DUMP_STATS;
		inner(1000);
		CALLGRIND_ZERO_STATS;
		work(5);
	}
	return 0;
}
