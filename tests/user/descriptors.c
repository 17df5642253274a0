/* SPDX-License-Identifier: MIT */
/*
 * descriptors.c: a program that could meet the translator's descriptors. It goes where the tool's
 * files are out of reach, so the translator keeps descriptors. It uses all numbers, and executes
 * another program. Each argument is one subject.
 *
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/close_range.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "corners.h"

#define NUMBERS 1024

static uint8_t stack[1 << 16];

/* The translator cannot know that this changes nothing. */
static void go_elsewhere(void)
{
	setfsuid(geteuid());
}

static void execute(void)
{
	execl("/bin/echo", "echo", "executed", NULL);
	need(0, "execl");
}

/* Takes each number once, and gives it back. */
static int want_numbers(void *argument)
{
	(void)argument;
	for (int fd = 3; fd < NUMBERS; fd++)
		if (dup2(0, fd) == fd)
			close(fd);
	return 0;
}

static int want_numbers_apart(void *argument)
{
	need(!unshare(CLONE_FILES), "unshare");
	return want_numbers(argument);
}

static int close_apart(void *argument)
{
	(void)argument;
	need(!syscall(SYS_close_range, 3, ~0u, CLOSE_RANGE_UNSHARE), "close_range");
	return want_numbers(argument);
}

static void in_child(int (*what)(void *), int flags)
{
	int status;
	pid_t pid = clone(what, stack + sizeof(stack), flags | SIGCHLD, NULL);

	need(pid > 0, "clone");
	need(waitpid(pid, &status, 0) == pid && !status, "child");
}

static void alone(void)
{
	go_elsewhere();
	want_numbers(NULL);
	execute();
}

/* A process in the same memory. */
static void with_files(void)
{
	go_elsewhere();
	in_child(want_numbers, CLONE_VM | CLONE_FILES);
	execute();
}

static void without_files(void)
{
	go_elsewhere();
	in_child(want_numbers, CLONE_VM);
	execute();
}

static void vfork_with_files(void)
{
	go_elsewhere();
	in_child(want_numbers, CLONE_VM | CLONE_VFORK | CLONE_FILES);
	execute();
}

static void vfork_child(void)
{
	go_elsewhere();
	in_child(want_numbers, CLONE_VM | CLONE_VFORK);
	execute();
}

static int first_numbers_then_fork(void *argument)
{
	int status;
	pid_t pid;

	want_numbers(argument);
	pid = fork();
	if (!pid)
		execute();
	need(waitpid(pid, &status, 0) == pid, "waitpid");
	return status;
}

static void fork_of_vfork(void)
{
	go_elsewhere();
	in_child(first_numbers_then_fork, CLONE_VM | CLONE_VFORK);
	execute();
}

static void *in_thread(void *what)
{
	((int (*)(void *))what)(NULL);
	return NULL;
}

/* A thread that has descriptors of its own. */
static void thread(int (*what)(void *))
{
	pthread_t thread;

	go_elsewhere();
	need(!pthread_create(&thread, NULL, in_thread, (void *)what), "pthread_create");
	pthread_join(thread, NULL);
	execute();
}

static void thread_apart(void)
{
	thread(want_numbers_apart);
}

static void thread_closes(void)
{
	thread(close_apart);
}

static void closes(void)
{
	go_elsewhere();
	need(!syscall(SYS_close_range, 3, ~0u, 0), "close_range");
	for (int fd = 3; fd < NUMBERS; fd++)
		close(fd);
	execute();
}

/* How many numbers above the standard streams are in use. */
static void found(void)
{
	int used[4] = {0};

	go_elsewhere();
	for (int fd = 3; fd < NUMBERS; fd++) {
		int copy[] = {dup(fd), fcntl(fd, F_DUPFD, 3), fcntl(fd, F_DUPFD_CLOEXEC, 3),
			      dup3(fd, 5, 0)};

		for (int i = 0; i < 4; i++)
			if (copy[i] >= 0) {
				used[i]++;
				close(copy[i]);
			}
	}
	printf("in use: %d %d %d %d\n", used[0], used[1], used[2], used[3]);
}

int main(int argc, char **argv)
{
	static const struct subject subjects[] = {
		{"alone", alone},
		{"with-files", with_files},
		{"without-files", without_files},
		{"vfork", vfork_child},
		{"vfork-with-files", vfork_with_files},
		{"fork-of-vfork", fork_of_vfork},
		{"thread-apart", thread_apart},
		{"thread-closes", thread_closes},
		{"closes", closes},
		{"found", found},
		{NULL, NULL},
	};

	return run_subject(subjects, argc, argv);
}
