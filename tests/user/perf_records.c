/* SPDX-License-Identifier: MIT */
/*
 * perf_records.c: prints the records of a small program that changes its name, maps a file, starts
 * a thread and a child, and executes itself.  The event is one that never happens, so the kernel
 * makes the same records if the program runs natively: perf_records.sh compares the two.  The
 * offset of memory without a file is its address.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGES	    64
#define RECORDS_MAX 256

struct ring {
	struct perf_event_mmap_page *page;
	const uint8_t *data;
	uint64_t at;
};

/* --- what happens --- */

static void *thread(void *unused)
{
	prctl(PR_SET_NAME, "thread");
	return unused;
}

static void act(const char *self)
{
	pthread_t other;
	int fd = open(self, O_RDONLY);

	prctl(PR_SET_NAME, "another name");
	(void)mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 4096);
	(void)mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		   0);
	pthread_create(&other, NULL, thread, NULL);
	pthread_join(other, NULL);
	if (!fork()) {
		prctl(PR_SET_NAME, "child");
		execl(self, self, "nothing", NULL);
		_exit(1);
	}
	wait(NULL);
}

/* --- the reader --- */

/* Numbers of tasks differ from run to run: the n-th that is seen is n. */
static unsigned task(uint32_t tid)
{
	static uint32_t seen[64];
	unsigned n = 0;

	while (n < 63 && seen[n] && seen[n] != tid)
		n++;
	seen[n] = tid;
	return n;
}

static uint64_t time_of(const uint8_t *record)
{
	uint64_t time;

	/* sample_id: TID, TIME, ID, CPU, IDENTIFIER */
	memcpy(&time, record + ((const struct perf_event_header *)record)->size - 32, 8);
	return time;
}

static const char *base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && strncmp(path, "//", 2) != 0 ? slash + 1 : path;
}

static void print(const uint8_t *record)
{
	const struct perf_event_header *h = (const void *)record;
	const uint32_t *w = (const void *)(h + 1);
	const uint64_t *d = (const void *)(h + 1);

	switch (h->type) {
	case PERF_RECORD_MMAP2:
		printf("MMAP2 %u/%u offset %llx prot %u flags %u misc %u %s%s\n", task(w[0]),
		       task(w[1]), (unsigned long long)(d[3] == d[1] ? 0 : d[3]), w[14], w[15],
		       h->misc, d[5] ? "a file " : "", base((const char *)&w[16]));
		break;
	case PERF_RECORD_COMM:
		printf("COMM %u/%u misc %u size %u %s\n", task(w[0]), task(w[1]), h->misc, h->size,
		       (const char *)&w[2]);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		printf("%s %u/%u of %u/%u\n", h->type == PERF_RECORD_FORK ? "FORK" : "EXIT",
		       task(w[0]), task(w[2]), task(w[1]), task(w[3]));
		break;
	default:
		printf("type %u\n", h->type);
	}
}

static int by_time(const void *a, const void *b)
{
	uint64_t one = time_of(*(uint8_t *const *)a), other = time_of(*(uint8_t *const *)b);

	return one < other ? -1 : one > other;
}

static void print_all(struct ring *ring, long rings)
{
	uint8_t *record[RECORDS_MAX];
	size_t n = 0;

	for (long i = 0; i < rings; i++)
		while (ring[i].at < ring[i].page->data_head && n < RECORDS_MAX) {
			struct perf_event_header h;

			memcpy(&h, ring[i].data + ring[i].at, sizeof(h));
			record[n] = malloc(h.size);
			memcpy(record[n++], ring[i].data + ring[i].at, h.size);
			ring[i].at += h.size;
		}
	qsort(record, n, sizeof(record[0]), by_time);
	for (size_t i = 0; i < n; i++)
		print(record[i]);
}

static struct ring watch(pid_t pid, int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.size = sizeof(attr),
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
			       PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER,
		.disabled = 1,
		.enable_on_exec = 1,
		.inherit = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.sample_id_all = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	void *at;

	if (fd < 0) {
		printf("no event: %s\n", strerrorname_np(errno));
		exit(1);
	}
	at = mmap(NULL, (1 + PAGES) * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED) {
		printf("no ring: %s\n", strerrorname_np(errno));
		exit(1);
	}
	return (struct ring){at, (uint8_t *)at + 4096, 0};
}

int main(int argc, char **argv)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	struct ring ring[processors];
	int go[2];
	char byte;
	pid_t pid;

	if (argc > 1) {
		if (!strcmp(argv[1], "act"))
			act(argv[0]);
		return 0;
	}
	if (pipe2(go, O_CLOEXEC))
		return 1;
	pid = fork();
	if (!pid) {
		if (read(go[0], &byte, 1) == 1)
			execl(argv[0], argv[0], "act", NULL);
		_exit(1);
	}
	for (int cpu = 0; cpu < processors; cpu++)
		ring[cpu] = watch(pid, cpu);
	if (write(go[1], "", 1) != 1)
		return 1;
	waitpid(pid, NULL, 0);
	print_all(ring, processors);
	return 0;
}
