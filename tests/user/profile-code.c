/* SPDX-License-Identifier: MIT */
/*
 * profile-code.c: code that the program writes, and code of libraries that it maps in turn at the
 * same address.  Meanwhile other threads run.  profile.sh counts all of it.
 *
 *	profile-code LIBRARY OTHER-LIBRARY
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ROUNDS	30
#define THREADS 3

static volatile unsigned sink;

static __attribute__((noinline)) void leaf(void)
{
	sink = sink + 1;
}

/* Counts down and returns; counts down by longer instructions and jumps to the second argument. */
static const unsigned char counts[] = {0x89, 0xf9, 0xff, 0xc9, 0x75, 0xfc, 0xc3};
static const unsigned char counts_longer[] = {0x89, 0xf9, 0x90, 0x66, 0x90, 0x83,
					      0xe9, 0x01, 0x75, 0xfb, 0xff, 0xe6};

static void run_at(void *at, unsigned n)
{
	void (*function)(unsigned, void (*)(void));

	memcpy(&function, &at, sizeof(function));
	function(n, leaf);
}

/* The code stays there: the tool reads it later. */
static void run_written_code(int flags)
{
	char *at = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC,
			MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	if (at == MAP_FAILED)
		exit(2);
	memcpy(at, counts, sizeof(counts));
	memcpy(at + 4096, counts_longer, sizeof(counts_longer));
	for (unsigned i = 0; i < ROUNDS; i++) {
		run_at(at, 100 + i);
		run_at(at + 4096, 50 + i);
	}
}

/* A library's function, and the page of the file that it is in. */
struct library {
	int fd;
	off_t page;
	size_t offset; /* in the page */
};

/* In libraries without data of their own, addresses are offsets in the file. */
static struct library open_library(const char *path)
{
	void *library = dlopen(path, RTLD_NOW), *symbol;
	Dl_info info;
	size_t at;

	if (!library || !(symbol = dlsym(library, "run")) || !dladdr(symbol, &info))
		exit(2);
	at = (size_t)((char *)symbol - (char *)info.dli_fbase);
	return (struct library){open(path, O_RDONLY), (off_t)(at & ~(size_t)4095), at & 4095};
}

static void run_library(const struct library *library, void *place)
{
	char *at = mmap(place, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, library->fd,
			library->page);
	unsigned (*function)(unsigned);

	if (at == MAP_FAILED)
		exit(2);
	at += library->offset;
	memcpy(&function, &at, sizeof(function));
	sink = sink + function(1000);
}

static void *run_beside(void *argument)
{
	unsigned x = 1;

	(void)argument;
	for (unsigned i = 0; i < 300000; i++) {
		x = x * 1664525 + 1013904223;
		if (x & 1 << 20)
			leaf();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS];
	struct library one, other;
	void *place = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (argc < 3 || place == MAP_FAILED)
		return 2;
	one = open_library(argv[1]);
	other = open_library(argv[2]);
	for (unsigned i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, run_beside, NULL))
			return 2;
	run_written_code(0);
	run_written_code(MAP_32BIT);
	for (unsigned i = 0; i < ROUNDS; i++) {
		run_library(&one, place);
		run_library(&other, place);
	}
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
