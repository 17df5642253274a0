/* SPDX-License-Identifier: MIT */
/*
 * control.c: switches events on and off while the program runs: at given times (perf's -D), or by
 * commands that come from a descriptor (--control). Unlike perf's, the commands can name threads.
 * Hands over counts at intervals (-I).
 *
 * A command is done when no thread of the run counts as before: each has seen the change, or is
 * in a system call and sees it before it runs more of the program.  The others are asked by a
 * signal that the engine keeps from the program.  A thread that the tool cannot reach (another
 * user's, or in another PID namespace) sees the change when it comes to the engine by itself.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <hosts/user/control.h>
#include <hosts/user/reach.h>

#define ASK_AGAIN_NS 2000000
#define PATIENCE_NS  UINT64_C(2000000000)
#define BEGIN_NS     1000000 /* between looks for a thread that has not begun */
#define COMMANDS_MAX 4096    /* bytes that are read at a time */

/* All events, and the trace. */
static uint64_t all_events(const struct link *link)
{
	return ((UINT64_C(1) << link->events) - 1) | UINT64_C(1) << LINK_EVENT_TRACE;
}

void control_prepare(struct link *link, const struct launch_control *wanted)
{
	bool on = !wanted || !wanted->off;

	link->events_on = on ? all_events(link) : 0;
	if (wanted)
		link->want |= LINK_WANT_CONTROL;
	if (wanted && wanted->interval_ms)
		link->want |= LINK_WANT_INTERVALS;
	if (!on)
		fprintf(stderr, "Events disabled\n");
}

/* --- threads of the run --- */

/* Returns false if the number is another process's by now, or nothing can be known of it. */
static bool is_of_run(const struct link_follower *f)
{
	uint64_t word = 0;

	return reach_read((pid_t)f->pid, f->word, &word, sizeof(word)) == sizeof(word) &&
	       word == f->value;
}

/* Returns false if the thread cannot be asked, or need not be. */
static bool ask(struct link_follower *f, uint32_t tid)
{
	siginfo_t info = {.si_signo = SIGTRAP, .si_code = SI_QUEUE};
	bool asked = false;

	info.si_ptr = (void *)LINK_ASK; /* NOLINT(performance-no-int-to-ptr) */
	__atomic_add_fetch(&f->askers, 1, __ATOMIC_SEQ_CST);
	if (!__atomic_load_n(&f->outside, __ATOMIC_SEQ_CST) &&
	    __atomic_load_n(&f->tid, __ATOMIC_SEQ_CST) == tid && is_of_run(f))
		asked = !syscall(SYS_rt_tgsigqueueinfo, f->pid, tid, SIGTRAP, &info);
	__atomic_sub_fetch(&f->askers, 1, __ATOMIC_SEQ_CST);
	return asked;
}

static void wait_for(struct link_follower *f, uint32_t changes)
{
	const struct timespec timeout = {.tv_nsec = ASK_AGAIN_NS};
	uint32_t tid = __atomic_load_n(&f->tid, __ATOMIC_SEQ_CST), seen;
	uint64_t start = drain_now_ns();

	if (!tid || tid == LINK_FOLLOWER_CLAIMED)
		return;
	while ((seen = __atomic_load_n(&f->seen, __ATOMIC_SEQ_CST)) != changes &&
	       drain_now_ns() - start < PATIENCE_NS) {
		if (!ask(f, tid))
			return;
		syscall(SYS_futex, &f->seen, FUTEX_WAIT, seen, &timeout, NULL, 0);
	}
}

/* Waits until all threads have seen the change with this number. */
static void show_all(struct link *link, uint32_t change)
{
	__atomic_store_n(&link->changes, change, __ATOMIC_SEQ_CST);
	for (unsigned i = 0; i < LINK_FOLLOWERS_MAX; i++)
		wait_for(&link->follower[i], change);
}

/* Switches the events of the set in all threads. */
static void change_all(struct link *link, uint64_t set, bool on)
{
	uint32_t change = link->changes + 1;

	__atomic_store_n(&link->events_on, on ? link->events_on | set : link->events_on & ~set,
			 __ATOMIC_RELEASE);
	for (unsigned e = 0; e <= LINK_EVENTS_MAX; e++)
		if (set >> e & 1)
			__atomic_store_n(&link->changed[e], change, __ATOMIC_RELEASE);
	show_all(link, change);
}

/* Returns the events of this thread alone that it has not switched yet. */
static uint64_t not_yet_switched(const struct link *link, const struct link_follower *f)
{
	uint64_t own = f->own;

	if ((int32_t)(__atomic_load_n(&f->seen, __ATOMIC_SEQ_CST) - f->own_change) >= 0)
		return 0;
	for (unsigned e = 0; e <= LINK_EVENTS_MAX; e++)
		if ((int32_t)(link->changed[e] - f->own_change) > 0)
			own &= ~(UINT64_C(1) << e);
	return own;
}

/* Writes the change into the entry.  Returns false if it is not this thread's any more. */
static bool change_entry(const struct link *link, struct link_follower *f, uint32_t tid,
			 uint64_t set, bool on, uint32_t change)
{
	uint64_t own;
	bool is_there;

	__atomic_add_fetch(&f->askers, 1, __ATOMIC_SEQ_CST);
	is_there = __atomic_load_n(&f->tid, __ATOMIC_SEQ_CST) == tid && is_of_run(f);
	if (is_there) {
		own = not_yet_switched(link, f);
		f->own_on = on ? (f->own_on & own) | set : f->own_on & own & ~set;
		f->own = own | set;
		__atomic_store_n(&f->own_change, change, __ATOMIC_SEQ_CST);
	}
	__atomic_sub_fetch(&f->askers, 1, __ATOMIC_SEQ_CST);
	return is_there;
}

static struct link_follower *change_if_there(struct link *link, uint32_t tid, uint64_t set, bool on,
					     uint32_t change)
{
	for (unsigned i = 0; i < LINK_FOLLOWERS_MAX; i++)
		if (__atomic_load_n(&link->follower[i].tid, __ATOMIC_SEQ_CST) == tid &&
		    change_entry(link, &link->follower[i], tid, set, on, change))
			return &link->follower[i];
	return NULL;
}

static bool exists(uint32_t tid)
{
	return !kill((pid_t)tid, 0) || errno == EPERM;
}

/* Switches the events of the set in one thread.  A thread that was started a moment ago may not
 * have an entry yet.  Returns false if there is no such thread. */
static bool change_one(struct link *link, uint32_t tid, uint64_t set, bool on)
{
	const struct timespec pause = {.tv_nsec = BEGIN_NS};
	uint32_t change = link->changes + 1;
	uint64_t start = drain_now_ns();
	struct link_follower *f;

	while (!(f = change_if_there(link, tid, set, on, change))) {
		if (!exists(tid) || drain_now_ns() - start > PATIENCE_NS)
			return false;
		nanosleep(&pause, NULL);
	}
	__atomic_store_n(&link->changes, change, __ATOMIC_SEQ_CST);
	wait_for(f, change);
	return true;
}

/* --- commands --- */

/* The event of this name, or all and the trace without a name; 0: there is none. */
static uint64_t events_of(const struct run *run, const char *name)
{
	uint64_t set = 0;

	if (!*name)
		return all_events(run->link);
	for (size_t e = 0; e < run->request->events; e++)
		if (!strcmp(run->request->control->name[e], name))
			set |= UINT64_C(1) << e;
	return set;
}

/* Reads "-t TID[,TID...] " at the beginning of the text.  Returns what follows the option; NULL:
 * the list is wrong. */
static const char *skip_threads(const char *text, const char **list)
{
	*list = NULL;
	if (strncmp(text, "-t ", 3) != 0)
		return text;
	*list = text + 3;
	text += 3 + strspn(text + 3, "0123456789,");
	if (text == *list || (*text && *text != ' '))
		return NULL;
	return *text ? text + 1 : text;
}

static void enable_in_threads(const struct run *run, const char *list, uint64_t events, bool on)
{
	for (const char *at = list; *at && *at != ' ';) {
		char *end;
		unsigned long tid = strtoul(at, &end, 10);

		if (!tid || tid > INT_MAX || !change_one(run->link, (uint32_t)tid, events, on))
			fprintf(stderr, "failed: the run has no thread %.*s\n",
				(int)strcspn(at, ", "), at);
		at = end + (*end == ',');
	}
}

static void enable(const struct run *run, const char *text, bool on)
{
	const char *list, *name = skip_threads(text, &list);
	uint64_t events;

	if (!name) {
		fprintf(stderr, "failed: '-t' needs the numbers of threads, as in '-t 12,34'\n");
		return;
	}
	events = events_of(run, name);
	if (!events) {
		fprintf(stderr, "failed: can't find '%s' event\n", name);
		return;
	}
	if (list)
		enable_in_threads(run, list, events, on);
	else
		change_all(run->link, events, on);
	if (list)
		return;
	if (*name)
		fprintf(stderr, "Event %s %s\n", name, on ? "enabled" : "disabled");
	else
		fprintf(stderr, "Events %s\n", on ? "enabled" : "disabled");
}

static void list(const struct run *run)
{
	for (size_t e = 0; e < run->request->events; e++)
		fprintf(stderr, "%s\n", run->request->control->name[e]);
}

/* What follows the word in the command; NULL: it is another command. */
static const char *after(const char *command, const char *word)
{
	size_t length = strlen(word);

	if (strncmp(command, word, length) != 0 || (command[length] && command[length] != ' '))
		return NULL;
	return command[length] ? command + length + 1 : command + length;
}

/* Returns false if there is no such command. */
static bool run_command(const struct run *run, const char *command)
{
	const char *name;

	if ((name = after(command, "enable")))
		enable(run, name, true);
	else if ((name = after(command, "disable")))
		enable(run, name, false);
	else if (after(command, "evlist"))
		list(run);
	else if (after(command, "stop"))
		kill(run->pid, SIGTERM);
	else
		return after(command, "ping");
	return true;
}

static void do_command(const struct run *run, const char *command)
{
	static const char answer[] = "ack\n";
	int fd = run->request->control->acknowledge_fd;

	if (!*command)
		return;
	if (!run_command(run, command)) {
		fprintf(stderr, "softpmu: --control knows no command '%s'\n", command);
		return;
	}
	if (fd >= 0 && write(fd, answer, sizeof(answer) - 1) < 0)
		fprintf(stderr, "softpmu: cannot acknowledge a command: %s\n", strerror(errno));
}

/* Returns false at the end of the commands. */
static bool take_commands(const struct run *run)
{
	char text[COMMANDS_MAX + 1];
	ssize_t bytes = read(run->request->control->command_fd, text, COMMANDS_MAX);

	if (bytes <= 0)
		return bytes < 0 && (errno == EAGAIN || errno == EINTR);
	text[bytes] = '\0';
	for (char *at = text; at < text + bytes; at += strlen(at) + 1) {
		at[strcspn(at, "\n")] = '\0';
		do_command(run, at);
	}
	return true;
}

/* --- the thread --- */

/* What is still to do at certain times. */
struct schedule {
	size_t next;	      /* time of the list at which events are switched */
	bool ends;	      /* the program, at a time that has not passed */
	bool shows;	      /* counts at intervals */
	uint64_t interval_ms; /* the end of the next interval */
};

static uint64_t passed_ns(const struct control *control)
{
	return drain_now_ns() - control->start_ns;
}

/*
 * Switches the events at each time of the list that has passed.  Returns the milliseconds until the
 * next time, or -1 after the last one.
 */
static int keep_times(const struct control *control, struct schedule *schedule)
{
	const struct launch_control *wanted = control->run->request->control;

	for (; schedule->next < wanted->time_count; schedule->next++) {
		uint64_t passed = passed_ns(control) / 1000000;

		if (passed < wanted->times[schedule->next])
			return (int)(wanted->times[schedule->next] - passed);
		enable(control->run, "", wanted->off == (schedule->next % 2 == 0));
	}
	return -1;
}

/*
 * Ends the program when its time has passed.  Returns the milliseconds until then, or -1 if there
 * is no such time.
 */
static int keep_end(const struct control *control, struct schedule *schedule)
{
	uint64_t passed = passed_ns(control) / 1000000;
	uint32_t end = control->run->request->control->end_ms;

	if (schedule->ends && passed < end)
		return (int)(end - passed);
	if (schedule->ends)
		kill(control->run->pid, SIGTERM);
	schedule->ends = false;
	return -1;
}

/*
 * Hands the counts over at the end of an interval.  Intervals that ended meanwhile are left out.
 * Returns the milliseconds until the end of the next one, or -1 if there is none.
 */
static int keep_intervals(const struct control *control, struct schedule *schedule)
{
	const struct launch_control *wanted = control->run->request->control;
	struct link *link = control->run->link;
	uint64_t count[LINK_EVENTS_MAX] = {0};
	uint64_t passed = passed_ns(control);

	if (!schedule->shows)
		return -1;
	if (passed / 1000000 < schedule->interval_ms)
		return (int)(schedule->interval_ms - passed / 1000000);
	show_all(link, link->changes + 1);
	for (size_t e = 0; e < control->run->request->events; e++)
		count[e] = __atomic_load_n(&link->count[e], __ATOMIC_RELAXED);
	passed = passed_ns(control);
	schedule->shows = wanted->interval(wanted->opaque, passed, count);
	schedule->interval_ms = (passed / 1000000 / wanted->interval_ms + 1) * wanted->interval_ms;
	return schedule->shows ? (int)(schedule->interval_ms - passed / 1000000) : -1;
}

/* Returns the earlier one of two times to wait, of which -1 is none. */
static int earlier(int one, int other)
{
	return one < 0 || (other >= 0 && other < one) ? other : one;
}

/* Does what its time has come for.  Returns the milliseconds until the next time, or -1. */
static int keep_all(const struct control *control, struct schedule *schedule)
{
	int wait = earlier(keep_times(control, schedule), keep_end(control, schedule));

	return earlier(wait, keep_intervals(control, schedule));
}

static void *serve(void *opaque)
{
	const struct control *control = opaque;
	const struct launch_control *wanted = control->run->request->control;
	struct schedule schedule = {.ends = wanted->end_ms,
				    .shows = wanted->interval_ms,
				    .interval_ms = wanted->interval_ms};
	struct pollfd fds[] = {{.fd = control->wake[0], .events = POLLIN},
			       {.fd = wanted->command_fd, .events = POLLIN}};

	for (;;) {
		int ready = poll(fds, 2, keep_all(control, &schedule));

		if (ready > 0 && fds[0].revents)
			return NULL;
		if (ready > 0 && fds[1].revents && !take_commands(control->run))
			fds[1].fd = -1;
	}
}

void control_start(struct control *control, struct run *run)
{
	sigset_t all, before;

	*control = (struct control){.run = run, .start_ns = drain_now_ns(), .wake = {-1, -1}};
	if (!run->request->control || pipe2(control->wake, O_CLOEXEC))
		return;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	control->runs = !pthread_create(&control->thread, NULL, serve, control);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void control_end(struct control *control)
{
	if (control->wake[1] >= 0)
		close(control->wake[1]);
	if (control->runs)
		pthread_join(control->thread, NULL);
	if (control->wake[0] >= 0)
		close(control->wake[0]);
}
