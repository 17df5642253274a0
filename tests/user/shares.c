/* SPDX-License-Identifier: MIT */
/*
 * shares MODE [N]: processes that share the program's memory without being threads (CLONE_VM
 * without CLONE_THREAD).  What each MODE prints is the same natively and under softpmu.
 */
#define _GNU_SOURCE
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK (256u << 10)

static volatile int word, go;
static volatile long turns;

static pid_t start(int (*what)(void *), int flags, void *argument)
{
	char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return clone(what, stack + STACK, flags, argument);
}

static int wait_for(pid_t pid)
{
	int status = -1;

	while (waitpid(pid, &status, __WALL) < 0)
		;
	return status;
}

static void wait_until_set(volatile int *at)
{
	while (!*at)
		sched_yield();
}

static __attribute__((noinline)) void turn(long n)
{
	__asm__ volatile("1:\n\tdec %0\n\tjnz 1b" : "+r"(n) : : "cc");
}

/* --- the children ---------------------------------------------------------- */

static int counts(void *argument)
{
	turn((long)argument);
	word = 1;
	return 7;
}

static _Noreturn int spins(void *argument)
{
	(void)argument;
	word = 1;
	for (;;)
		turns++;
}

/* Code that changes constantly.  The engine stops the other tasks for each change. */
static _Noreturn int rewrites(void *argument)
{
	uint8_t *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)argument;
	word = 1;
	for (;;) {
		*code = *code == 0xc3 ? 0x90 : 0xc3; /* NOP or RET */
		code[1] = 0xc3;
		((void (*)(void))(uintptr_t)code)();
		turns++;
	}
}

static int executes(void *argument)
{
	(void)argument;
	execl("/nonexistent", "nonexistent", (char *)NULL);
	word = 1;
	execl("/bin/sh", "sh", "-c", "echo executed; exit 3", (char *)NULL);
	return 99;
}

static void note(int number)
{
	word = number;
}

static int handles(void *argument)
{
	signal(SIGUSR1, note);
	signal(SIGSEGV, note);
	go = 1;
	wait_until_set((volatile int *)argument);
	return 0;
}

static void *thread(void *argument)
{
	turn(1000);
	return argument;
}

static int outlives(void *argument)
{
	(void)argument;
	while (getppid() == go)
		sched_yield();
	turn(1000);
	(void)!write(1, "outlived\n", 9);
	_exit(0);
}

/* --- tracing: what leak checkers do ------------------------------------------ */

#define MARK UINT64_C(0x123456789abcdef0)

/* The mark is in one register only, in code that never leaves. */
static __attribute__((noinline)) void hold_mark(void)
{
	__asm__ volatile("movq %1, %%r12\n\tmovl $1, %0\n"
			 "1:\n\tincq %2\n\tcmpl $2, %0\n\tjne 1b"
			 : "+m"(go)
			 : "r"(MARK), "m"(turns)
			 : "r12", "cc", "memory");
}

static void *mark_thread(void *argument)
{
	*(pid_t *)argument = (pid_t)syscall(SYS_gettid);
	hold_mark();
	return NULL;
}

static int traces(void *argument)
{
	pid_t tid = *(pid_t *)argument;
	struct user_regs_struct regs, set;
	struct iovec vector = {&set, sizeof(set)};
	long before;
	int status;

	for (int round = 0; round < 20; round++) {
		if (ptrace(PTRACE_ATTACH, tid, 0, 0))
			return 1;
		while (waitpid(tid, &status, __WALL) != tid)
			;
		if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGSTOP)
			return 2;
		before = turns;
		if (ptrace(PTRACE_GETREGS, tid, 0, &regs) ||
		    ptrace(PTRACE_GETREGSET, tid, 1, &vector))
			return 3;
		if (regs.r12 != MARK || set.r12 != MARK || regs.rip != set.rip)
			return 4;
		if (regs.rip < (uint64_t)hold_mark || regs.rip > (uint64_t)hold_mark + 64)
			return 5;
		if ((uint64_t)ptrace(PTRACE_PEEKUSER, tid,
				     __builtin_offsetof(struct user_regs_struct, rsp),
				     0) != regs.rsp)
			return 6;
		/* Runs code that is not translated yet. */
		turn(100 + round);
		free(malloc(100000 + (size_t)round));
		if (turns != before)
			return 7;
		ptrace(PTRACE_DETACH, tid, 0, 0);
		for (before = turns; turns == before;)
			sched_yield();
	}
	return 0;
}

/* --- the modes --------------------------------------------------------------- */

static int tracing(void)
{
	pthread_t id;
	pid_t tid;
	int status;

	pthread_create(&id, NULL, mark_thread, &tid);
	wait_until_set(&go);
	status = wait_for(start(traces, CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_UNTRACED, &tid));
	printf("traced: %#x\n", status);
	go = 2;
	pthread_join(id, NULL);
	return 0;
}

static int many(void)
{
	pid_t pid[20];

	for (int i = 0; i < 20; i++)
		pid[i] = start(counts, CLONE_VM | (i % 2 ? SIGCHLD : 0) | (i % 3 ? 0 : CLONE_FILES),
			       (void *)(1000L * (i + 1)));
	for (int i = 0; i < 20; i++)
		printf("%#x ", wait_for(pid[i]));
	puts("");
	return 0;
}

/* A child that is killed at any place; the other tasks continue. */
static int killed(void)
{
	int (*const what[])(void *) = {spins, rewrites};

	for (int i = 0; i < 24; i++) {
		pid_t pid;

		word = 0;
		pid = start(what[i % 2], CLONE_VM | SIGCHLD, NULL);
		wait_until_set(&word);
		turn(10000 + i * 1000);
		kill(pid, SIGKILL);
		if (wait_for(pid) != SIGKILL)
			return 1;
		free(malloc(1u << 20));
	}
	puts("killed");
	return 0;
}

static int others(void)
{
	volatile int done = 0;
	pid_t pid = start(handles, CLONE_VM | SIGCHLD, (void *)&done);
	struct sigaction action;
	pthread_t id;

	/* Handlers of its own. */
	wait_until_set(&go);
	sigaction(SIGUSR1, NULL, &action);
	printf("handler here: %d\n", action.sa_handler == note);
	kill(pid, SIGUSR1);
	wait_until_set(&word);
	printf("there: %d\n", word);
	pthread_create(&id, NULL, thread, NULL);
	pthread_join(id, NULL);
	done = 1;
	printf("%#x\n", wait_for(pid));
	/* The same ones. */
	go = done = word = 0;
	pid = start(handles, CLONE_VM | CLONE_SIGHAND | SIGCHLD, (void *)&done);
	wait_until_set(&go);
	sigaction(SIGUSR1, NULL, &action);
	printf("handler shared: %d\n", action.sa_handler == note);
	done = 1;
	printf("%#x\n", wait_for(pid));
	fflush(stdout);
	printf("%#x\n", wait_for(start(executes, CLONE_VM | SIGCHLD, NULL)));
	/* A child of a thread. */
	pthread_create(&id, NULL, thread, NULL);
	printf("%#x\n", wait_for(start(counts, CLONE_VM | SIGCHLD, (void *)1000)));
	pthread_join(id, NULL);
	return 0;
}

static int first_ends(void)
{
	go = getpid();
	start(outlives, CLONE_VM | SIGCHLD, NULL);
	return 0;
}

static int counted(const char *n)
{
	printf("%#x\n", wait_for(start(counts, CLONE_VM | SIGCHLD, (void *)atol(n))));
	return 0;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	if (!strcmp(mode, "tracing"))
		return tracing();
	if (!strcmp(mode, "many"))
		return many();
	if (!strcmp(mode, "killed"))
		return killed();
	if (!strcmp(mode, "others"))
		return others();
	if (!strcmp(mode, "first"))
		return first_ends();
	if (!strcmp(mode, "counted") && argc > 2)
		return counted(argv[2]);
	return 2;
}
