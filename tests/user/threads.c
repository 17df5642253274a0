/* SPDX-License-Identifier: MIT */
/*
 * threads.c: uses of threads, one subject for each name in the command line.  The output is the
 * same in each run, in whatever order the threads run.
 *
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "threads.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

void need(int ok, const char *what)
{
	if (ok)
		return;
	printf("failed: %s (%s)\n", what, strerror(errno));
	exit(1);
}

pthread_t begin(void *(*run)(void *), void *argument)
{
	pthread_t thread;

	errno = pthread_create(&thread, NULL, run, argument);
	need(!errno, "pthread_create");
	return thread;
}

void *end(pthread_t thread)
{
	void *result = NULL;

	errno = pthread_join(thread, &result);
	need(!errno, "pthread_join");
	return result;
}

void pause_ms(long ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	while (nanosleep(&t, &t) && errno == EINTR)
		;
}
/* --- mutexes, conditions, barriers, semaphores, locks --- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
pthread_barrier_t barrier;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static long shared, turn;
static sem_t items, room;
static long item[4], put, taken_sum;

static void *add(void *argument)
{
	(void)argument;
	for (int i = 0; i < 20000; i++) {
		pthread_mutex_lock(&mutex);
		shared++;
		pthread_mutex_unlock(&mutex);
		if (i % 16 == 0) {
			pthread_rwlock_wrlock(&rwlock);
			pthread_rwlock_unlock(&rwlock);
			pthread_rwlock_rdlock(&rwlock);
			pthread_rwlock_unlock(&rwlock);
		}
		if (i % 1000 == 0)
			pthread_barrier_wait(&barrier);
	}
	return NULL;
}

static void *take_turns(void *argument)
{
	long me = (long)argument;

	for (int i = 0; i < 500; i++) {
		pthread_mutex_lock(&mutex);
		while (turn % 4 != me)
			pthread_cond_wait(&changed, &mutex);
		turn++;
		pthread_cond_broadcast(&changed);
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

static void *produce(void *argument)
{
	for (long i = 1; i <= 2000; i++) {
		sem_wait(&room);
		item[put++ % 4] = i;
		sem_post(&items);
	}
	return argument;
}

static void *consume(void *argument)
{
	for (long i = 0; i < 2000; i++) {
		sem_wait(&items);
		taken_sum += item[i % 4];
		sem_post(&room);
	}
	return argument;
}

static void locks(void)
{
	pthread_t thread[4];
	pthread_t producer, consumer;

	pthread_barrier_init(&barrier, NULL, 4);
	pthread_spin_init(&spin, 0);
	for (long i = 0; i < 4; i++)
		thread[i] = begin(add, NULL);
	for (int i = 0; i < 4; i++)
		end(thread[i]);
	for (long i = 0; i < 4; i++)
		thread[i] = begin(take_turns, (void *)i);
	for (int i = 0; i < 4; i++)
		end(thread[i]);
	sem_init(&items, 0, 0);
	sem_init(&room, 0, 4);
	producer = begin(produce, NULL);
	consumer = begin(consume, NULL);
	end(producer);
	end(consumer);
	printf("locks: %ld %ld %ld\n", shared, turn, taken_sum);
}

/* --- thousands, one after the other and some at a time --- */

static __thread int own = 5;
static _Atomic long ran, destroyed;
static pthread_key_t key;

static void destroy(void *value)
{
	destroyed += (long)value;
}

static void *visit(void *argument)
{
	own += (int)(long)argument;
	pthread_setspecific(key, (void *)1);
	errno = own;
	sched_yield();
	if (errno != 5 + (int)(long)argument || own != errno)
		printf("failed: thread-local storage\n");
	ran++;
	return (void *)(long)own;
}

static void churn(void)
{
	pthread_t thread[50];
	long sum = 0;

	pthread_key_create(&key, destroy);
	for (long i = 0; i < 1000; i++)
		sum += (long)end(begin(visit, (void *)i));
	for (int round = 0; round < 40; round++) {
		for (long i = 0; i < 50; i++)
			thread[i] = begin(visit, (void *)i);
		for (int i = 0; i < 50; i++)
			sum += (long)end(thread[i]);
	}
	printf("churn: %ld threads, %ld, %ld, %d\n", ran, sum, destroyed, own);
}

/* Many at the same time. */
static void *wait_for_all(void *argument)
{
	pthread_barrier_wait(&barrier);
	ran++;
	return argument;
}

static void many(void)
{
	enum { MANY = 150 };
	pthread_t thread[MANY];

	pthread_barrier_init(&barrier, NULL, MANY + 1);
	for (long i = 0; i < MANY; i++)
		thread[i] = begin(wait_for_all, NULL);
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < MANY; i++)
		end(thread[i]);
	printf("many: %ld\n", ran);
}

/* --- cancellation --- */

static void cleaned(void *what)
{
	printf("cancel: cleaned %s\n", (const char *)what);
}

static void *spin_until_cancelled(void *argument)
{
	volatile unsigned long n = 0;

	pthread_cleanup_push(cleaned, argument);
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (;;)
		n++;
	pthread_cleanup_pop(0);
	return NULL;
}

void *wait_until_cancelled(void *argument)
{
	pthread_cleanup_push(cleaned, argument);
	for (;;)
		pause();
	pthread_cleanup_pop(0);
	return NULL;
}

static void unlock(void *what)
{
	pthread_mutex_unlock(what);
}

static void *wait_on_condition(void *argument)
{
	pthread_mutex_lock(&mutex);
	pthread_cleanup_push(unlock, &mutex);
	pthread_cleanup_push(cleaned, argument);
	for (;;)
		pthread_cond_wait(&changed, &mutex);
	pthread_cleanup_pop(0);
	pthread_cleanup_pop(0);
	return NULL;
}

static void cancel(void)
{
	static void *(*const run[])(void *) = {spin_until_cancelled, wait_until_cancelled,
					       wait_on_condition};
	static const char *const name[] = {"running", "waiting", "on a condition"};

	for (int round = 0; round < 20; round++)
		for (size_t i = 0; i < COUNT(run); i++) {
			pthread_t thread = begin(run[i], (void *)name[i]);

			if (round % 2)
				pause_ms(1);
			pthread_cancel(thread);
			if (end(thread) != PTHREAD_CANCELED)
				printf("failed: not cancelled\n");
		}
	need(!pthread_mutex_trylock(&mutex), "the mutex is free");
}
/* --- robust and other mutexes --- */

static pthread_mutex_t robust_mutex;

static void *lock_and_end(void *argument)
{
	pthread_mutex_lock(&robust_mutex);
	return argument;
}

static void robust(void)
{
	pthread_mutexattr_t attributes;

	for (int shared_too = 0; shared_too < 2; shared_too++) {
		pthread_mutexattr_init(&attributes);
		pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
		pthread_mutexattr_setpshared(&attributes, shared_too);
		pthread_mutexattr_setprotocol(&attributes, shared_too ? PTHREAD_PRIO_INHERIT
								      : PTHREAD_PRIO_NONE);
		pthread_mutex_init(&robust_mutex, &attributes);
		end(begin(lock_and_end, NULL));
		errno = pthread_mutex_lock(&robust_mutex);
		printf("robust: %s", errno == EOWNERDEAD ? "the owner died" : strerror(errno));
		errno = pthread_mutex_consistent(&robust_mutex);
		printf(", %s\n", strerror(errno));
		pthread_mutex_unlock(&robust_mutex);
	}
}
static const struct {
	const char *name;
	void (*run)(void);
} subjects[] = {
	{"locks", locks},
	{"churn", churn},
	{"many", many},
	{"cancel", cancel},
	{"signals", thread_signals},
	{"timers", thread_timers},
	{"robust", robust},
	{"processes", thread_processes},
	{"exec", thread_exec},
	{"leave", thread_leave_all},
	{"last", thread_last},
	{"die", thread_die},
	{"identities", thread_identities},
	{"changes", thread_changes},
	{"waits", thread_waits},
};

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		for (size_t s = 0; s < COUNT(subjects); s++)
			if (!strcmp(argv[i], subjects[s].name))
				subjects[s].run();
	return 0;
}
