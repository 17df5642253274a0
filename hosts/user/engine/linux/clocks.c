/* SPDX-License-Identifier: MIT */
/*
 * clocks.c: clocks that are the same in each run (LINK_WANT_TIME).
 *
 * Each program begins at one date.  From there a nanosecond passes with each occurrence of the
 * run's first event, and a microsecond with each reading.  A call that has waited until its time
 * was over takes as long as was asked.  All clocks of clock_gettime(2) with a fixed number,
 * gettimeofday(2) and time(2) show this time.  They do so in the C library too, because there is
 * no vDSO.  The time-stamp counter counts its nanoseconds since the machine began to run, plus a
 * few for each reading.  The processor that RDTSCP names is always the first (Vol.  2B, RDTSC,
 * RDTSCP).
 *
 * The system has its own clocks.  For the system, a deadline on one of these clocks is past.  So a
 * wait with a deadline ends at once, and the clock shows the deadline after it.  Timers, times of
 * files, and the processor time of getrusage(2) and times(2) show the machine's time.
 */
#include <asm/errno.h>
#include <asm/unistd.h>
#include <linux/futex.h>
#include <linux/time.h>

#include "engine/count/count.h"
#include "engine/linux/clocks.h"
#include "engine/memory/access.h"
#include "engine/rt/call.h"
#include "engine/rt/context.h"
#include "engine/rt/sys.h"

#define DATE	   INT64_C(1577836800) /* 2020-01-01 00:00 UTC, before the machine's own time */
#define UP_SINCE   INT64_C(1)	       /* seconds that the machine has been running then */
#define READING_NS 1000
#define TSC_NS	   25 /* for reading the time-stamp counter */
#define SECOND_NS  UINT64_C(1000000000)
#define LONGEST_S  INT64_C(1000000000)

static uint64_t passed; /* in addition to what is counted */
static uint64_t newest; /* newest time shown; no thread shows an earlier one */

/* Returns the nanoseconds since the beginning. */
static uint64_t now(void)
{
	uint64_t before = __atomic_load_n(&newest, __ATOMIC_RELAXED), time;

	time = counting_first() + __atomic_load_n(&passed, __ATOMIC_RELAXED);
	do {
		if (time < before)
			time = before;
	} while (!__atomic_compare_exchange_n(&newest, &before, time, false, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	return time;
}

static void pass(uint64_t ns)
{
	__atomic_fetch_add(&passed, ns, __ATOMIC_RELAXED);
}

void clocks_begin_again(void)
{
	passed = newest;
}

/* Returns the seconds that a clock shows at the beginning. */
static int64_t begin_of(uint64_t clock)
{
	switch (clock) {
	case CLOCK_REALTIME:
	case CLOCK_REALTIME_COARSE:
	case CLOCK_REALTIME_ALARM:
	case CLOCK_TAI:
		return DATE;
	case CLOCK_PROCESS_CPUTIME_ID:
	case CLOCK_THREAD_CPUTIME_ID:
		return 0;
	default:
		return UP_SINCE;
	}
}

/* Replaces a time that the kernel wrote, at a place where the program may write. */
static void tell(uint64_t to, uint64_t clock, uint64_t unit_ns)
{
	uint64_t time = now();
	int64_t told[2] = {begin_of(clock) + (int64_t)(time / SECOND_NS),
			   (int64_t)(time % SECOND_NS / unit_ns)};

	memcpy((void *)to, told, sizeof(told));
	pass(READING_NS);
}

static long tell_seconds(uint64_t to)
{
	int64_t told = DATE + (int64_t)(now() / SECOND_NS);

	if (to)
		memcpy((void *)to, &told, sizeof(told));
	pass(READING_NS);
	return told;
}

void clocks_tsc(bool with_processor)
{
	uint64_t tsc = (uint64_t)UP_SINCE * SECOND_NS + now();

	current->gpr[0] = (uint32_t)tsc;
	current->gpr[2] = tsc >> 32;
	if (with_processor)
		current->gpr[1] = 0;
	pass(TSC_NS);
}

/* --- waits --- */

/* Returns the nanoseconds of a timespec or timeval of the program, after `begin`; 0: there are
 * none. */
static uint64_t span(uint64_t at, int64_t begin, uint64_t unit_ns)
{
	int64_t time[2];

	if (!at || !access_readable(at, sizeof(time)))
		return 0;
	memcpy(time, (const void *)at, sizeof(time));
	time[0] -= begin;
	if (time[0] < 0 || time[0] > LONGEST_S || time[1] < 0)
		return 0;
	return (uint64_t)time[0] * SECOND_NS + (uint64_t)time[1] * unit_ns;
}

static uint64_t milliseconds(uint64_t n)
{
	return (int32_t)n > 0 ? (uint64_t)(int32_t)n * 1000000 : 0;
}

static struct clocks_wait from_now(uint64_t ns, long result)
{
	return (struct clocks_wait){.until = ns ? now() + ns : 0, .result = result};
}

static struct clocks_wait until(uint64_t ns, long result)
{
	return (struct clocks_wait){.until = ns, .result = result};
}

static struct clocks_wait futex_wait(const struct syscall_arguments *c)
{
	uint64_t operation = c->a[1] & (unsigned)FUTEX_CMD_MASK;
	uint64_t clock = c->a[1] & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC;

	if (operation == FUTEX_WAIT)
		return from_now(span(c->a[3], 0, 1), -ETIMEDOUT);
	if (operation == FUTEX_LOCK_PI)
		clock = CLOCK_REALTIME;
	else if (operation != FUTEX_WAIT_BITSET && operation != FUTEX_LOCK_PI2 &&
		 operation != FUTEX_WAIT_REQUEUE_PI)
		return until(0, 0);
	return until(span(c->a[3], begin_of(clock), 1), -ETIMEDOUT);
}

struct clocks_wait clocks_wait_of(const struct syscall_arguments *c)
{
	switch (c->nr) {
	case __NR_nanosleep:
		return from_now(span(c->a[0], 0, 1), 0);
	case __NR_clock_nanosleep:
		if (c->a[1] & TIMER_ABSTIME)
			return until(span(c->a[2], begin_of(c->a[0]), 1), 0);
		return from_now(span(c->a[2], 0, 1), 0);
	case __NR_poll:
		return from_now(milliseconds(c->a[2]), 0);
	case __NR_epoll_wait:
	case __NR_epoll_pwait:
		return from_now(milliseconds(c->a[3]), 0);
	case __NR_epoll_pwait2:
		return from_now(span(c->a[3], 0, 1), 0);
	case __NR_ppoll:
		return from_now(span(c->a[2], 0, 1), 0);
	case __NR_pselect6:
		return from_now(span(c->a[4], 0, 1), 0);
	case __NR_select:
		return from_now(span(c->a[4], 0, 1000), 0);
	case __NR_rt_sigtimedwait:
		return from_now(span(c->a[2], 0, 1), -EAGAIN);
	case __NR_futex:
		return futex_wait(c);
	default:
		return until(0, 0);
	}
}

long clocks_after(const struct syscall_arguments *c, struct clocks_wait wait, long result)
{
	uint64_t time;

	if (wait.until && result == wait.result) {
		time = now();
		pass(wait.until > time ? wait.until - time : 0);
	}
	if (is_error(result))
		return result;
	if (c->nr == __NR_clock_gettime && c->a[0] <= CLOCK_TAI)
		tell(c->a[1], c->a[0], 1);
	else if (c->nr == __NR_gettimeofday && c->a[0])
		tell(c->a[0], CLOCK_REALTIME, 1000);
	else if (c->nr == __NR_time)
		return tell_seconds(c->a[0]);
	return result;
}
