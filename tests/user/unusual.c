/* SPDX-License-Identifier: MIT */
/*
 * unusual.c MODE: unusual programs that are hard for a translator.  Each prints a line and exits
 * with its own status, so a run that silently goes wrong is noticed.
 *
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

/* A loop in two pages runs often; then only the second page changes. */
static int rewrites_loop(void)
{
	/* mov $1000, %ecx; xor %eax, %eax; jmp 1f; 1: jmp 2f; 3: dec %ecx; jnz 1b; ret */
	static const unsigned char first[] = {0xb9, 0xe8, 3, 0, 0,    0x31, 0xc0, 0xeb, 0,   0xe9,
					      0xf2, 0x0f, 0, 0, 0xff, 0xc9, 0x75, 0xf7, 0xc3};
	/* 2: add $1, %eax; jmp 3b */
	unsigned char second[] = {0x83, 0xc0, 1, 0xe9, 0x06, 0xf0, 0xff, 0xff};
	unsigned char *at = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int sum = 0, round;

	if (at == MAP_FAILED)
		return 1;
	memcpy(at, first, sizeof(first));
	for (round = 0; round < 5; round++) {
		second[2] = (unsigned char)(round + 1);
		memcpy(at + 4096, second, sizeof(second));
		sum += ((int (*)(void))at)();
	}
	return sum == 15000 ? 33 : 1;
}

/* The target of a jump first overwrites the flags; after a rewrite it reads them. */
static int rewrites_flags(void)
{
	/* cmp $5, %edi; jnz 1f; 1: mov $7, %edx; jmp 2f */
	static const unsigned char first[] = {0x83, 0xff, 5,	0x75, 0,    0xba, 7, 0,
					      0,    0,	  0xe9, 0xf1, 0x0f, 0,	  0};
	/* 2: xor %eax, %eax; ret */
	static const unsigned char writes[] = {0x31, 0xc0, 0xc3};
	/* 2: mov $0, %eax; adc $0, %eax; ret */
	static const unsigned char reads[] = {0xb8, 0, 0, 0, 0, 0x83, 0xd0, 0, 0xc3};
	unsigned char *at = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int (*below_5)(int) = (int (*)(int))at;
	int sum;

	if (at == MAP_FAILED)
		return 1;
	memcpy(at, first, sizeof(first));
	memcpy(at + 4096, writes, sizeof(writes));
	sum = below_5(3) + below_5(9);
	memcpy(at + 4096, reads, sizeof(reads));
	sum += below_5(3) + 10 * below_5(9);
	return sum == 1 ? 34 : 1;
}

/* The code after a call changes, but not the call.  At first it needs no flags, then the carry that
 * the callee has left. */
static int rewrites_return(void)
{
	static const unsigned char callee[] = {0xf9, 0xc3};
	static const unsigned char calls[] = {0x48, 0x83, 0xec, 8, 0xe8, 0x00, 0xf0, 0xff, 0xff};
	static const unsigned char adds[] = {0xb8, 2, 0, 0, 0, 0x48, 0x83, 0xc4, 8, 0xc3};
	static const unsigned char reads[] = {0x0f, 0x92, 0xc0, 0x0f, 0xb6, 0xc0,
					      0x48, 0x8d, 0x64, 0x24, 8,    0xc3};
	unsigned char *at = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	int (*caller)(void) = (int (*)(void))(at + 4096 - sizeof(calls));
	int sum;

	if (at == MAP_FAILED)
		return 1;
	memcpy(at, callee, sizeof(callee));
	memcpy(at + 4096 - sizeof(calls), calls, sizeof(calls));
	memcpy(at + 4096, adds, sizeof(adds));
	mprotect(at, 8192, PROT_READ | PROT_EXEC);
	sum = caller() + caller();
	mprotect(at + 4096, 4096, PROT_READ | PROT_WRITE);
	memcpy(at + 4096, reads, sizeof(reads));
	mprotect(at + 4096, 4096, PROT_READ | PROT_EXEC);
	sum += 10 * caller() + 100 * caller();
	return sum == 114 ? 35 : 1;
}

/* Replaces code as a JIT does that keeps pages either writable or executable. */
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

/* Code on the stack, as nested functions of GNU C have it; the program is linked so that its stack
 * is executable. */
static int stack_code(void)
{
	unsigned char code[64] = {0xb8, 1, 0, 0, 0, 0xc3};
	int sum = 0, round;

	for (round = 0; round < 5; round++) {
		code[1] = (unsigned char)(round + 1);
		__asm__ volatile("" : : "r"(code) : "memory");
		sum += ((int (*)(void))code)();
	}
	return sum == 15 ? 29 : 1;
}

/* Code is written through a second, writable mapping of the same memory. */
static int aliases(void)
{
	unsigned char code[] = {0xb8, 1, 0, 0, 0, 0xc3};
	unsigned char *writable, *runs;
	int sum = 0, round, fd = memfd_create("code", 0);

	if (fd < 0 || ftruncate(fd, 4096))
		return 1;
	writable = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	runs = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
	if (writable == MAP_FAILED || runs == MAP_FAILED)
		return 1;
	for (round = 0; round < 5; round++) {
		code[1] = (unsigned char)(round + 1);
		memcpy(writable, code, sizeof(code));
		sum += ((int (*)(void))runs)();
	}
	return sum == 15 ? 30 : 1;
}

/* The system writes code: read() into memory that has run. */
static int reads_code(void)
{
	unsigned char code[] = {0xb8, 1, 0, 0, 0, 0xc3};
	unsigned char *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int sum = 0, round, fd[2];

	if (at == MAP_FAILED || pipe(fd))
		return 1;
	for (round = 0; round < 5; round++) {
		code[1] = (unsigned char)(round + 1);
		if (write(fd[1], code, sizeof(code)) != sizeof(code) ||
		    read(fd[0], at, sizeof(code)) != sizeof(code))
			return 2;
		sum += ((int (*)(void))at)();
	}
	return sum == 15 ? 31 : 1;
}

/* A moved mapping runs at its new place. */
static int moves_code(void)
{
	unsigned char code[] = {0xb8, 9, 0, 0, 0, 0xc3};
	unsigned char *at = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int sum;

	if (at == MAP_FAILED)
		return 1;
	memcpy(at, code, sizeof(code));
	sum = ((int (*)(void))at)();
	at = mremap(at, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, at + 4096);
	if (at == MAP_FAILED)
		return 1;
	sum += ((int (*)(void))at)();
	return sum == 18 ? 32 : 1;
}

static int ignores(void)
{
	signal(SIGUSR1, SIG_IGN);
	raise(SIGUSR1);
	signal(SIGTERM, SIG_DFL);
	raise(SIGTERM);
	return 1;
}

/* Prints a line when it has run long enough for some samples. */
static int forever(void)
{
	for (volatile unsigned long n = 1; n; n++)
		if (n == 50000000 && write(STDOUT_FILENO, "on\n", 3) != 3)
			break;
	return 1;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(void);
	} modes[] = {
		{"threads", threads},
		{"forks", forks},
		{"spawns", spawns},
		{"executes", executes},
		{"handles", handles},
		{"faults", faults},
		{"timers", timers},
		{"rewrites", rewrites},
		{"remaps", remaps},
		{"ignores", ignores},
		{"stack-code", stack_code},
		{"aliases", aliases},
		{"reads-code", reads_code},
		{"moves-code", moves_code},
		{"forever", forever},
		{"rewrites-loop", rewrites_loop},
		{"rewrites-flags", rewrites_flags},
		{"rewrites-return", rewrites_return},
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
