/* SPDX-License-Identifier: MIT */
/*
 * launch_signals.c: the tool's signals while a program runs: the end of the child wakes the loop
 * that reads samples, and a request to end (Ctrl-C) is passed on to the program.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>

#include <hosts/user/launch_signals.h>

/* The state of the handlers.  One program runs at a time. */
static struct link *signal_link;
static volatile pid_t signal_pid;
static volatile sig_atomic_t signal_asked;

/* Changes the futex, which also ends a wait that is about to begin. */
static void on_child(int number)
{
	(void)number;
	__atomic_add_fetch(&signal_link->head_futex, 1, __ATOMIC_SEQ_CST);
}

/* Passes a signal on.  A signal from the terminal reaches the program directly. */
static void on_request(int number, siginfo_t *info, void *context)
{
	int error = errno;

	(void)context;
	signal_asked = number;
	if (signal_pid > 0 && info->si_code != SI_KERNEL)
		kill(signal_pid, number);
	errno = error;
}

static const int requests[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};

#define REQUESTS (sizeof(requests) / sizeof(requests[0]))

void launch_signals_take(struct run *run)
{
	struct sigaction child = {.sa_handler = on_child, .sa_flags = SA_NOCLDSTOP};
	struct sigaction request = {.sa_sigaction = on_request,
				    .sa_flags = SA_SIGINFO | SA_RESTART};
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &run->old_mask);
	signal_link = run->link;
	signal_pid = 0;
	signal_asked = 0;
	sigaction(SIGCHLD, &child, &run->old[SIGCHLD]);
	for (size_t i = 0; i < REQUESTS; i++) {
		int number = requests[i];

		sigaction(number, NULL, &run->old[number]);
		/* An ignored signal (nohup) stays ignored, here and in the program. */
		if (run->old[number].sa_handler != SIG_IGN)
			sigaction(number, &request, NULL);
	}
}

void launch_signals_restore(const struct run *run)
{
	sigaction(SIGCHLD, &run->old[SIGCHLD], NULL);
	for (size_t i = 0; i < REQUESTS; i++)
		sigaction(requests[i], &run->old[requests[i]], NULL);
	sigprocmask(SIG_SETMASK, &run->old_mask, NULL);
}

void launch_signals_go_to(pid_t pid)
{
	signal_pid = pid;
}

int launch_signals_asked(void)
{
	return signal_asked;
}
