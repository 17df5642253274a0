/* SPDX-License-Identifier: MIT */
/*
 * processes MODE [ARGUMENT]: what the calls that start processes and programs do, and what is wrong
 * with their arguments.  What each MODE prints is the same natively and under softpmu.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int wait_for(long pid)
{
	int status = -1;

	waitpid((pid_t)pid, &status, __WALL);
	return status;
}

/* --- clone3 ------------------------------------------------------------------ */

static struct {
	struct clone_args args;
	uint8_t more[8192];
} asked;

static void say(const char *name, long pid)
{
	if (pid > 0)
		printf("%s: %#x\n", name, wait_for(pid));
	else
		printf("%s: %s\n", name, strerrorname_np(errno));
	fflush(stdout);
}

static long start(size_t bytes)
{
	long pid = syscall(SYS_clone3, &asked, bytes);

	if (!pid)
		_exit(5);
	return pid;
}

static void try(const char *name, size_t bytes, struct clone_args args)
{
	memset(&asked, 0, sizeof(asked));
	asked.args = args;
	say(name, start(bytes));
}

/* A number that was free a moment ago. */
static void number(void)
{
	long wanted;
	pid_t tid;

	asked.args = (struct clone_args){.exit_signal = SIGCHLD};
	wanted = start(64);
	wait_for(wanted);
	tid = (pid_t)wanted;
	asked.args.set_tid = (uint64_t)&tid;
	asked.args.set_tid_size = 1;
	printf("the number: %d\n", start(80) == wanted);
	say("its process", wanted);
}

static void descriptor(bool by_clone3)
{
	static struct pollfd wait;
	static pid_t tid;
	long pid;

	wait = (struct pollfd){.fd = -1, .events = POLLIN};
	tid = 0;
	memset(&asked, 0, sizeof(asked));
	asked.args.flags = CLONE_PIDFD | CLONE_PARENT_SETTID;
	asked.args.pidfd = (uint64_t)&wait.fd;
	asked.args.parent_tid = (uint64_t)&tid;
	asked.args.exit_signal = SIGCHLD;
	pid = by_clone3 ? start(88) : syscall(SYS_clone, CLONE_PIDFD | SIGCHLD, 0, &wait.fd, 0, 0);
	if (!pid)
		_exit(6);
	printf("descriptor: %d, number: %d\n", poll(&wait, 1, 60000), tid == pid);
	say("its process", pid);
	close(wait.fd);
}

static int clone3_mode(void)
{
	const size_t whole = sizeof(struct clone_args);
	pid_t tid = 1;

	try("plain", whole, (struct clone_args){.exit_signal = SIGCHLD});
	try("first version", 64, (struct clone_args){.exit_signal = SIGCHLD});
	try("less", 56, (struct clone_args){.exit_signal = SIGCHLD});
	try("nothing", 0, (struct clone_args){.exit_signal = SIGCHLD});
	try("a page", 4096, (struct clone_args){.exit_signal = SIGCHLD});
	try("more", 4097, (struct clone_args){.exit_signal = SIGCHLD});
	try("no such signal", whole, (struct clone_args){.exit_signal = 0xff});
	try("wide signal", whole, (struct clone_args){.exit_signal = UINT64_C(1) << 32 | SIGCHLD});
	try("CLONE_PARENT and a signal", whole,
	    (struct clone_args){.flags = CLONE_PARENT, .exit_signal = SIGCHLD});
	try("no such flag", whole, (struct clone_args){.flags = UINT64_C(1) << 40});
	try("CLONE_DETACHED", whole, (struct clone_args){.flags = CLONE_DETACHED});
	try("stack without size", whole, (struct clone_args){.stack = 4096});
	try("size without stack", whole, (struct clone_args){.stack_size = 4096});
	try("stack of the kernel", whole,
	    (struct clone_args){.stack = UINT64_C(1) << 63, .stack_size = 4096});
	try("CLEAR_SIGHAND", whole,
	    (struct clone_args){.flags = CLONE_CLEAR_SIGHAND, .exit_signal = SIGCHLD});
	try("CLEAR_SIGHAND and SIGHAND", whole,
	    (struct clone_args){.flags = CLONE_CLEAR_SIGHAND | CLONE_SIGHAND | CLONE_VM});
	try("no number", whole, (struct clone_args){.set_tid_size = 1});
	try("many numbers", whole,
	    (struct clone_args){.set_tid = (uint64_t)&tid, .set_tid_size = 33});
	try("number in use", whole,
	    (struct clone_args){.set_tid = (uint64_t)&tid, .set_tid_size = 1});
	try("no cgroup", whole, (struct clone_args){.flags = CLONE_INTO_CGROUP, .cgroup = 1000});
	memset(&asked, 0, sizeof(asked));
	asked.more[100] = 1;
	say("what is not known", start(400));
	say("no memory", syscall(SYS_clone3, 8, whole));
	number();
	descriptor(true);
	descriptor(false);
	say("clone with a descriptor and a number",
	    syscall(SYS_clone, CLONE_PIDFD | CLONE_PARENT_SETTID | SIGCHLD, 0, &tid, 0, 0));
	return 0;
}

/* --- execve, execveat ---------------------------------------------------------- */

static const char *const arguments[] = {"named", "one", NULL};
static char *const *const argv_given = (char *const *)arguments;

/* In a child: what the call returns, or what the program prints. */
static void execute(const char *what, int folder, const char *name, int flags)
{
	pid_t pid = fork();

	if (!pid) {
		syscall(SYS_execveat, folder, name, argv_given, environ, flags);
		printf("%s: %s\n", what, strerrorname_np(errno));
		fflush(stdout);
		_exit(1);
	}
	if (wait_for(pid) == 0)
		printf("%s: executed\n", what);
	fflush(stdout);
}

/* The folder holds `script`, `link` to it, `fifo`, and `true` to /bin/true. */
static int exec_mode(void)
{
	int folder = open(".", O_RDONLY | O_DIRECTORY), file = open("/bin/true", O_RDONLY);
	int closes = open("script", O_RDONLY | O_CLOEXEC), script = open("script", O_RDONLY);
	int closing_folder = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int path = open("/bin/true", O_PATH), null = open("/dev/null", O_RDWR);

	execute("in the folder", folder, "script", 0);
	execute("here", AT_FDCWD, "script", 0);
	execute("no such flag", AT_FDCWD, "script", 0x40000);
	execute("no such flag nor file", AT_FDCWD, "none", 0x40000);
	execute("check", AT_FDCWD, "script", 0x10000);
	execute("check what is no program", AT_FDCWD, "plain", 0x10000);
	execute("no name", folder, "", 0);
	execute("no such file", folder, "none", 0);
	execute("bad descriptor", 999, "script", 0);
	execute("bad descriptor, no name", 999, "", AT_EMPTY_PATH);
	execute("bad descriptor, whole path", 999, "/bin/true", 0);
	execute("no folder", file, "script", 0);
	execute("link", folder, "link", 0);
	execute("link not followed", folder, "link", AT_SYMLINK_NOFOLLOW);
	execute("file not followed", folder, "script", AT_SYMLINK_NOFOLLOW);
	execute("loop", folder, "loop", 0);
	execute("descriptor", file, "", AT_EMPTY_PATH);
	execute("descriptor of a path", path, "", AT_EMPTY_PATH);
	execute("descriptor of a folder", folder, "", AT_EMPTY_PATH);
	execute("descriptor of a device", null, "", AT_EMPTY_PATH);
	execute("script by descriptor", script, "", AT_EMPTY_PATH);
	execute("script by a descriptor that closes", closes, "", AT_EMPTY_PATH);
	execute("script in a folder that closes", closing_folder, "script", 0);
	execute("program in a folder that closes", closing_folder, "true", 0);
	execute("FIFO", AT_FDCWD, "fifo", 0);
	execute("FIFO as interpreter", AT_FDCWD, "script-fifo", 0);
	execute("not executable", AT_FDCWD, "plain", 0);
	return 0;
}

/* --- processes that end at once, each with a child; the last goes on until the file is gone --- */

static int leaves(const char *file, int depth)
{
	for (int i = 0; i < depth; i++)
		if (fork())
			return 0;
	while (!access(file, F_OK))
		usleep(10000);
	return 0;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	if (!strcmp(mode, "clone3"))
		return clone3_mode();
	if (!strcmp(mode, "exec"))
		return exec_mode();
	if (!strcmp(mode, "leaves") && argc > 3)
		return leaves(argv[2], atoi(argv[3]));
	return 2;
}
