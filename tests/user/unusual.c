/* SPDX-License-Identifier: MIT */
/*
 * unusual MODE: programs of the kinds that a host may not be able to run yet.  Each prints a line
 * and exits with a status of its own, so a run that went wrong silently is seen.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t seen;
static sigjmp_buf again;

static void *thread(void *argument)
{
	*(int *)argument = 5;
	return argument;
}

static void note(int signal)
{
	seen = signal;
}

static void jump(int signal)
{
	seen = signal;
	siglongjmp(again, 1);
}

static int threads(void)
{
	pthread_t id;
	int value = 0;

	if (pthread_create(&id, NULL, thread, &value))
		return 1;
	pthread_join(id, NULL);
	return value == 5 ? 20 : 1;
}

static int forks(void)
{
	int status;
	pid_t child = fork();

	if (child == 0)
		_exit(3);
	waitpid(child, &status, 0);
	return WEXITSTATUS(status) == 3 ? 21 : 1;
}

static int spawns(void)
{
	return system("exit 4") >> 8 == 4 ? 22 : 1;
}

static int executes(void)
{
	execl("/bin/sh", "sh", "-c", "exit 23", (char *)NULL);
	return 1;
}

static int handles(void)
{
	signal(SIGUSR1, note);
	raise(SIGUSR1);
	return seen == SIGUSR1 ? 24 : 1;
}

/* The handler leaves by longjmp. */
static int faults(void)
{
	volatile int *volatile nowhere = (volatile int *)16;

	signal(SIGSEGV, jump);
	if (sigsetjmp(again, 1) == 0)
		*nowhere = 1;
	return seen == SIGSEGV ? 25 : 1;
}

static int timers(void)
{
	struct itimerval every = {{0, 10000}, {0, 10000}};
	unsigned long spin;

	signal(SIGALRM, note);
	setitimer(ITIMER_REAL, &every, NULL);
	for (spin = 0; !seen && spin < 4000000000u; spin++)
		__asm__ volatile("");
	return seen == SIGALRM ? 26 : 1;
}

static int rewrites(void)
{
	unsigned char code[] = {0xb8, 1, 0, 0, 0, 0xc3}; /* mov $1, %eax; ret */
	unsigned char *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int sum = 0, round;

	if (at == MAP_FAILED)
		return 1;
	for (round = 0; round < 5; round++) {
		code[1] = (unsigned char)(round + 1);
		memcpy(at, code, sizeof(code));
		sum += ((int (*)(void))at)();
	}
	return sum == 15 ? 27 : 1;
}

/* Code is replaced as a JIT does that keeps pages either writable or executable. */
static int remaps(void)
{
	unsigned char code[] = {0xb8, 1, 0, 0, 0, 0xc3};
	unsigned char *at = NULL;
	int sum = 0, round;

	for (round = 0; round < 5; round++) {
		at = mmap(at, 4096, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);

		if (at == MAP_FAILED)
			return 1;
		code[1] = (unsigned char)(round + 1);
		memcpy(at, code, sizeof(code));
		mprotect(at, 4096, PROT_READ | PROT_EXEC);
		sum += ((int (*)(void))at)();
		munmap(at, 4096);
	}
	return sum == 15 ? 28 : 1;
}

static int ignores(void)
{
	signal(SIGUSR1, SIG_IGN);
	raise(SIGUSR1);
	signal(SIGTERM, SIG_DFL);
	raise(SIGTERM);
	return 1;
}

static int forever(void)
{
	volatile int yes = 1;

	while (yes)
		;
	return 1;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(void);
	} modes[] = {
		{"threads", threads},	{"forks", forks},	{"spawns", spawns},
		{"executes", executes}, {"handles", handles},	{"faults", faults},
		{"timers", timers},	{"rewrites", rewrites}, {"remaps", remaps},
		{"ignores", ignores},	{"forever", forever},
	};
	unsigned n;

	for (n = 0; n < sizeof(modes) / sizeof(modes[0]); n++)
		if (argc > 1 && strcmp(modes[n].name, argv[1]) == 0) {
			printf("%s\n", modes[n].name);
			fflush(stdout);
			return modes[n].run();
		}
	return 99;
}
