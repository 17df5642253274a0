/* SPDX-License-Identifier: MIT */
/*
 * jit.c MODE: generates functions while it runs and describes them in a file:
 *
 *	map	in a perf map
 *	dump	in a jitdump in the working directory
 *	lines	in a jitdump with lines of a source that does not exist: the first instruction of
 *		function N is line 10 * N + 1, and so on
 *
 * A function of N is `mov $N,%ecx; 1: dec %ecx; jnz 1b; ret`: 2 * N + 2 instructions.  sixty,
 * thirty and ten run 60, 30 and 10 parts.  Then `later` takes the place of ten and runs 100 more.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PART  10000u
#define ROOM  4096
#define BYTES 10

static FILE *map;
static int dump = -1;
static bool lines;
static uint64_t made;

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void put(const void *bytes, size_t count)
{
	if (write(dump, bytes, count) != (ssize_t)count)
		exit(1);
}

static void open_dump(void)
{
	struct {
		uint32_t magic, version, bytes, machine, pad, pid;
		uint64_t time, flags;
	} header = {0x4a695444, 1, sizeof(header), EM_X86_64, 0, (uint32_t)getpid(), now(), 0};
	char name[64];

	snprintf(name, sizeof(name), "jit-%d.dump", getpid());
	dump = open(name, O_RDWR | O_CREAT | O_TRUNC, 0666);
	put(&header, sizeof(header));
	/* This mapping tells the profiler about the file. */
	if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, dump, 0) == MAP_FAILED)
		exit(1);
}

#define INSNS 4

static void tell_lines(const uint8_t *code)
{
	static const uint8_t at[INSNS] = {0, 5, 7, 9}; /* where the instructions begin */
	struct __attribute__((packed)) {
		uint64_t address;
		uint32_t line, discriminator;
		char name[8];
	} entry = {.name = "made.jj"};
	struct {
		uint32_t id, bytes;
		uint64_t time, address, entries;
	} info = {2, sizeof(info) + INSNS * sizeof(entry), now(), (uint64_t)code, INSNS};

	put(&info, sizeof(info));
	for (uint32_t i = 0; i < INSNS; i++) {
		entry.address = (uint64_t)code + at[i];
		entry.line = 10 * (uint32_t)made + i + 1;
		put(&entry, sizeof(entry));
	}
}

static void tell(const char *name, const uint8_t *code)
{
	if (lines)
		tell_lines(code);
	if (map)
		fprintf(map, "%lx %x %s\n", (unsigned long)code, BYTES, name);
	if (dump >= 0) {
		struct {
			uint32_t id, bytes;
			uint64_t time;
			uint32_t pid, tid;
			uint64_t vma, address, size, index;
		} load = {0,
			  (uint32_t)(sizeof(load) + strlen(name) + 1 + BYTES),
			  now(),
			  (uint32_t)getpid(),
			  (uint32_t)getpid(),
			  (uint64_t)code,
			  (uint64_t)code,
			  BYTES,
			  made++};

		put(&load, sizeof(load));
		put(name, strlen(name) + 1);
		put(code, BYTES);
	}
}

static void make(const char *name, uint8_t *code, uint32_t times)
{
	static const uint8_t form[BYTES] = {0xb9, 0, 0, 0, 0, 0xff, 0xc9, 0x75, 0xfc, 0xc3};

	memcpy(code, form, sizeof(form));
	memcpy(code + 1, &times, sizeof(times));
	tell(name, code);
}

static void call(uint8_t *code)
{
	for (int i = 0; i < 1000; i++)
		((void (*)(void))(uintptr_t)code)();
}

int main(int argc, char **argv)
{
	uint8_t *code = mmap(NULL, ROOM, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char name[64];

	snprintf(name, sizeof(name), "/tmp/perf-%d.map", getpid());
	if (argc == 2 && !strcmp(argv[1], "map"))
		map = fopen(name, "w");
	lines = argc == 2 && !strcmp(argv[1], "lines");
	if (lines || (argc == 2 && !strcmp(argv[1], "dump")))
		open_dump();
	make("sixty", code, 60 * PART / 100);
	make("thirty", code + 64, 30 * PART / 100);
	make("ten", code + 128, 10 * PART / 100);
	call(code);
	call(code + 64);
	call(code + 128);
	make("later", code + 128, PART);
	call(code + 128);
	if (map && fclose(map))
		return 1;
	printf("%d\n", getpid());
	return 0;
}
