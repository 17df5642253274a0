/* SPDX-License-Identifier: MIT */
/*
 * threads-system.c: threads and the system: signals, timers, processes, ends, identities, code that
 * changes while others run it, system calls that wait.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <setjmp.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "threads.h"

/* --- signals --- */

static _Atomic int handled[4];
static __thread int which;
static _Atomic int wrong, stop_all;
static __thread sigjmp_buf back;

static void count_signal(int sig, siginfo_t *info, void *context)
{
	(void)context;
	if (sig == SIGUSR1 && (info->si_code != SI_TKILL || info->si_pid != getpid()))
		wrong++;
	handled[which]++;
}

static void jump_back(int sig)
{
	(void)sig;
	siglongjmp(back, 1);
}

static void *run_until_stopped(void *argument)
{
	volatile double x = 1;
	sigset_t set;

	which = (int)(long)argument;
	if (which == 2) {
		sigemptyset(&set);
		sigaddset(&set, SIGUSR2);
		pthread_sigmask(SIG_BLOCK, &set, NULL);
	}
	pthread_barrier_wait(&barrier);
	while (!stop_all) {
		x = x * 1.0000001;
		if (which == 3)
			pause_ms(1);
	}
	return NULL;
}

static void *fault_often(void *argument)
{
	volatile int *nowhere = argument;

	for (volatile int i = 0; i < 200; i++)
		if (!sigsetjmp(back, 1))
			*nowhere = 1;
	return NULL;
}

void thread_signals(void)
{
	struct sigaction action = {.sa_sigaction = count_signal,
				   .sa_flags = SA_SIGINFO | SA_RESTART};
	pthread_t thread[4], faulty[3];
	sigset_t set, old;
	int sig;

	sigaction(SIGUSR1, &action, NULL);
	pthread_barrier_init(&barrier, NULL, 4);
	for (long i = 1; i < 4; i++)
		thread[i] = begin(run_until_stopped, (void *)i);
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < 300; i++) {
		int to = 1 + i % 3, before = handled[to];

		pthread_kill(thread[to], SIGUSR1);
		while (handled[to] == before)
			sched_yield();
	}
	printf("signals: %d %d %d, %d wrong\n", handled[1], handled[2], handled[3], wrong);
	/* To the process: a thread that does not block it gets it; then one that waits for it. */
	sigaction(SIGUSR2, &action, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &set, &old);
	for (int i = 0; i < 50; i++) {
		int before = handled[1] + handled[3];

		kill(getpid(), SIGUSR2);
		while (handled[1] + handled[3] == before)
			sched_yield();
	}
	printf("signals: %d to the process, %d where it is blocked\n",
	       handled[1] + handled[3] - 200, handled[2] - 100);
	stop_all = 1;
	for (int i = 1; i < 4; i++)
		end(thread[i]);
	kill(getpid(), SIGUSR2);
	sigwait(&set, &sig);
	printf("signals: waited for %d\n", sig == SIGUSR2);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	/* Each thread gets its own faults. */
	signal(SIGSEGV, jump_back);
	for (int i = 0; i < 3; i++)
		faulty[i] = begin(fault_often, NULL);
	for (int i = 0; i < 3; i++)
		end(faulty[i]);
	printf("signals: faults\n");
}

/* A timer interrupts all threads. */
static _Atomic long ticks;

static void tick(int sig)
{
	(void)sig;
	ticks++;
}

static void *work(void *argument)
{
	uint64_t x = (uint64_t)argument + 1;

	for (int i = 0; i < 3000000; i++)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return (void *)x;
}

void thread_timers(void)
{
	struct sigaction action = {.sa_handler = tick, .sa_flags = SA_RESTART};
	struct itimerspec each = {{0, 300000}, {0, 300000}};
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF};
	pthread_t thread[4];
	uint64_t sum = 0;
	timer_t timer;

	sigaction(SIGPROF, &action, NULL);
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	timer_settime(timer, 0, &each, NULL);
	for (int round = 0; round < 3; round++) {
		for (long i = 0; i < 4; i++)
			thread[i] = begin(work, (void *)i);
		for (int i = 0; i < 4; i++)
			sum += (uint64_t)end(thread[i]);
	}
	timer_delete(timer);
	printf("timers: %016lx %s\n", sum, ticks > 5 ? "ticked" : "did not tick");
}

/* --- processes --- */

static void *fork_often(void *argument)
{
	for (int i = 0; i < 15; i++) {
		pid_t pid = fork();
		int status = 0;

		if (!pid) {
			pthread_t thread;

			if (pthread_create(&thread, NULL, work, NULL) || pthread_join(thread, NULL))
				_exit(99);
			_exit(i);
		}
		if (waitpid(pid, &status, 0) != pid || WEXITSTATUS(status) != i)
			wrong++;
	}
	return argument;
}

static void *spawn_often(void *argument)
{
	char *const arguments[] = {"true", NULL};

	for (int i = 0; i < 8; i++) {
		int status = 0;
		pid_t pid;

		if (posix_spawnp(&pid, "true", NULL, NULL, arguments, environ) ||
		    waitpid(pid, &status, 0) != pid || status)
			wrong++;
	}
	return argument;
}

static void *compute_until_stopped(void *argument)
{
	while (!stop_all)
		work(argument);
	return argument;
}

void thread_processes(void)
{
	pthread_t thread[3] = {begin(compute_until_stopped, NULL), begin(fork_often, NULL),
			       begin(spawn_often, NULL)};

	end(thread[1]);
	end(thread[2]);
	stop_all = 1;
	end(thread[0]);
	printf("processes: %d wrong\n", wrong);
}

static void *execute(void *argument)
{
	fflush(stdout);
	execlp("echo", "echo", "exec:", argument, NULL);
	return NULL;
}

void thread_exec(void)
{
	begin(compute_until_stopped, NULL);
	begin(wait_until_cancelled, "");
	execlp("/nonexistent", "nonexistent", NULL);
	printf("exec: %s\n", strerror(errno));
	end(begin(execute, "by a thread"));
	printf("failed: exec\n");
}

/* --- ends --- */

static void *leave(void *argument)
{
	pause_ms(5);
	printf("leave: from a thread\n");
	exit((int)(long)argument);
}

void thread_leave_all(void)
{
	begin(compute_until_stopped, NULL);
	begin(wait_until_cancelled, "");
	begin(leave, (void *)7);
	for (;;)
		pause();
}

static void *outlive(void *argument)
{
	end(*(pthread_t *)argument);
	pause_ms(5);
	printf("outlive: the first thread has ended\n");
	return NULL;
}

static pthread_t first;

void thread_last(void)
{
	first = pthread_self();
	begin(outlive, &first);
	pthread_exit(NULL);
}

static void *abort_soon(void *argument)
{
	pause_ms(5);
	abort();
	return argument;
}

void thread_die(void)
{
	begin(compute_until_stopped, NULL);
	begin(wait_until_cancelled, "");
	begin(abort_soon, NULL);
	for (;;)
		pause();
}

/* --- identities: the library tells all threads (SIGSETXID) --- */

static void *identity(void *argument)
{
	while (!stop_all)
		pause_ms(1);
	return (void *)(long)(getegid() == (gid_t)(long)argument);
}

void thread_identities(void)
{
	gid_t gid = getgid();
	pthread_t thread[3];
	long same = 0;

	for (int i = 0; i < 3; i++)
		thread[i] = begin(i ? identity : compute_until_stopped, (void *)(long)gid);
	for (int i = 0; i < 20; i++)
		need(!setresgid(gid, gid, gid), "setresgid");
	stop_all = 1;
	for (int i = 0; i < 3; i++)
		same += (long)end(thread[i]) == 1;
	printf("identities: %ld\n", same);
}

/* --- code that changes while others run it --- */

typedef int function(void);

/* mov $n, %eax; ret, again and again, in pages that the threads share. */
static function *code;

static void write_code(uint8_t *at, int n)
{
	uint8_t bytes[] = {0xb8, (uint8_t)n, (uint8_t)(n >> 8), 0, 0, 0xc3};

	memcpy(at, bytes, sizeof(bytes));
}

static void *make_code(void *argument)
{
	uint8_t *own_code = (uint8_t *)code + 64 * (long)argument;
	long sum = 0;

	for (int i = 0; i < 300; i++) {
		write_code(own_code, i);
		for (int j = 0; j < 20; j++)
			sum += ((function *)own_code)();
	}
	return (void *)sum;
}

static void *map_code(void *argument)
{
	long sum = 0;

	for (int i = 0; i < 100; i++) {
		uint8_t *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		write_code(page, i + (int)(long)argument);
		mprotect(page, 4096, PROT_READ | PROT_EXEC);
		for (int j = 0; j < 5; j++)
			sum += ((function *)page)();
		munmap(page, 4096);
	}
	return (void *)sum;
}

void thread_changes(void)
{
	pthread_t thread[6];
	long sum = 0;

	code = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0);
	for (long i = 0; i < 6; i++)
		thread[i] = begin(i % 2 ? map_code : make_code, (void *)i);
	for (int i = 0; i < 6; i++)
		sum += (long)end(thread[i]);
	printf("changes: %ld\n", sum);
}

/* --- a system call that waits is not disturbed by what other threads do --- */

static void *wait_in_calls(void *argument)
{
	struct timespec t = {0, 2000000}, left;
	uint32_t word = 0;

	(void)argument;
	for (int i = 0; i < 100; i++) {
		if (nanosleep(&t, &left))
			wrong++;
		if (syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &t) != -1 ||
		    errno != ETIMEDOUT)
			wrong++;
	}
	return NULL;
}

void thread_waits(void)
{
	pthread_t thread[3];

	code = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0);
	for (int i = 0; i < 3; i++)
		thread[i] = begin(wait_in_calls, NULL);
	for (int i = 0; i < 10; i++)
		make_code((void *)0);
	for (int i = 0; i < 3; i++)
		end(thread[i]);
	printf("waits: %d wrong\n", wrong);
}
