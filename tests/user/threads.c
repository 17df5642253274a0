/* SPDX-License-Identifier: MIT */
/*
 * threads: what programs do with threads, one subject for each name in the command line.  What it
 * prints is the same in each run, whatever the order in which threads run.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void need(int ok, const char *what)
{
	if (ok)
		return;
	printf("failed: %s (%s)\n", what, strerror(errno));
	exit(1);
}

static pthread_t begin(void *(*run)(void *), void *argument)
{
	pthread_t thread;

	errno = pthread_create(&thread, NULL, run, argument);
	need(!errno, "pthread_create");
	return thread;
}

static void *end(pthread_t thread)
{
	void *result = NULL;

	errno = pthread_join(thread, &result);
	need(!errno, "pthread_join");
	return result;
}

static void pause_ms(long ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

/* --- mutexes, conditions, barriers, semaphores, locks --- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
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

static void *wait_until_cancelled(void *argument)
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

static void signals(void)
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
	/* To the process: whoever does not block it; then who waits for it. */
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
	/* Faults are each thread's own. */
	signal(SIGSEGV, jump_back);
	for (int i = 0; i < 3; i++)
		faulty[i] = begin(fault_often, NULL);
	for (int i = 0; i < 3; i++)
		end(faulty[i]);
	printf("signals: faults\n");
}

/* A timer interrupts everybody. */
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

static void timers(void)
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

static void processes(void)
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

static void exec(void)
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

static void leave_all(void)
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

static void last(void)
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

static void die(void)
{
	begin(compute_until_stopped, NULL);
	begin(wait_until_cancelled, "");
	begin(abort_soon, NULL);
	for (;;)
		pause();
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

/* --- identities: the library tells all threads (SIGSETXID) --- */

static void *identity(void *argument)
{
	while (!stop_all)
		pause_ms(1);
	return (void *)(long)(getegid() == (gid_t)(long)argument);
}

static void identities(void)
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

static void changes(void)
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

static void waits(void)
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

static const struct {
	const char *name;
	void (*run)(void);
} subjects[] = {
	{"locks", locks},	    {"churn", churn},	      {"many", many},
	{"cancel", cancel},	    {"signals", signals},     {"timers", timers},
	{"robust", robust},	    {"processes", processes}, {"exec", exec},
	{"leave", leave_all},	    {"last", last},	      {"die", die},
	{"identities", identities}, {"changes", changes},     {"waits", waits},
};

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		for (size_t s = 0; s < COUNT(subjects); s++)
			if (!strcmp(argv[i], subjects[s].name))
				subjects[s].run();
	return 0;
}
