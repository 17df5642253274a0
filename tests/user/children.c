/* SPDX-License-Identifier: MIT */
/*
 * children MODE: what programs do with processes.  Each mode prints what it saw, without numbers of
 * processes or times.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t seen, reaped;
static int shared = 1;
static void *volatile no_memory = (void *)16;

static void note(int number);

static void say(const char *what, long a, long b)
{
	printf("%s %ld %ld\n", what, a, b);
	fflush(stdout);
}

static void ended(const char *what)
{
	int status = 0;
	long pid = wait(&status);

	say(what, pid > 0, status);
}

static void execute(const char *path, char *const argv[])
{
	pid_t pid = fork();

	if (pid == 0) {
		execve(path, argv, environ);
		say(path, -1, errno);
		_exit(50);
	}
	ended("ended");
}

static void exec_errors(void)
{
	char *script[] = {"script", "1", "2 3", NULL}, *none[] = {NULL};
	int fd;

	execute("./script", script);
	execute("./nested", script);
	execute("./plain", script);
	execute("./bad", script);
	execute("/nonexistent", script);
	execute("/", script);
	execute("", script);
	execute("/etc/passwd", script);
	execute("./script/x", script);
	execute(no_memory, script);
	execute("./script", no_memory);
	execute("/bin/echo", no_memory);
	execute("/bin/true", none);
	setenv("A", "b", 1);
	execute("/usr/bin/env", (char *[]){"env", "-u", "_", "sh", "-c", "echo $A", NULL});
	fd = open("/bin/echo", O_PATH | O_CLOEXEC);
	if (!fork()) {
		signal(SIGINT, SIG_IGN);
		syscall(SYS_execveat, fd, "", (char *[]){"echo", "by descriptor", NULL}, environ,
			AT_EMPTY_PATH);
		_exit(51);
	}
	ended("by descriptor");
	fd = open("/bin", O_DIRECTORY | O_CLOEXEC);
	if (!fork()) {
		syscall(SYS_execveat, fd, "echo", (char *[]){"echo", "by folder", NULL}, environ,
			0);
		_exit(51);
	}
	ended("by folder");
	/* Ignored and blocked signals stay so, and no other descriptors are open. */
	if (!fork()) {
		sigset_t all;

		signal(SIGUSR1, SIG_IGN);
		signal(SIGSEGV, SIG_IGN);
		signal(SIGUSR2, note);
		sigfillset(&all);
		sigprocmask(SIG_BLOCK, &all, NULL);
		execl("/bin/sh", "sh", "-c",
		      "grep -E '^Sig(Blk|Ign|Pnd)' /proc/self/status; ls /proc/self/fd", NULL);
	}
	ended("signals over exec");
}

static void spawn(void)
{
	char *script[] = {"script", "1", NULL};
	posix_spawnattr_t attributes;
	posix_spawn_file_actions_t actions;
	sigset_t set;
	pid_t pid;

	say("none", posix_spawn(&pid, "/nonexistent", NULL, NULL, script, environ), 0);
	say("bad", posix_spawn(&pid, "./bad", NULL, NULL, script, environ), 0);
	if (posix_spawn(&pid, "./script", NULL, NULL, script, environ) == 0)
		ended("script");
	posix_spawnattr_init(&attributes);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 1, "spawned", O_WRONLY | O_CREAT | O_TRUNC,
					 0600);
	sigfillset(&set);
	posix_spawnattr_setsigdefault(&attributes, &set);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
	signal(SIGUSR1, SIG_IGN);
	say("with actions",
	    posix_spawnp(&pid, "cat", &actions, &attributes,
			 (char *[]){"cat", "/proc/self/cmdline", NULL}, environ),
	    0);
	ended("with actions");
	say("still ignored", signal(SIGUSR1, SIG_DFL) == SIG_IGN, 0);
	say("vfork", 0, 0);
	pid = vfork();
	if (pid == 0) {
		shared = 2;
		_exit(7);
	}
	ended("vfork");
	fflush(stdout);
	if (!vfork())
		execl("/bin/echo", "echo", "vforked", NULL);
	ended("vfork and exec");
	if (!vfork())
		kill(getpid(), SIGKILL);
	ended("vfork and kill");
	say("system", system("exit 3"), 0);
}

static void note(int number)
{
	(void)number;
	seen++;
}

static void reap(int number)
{
	int status;

	(void)number;
	while (waitpid(-1, &status, WNOHANG) > 0)
		reaped += status == 0;
}

static void child_signals(void)
{
	sigset_t set, old;
	pid_t parent = getpid();
	int i;

	signal(SIGUSR1, note);
	signal(SIGCHLD, reap);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, &old);
	raise(SIGUSR1);
	for (i = 0; i < 20; i++)
		if (!fork()) {
			sigset_t pending;

			sigpending(&pending); /* not the parent's */
			sigprocmask(SIG_SETMASK, &old, NULL);
			kill(parent, SIGUSR1);
			_exit(sigismember(&pending, SIGUSR1) || seen);
		}
	while (reaped < 20)
		sigsuspend(&old);
	say("seen, children", seen > 0, reaped);
	sigprocmask(SIG_SETMASK, &old, NULL);
	signal(SIGCHLD, SIG_DFL);
	if (!fork()) {
		*(volatile int *volatile)&seen = 0;
		raise(SIGUSR1);
		raise(SIGSEGV);
	}
	ended("killed");
}

static int in_clone(void *argument)
{
	shared += *(int *)argument;
	say("in clone", shared, 0);
	return 8;
}

static void clones(void)
{
	static char stack[65536] __attribute__((aligned(16)));
	int two = 2;

	if (clone(in_clone, stack + sizeof(stack), SIGCHLD, &two) > 0)
		ended("clone with its memory");
	say("shared", shared, 0);
	say("clone with ours",
	    clone(in_clone, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, &two) > 0, 0);
	ended("clone");
	say("shared", shared, 0);
	fflush(stdout);
	if (!fork()) {
		if (!fork()) {
			if (!vfork())
				_exit(4);
			ended("great-grandchild");
			_exit(5);
		}
		ended("grandchild");
		_exit(6);
	}
	ended("child");
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	if (!strcmp(mode, "exec"))
		exec_errors();
	else if (!strcmp(mode, "spawn"))
		spawn();
	else if (!strcmp(mode, "signals"))
		child_signals();
	else if (!strcmp(mode, "clone"))
		clones();
	else
		return 99;
	return 41;
}
