/* SPDX-License-Identifier: MIT */
/*
 * filters.c: a program that filters its own system calls (seccomp(2)): one subject for each
 * argument. What is printed, and how it ends, is the same in every run.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "corners.h"

#define NUMBER BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))
#define IS(nr, action)                                                                             \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (nr), 0, 1), BPF_STMT(BPF_RET | BPF_K, (action))
#define ELSE(action) BPF_STMT(BPF_RET | BPF_K, (action))

static void say(const char *what, long number)
{
	char line[80];
	int n = snprintf(line, sizeof(line), "%s %ld\n", what, number);

	if (write(1, line, (size_t)n) != n)
		_exit(98);
}

static void install(struct sock_filter *filter, size_t n, unsigned flags)
{
	struct sock_fprog program = {(unsigned short)n, filter};

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program))
		say("seccomp: errno", errno);
}

#define INSTALL(flags, ...)                                                                        \
	do {                                                                                       \
		struct sock_filter filter_[] = {__VA_ARGS__};                                      \
                                                                                                   \
		install(filter_, sizeof(filter_) / sizeof(filter_[0]), flags);                     \
	} while (0)

/* mov $n, %eax; ret, written again: no filter below allows the calls that the translator makes
 * for it. */
static long new_code(int n)
{
	static uint8_t *page;
	uint8_t bytes[] = {0xb8, (uint8_t)n, 0, 0, 0, 0xc3};

	if (!page)
		page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memcpy(page, bytes, sizeof(bytes));
	return ((int (*)(void))page)();
}

static void refused(void)
{
	INSTALL(0, NUMBER, IS(SYS_getppid, SECCOMP_RET_ERRNO | 77),
		IS(SYS_mprotect, SECCOMP_RET_ERRNO | 78),
		IS(SYS_clone3, SECCOMP_RET_ERRNO | ENOSYS), IS(SYS_clone, SECCOMP_RET_ERRNO | 79),
		IS(SYS_vfork, SECCOMP_RET_ERRNO | 80), ELSE(SECCOMP_RET_ALLOW));
	say("getppid", syscall(SYS_getppid) < 0 ? errno : 0);
	say("mprotect", mprotect(&errno, 1, PROT_NONE) < 0 ? errno : 0);
	say("fork", fork() < 0 ? errno : 0);
	say("mode", prctl(PR_GET_SECCOMP, 0, 0, 0, 0));
	for (int i = 0; i < 3; i++)
		say("new code", new_code(i));
}

extern const char after_syscall[];

/* getppid(), which a filter traps. */
static __attribute__((noipa)) long call(long nr)
{
	long result;

	__asm__ volatile("syscall\n\t.globl after_syscall\nafter_syscall:"
			 : "=a"(result)
			 : "a"(nr), "D"(11), "S"(22)
			 : "rcx", "r11", "memory");
	return result;
}

static void trapped(int sig, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;

	say("signal", sig);
	say("code", info->si_code);
	say("data", info->si_errno);
	say("number", info->si_syscall - SYS_getppid);
	say("in RAX", (long)regs[REG_RAX] - SYS_getppid);
	say("after the call",
	    info->si_call_addr == after_syscall && regs[REG_RIP] == (greg_t)after_syscall);
	say("arguments", (long)(regs[REG_RDI] * 100 + regs[REG_RSI]));
	regs[REG_RAX] = 1234;
}

static void traps(void)
{
	struct sigaction action = {.sa_sigaction = trapped, .sa_flags = SA_SIGINFO};

	sigaction(SIGSYS, &action, NULL);
	INSTALL(0, NUMBER, IS(SYS_getppid, SECCOMP_RET_TRAP | 55), ELSE(SECCOMP_RET_ALLOW));
	say("result", call(SYS_getppid));
}

static void trap_default(void)
{
	INSTALL(0, NUMBER, IS(SYS_getppid, SECCOMP_RET_TRAP | 55), ELSE(SECCOMP_RET_ALLOW));
	call(SYS_getppid);
	say("not reached", 0);
}

static void trap_blocked(void)
{
	struct sigaction action = {.sa_sigaction = trapped, .sa_flags = SA_SIGINFO};
	sigset_t set;

	sigfillset(&set);
	sigaction(SIGSYS, &action, NULL);
	sigprocmask(SIG_SETMASK, &set, NULL);
	trap_default();
}

/* Calls that are not on the list kill.  The engine's own calls are not on it. */
static void kills(void)
{
	INSTALL(0, NUMBER, IS(SYS_write, SECCOMP_RET_ALLOW), IS(SYS_exit_group, SECCOMP_RET_ALLOW),
		ELSE(SECCOMP_RET_KILL_PROCESS));
	say("new code", new_code(5) == 5); /* its mmap kills */
	say("not reached", 0);
}

static void allowed(void)
{
	new_code(0);
	INSTALL(0, NUMBER, IS(SYS_write, SECCOMP_RET_ALLOW), IS(SYS_exit_group, SECCOMP_RET_ALLOW),
		ELSE(SECCOMP_RET_KILL_PROCESS));
	for (int i = 0; i < 3; i++)
		say("new code", new_code(i));
	_exit(5);
}

static void *killed_thread(void *argument)
{
	INSTALL(0, NUMBER, IS(SYS_getppid, SECCOMP_RET_KILL_THREAD), ELSE(SECCOMP_RET_ALLOW));
	call(SYS_getppid);
	say("not reached", 0);
	return argument;
}

static void *new_thread(void *argument)
{
	say("getppid", call(SYS_getppid));
	return argument;
}

static void threads(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, killed_thread, NULL);
	pthread_join(thread, NULL);
	say("thread killed; getppid", call(SYS_getppid) > 0);
	INSTALL(SECCOMP_FILTER_FLAG_TSYNC, NUMBER, IS(SYS_getppid, SECCOMP_RET_ERRNO | 33),
		IS(SYS_rt_tgsigqueueinfo, SECCOMP_RET_KILL_PROCESS), ELSE(SECCOMP_RET_ALLOW));
	pthread_create(&thread, NULL, new_thread, NULL);
	for (int i = 0; i < 50; i++)
		new_code(i);
	pthread_join(thread, NULL);
}

/* Runs in a child, because no program can do with the calls of strict mode. */
static void strict(void)
{
	int status;

	for (int i = 0; i < 2; i++) {
		if (!fork()) {
			if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0))
				say("errno", errno);
			say("strict", i);
			if (i)
				syscall(SYS_getpid);
			syscall(SYS_exit, 6);
		}
		wait(&status);
		say(WIFSIGNALED(status) ? "signal" : "status",
		    WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	}
}

static void executes(void)
{
	INSTALL(0, NUMBER, IS(SYS_memfd_create, SECCOMP_RET_KILL_PROCESS),
		IS(SYS_execveat, SECCOMP_RET_KILL_PROCESS),
		IS(SYS_faccessat2, SECCOMP_RET_ERRNO | 1), IS(SYS_dup3, SECCOMP_RET_ERRNO | 1),
		IS(SYS_sigaltstack, SECCOMP_RET_KILL_PROCESS), ELSE(SECCOMP_RET_ALLOW));
	execl("/bin/echo", "echo", "executed", NULL);
	say("errno", errno);
}

static void executes_not(void)
{
	INSTALL(0, NUMBER, IS(SYS_execve, SECCOMP_RET_ERRNO | 44), ELSE(SECCOMP_RET_ALLOW));
	execl("/bin/echo", "echo", "executed", NULL);
	say("errno", errno);
}

static void errors(void)
{
	struct sock_fprog program = {0, NULL};

	say("empty", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) ? errno : 0);
	program.len = 5;
	say("nowhere", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) ? errno : 0);
	say("null", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL) ? errno : 0);
	say("flags", syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 1, NULL) ? errno : 0);
	INSTALL(0, NUMBER); /* no RET at its end */
}

/* A process that may not install a filter gets that error before the filter is read. */
static void unprivileged(void)
{
	struct sock_fprog program = {5, NULL};

	need(!setuid(65534) || errno == EPERM, "setuid");
	say("nowhere", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) ? errno : 0);
}

/* A filter that begins with a jump over all instructions but the last ones. */
static void of_length(unsigned n)
{
	static struct sock_filter filter[BPF_MAXINSNS];
	const struct sock_filter end[] = {IS(SYS_getppid, SECCOMP_RET_ERRNO | 66),
					  ELSE(SECCOMP_RET_ALLOW)};
	const unsigned ends = sizeof(end) / sizeof(end[0]);

	filter[0] = (struct sock_filter)NUMBER;
	filter[1] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpid, 0, 1);
	filter[2] = (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, n - 4); /* the last one */
	for (unsigned i = 3; i < n - ends; i++)
		filter[i] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_ADD | BPF_K, 0);
	memcpy(filter + n - ends, end, sizeof(end));
	install(filter, n, 0);
	say("getppid", syscall(SYS_getppid) < 0 ? errno : 0);
	say("getpid", syscall(SYS_getpid) == getpid());
}

/* A denied exit returns.  An allowed exit of a child gives its status. */
static void exits(void)
{
	int status = -1;

	INSTALL(0, NUMBER, IS(SYS_exit_group, SECCOMP_RET_ERRNO | 77),
		IS(SYS_exit, SECCOMP_RET_ERRNO | 78), ELSE(SECCOMP_RET_ALLOW));
	say("exit_group", syscall(SYS_exit_group, 3) < 0 ? errno : 0);
	say("exit", syscall(SYS_exit, 3) < 0 ? errno : 0);
	if (!fork()) {
		say("in the child", syscall(SYS_exit_group, 3) < 0 ? errno : 0);
		raise(SIGKILL);
	}
	wait(&status);
	say("killed", status);
	raise(SIGTERM);
}

/* The last exit's data decides. */
static void exits_by_status(void)
{
	int status = -1;

	INSTALL(0, NUMBER, BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 5, 0, 1), ELSE(SECCOMP_RET_KILL_PROCESS),
		ELSE(SECCOMP_RET_ALLOW));
	if (!fork())
		_exit(5);
	wait(&status);
	say("five", status);
	if (!fork())
		_exit(6);
	wait(&status);
	say("six", status);
}

/* The answer is in A. */
static void computed(void)
{
	int status = -1;

	INSTALL(0, NUMBER, BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpgrp, 3, 0), ELSE(SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_LD | BPF_IMM, SECCOMP_RET_ERRNO | 60), BPF_STMT(BPF_RET | BPF_A, 0),
		BPF_STMT(BPF_LD | BPF_IMM, SECCOMP_RET_KILL_PROCESS), BPF_STMT(BPF_RET | BPF_A, 0));
	say("getppid", syscall(SYS_getppid) < 0 ? errno : 0);
	if (!fork()) {
		syscall(SYS_getpgrp);
		_exit(1);
	}
	wait(&status);
	say("getpgrp", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

/* As long as a filter may be, if it allows everything. */
static void allows(void)
{
	static struct sock_filter filter[BPF_MAXINSNS];

	for (unsigned i = 0; i < BPF_MAXINSNS; i++)
		filter[i] = (struct sock_filter)ELSE(SECCOMP_RET_ALLOW);
	install(filter, BPF_MAXINSNS, 0);
	say("getpid", syscall(SYS_getpid) == getpid());
}

static long microseconds_used(void)
{
	struct rusage used;

	getrusage(RUSAGE_SELF, &used);
	return (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000 + used.ru_utime.tv_usec +
	       used.ru_stime.tv_usec;
}

/*
 * Filters that allow calls by their numbers, which the kernel remembers.  The error stream gets the
 * processor time of the calls in microseconds.
 */
static void heavy(void)
{
	static struct sock_filter filter[800] = {NUMBER};
	long before;

	for (unsigned i = 1; i < 799; i += 2) {
		const struct sock_filter pair[] = {IS(10000 + i, SECCOMP_RET_ERRNO | 60)};

		memcpy(filter + i, pair, sizeof(pair));
	}
	filter[799] = (struct sock_filter)ELSE(SECCOMP_RET_ALLOW);
	for (int i = 0; i < 10; i++)
		install(filter, 800, 0);
	before = microseconds_used();
	for (int i = 0; i < 300000; i++)
		if (syscall(SYS_getppid) < 0)
			say("getppid", errno);
	fprintf(stderr, "%ld\n", microseconds_used() - before);
	say("calls", 300000);
}

static void is_long(void)
{
	of_length(BPF_MAXINSNS - 16);
}

static void longest(void)
{
	of_length(BPF_MAXINSNS);
}

int main(int argc, char **argv)
{
	static const struct subject subjects[] = {
		{"refused", refused},
		{"traps", traps},
		{"trap-default", trap_default},
		{"trap-blocked", trap_blocked},
		{"kills", kills},
		{"allowed", allowed},
		{"threads", threads},
		{"strict", strict},
		{"executes", executes},
		{"unprivileged", unprivileged},
		{"executes-not", executes_not},
		{"errors", errors},
		{"long", is_long},
		{"longest", longest},
		{"exits", exits},
		{"exits-by-status", exits_by_status},
		{"computed", computed},
		{"allows", allows},
		{"heavy", heavy},
		{NULL, NULL},
	};

	return run_subject(subjects, argc, argv);
}
