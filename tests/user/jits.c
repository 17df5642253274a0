/* SPDX-License-Identifier: MIT */
/*
 * jits.c: what just-in-time compilers do with code. They write and run it in turns (mprotect(2)),
 * and patch calls that other threads run. They replace code, move it, and publish it to other
 * threads. They run it in signal handlers and in children, and start programs meanwhile. One
 * subject for each argument. Only aligned stores change code that another thread is running (Vol.
 * 3A 8.1.3, 9.1.3 in later editions).
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "corners.h"

#define PAGE	4096
#define SLOT	64
#define ALL	(PROT_READ | PROT_WRITE | PROT_EXEC)
#define THREADS 3

typedef int function(void);

static uint8_t *new_code(void *at, size_t bytes, int protection)
{
	int fixed = at ? MAP_FIXED_NOREPLACE : 0;
	uint8_t *code = mmap(at, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | fixed, -1, 0);

	need(code != MAP_FAILED && (!at || code == at), "mmap");
	return code;
}

/* A function that counts down from `turns` and returns n + turns: a loop, so that it is hot. */
static void write_function(uint8_t *at, uint32_t n, uint8_t turns)
{
	uint8_t code[] = {
		0xb8, 0,    0, 0, 0, /* mov $n, %eax */
		0xb9, 0,    0, 0, 0, /* mov $turns, %ecx */
		0xff, 0xc0,	     /* 1: inc %eax */
		0xff, 0xc9,	     /* dec %ecx */
		0x75, 0xfa,	     /* jne 1b */
		0xc3,		     /* ret */
	};

	memcpy(code + 1, &n, sizeof(n));
	code[6] = turns;
	memcpy(at, code, sizeof(code));
}

static int call(const uint8_t *at)
{
	return ((function *)at)();
}

/* --- either written or run --- */

static void flips(void)
{
	uint8_t *code = new_code(NULL, 2 * PAGE, PROT_READ | PROT_WRITE);
	int wrong = 0, runs = 0;

	for (int n = 0; n < 400; n++) {
		uint8_t *at = code + n * 40 % (2 * PAGE - SLOT);

		need(!mprotect(code, 2 * PAGE, PROT_READ | PROT_WRITE), "mprotect");
		write_function(at, (uint32_t)n, 3);
		need(!mprotect(code, 2 * PAGE, PROT_READ | PROT_EXEC), "mprotect");
		for (int again = 0; again < 3; again++, runs++)
			wrong += call(at) != n + 3;
	}
	printf("flips: %d runs, %d wrong\n", runs, wrong);
}

/* --- a call that is patched while others are in it --- */

static uint8_t *caller, *callees;
static volatile int done;

/* The displacement of `call` from caller + 3 is at caller + 4, aligned. */
static void patch(int which)
{
	int32_t to = (int32_t)(callees + which * SLOT - (caller + 8));

	__atomic_store_n((int32_t *)(caller + 4), to, __ATOMIC_RELEASE);
}

static void *call_patched(void *argument)
{
	long wrong = 0;

	while (!done) {
		int got = call(caller);

		wrong += got < 10 || got > 13;
	}
	(void)argument;
	return (void *)wrong;
}

static void patches(void)
{
	pthread_t threads[THREADS];
	long wrong = 0, all = 0;
	void *result;

	caller = new_code(NULL, 2 * PAGE, ALL);
	callees = caller + PAGE;
	memset(caller, 0x90, SLOT);
	caller[3] = 0xe8;
	caller[8] = 0xc3;
	for (int i = 0; i < 4; i++)
		write_function(callees + i * SLOT, (uint32_t)i, 10);
	patch(0);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, call_patched, NULL);
	for (int n = 0; n < 400; n++) {
		patch(n & 3);
		wrong += call(caller) != (n & 3) + 10;
		if (n % 8 == 0)
			usleep(50);
	}
	done = 1;
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &result);
		all += (long)result;
	}
	printf("patches: %ld wrong here, %ld in others\n", wrong, all);
}

/* --- new code at the place of old code --- */

static void reuse(void)
{
	uint8_t *at = new_code(NULL, PAGE, ALL);
	int wrong = 0;

	for (int n = 0; n < 200; n++) {
		write_function(at + n % 5, (uint32_t)n, 5);
		wrong += call(at + n % 5) != n + 5;
		if (n % 3 == 0)
			madvise(at, PAGE, MADV_DONTNEED);
		need(!munmap(at, PAGE), "munmap");
		need(new_code(at, PAGE, ALL) != NULL, "mmap");
	}
	printf("reuse: %d wrong\n", wrong);
}

/* --- code in handlers --- */

static uint8_t *of_handler;
static volatile int handled, handled_wrong;

static void handler(int sig)
{
	int n = handled + 1;

	(void)sig;
	write_function(of_handler, (uint32_t)n, 2);
	handled_wrong += call(of_handler) != n + 2;
	handled = n;
}

static void handlers(void)
{
	struct itimerval often = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
	uint8_t *code = new_code(NULL, PAGE, ALL);
	int wrong = 0;

	of_handler = code + PAGE / 2; /* in the page that the program writes to */
	signal(SIGALRM, handler);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int n = 0; n < 300 || handled < 40; n++) {
		write_function(code + n % 16, (uint32_t)n, 100);
		wrong += call(code + n % 16) != n + 100;
	}
	setitimer(ITIMER_REAL, &never, NULL);
	printf("handlers: %d wrong, %d in handlers\n", wrong, handled_wrong);
}

/* --- children have code of their own --- */

static void forks(void)
{
	uint8_t *code = new_code(NULL, PAGE, ALL);
	int wrong = 0, status;

	for (int n = 1; n <= 20; n++) {
		pid_t pid;

		write_function(code, (uint32_t)n, 4);
		wrong += call(code) != n + 4;
		pid = fork();
		if (!pid) {
			int bad = call(code) != n + 4;

			write_function(code, 1000, 4);
			_exit(bad + (call(code) != 1004));
		}
		wrong += call(code) != n + 4;
		need(waitpid(pid, &status, 0) == pid, "waitpid");
		wrong += status != 0;
		wrong += call(code) != n + 4;
	}
	printf("forks: %d wrong\n", wrong);
}

/* --- threads that write code next to each other's, in the same pages --- */

static uint8_t *shared;

static void *write_own(void *argument)
{
	uint8_t *own = shared + (long)argument * SLOT;
	long wrong = 0;

	for (uint32_t n = 0; n < 150; n++) {
		write_function(own, n, 9);
		wrong += call(own) != (int)n + 9;
	}
	return (void *)wrong;
}

static void threads(void)
{
	pthread_t other[THREADS];
	void *result;
	long wrong = 0;

	shared = new_code(NULL, PAGE, ALL);
	for (long i = 0; i < THREADS; i++)
		pthread_create(&other[i], NULL, write_own, (void *)i);
	wrong += (long)write_own((void *)THREADS);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(other[i], &result);
		wrong += (long)result;
	}
	printf("threads: %ld wrong\n", wrong);
}

/* --- code that is published: its address is stored after the code is complete --- */

#define PUBLISHED 120

static uint8_t *_Atomic published[PUBLISHED];

static void *run_published(void *argument)
{
	long wrong = 0;

	(void)argument;
	for (int n = 0; n < PUBLISHED; n++) {
		uint8_t *at;

		while (!(at = published[n]))
			;
		for (int i = 0; i < 5; i++)
			wrong += call(at) != n + 7;
		wrong += call(published[n / 2]) != n / 2 + 7;
	}
	return (void *)wrong;
}

static void publishes(void)
{
	uint8_t *code = new_code(NULL, 2 * PAGE, ALL);
	pthread_t other[THREADS];
	void *result;
	long wrong = 0;

	for (int i = 0; i < THREADS; i++)
		pthread_create(&other[i], NULL, run_published, NULL);
	for (int n = 0; n < PUBLISHED; n++) {
		uint8_t *at = code + n * SLOT;

		write_function(at, (uint32_t)n, 7);
		wrong += call(at) != n + 7;
		published[n] = at;
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(other[i], &result);
		wrong += (long)result;
	}
	printf("published: %ld wrong\n", wrong);
}

/* --- a collector moves it --- */

static void moved(void)
{
	uint8_t *code = new_code(NULL, 4 * PAGE, ALL);
	int wrong = 0;

	for (int n = 0; n < 60; n++) {
		for (int i = 0; i < 20; i++)
			write_function(code + (2 * i + 1) * SLOT, (uint32_t)(n + i), 6);
		for (int i = 0; i < 20; i++)
			wrong += call(code + (2 * i + 1) * SLOT) != n + i + 6;
		for (int i = 0; i < 20; i++) /* together, and over the old ones */
			memmove(code + i * SLOT, code + (2 * i + 1) * SLOT, SLOT);
		for (int i = 0; i < 20; i++)
			wrong += call(code + i * SLOT) != n + i + 6;
	}
	printf("moved: %d wrong\n", wrong);
}

/* --- programs are started while code changes --- */

static void *write_until_done(void *argument)
{
	uint8_t *code = new_code(NULL, PAGE, ALL);
	long wrong = 0;

	(void)argument;
	for (int n = 0; !done; n++) {
		write_function(code, (uint32_t)n, 1);
		wrong += call(code) != n + 1;
	}
	return (void *)wrong;
}

static void spawns(void)
{
	char program[] = "/bin/true", *const arguments[] = {program, NULL};
	pthread_t other;
	void *result;
	int wrong = 0;

	pthread_create(&other, NULL, write_until_done, NULL);
	for (int n = 0; n < 20; n++) {
		int status = -1;
		pid_t pid;

		need(!posix_spawn(&pid, program, NULL, NULL, arguments, environ), "posix_spawn");
		need(waitpid(pid, &status, 0) == pid, "waitpid");
		wrong += status != 0;
	}
	done = 1;
	pthread_join(other, &result);
	printf("spawns: %d programs ended otherwise, %ld wrong\n", wrong, (long)result);
}

/* --- a word in the page of the code that reads it --- */

static void beside(void)
{
	uint8_t *code = new_code(NULL, PAGE, ALL);
	const uint8_t load[] = {0x8b, 0x05, 0xfa, 0x07,
				0,    0,    0xc3}; /* mov 0x800(%rip), %eax; ret */
	int wrong = 0;

	memcpy(code, load, sizeof(load));
	for (int n = 0; n < 10000; n++) {
		*(volatile int *)(code + 0x800) = n;
		wrong += call(code) != n;
	}
	printf("beside: %d wrong\n", wrong);
}

/* --- a block that ends in another page than it begins in --- */

static void across(void)
{
	uint8_t *code = new_code(NULL, 2 * PAGE, ALL) + PAGE - 3;
	int wrong = 0;

	for (int n = 0; n < 100; n++) {
		code[0] = 0xb8; /* mov $n << 16, %eax: half of the number is in the second page */
		code[3] = (uint8_t)n;
		code[5] = 0xc3; /* ret */
		for (int again = 0; again < 2; again++)
			wrong += call(code) != (code[3] << 16);
		code[3]++; /* that page alone */
		wrong += call(code) != (code[3] << 16);
	}
	printf("across: %d wrong\n", wrong);
}

/* --- code above 2 GiB reads forbidden memory: its handler sees the registers --- */

#define HIGH	((uint8_t *)0x600000000000)
#define OF_RSI	0x5151
#define OF_RDI	0xd1d1
#define OF_RBP	0xb9b9
#define FAR_OFF (4 * PAGE)

static long as_expected;

static void let_read(int sig, siginfo_t *info, void *context)
{
	const greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;

	(void)sig;
	as_expected += r[REG_RSI] == OF_RSI && r[REG_RDI] == OF_RDI && r[REG_RBP] == OF_RBP &&
		       info->si_addr == HIGH + FAR_OFF;
	mprotect(HIGH + FAR_OFF, PAGE, PROT_READ);
}

/* MOV r32, [RIP+distance] of EAX, or EBP, among numbers in registers that are no operands. */
static void write_reader(uint8_t *code, unsigned reg)
{
	const uint8_t head[] = {
		0x55,						     /* push %rbp */
		0x48, 0xc7, 0xc6, OF_RSI & 0xff, OF_RSI >> 8, 0, 0,  /* mov $, %rsi */
		0x48, 0xc7, 0xc7, OF_RDI & 0xff, OF_RDI >> 8, 0, 0,  /* mov $, %rdi */
		0x48, 0xc7, 0xc5, OF_RBP & 0xff, OF_RBP >> 8, 0, 0}; /* mov $, %rbp */
	const uint8_t tail[] = {0x89, (uint8_t)(0xc0 | reg << 3),    /* mov, %eax */
				0x5d, 0xc3};			     /* pop %rbp; ret */
	uint8_t *load = code + sizeof(head);
	int32_t distance = (int32_t)(HIGH + FAR_OFF - (load + 6));

	memcpy(code, head, sizeof(head));
	load[0] = 0x8b;
	load[1] = (uint8_t)(0x05 | reg << 3);
	memcpy(load + 2, &distance, 4);
	memcpy(load + 6, tail, sizeof(tail));
}

static void *read_far(void *code)
{
	long wrong = 0;

	for (int n = 0; n < 500; n++) {
		wrong += call((uint8_t *)code + n % 2 * SLOT) != 7;
		if (n % 4 > 1)
			mprotect(HIGH + FAR_OFF, PAGE, PROT_NONE);
	}
	return (void *)wrong;
}

/* By the only thread, by another, and by the first again. */
static void far_faults(void)
{
	uint8_t *code = new_code(HIGH, PAGE, ALL);
	struct sigaction action = {.sa_sigaction = let_read, .sa_flags = SA_SIGINFO};
	pthread_t other;
	void *wrong[3];

	write_reader(code, 0);
	write_reader(code + SLOT, 5);
	*new_code(HIGH + FAR_OFF, PAGE, PROT_READ | PROT_WRITE) = 7;
	mprotect(HIGH + FAR_OFF, PAGE, PROT_NONE);
	sigaction(SIGSEGV, &action, NULL);
	wrong[0] = read_far(code);
	pthread_create(&other, NULL, read_far, code);
	pthread_join(other, &wrong[1]);
	wrong[2] = read_far(code);
	printf("far: %ld faults as expected, %ld %ld %ld wrong\n", as_expected, (long)wrong[0],
	       (long)wrong[1], (long)wrong[2]);
}

#define PIECES 120000

static void *read_until_closed(void *end)
{
	char byte;

	while (read(*(int *)end, &byte, sizeof(byte)) > 0)
		;
	return NULL;
}

/* Much code beside another thread.  Each piece has a branch that goes both ways. */
static void plenty(void)
{
	static const uint8_t start[] = {0x31, 0xc0}; /* xor %eax, %eax */
	static const uint8_t piece[] = {
		0xf7, 0xc7, 1, 0, 0, 0, /* test $1, %edi */
		0x74, 0x02,		/* je 1f */
		0xff, 0xc0,		/* inc %eax */
					/* 1: */
	};
	size_t bytes = sizeof(start) + PIECES * sizeof(piece) + 1;
	uint8_t *code = new_code(NULL, bytes, PROT_READ | PROT_WRITE), *at = code + sizeof(start);
	pthread_t other;
	int end[2];

	memcpy(code, start, sizeof(start));
	for (int i = 0; i < PIECES; i++, at += sizeof(piece))
		memcpy(at, piece, sizeof(piece));
	*at = 0xc3; /* ret */
	mprotect(code, bytes, PROT_READ | PROT_EXEC);
	need(!pipe(end) && !pthread_create(&other, NULL, read_until_closed, end), "thread");
	for (int i = 0; i < 6; i++)
		printf("plenty: %d\n", ((int (*)(int))(void *)code)(i & 1));
	close(end[1]);
	pthread_join(other, NULL);
}

int main(int argc, char **argv)
{
	static const struct subject subjects[] = {
		{"flips", flips},	  {"patches", patches}, {"reuse", reuse},
		{"handlers", handlers},	  {"forks", forks},	{"threads", threads},
		{"published", publishes}, {"moved", moved},	{"spawns", spawns},
		{"across", across},	  {"beside", beside},	{"far", far_faults},
		{"plenty", plenty},	  {NULL, NULL},
	};

	return run_subject(subjects, argc, argv);
}
