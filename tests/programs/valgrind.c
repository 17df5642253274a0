/* SPDX-License-Identifier: MIT */
/*
 * valgrind.c: a program with client requests of valgrind, as harnesses of benchmarks make them.
 * fixed() is in assembly: 3 * n + 2 instructions, so what is between two requests is known.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <valgrind/callgrind.h>

void fixed(unsigned n);
__asm__(".text\n.globl fixed\n.type fixed, @function\nfixed:\n\t"
	"mov %edi, %eax\n"
	"1:\tnop\n\tdec %eax\n\tjnz 1b\n\tret\n"
	".size fixed, . - fixed\n");

static __attribute__((noinline)) void measured(unsigned n)
{
	fixed(n);
	fixed(n);
	__asm__ volatile("");
}

static void *in_thread(void *unused)
{
	fixed(500);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	printf("%d\n", (int)RUNNING_ON_VALGRIND);
	fixed(1000);
	if (argc > 1 && !strcmp(argv[1], "instrumentation")) {
		CALLGRIND_START_INSTRUMENTATION;
		fixed(100000);
		CALLGRIND_STOP_INSTRUMENTATION;
		fixed(1000);
	} else if (argc > 1 && !strcmp(argv[1], "collect")) {
		CALLGRIND_TOGGLE_COLLECT;
		fixed(100000);
		CALLGRIND_TOGGLE_COLLECT;
		fixed(1000);
	} else if (argc > 1 && !strcmp(argv[1], "dump")) {
		CALLGRIND_ZERO_STATS;
		CALLGRIND_DUMP_STATS_AT("end");
	} else if (argc > 1 && !strcmp(argv[1], "child")) {
		fflush(stdout);
		if (!fork()) {
			fixed(100000);
			_exit(0);
		}
		wait(NULL);
	} else {
		measured(50000);
		pthread_create(&thread, NULL, in_thread, NULL);
		pthread_join(thread, NULL);
	}
	return 3;
}
