/* SPDX-License-Identifier: MIT */
/*
 * corners.c: rare uses of the system: one subject for each argument.  The output is the same in
 * every run.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/close_range.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "corners.h"

static void pause_us(long us)
{
	struct timespec t = {0, us * 1000};

	nanosleep(&t, NULL);
}

/* --- a child of vfork that is killed at any place --- */

typedef int function(void);

static volatile pid_t victim;
static volatile int done;

/* mov $n, %eax; ret, written again each time, so that the translator is busy. */
static int run_new_code(uint8_t *at, int n)
{
	uint8_t bytes[] = {0xb8, (uint8_t)n, (uint8_t)(n >> 8), 0, 0, 0xc3};

	memcpy(at, bytes, sizeof(bytes));
	return ((function *)at)();
}

static uint8_t *new_page(void)
{
	void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);

	need(at != MAP_FAILED, "mmap");
	return at;
}

static void *kill_children(void *argument)
{
	unsigned random = 1;

	while (!done) {
		pid_t pid = victim;

		if (!pid)
			continue;
		random = random * 1103515245 + 12345;
		pause_us(random >> 16 & 511);
		victim = 0;
		kill(pid, SIGKILL);
	}
	return argument;
}

static void *stay_busy(void *argument)
{
	uint8_t *page = new_page();
	long sum = 0;

	for (int i = 0; !done; i++)
		sum += run_new_code(page, i & 1023) - (i & 1023);
	(void)argument;
	return (void *)sum;
}

static void killed(void)
{
	pthread_t killer, busy;
	uint8_t *page = new_page();
	void *wrong;
	int ends = 0;

	pthread_create(&killer, NULL, kill_children, NULL);
	pthread_create(&busy, NULL, stay_busy, NULL);
	for (int i = 0; i < 300; i++) {
		int status;
		pid_t pid = vfork();

		if (!pid) {
			victim = getpid();
			for (int j = 0;; j++)
				run_new_code(page, j & 1023);
		}
		need(pid > 0 && waitpid(pid, &status, 0) == pid, "vfork");
		ends += WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
		need(run_new_code(page, i) == i, "the parent's code");
	}
	done = 1;
	pthread_join(killer, NULL);
	pthread_join(busy, &wrong);
	printf("killed: %d, %ld wrong\n", ends, (long)wrong);
}

/* --- flags of clone --- */

static int clone_child(void *argument)
{
	(void)argument;
	_exit(7);
}

static void with_flags(const char *name, unsigned long flags)
{
	static char stack[65536] __attribute__((aligned(16)));
	int status = 0, pid = clone(clone_child, stack + sizeof(stack), (int)flags | SIGCHLD, NULL);

	if (pid < 0) {
		printf("%s: %s\n", name, strerrorname_np(errno));
		return;
	}
	if (waitpid(pid, &status, 0) == pid)
		printf("%s: ended with %d\n", name, WEXITSTATUS(status));
	else
		printf("%s: %s\n", name, strerrorname_np(errno)); /* its parent is ours */
}

static void clones(void)
{
	with_flags("no flags", 0);
	with_flags("files", CLONE_FILES | CLONE_FS | CLONE_SYSVSEM);
	with_flags("parent", CLONE_PARENT);
	with_flags("sighand without vm", CLONE_SIGHAND);
	with_flags("thread without sighand", CLONE_THREAD);
	with_flags("thread without vm", CLONE_THREAD | CLONE_SIGHAND);
	with_flags("newns with fs", CLONE_NEWNS | CLONE_FS);
	with_flags("vfork", CLONE_VFORK);
	with_flags("vfork with vm", CLONE_VFORK | CLONE_VM);
	with_flags("untraced", CLONE_UNTRACED);
	with_flags("io", CLONE_IO);
}

/* --- a process that moves to another root, and closes the descriptors that it finds open --- */

static void elsewhere(void)
{
	int closed = 0, taken = 0;

	if (getuid() ? setresuid(getuid(), getuid(), getuid()) : setresuid(65534, 65534, 65534))
		printf("setresuid: %s\n", strerrorname_np(errno));
	for (int fd = 3; fd < 1024; fd++)
		closed += !close(fd);
	for (int fd = 3; fd < 1000; fd++)
		taken += dup2(1, fd) == fd;
	printf("closed %d, taken %d, ", closed, taken);
	printf("close_range %d, ", close_range(3, 900, 0));
	printf("%d, ", close_range(950, ~0u, 0));
	printf("%d\n", close_range(901, 949, CLOSE_RANGE_UNSHARE));
	fflush(stdout);
	execl("/bin/sh", "sh", "-c", "echo executed; /bin/echo again; exec /bin/echo at last",
	      NULL);
}

/* --- a program that executes itself --- */

static void myself(void)
{
	printf("myself, ");
	fflush(stdout);
	execl("/proc/self/exe", "again", "clones", NULL);
	printf("execl: %s\n", strerrorname_np(errno));
}

int main(int argc, char **argv)
{
	static const struct subject subjects[] = {
		{"killed", killed}, {"clones", clones}, {"elsewhere", elsewhere},
		{"myself", myself}, {NULL, NULL},
	};

	return run_subject(subjects, argc, argv);
}
