/* SPDX-License-Identifier: MIT */
/*
 * lists.c: the lists of the program's mappings and their memory in proc(5): maps, smaps and
 * smaps_rollup, under all their names.  One subject for each argument.  The output is the same in
 * each run.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "corners.h"

#define PAGE 4096

static char text[4 << 20], other[4 << 20];

/* Reads a whole file without changing the memory map. */
static void read_file(char *to, size_t most, const char *name)
{
	int fd = open(name, O_RDONLY);
	size_t bytes = 0;
	ssize_t got;

	need(fd >= 0, name);
	while ((got = read(fd, to + bytes, most - 1 - bytes)) > 0)
		bytes += (size_t)got;
	to[bytes] = 0;
	close(fd);
}

/* Returns the next line that begins a mapping. */
static char *next_mapping(char **at)
{
	char *line;

	while ((line = strsep(at, "\n")) && *line)
		if (isdigit(*line) || islower(*line))
			return line;
	return NULL;
}

static void is_list_of(const char *smaps, const char *maps)
{
	char *one = text, *two = other, *a, *b;
	int lines = 0, wrong = 0;

	read_file(text, sizeof(text), maps);
	read_file(other, sizeof(other), smaps);
	do {
		a = next_mapping(&one);
		b = next_mapping(&two);
		lines++;
		wrong += !a != !b || (a && strcmp(a, b) != 0);
	} while (a && b);
	printf("%s lines, %d differ\n", lines > 10 ? "many" : "few", wrong);
}

static void *of_a_thread(void *argument)
{
	char name[64];

	is_list_of("/proc/self/smaps", "/proc/thread-self/maps");
	is_list_of("/proc/thread-self/smaps", "/proc/self/maps");
	sprintf(name, "/proc/self/task/%ld/smaps", syscall(SYS_gettid));
	is_list_of(name, "/proc/self/maps");
	return argument;
}

static void names(void)
{
	char name[64];
	pthread_t thread;

	is_list_of("/proc/self/smaps", "/proc/self/maps");
	sprintf(name, "/proc/%d/smaps", getpid());
	is_list_of(name, "/proc/self/maps");
	need(!chdir("/proc/self"), "chdir");
	is_list_of("smaps", "maps");
	fflush(stdout);
	pthread_create(&thread, NULL, of_a_thread, NULL);
	pthread_join(thread, NULL);
}

/* Returns the value of the first key, such as "Rss:", at or after `at`. */
static long value(const char *at, const char *key)
{
	const char *line = at ? strstr(at, key) : NULL;

	return line ? atol(line + strlen(key)) : -1;
}

/* Returns the entry of smaps for the mapping that begins at this address. */
static void say(const char *name, const void *at)
{
	char begin[32], *entry, *flags;

	sprintf(begin, "%lx-", (unsigned long)(uintptr_t)at);
	read_file(text, sizeof(text), "/proc/self/smaps");
	entry = strstr(text, begin);
	flags = entry ? strstr(entry, "VmFlags:") : NULL;
	printf("%s: %ld kB, %ld there, %ld anonymous, in pages of %ld,%.9s\n", name,
	       value(entry, "Size:"), value(entry, "Rss:"), value(entry, "Anonymous:"),
	       value(entry, "KernelPageSize:"), flags ? flags + 8 : "none");
}

/* Has no neighbours that the kernel could merge it with. */
static uint8_t *alone(size_t bytes, int rights)
{
	uint8_t *at = mmap(NULL, bytes + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	need(at != MAP_FAILED && !mprotect(at + PAGE, bytes, rights), "mmap");
	return at + PAGE;
}

static void memory(void)
{
	static const uint8_t seven[] = {0xb8, 7, 0, 0, 0, 0xc3}; /* mov $7, %eax; ret */
	uint8_t *data = alone(64 * PAGE, PROT_READ | PROT_WRITE);
	uint8_t *code = alone(4 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);

	for (int i = 0; i < 10; i++)
		data[(i * 3 + 1) * PAGE] = 1;
	say("data", data);
	for (int i = 1; i < 4; i++) {
		memcpy(code + i * PAGE, seven, sizeof(seven));
		need(((int (*)(void))(uintptr_t)(code + i * PAGE))() == 7, "code");
	}
	say("code that can be written to", code);
	need(!mprotect(code, 4 * PAGE, PROT_READ | PROT_EXEC), "mprotect");
	say("code", code);
	say("reserved", alone(1 << 30, PROT_NONE) - PAGE);
}

static long sum_of(const char *key)
{
	long sum = 0;

	for (const char *at = text; (at = strstr(at, key)); at++)
		sum += atol(at + strlen(key));
	return sum;
}

static const char *near(long a, long b)
{
	static char said[64];

	sprintf(said, "%ld, not %ld", a, b);
	return labs(a - b) < 400 ? "right" : said;
}

static void rollup(void)
{
	static const char *const keys[] = {
		"\nRss:",	    "\nPss:",		"\nShared_Clean:",
		"\nPrivate_Dirty:", "\nPrivate_Clean:", "\nAnonymous:"};
	size_t bytes = 20 << 20;
	long before;

	read_file(text, sizeof(text), "/proc/self/smaps");
	read_file(other, sizeof(other), "/proc/self/smaps_rollup");
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		printf("%s %s\n", keys[i] + 1, near(value(other, keys[i]), sum_of(keys[i])));
	printf("parts of Pss: %s\n",
	       near(value(other, "\nPss_Anon:") + value(other, "\nPss_File:") +
			    value(other, "\nPss_Shmem:"),
		    value(other, "\nPss:")));
	before = value(other, "\nPss_Anon:");
	memset(alone(bytes, PROT_READ | PROT_WRITE), 1, bytes);
	read_file(other, sizeof(other), "/proc/self/smaps_rollup");
	printf("more: %s\n", near(value(other, "\nPss_Anon:") - before, (long)bytes / 1024));
	before = value(other, "\nPss_Shmem:");
	memset(mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), 1,
	       bytes);
	read_file(other, sizeof(other), "/proc/self/smaps_rollup");
	printf("shared: %s\n", near(value(other, "\nPss_Shmem:") - before, (long)bytes / 1024));
}

int main(int argc, char **argv)
{
	static const struct subject subjects[] = {
		{"names", names},
		{"memory", memory},
		{"rollup", rollup},
		{NULL, NULL},
	};

	return run_subject(subjects, argc, argv);
}
