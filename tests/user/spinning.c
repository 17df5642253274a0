/* SPDX-License-Identifier: MIT */
/*
 * spinning.c: threads that spin until a signal ends them (spinning.sh).  Each counts the turns of
 * its loop in a file, so another process knows how many instructions the loops ran.
 *
 *	spinning wait FILE THREADS	the threads only wait
 *	spinning spin FILE THREADS	they spin
 *	spinning watch FILE INSNS	waits until the loops ran so many; writes the process number
 *	spinning sum FILE		writes the instructions of the loops, and aborted sequences
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/rseq.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MAX 256

static struct shared {
	volatile long threads, ready, pid;
	struct spinner {
		volatile long turns, locked, aborts, insns;
		long unused[4];
	} spinner[THREADS_MAX];
} * shared;
static int only_wait;

static void wait_for_signal(void)
{
	__asm__ volatile("1: movl $34, %%eax\n" /* pause */
			 "syscall\n"
			 "jmp 1b" ::
				 : "rax", "rcx", "r11", "memory");
}

static void spin_short(struct spinner *s)
{
	__asm__ volatile("1: incq (%0)\n"
			 "jmp 1b" ::"r"(s)
			 : "memory");
}

static void spin_for_lock(struct spinner *s)
{
	__asm__ volatile("1: incq (%0)\n"
			 "xorl %%eax, %%eax\n"
			 "lock cmpxchgq %0, 8(%0)\n"
			 "pause\n"
			 "jne 1b" ::"r"(s)
			 : "rax", "memory");
}

static void spin_with_calls(struct spinner *s)
{
	__asm__ volatile("jmp 1f\n"
			 "2: nop\n"
			 "ret\n"
			 "1: incq (%0)\n"
			 "call 2b\n"
			 "jmp 1b" ::"r"(s)
			 : "memory");
}

static void spin_with_system_calls(struct spinner *s)
{
	__asm__ volatile("1: incq (%0)\n"
			 "movl $24, %%eax\n" /* sched_yield */
			 "syscall\n"
			 "jmp 1b" ::"r"(s)
			 : "rax", "rcx", "r11", "memory");
}

/* A restartable sequence that finds a lock taken, as programs with locks of each processor have. */
static void spin_in_sequence(struct spinner *s)
{
	if (!__rseq_size)
		spin_with_calls(s); /* the kernel has none; this loop is as long */
	__asm__ volatile(".pushsection __rseq_cs, \"aw\"\n"
			 ".balign 32\n"
			 "9: .long 0, 0\n"
			 ".quad 2f, 3f - 2f, 4f\n"
			 ".popsection\n"
			 "1: leaq 9b(%%rip), %%rax\n"
			 "movq %%rax, 8(%1)\n"
			 "2: incq (%0)\n"
			 "cmpq $0, 8(%0)\n"
			 "jne 1b\n"
			 "3: ud2\n"
			 ".long 0x53053053\n" /* the C library's signature */
			 "4: lock incq 16(%0)\n"
			 "jmp 1b" ::"r"(s),
			 "r"((char *)__builtin_thread_pointer() + __rseq_offset)
			 : "rax", "memory");
}

static void *spin(void *number)
{
	static const struct {
		void (*run)(struct spinner *s);
		int insns;
	} loop[] = {{spin_short, 2},
		    {spin_for_lock, 5},
		    {spin_with_calls, 5},
		    {spin_with_system_calls, 4},
		    {spin_in_sequence, 5}};
	unsigned kind = (unsigned)(uintptr_t)number % (sizeof(loop) / sizeof(*loop));
	struct spinner *s = &shared->spinner[(uintptr_t)number];

	s->locked = 1;
	s->insns = loop[kind].insns;
	__atomic_add_fetch(&shared->ready, 1, __ATOMIC_SEQ_CST);
	if (only_wait)
		wait_for_signal();
	loop[kind].run(s);
	return NULL;
}

static long sum(long *aborts)
{
	long all = 0;

	*aborts = 0;
	for (long i = 0; i < shared->threads; i++) {
		all += shared->spinner[i].turns * shared->spinner[i].insns;
		*aborts += shared->spinner[i].aborts;
	}
	return all;
}

static void watch(long insns)
{
	const struct timespec a_little = {0, 10000000};
	long aborts;

	while (!shared->threads || shared->ready < shared->threads || sum(&aborts) < insns)
		nanosleep(&a_little, NULL);
	printf("%ld\n", shared->pid);
}

static int start(long threads)
{
	pthread_t thread;

	if (threads > THREADS_MAX)
		return 1;
	signal(SIGINT, SIG_DFL); /* a shell ignores it in the background */
	shared->pid = getpid();
	shared->threads = threads;
	for (long i = 1; i < threads; i++)
		if (pthread_create(&thread, NULL, spin, (void *)i))
			return 1;
	spin(NULL);
	return 0;
}

int main(int argc, char **argv)
{
	int file = argc > 2 ? open(argv[2], O_RDWR | O_CREAT, 0600) : -1;
	long n = argc > 3 ? strtol(argv[3], NULL, 10) : 0, aborts;

	if (file < 0 || ftruncate(file, sizeof(*shared)))
		return 1;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (shared == MAP_FAILED)
		return 1;
	only_wait = !strcmp(argv[1], "wait");
	if (!strcmp(argv[1], "watch")) {
		watch(n);
	} else if (!strcmp(argv[1], "sum")) {
		printf("%ld ", sum(&aborts));
		printf("%ld\n", aborts);
	} else {
		return start(n);
	}
	return 0;
}
