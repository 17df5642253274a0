/* SPDX-License-Identifier: MIT */
/*
 * aliases.c: code that is written at another address than it runs. The argument selects a subject.
 *
 * Most subjects write a function many times and run what they wrote. The function is written by:
 * - a second mapping of the same memory (mmap(2), mremap(2));
 * - a system call (pwrite(2), mem of proc(5), process_vm_writev(2));
 * - a thread with other rights (Vol. 3A, 4.6.2: protection keys).
 * Another subject is how proc(5) lists such memory.
 */
#define _GNU_SOURCE
#include <cpuid.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

#include "corners.h"

#define ROUNDS 300
#define BYTES  8192

typedef int function(void);

static uint8_t *written, *run; /* the same memory */
static int fd;

static uint8_t *view(int protection, int flags)
{
	void *at = mmap(NULL, BYTES, protection, flags, fd, 0);

	need(at != MAP_FAILED, "mmap");
	return at;
}

static void new_file(void)
{
	fd = memfd_create("aliases", 0);
	need(fd >= 0 && !ftruncate(fd, BYTES), "memfd_create");
}

/* mov $n, %eax; ret */
static void code_of(uint8_t code[6], int n)
{
	const uint8_t bytes[] = {0xb8, (uint8_t)n, (uint8_t)(n >> 8), 0, 0, 0xc3};

	memcpy(code, bytes, sizeof(bytes));
}

static void by_store(int n)
{
	uint8_t code[6];

	code_of(code, n);
	memcpy(written + 4093, code, sizeof(code)); /* in two pages */
}

/* Writes and runs.  Returns how often the result was wrong. */
static void rounds(const char *name, void (*put)(int n))
{
	int wrong = 0;

	for (int n = 0; n < ROUNDS; n++) {
		put(n);
		wrong += ((function *)(run + 4093))() != n;
	}
	printf("%s: %d wrong\n", name, wrong);
}

static void two_aliases(void)
{
	new_file();
	written = view(PROT_READ | PROT_WRITE, MAP_SHARED);
	run = view(PROT_READ | PROT_EXEC, MAP_SHARED);
	rounds("two aliases", by_store);
	written = view(PROT_READ | PROT_WRITE, MAP_SHARED);
	rounds("a third", by_store);
	munmap(run, BYTES);
	run = view(PROT_READ | PROT_EXEC, MAP_SHARED);
	rounds("a fourth", by_store);
}

static void protected_view(void)
{
	new_file();
	written = view(PROT_READ | PROT_WRITE, MAP_SHARED);
	run = view(PROT_READ, MAP_SHARED);
	need(!mprotect(run, BYTES, PROT_READ | PROT_EXEC), "mprotect");
	rounds("protected", by_store);
	need(!mprotect(written, 4096, PROT_READ), "mprotect");
	need(!mprotect(written, 4096, PROT_READ | PROT_WRITE), "mprotect");
	rounds("and again", by_store);
}

/* Memory without a file. */
static void doubled_view(void)
{
	fd = -1;
	written = view(PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS);
	run = mremap(written, 0, BYTES, MREMAP_MAYMOVE);
	need(run != MAP_FAILED, "mremap");
	need(!mprotect(run, BYTES, PROT_READ | PROT_EXEC), "mprotect");
	rounds("doubled", by_store);
}

static void moved_view(void)
{
	new_file();
	written = view(PROT_READ | PROT_WRITE, MAP_SHARED);
	run = view(PROT_READ | PROT_EXEC, MAP_SHARED);
	rounds("before", by_store);
	written = mremap(written, BYTES, BYTES, MREMAP_MAYMOVE | MREMAP_FIXED,
			 view(PROT_NONE, MAP_SHARED));
	need(written != MAP_FAILED, "mremap");
	rounds("moved", by_store);
}

/* All three protections at once in both aliases. */
static void open_aliases(void)
{
	new_file();
	written = view(PROT_READ | PROT_WRITE | PROT_EXEC, MAP_SHARED);
	run = view(PROT_READ | PROT_WRITE | PROT_EXEC, MAP_SHARED);
	rounds("open", by_store);
	run = written;
	rounds("the other", by_store);
}

static void by_read(int n)
{
	int ends[2];
	uint8_t code[6];

	code_of(code, n);
	need(!pipe(ends) && write(ends[1], code, 6) == 6 && read(ends[0], written + 4093, 6) == 6,
	     "pipe");
	close(ends[0]);
	close(ends[1]);
}

static void by_pwrite(int n)
{
	uint8_t code[6];

	code_of(code, n);
	need(pwrite(fd, code, 6, 4093) == 6, "pwrite");
}

static void by_write(int n)
{
	uint8_t code[6];

	code_of(code, n);
	need(lseek(fd, 4093, SEEK_SET) == 4093 && write(fd, code, 6) == 6, "write");
}

/* The code is in a file of its own. */
static int source_of(int n)
{
	uint8_t code[6];
	int source = memfd_create("source", 0);

	code_of(code, n);
	need(source >= 0 && pwrite(source, code, 6, 0) == 6, "memfd_create");
	return source;
}

static void by_sendfile(int n)
{
	int source = source_of(n);
	off_t from = 0;

	need(lseek(fd, 4093, SEEK_SET) == 4093 && sendfile(fd, source, &from, 6) == 6, "sendfile");
	close(source);
}

static void by_copy(int n)
{
	int source = source_of(n);
	off_t from = 0, to = 4093;

	need(copy_file_range(source, &from, fd, &to, 6, 0) == 6, "copy_file_range");
	close(source);
}

static void *feed(void *argument)
{
	int *ends = argument;
	uint8_t code[6];

	usleep(200);
	code_of(code, ends[2]);
	need(write(ends[1], code, 6) == 6, "pipe");
	return NULL;
}

/* It waits for another thread. */
static void by_splice(int n)
{
	int ends[3] = {0, 0, n};
	off_t to = 4093;
	pthread_t other;

	need(!pipe(ends), "pipe");
	pthread_create(&other, NULL, feed, ends);
	need(splice(ends[0], NULL, fd, &to, 6, 0) == 6, "splice");
	pthread_join(other, NULL);
	need(splice(ends[0], NULL, fd, &to, 6, SPLICE_F_NONBLOCK) < 0 && errno == EAGAIN, "empty");
	close(ends[1]);
	need(!splice(ends[0], NULL, fd, &to, 6, 0), "end of the pipe");
	close(ends[0]);
}

static void calls(void)
{
	two_aliases();
	rounds("by read", by_read);
	rounds("by write", by_write);
	rounds("by pwrite", by_pwrite);
	rounds("by sendfile", by_sendfile);
	rounds("by copy_file_range", by_copy);
	rounds("by splice", by_splice);
	rounds("by store again", by_store);
}

static void memory_pwrite(int n)
{
	uint8_t code[6];

	code_of(code, n);
	need(pwrite(fd, code, 6, (off_t)(uintptr_t)(run + 4093)) == 6, "pwrite");
}

static void memory_write(int n)
{
	uint8_t code[6];

	code_of(code, n);
	need(lseek(fd, (off_t)(uintptr_t)(run + 4093), SEEK_SET) > 0 && write(fd, code, 6) == 6,
	     "write");
}

static void memory_file(void)
{
	fd = -1;
	run = view(PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS);
	fd = open("/proc/self/mem", O_RDWR);
	need(fd >= 0, "/proc/self/mem");
	rounds("the file of memory", memory_pwrite);
	rounds("by write", memory_write);
}

static void by_process(int n)
{
	uint8_t code[6];
	struct iovec from = {code, 6}, to = {run + 4093, 6};

	code_of(code, n);
	need(process_vm_writev(getpid(), &from, 1, &to, 1, 0) == 6, "process_vm_writev");
}

static void itself(void)
{
	fd = -1;
	run = view(PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS);
	rounds("itself", by_process);
}

/* One thread writes and the other runs, in turn. */
static _Atomic int turn;

static void *run_in_turn(void *argument)
{
	long wrong = 0;

	for (int n = 0; n < ROUNDS; n++) {
		while (turn != 2 * n + 1)
			sched_yield();
		wrong += ((function *)(run + 4093))() != n;
		turn = 2 * n + 2;
	}
	(void)argument;
	return (void *)wrong;
}

static void threads(void)
{
	pthread_t other;
	void *wrong;

	new_file();
	written = view(PROT_READ | PROT_WRITE, MAP_SHARED);
	run = view(PROT_READ | PROT_EXEC, MAP_SHARED);
	pthread_create(&other, NULL, run_in_turn, NULL);
	for (int n = 0; n < ROUNDS; n++) {
		while (turn != 2 * n)
			sched_yield();
		by_store(n);
		turn = 2 * n + 1;
	}
	pthread_join(other, &wrong);
	printf("threads: %ld wrong\n", (long)wrong);
}

/* One thread writes by a system call.  The other runs what it finds there, after a serializing
 * instruction (Vol. 3A, 8.1.3), perhaps before the call has returned. */
static void *run_when_seen(void *argument)
{
	const volatile uint16_t *number = (const volatile uint16_t *)(run + 4094);
	long wrong = 0;

	for (int n = 1; n <= ROUNDS; n++) {
		unsigned a = 0, b, c, d;

		while (*number != n)
			;
		__cpuid(a, a, b, c, d);
		wrong += ((function *)(run + 4093))() != n;
		turn = n;
	}
	(void)argument;
	return (void *)wrong;
}

static void seen_by(const char *name, void (*put)(int n))
{
	pthread_t other;
	void *wrong;

	put(0);
	turn = 0;
	pthread_create(&other, NULL, run_when_seen, NULL);
	for (int n = 1; n <= ROUNDS; n++) {
		put(n);
		while (turn != n)
			sched_yield();
	}
	pthread_join(other, &wrong);
	printf("seen %s: %ld wrong\n", name, (long)wrong);
}

static void seen(void)
{
	two_aliases();
	seen_by("by pwrite", by_pwrite);
	seen_by("by splice", by_splice);
}

/* Code that the threads running it may not read, or not write: protection keys. */
static int key;

static void with_rights(unsigned rights, int n)
{
	pkey_set(key, 0);
	by_store(n);
	pkey_set(key, rights);
}

static void unreadable(int n)
{
	with_rights(PKEY_DISABLE_ACCESS, n);
}

static void unwritable(int n)
{
	with_rights(PKEY_DISABLE_WRITE, n);
}

static void *run_without_rights(void *argument)
{
	int rights = pkey_get(key); /* the creator's */

	pkey_set(key, PKEY_DISABLE_ACCESS);
	printf("another thread with %d: %d\n", rights, ((function *)(run + 4093))());
	return argument;
}

static volatile int in_handler, rights_there;

static void handler(int signal)
{
	uint32_t rights;

	(void)signal;
	in_handler = ((function *)(run + 4093))();
	__asm__ volatile("rdpkru" : "=a"(rights) : "c"(0) : "rdx");
	rights_there = (int)(rights >> 2 * key & 3);
}

static void keys(void)
{
	pthread_t other;

	key = pkey_alloc(0, 0);
	need(key >= 0, "pkey_alloc");
	fd = -1;
	run = written = view(PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS);
	need(!pkey_mprotect(run, BYTES, PROT_READ | PROT_WRITE | PROT_EXEC, key), "pkey_mprotect");
	rounds("unwritable", unwritable);
	rounds("unreadable", unreadable);
	with_rights(PKEY_DISABLE_WRITE, 77);
	fflush(stdout);
	pthread_create(&other, NULL, run_without_rights, NULL);
	pthread_join(other, NULL);
	signal(SIGUSR1, handler);
	raise(SIGUSR1);
	printf("handler with %d: %d, afterwards %d\n", rights_there, in_handler, pkey_get(key));
}

/* --- how proc(5) lists them --- */

static void say_mapping(const char *name, const void *address)
{
	FILE *list = fopen("/proc/self/maps", "r");
	unsigned long start, end, at = (unsigned long)(uintptr_t)address;
	char line[512], rights[5];

	need(list != NULL, "/proc/self/maps");
	while (fgets(line, sizeof(line), list))
		if (sscanf(line, "%lx-%lx %4s", &start, &end, rights) == 3 && at >= start &&
		    at < end)
			printf("%s: %s, %lu bytes\n", name, rights, end - start);
	fclose(list);
}

/* Has no neighbours that the kernel could merge it with. */
static uint8_t *alone(int protection, int flags)
{
	uint8_t *at = mmap(NULL, 5 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	need(at != MAP_FAILED &&
		     mmap(at + 4096, BYTES, protection, flags | MAP_FIXED, fd, 0) == at + 4096,
	     "mmap");
	return at + 4096;
}

static void listed(void)
{
	char line[512];
	int strange = 0, lines = 0;
	FILE *list;

	fd = -1;
	run = written = alone(PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS);
	rounds("one", by_store);
	say_mapping("one", run);
	need(!mprotect(run, 4096, PROT_READ | PROT_EXEC), "mprotect");
	say_mapping("one's first page", run);
	say_mapping("one's second page", run + 4096);
	new_file();
	written = alone(PROT_READ | PROT_WRITE, MAP_SHARED);
	run = alone(PROT_READ | PROT_EXEC, MAP_SHARED);
	rounds("two", by_store);
	say_mapping("written", written);
	say_mapping("run", run);
	need((list = fopen("/proc/self/maps", "r")) != NULL, "/proc/self/maps");
	for (; fgets(line, sizeof(line), list); lines++)
		strange += strstr(line, "softpmu") != NULL || strstr(line, " rwx") != NULL;
	printf("strange mappings: %d of %s\n", strange, lines > 10 ? "many" : "few");
}

/* --- invalid ranges --- */

static void refused(void)
{
	printf("munmap: %s\n", munmap(NULL, SIZE_MAX) ? strerrorname_np(errno) : "done");
	printf("mprotect: %s\n",
	       mprotect(NULL, SIZE_MAX, PROT_READ) ? strerrorname_np(errno) : "done");
	printf("mremap: %s\n", mremap(NULL, SIZE_MAX - 4095, 4096, 0) == MAP_FAILED
				       ? strerrorname_np(errno)
				       : "done");
}

int main(int argc, char **argv)
{
	static const struct subject subjects[] = {
		{"two", two_aliases},
		{"protected", protected_view},
		{"doubled", doubled_view},
		{"moved", moved_view},
		{"open", open_aliases},
		{"calls", calls},
		{"memory", memory_file},
		{"itself", itself},
		{"threads", threads},
		{"seen", seen},
		{"keys", keys},
		{"listed", listed},
		{"refused", refused},
		{NULL, NULL},
	};

	return run_subject(subjects, argc, argv);
}
