/* SPDX-License-Identifier: MIT */
/*
 * branch-tasks.c: threads and processes that call leaf() a known number of times.
 *
 *	- The first thread calls it 10 times at the beginning and 5 times at the end.
 *	- Each of three threads calls it 1000 times.
 *	- A child calls it 100 times.  Then it executes this program again, which calls it 7 times.
 *	- A vfork child calls it 20 times.
 *
 * With a number as its argument, the program starts that many threads at a time.  With "deep" and a
 * number, it starts that many processes, each the child of the previous one.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS_MAX 200

static pthread_barrier_t barrier;

__attribute__((noinline)) static void leaf(void)
{
	__asm__ volatile("");
}

__attribute__((noinline)) static void work(int times)
{
	while (times--)
		leaf();
}

static void *thread(void *times)
{
	/* An executable mapping belongs to the process, whichever thread makes it. */
	if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
	    MAP_FAILED)
		exit(1);
	work((int)(long)times);
	return NULL;
}

static void *waiter(void *none)
{
	pthread_barrier_wait(&barrier);
	work(1);
	return none;
}

static int many(int count)
{
	pthread_t threads[THREADS_MAX];

	if (count > THREADS_MAX)
		return 1;
	pthread_barrier_init(&barrier, NULL, (unsigned)count);
	for (int i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, waiter, NULL))
			return 1;
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

static int deep(int count)
{
	int status = 0;

	work(1);
	if (count > 1 && !fork())
		_exit(deep(count - 1));
	if (count > 1)
		wait(&status);
	return status != 0;
}

static int all(const char *self)
{
	pthread_t threads[3];

	work(10);
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, thread, (void *)1000L);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	if (!fork()) {
		work(100);
		execl(self, "again", "seven", (char *)NULL);
		_exit(1);
	}
	wait(NULL);
	if (!vfork()) {
		work(20);
		_exit(0);
	}
	wait(NULL);
	work(5);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "seven"))
		work(7);
	else if (argc == 2)
		return many(atoi(argv[1]));
	else if (argc == 3)
		return deep(atoi(argv[2]));
	else
		return all(argv[0]);
	return 0;
}
