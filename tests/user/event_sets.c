/* SPDX-License-Identifier: MIT */
/*
 * event_sets: several workers count their own turns of a loop with one conditional branch, while
 * the first thread has events switched on and off.
 *
 *	event_sets COMMANDS ACKNOWLEDGEMENTS threads|processes|tasks|execs [each]
 *
 * The first two arguments are the numbers of descriptors.  The workers are threads, processes,
 * processes that share the memory, or processes that execute this program again.  It prints how
 * many turns they have done at least, and at most, while the events were on.  With "each", the
 * commands name one worker after the other, and only the turns of that one are meant.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORKERS 3
#define ROUNDS	4
#define STACK	65536
#define PIECE	UINT64_C(200000) /* turns */

static struct shared {
	_Alignas(64) volatile uint64_t turns[WORKERS][8]; /* and the number of the task */
	volatile uint64_t stop;
} * shared;
static int commands, answers;

/* One conditional branch a turn, and few besides. */
static void turn(volatile uint64_t *turns) /* NOLINT(readability-non-const-parameter) */
{
	turns[1] = (uint64_t)gettid();
	while (!shared->stop)
		__asm__ volatile("1: addq $1, %0\n\t"
				 "cmpq $0, %1\n\t"
				 "je 1b"
				 : "+m"(*turns)
				 : "m"(shared->stop)
				 : "cc", "memory");
}

static void *thread(void *argument)
{
	turn(argument);
	return NULL;
}

static int task(void *argument)
{
	turn(argument);
	_exit(0);
}

static void command(const char *text)
{
	char answer[4];

	if (write(commands, text, strlen(text)) < 0 || read(answers, answer, sizeof(answer)) != 4)
		exit(2);
}

/* Worker `only`, or all if that is negative. */
static void switch_events(const char *how, int only)
{
	char text[64];

	if (only < 0)
		snprintf(text, sizeof(text), "%s\n", how);
	else
		snprintf(text, sizeof(text), "%s -t %d\n", how, (int)shared->turns[only][1]);
	command(text);
}

static uint64_t sum(int only)
{
	uint64_t all = 0;

	if (only >= 0)
		return shared->turns[only][0];
	for (int i = 0; i < WORKERS; i++)
		all += shared->turns[i][0];
	return all;
}

static void wait_for_turns(uint64_t more)
{
	uint64_t from[WORKERS];

	for (int i = 0; i < WORKERS; i++)
		from[i] = shared->turns[i][0];
	for (int i = 0; i < WORKERS; i++)
		while (shared->turns[i][0] < from[i] + more)
			usleep(100);
}

static void begin(const char *how, int i, char **argv)
{
	volatile uint64_t *turns = &shared->turns[i][0];
	char number[2] = {(char)('0' + i), 0};
	char *words[] = {argv[0], argv[1], argv[2], number, NULL};
	static char stacks[WORKERS][STACK] __attribute__((aligned(16)));
	pthread_t unused;

	if (!strcmp(how, "threads")) {
		if (pthread_create(&unused, NULL, thread, (void *)turns))
			exit(3);
	} else if (!strcmp(how, "tasks")) {
		if (clone(task, stacks[i] + STACK, CLONE_VM | SIGCHLD, (void *)turns) < 0)
			exit(3);
	} else if (!fork()) {
		if (!strcmp(how, "execs"))
			execv("/proc/self/exe", words);
		task((void *)turns);
	}
}

/* The memory has a name, so that a program that was executed finds it. */
static void map(const char *name)
{
	int fd = shm_open(name, O_RDWR | O_CREAT, 0600);

	if (fd < 0 || ftruncate(fd, sizeof(*shared)))
		exit(4);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (shared == MAP_FAILED)
		exit(4);
	close(fd);
}

int main(int argc, char **argv)
{
	const char *name = getenv("EVENT_SETS_MEMORY");
	uint64_t least = 0, most = 0;

	if (argc < 4 || !name)
		return 1;
	map(name);
	if (argv[3][0] >= '0' && argv[3][0] <= '9')
		return task((void *)&shared->turns[argv[3][0] - '0'][0]);
	commands = (int)strtol(argv[1], NULL, 10);
	answers = (int)strtol(argv[2], NULL, 10);
	for (int i = 0; i < WORKERS; i++)
		begin(argv[3], i, argv);
	wait_for_turns(PIECE);
	for (int round = 0; round < ROUNDS; round++) {
		int only = argc > 4 ? round % WORKERS : -1;
		uint64_t before = sum(only), on, off;

		switch_events("enable", only);
		on = sum(only);
		wait_for_turns(PIECE);
		off = sum(only);
		switch_events("disable", only);
		least += off - on;
		most += sum(only) - before;
		wait_for_turns(PIECE);
	}
	printf("%llu %llu\n", (unsigned long long)least, (unsigned long long)most);
	fflush(stdout);
	shared->stop = 1;
	while (wait(NULL) > 0)
		;
	shm_unlink(name);
	return 0;
}
