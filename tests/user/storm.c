/* SPDX-License-Identifier: MIT */
/*
 * storm.c: signals that come very fast.  The first argument chooses the test.
 *
 *	timer SIGNALS SECONDS
 *			A timer of 20 kHz interrupts main at least so often, and at least so long.
 *			Other threads compute.  One thread writes code and runs it.
 *	alone ROUNDS	A timer of 10 kHz interrupts a loop of ROUNDS rounds.
 *	flood ROUNDS	A thread sends signals until main has run ROUNDS rounds.
 *	cost SIGNALS	Main sends itself signals.  The error stream gets the processor time in
 *			microseconds.
 *	order		A pending signal is delivered before the next instruction.
 */
#define _GNU_SOURCE
#include "corners.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

#define WORKERS 2

static volatile unsigned long signals;
static volatile int over;

static void count(int number)
{
	(void)number;
	signals++;
}

static void handle(int number, void (*handler)(int), int flags)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = flags};

	need(sigaction(number, &action, NULL) == 0, "sigaction");
}

static void start_timer(long microseconds)
{
	struct itimerval timer = {{0, microseconds}, {0, microseconds}};

	need(setitimer(ITIMER_REAL, &timer, NULL) == 0, "setitimer");
}

static uint64_t compute(uint64_t seed, unsigned long rounds)
{
	for (unsigned long i = 0; i < rounds; i++)
		seed = seed * 6364136223846793005u + (i ^ (seed >> 29 & 1 ? seed >> 7 : seed >> 9));
	return seed;
}

/* --- timer --- */

/* Adds up what code says that it has just written: MOV EAX, n; RET. */
static uint64_t write_and_run(unsigned rounds)
{
	static unsigned char *code;
	unsigned char text[] = {0xb8, 0, 0, 0, 0, 0xc3};
	uint64_t sum = 0;

	if (!code)
		code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	need(code != MAP_FAILED, "mmap");
	for (uint32_t i = 0; i < rounds; i++) {
		uint32_t n = i * 2654435761u;
		unsigned char *at = code + i % 64 * 16;
		unsigned (*function)(void) = (unsigned (*)(void))at;

		memcpy(text + 1, &n, sizeof(n));
		memcpy(at, text, sizeof(text));
		sum = sum * 31 + function();
	}
	return sum;
}

static uint64_t work_of(long worker)
{
	return worker == WORKERS ? write_and_run(200) : compute((uint64_t)worker, 100000);
}

static long milliseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Returns whether each round gives the same result as the first. */
static void *work(void *argument)
{
	uint64_t first = work_of((long)argument);
	sigset_t all;
	uintptr_t same = 1;

	sigfillset(&all);
	pthread_sigmask((long)argument % 2 ? SIG_BLOCK : SIG_UNBLOCK, &all, NULL);
	while (!over)
		same &= work_of((long)argument) == first;
	return (void *)same;
}

static void timer(unsigned long wanted, long seconds)
{
	const long end = milliseconds() + seconds * 1000;
	pthread_t thread[WORKERS + 1];
	uint64_t first = compute(7, 100000);
	uintptr_t same = 1;
	void *result;

	for (long i = 0; i <= WORKERS; i++)
		need(!pthread_create(&thread[i], NULL, work, (void *)i), "pthread_create");
	handle(SIGALRM, count, SA_RESTART);
	start_timer(50);
	for (unsigned long round = 0; round < 10 || signals < wanted || milliseconds() < end;
	     round++)
		same &= compute(7, 100000) == first;
	start_timer(0);
	over = 1;
	printf("main %016lx: %d\n", first, (int)same);
	for (long i = 0; i <= WORKERS; i++) {
		pthread_join(thread[i], &result);
		printf("thread %ld %016lx: %d\n", i, work_of(i), (int)(uintptr_t)result);
	}
}

/* --- alone, flood --- */

static void alone(unsigned long rounds)
{
	handle(SIGALRM, count, 0);
	start_timer(100);
	printf("%016lx\n", compute(1, rounds));
	start_timer(0);
	printf("%d\n", signals > 0);
}

static void *flood_thread(void *to)
{
	while (!over)
		syscall(SYS_tgkill, getpid(), (pid_t)(long)to, SIGUSR1);
	return NULL;
}

static void flood(unsigned long rounds)
{
	pthread_t thread;

	handle(SIGUSR1, count, 0);
	need(!pthread_create(&thread, NULL, flood_thread, (void *)(long)getpid()),
	     "pthread_create");
	while (!signals)
		;
	printf("%016lx\n", compute(1, rounds));
	over = 1;
	pthread_join(thread, NULL);
}

/* --- cost --- */

static void cost(unsigned long wanted)
{
	struct rusage used;

	handle(SIGUSR1, count, 0);
	while (signals < wanted)
		raise(SIGUSR1);
	getrusage(RUSAGE_SELF, &used);
	printf("%lu\n", signals);
	fprintf(stderr, "%ld\n",
		(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000 + used.ru_utime.tv_usec +
			used.ru_stime.tv_usec);
}

/* --- order --- */

/* Makes a system call, and returns the count at the instruction after it. */
static unsigned long count_after(long nr, long a, long b, long c, long d)
{
	unsigned long counted;
	register long r10 __asm__("r10") = d;

	__asm__ volatile("syscall\n\tmov %5, %0"
			 : "=&r"(counted), "+a"(nr)
			 : "D"(a), "S"(b), "d"(c), "m"(signals), "r"(r10)
			 : "rcx", "r11", "memory");
	return counted;
}

/* The handler sends itself its own signal again, five times in total. */
static void raise_again(int number)
{
	if (++signals < 5)
		syscall(SYS_tgkill, getpid(), gettid(), number);
}

static void order(void)
{
	uint64_t set = ~UINT64_C(0);

	handle(SIGUSR1, raise_again, 0);
	printf("raised: %lu\n", count_after(SYS_tgkill, getpid(), gettid(), SIGUSR1, 0));
	signals = 0;
	handle(SIGRTMIN, count, 0);
	handle(SIGUSR1, count, 0);
	handle(SIGUSR2, count, 0);
	count_after(SYS_rt_sigprocmask, SIG_BLOCK, (long)&set, 0, 8);
	if (!fork()) {
		for (int i = 0; i < 500; i++)
			need(!sigqueue(getppid(), SIGRTMIN, (union sigval){.sival_int = i}),
			     "sigqueue");
		kill(getppid(), SIGUSR1);
		kill(getppid(), SIGUSR2);
		_exit(0);
	}
	waitpid(-1, NULL, 0);
	set = 0;
	printf("queued: %lu\n", count_after(SYS_rt_sigprocmask, SIG_SETMASK, (long)&set, 0, 8));
}

int main(int argc, char **argv)
{
	unsigned long n = argc > 2 ? strtoul(argv[2], NULL, 0) : 0;

	if (argc > 1 && !strcmp(argv[1], "timer"))
		timer(n, argc > 3 ? atol(argv[3]) : 0);
	else if (argc > 1 && !strcmp(argv[1], "alone"))
		alone(n);
	else if (argc > 1 && !strcmp(argv[1], "flood"))
		flood(n);
	else if (argc > 1 && !strcmp(argv[1], "cost"))
		cost(n);
	else if (argc > 1 && !strcmp(argv[1], "order"))
		order();
	else
		return 2;
	return 0;
}
