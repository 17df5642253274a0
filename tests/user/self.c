/* SPDX-License-Identifier: MIT */
/*
 * self.c: a program that measures itself with CPUID and RDPMC (Vol. 2A, 2B; 18.2.2).
 *
 *	self counts COUNTER     what a counter says of known stretches
 *	self threads COUNTER    the same in two threads at a time, and in a child
 *	self cpuid LEAF [SUB]   the four registers
 *	self fault COUNTER      which signal RDPMC raises, and where
 *	self die COUNTER        the same without a handler
 */
#define _GNU_SOURCE
#include <cpuid.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

extern const char rdpmc_at[];

/* Returns the difference of two RDPMC with a MOV and `code` between them. */
#define MEASURE(name, code)                                                                        \
	static uint64_t name(uint32_t counter)                                                     \
	{                                                                                          \
		uint32_t first, last;                                                              \
                                                                                                   \
		__asm__ volatile("rdpmc\n\tmovl %%eax, %0\n\t" code "\n\trdpmc"                    \
				 : "=&r"(first), "=&a"(last)                                       \
				 : "S"(counter), "c"(counter)                                      \
				 : "rbx", "rdx", "memory");                                        \
		return last - first;                                                               \
	}
/* 5 instructions. */
MEASURE(of_five, "nop\n\tnop\n\tnop")
/* 1000 rounds of a loop: 2000 instructions and 1000 branches, plus RDPMC and two MOVs. */
MEASURE(of_loop, "movl $1000, %%edx\n1:\tdecl %%edx\n\tjnz 1b")
/* CPUID is one instruction. */
MEASURE(of_cpuid, "movl $1, %%eax\n\tcpuid\n\tmovl %2, %%ecx")

static void *count(void *argument)
{
	static char line[8][64];
	static _Atomic int lines;
	uint32_t counter = (uint32_t)(uintptr_t)argument;
	char *at = line[lines++ % 8];
	unsigned long five = of_five(counter), loop = of_loop(counter), id = of_cpuid(counter);

	snprintf(at, sizeof(line[0]), "%lu %lu %lu\n", five, loop, id);
	return at;
}

static void threads(uint32_t counter)
{
	void *argument = (void *)(uintptr_t)counter, *said;
	pthread_t thread[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, count, argument);
	for (int i = 0; i < 2; i++) {
		pthread_join(thread[i], &said);
		fputs(said, stdout);
	}
	fflush(stdout);
	if (!fork()) {
		fputs(count(argument), stdout);
		fflush(stdout);
		_exit(0);
	}
	wait(NULL);
}

static __attribute__((noipa)) void one(uint32_t counter)
{
	__asm__ volatile(".globl rdpmc_at\nrdpmc_at:\n\trdpmc"
			 :
			 : "c"(counter)
			 : "rax", "rdx", "memory");
}

static void faulted(int sig, siginfo_t *info, void *context)
{
	const ucontext_t *uc = context;
	uint64_t ip = (uint64_t)uc->uc_mcontext.gregs[REG_RIP];

	printf("%s at %s, address %s\n", sigabbrev_np(sig),
	       ip == (uint64_t)rdpmc_at ? "RDPMC" : "another place",
	       !info->si_addr			   ? "0"
	       : info->si_addr == (void *)rdpmc_at ? "of RDPMC"
						   : "unknown");
	fflush(stdout);
	_exit(0);
}

int main(int argc, char **argv)
{
	uint32_t n = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 0) : 0;
	struct sigaction action = {.sa_sigaction = faulted, .sa_flags = SA_SIGINFO};
	uint32_t a = 0, b = 0, c = 0, d = 0;

	if (argc < 3)
		return 2;
	switch (argv[1][0]) {
	case 'c':
		if (argv[1][1] == 'o') {
			fputs(count((void *)(uintptr_t)n), stdout);
			break;
		}
		__cpuid_count(n, argc > 3 ? (unsigned)atoi(argv[3]) : 0, a, b, c, d);
		printf("%08x %08x %08x %08x\n", a, b, c, d);
		break;
	case 't':
		threads(n);
		break;
	case 'f':
		sigaction(SIGSEGV, &action, NULL);
		sigaction(SIGILL, &action, NULL);
		one(n);
		break;
	default:
		one(n);
	}
	return 0;
}
