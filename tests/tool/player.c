/* SPDX-License-Identifier: MIT */
/*
 * player.c FILE: takes the engine's place and plays records from a description into the memory
 * shared with the tool.  So a test knows what the tool must make of them, and can send nonsense.
 *
 * strtoull() reads the numbers.  Each line is a command:
 *
 *	request			The player prints what the tool asked for.
 *	as PID TID		The next lines belong to this thread.
 *	fork PID TID		The current thread starts this thread.
 *	end			The current thread ends.
 *	comm NAME		The current thread executes a program.
 *	map START LENGTH OFFSET PATH
 *				The process maps a file.
 *	sample EVENT IP PERIOD [FROM:TO:FLAGS ...]
 *				A sample arrives, with its branches.
 *	trace [FROM:TO ...]	A buffer with these branches arrives.
 *	count FROM:TO:TIMES ...	The same of branches that the engine has counted.
 *	repeat COUNT FROM:TO ...
 *				COUNT branches arrive.  The player repeats the list.
 *	bad-trace BUFFER COUNT	A record with these numbers arrives.
 *	bad-sample BRANCHES CHAIN STACK INTERRUPTED
 *				A sample arrives that claims to have so many branches,
 *				addresses of callers, and bytes of two stacks.
 *	exit STATUS		The program ends.  Each description ends with this line.
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <x86intrin.h>

#include <hosts/user/link.h>

#define WORDS_MAX	 4096
#define RECORD_WORDS_MAX 4

static struct link *link_memory;
static uint32_t pid, tid; /* of the next records */
static unsigned next_buffer;

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "player: %s\n", what);
	exit(1);
}

static uint64_t number(const char *word)
{
	char *end;
	uint64_t value = strtoull(word, &end, 0);

	if (*end || end == word)
		die(word);
	return value;
}

struct triple {
	uint64_t value[3];
};

/* Reads "A:B:C"; missing numbers are 0. */
static struct triple triple(const char *word)
{
	struct triple triple = {{0}};
	char copy[128], *at = copy, *part;

	snprintf(copy, sizeof(copy), "%s", word);
	for (unsigned i = 0; i < 3; i++) {
		part = strsep(&at, ":");
		triple.value[i] = part ? number(part) : 0;
	}
	return triple;
}

/* Returns the descriptor after the one from which this image was executed. */
static void map_link(void)
{
	const char *name = (const char *)getauxval(AT_EXECFN), *slash = strrchr(name, '/');
	int fd = slash ? atoi(slash + 1) + LINK_FD_OFFSET : -1;
	struct link *header;
	size_t bytes;

	header = mmap(NULL, sizeof(*header), PROT_READ, MAP_SHARED, fd, 0);
	if (header == MAP_FAILED || header->magic != LINK_MAGIC)
		die("not started by softpmu");
	bytes = header->bytes;
	munmap(header, sizeof(*header));
	link_memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (link_memory == MAP_FAILED)
		die("mmap");
}

static void wake(uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void wake_tool(void)
{
	__atomic_add_fetch(&link_memory->head_futex, 1, __ATOMIC_SEQ_CST);
	wake(&link_memory->head_futex);
}

static void put(const struct link_record *record)
{
	struct link *l = link_memory;
	const uint8_t *bytes = (const uint8_t *)record;
	size_t at = l->head % LINK_RING_BYTES;
	size_t first = LINK_RING_BYTES - at < record->bytes ? LINK_RING_BYTES - at : record->bytes;

	while (l->head + record->bytes - __atomic_load_n(&l->tail, __ATOMIC_ACQUIRE) >
	       LINK_RING_BYTES) {
		if (__atomic_load_n(&l->tool_gone, __ATOMIC_ACQUIRE))
			return;
		wake_tool();
		usleep(100);
	}
	memcpy(l->ring + at, bytes, first);
	memcpy(l->ring, bytes + first, record->bytes - first);
	__atomic_store_n(&l->head, l->head + record->bytes, __ATOMIC_RELEASE);
}

/* --- one function for each kind of line ---------------------------------------------------- */

static void say_request(void)
{
	const struct link *l = link_memory;

	printf("model %s events %u want %u lbr_select %#llx\n", l->model, l->events, l->want,
	       (unsigned long long)l->lbr_select);
	fflush(stdout);
}

static void put_comm(const char *name)
{
	struct link_comm comm = {.header = {LINK_REC_COMM, sizeof(comm)},
				 .pid = pid,
				 .tid = tid,
				 .tsc = __rdtsc(),
				 .exec = 1};

	snprintf(comm.comm, sizeof(comm.comm), "%s", name);
	put(&comm.header);
}

static void put_task(uint32_t of_pid, uint32_t of_tid, bool ended)
{
	struct link_task task = {.header = {LINK_REC_TASK, sizeof(task)},
				 .pid = of_pid,
				 .tid = of_tid,
				 .ppid = pid,
				 .ptid = tid,
				 .tsc = __rdtsc(),
				 .ended = ended};

	put(&task.header);
}

static void put_map(char *const word[])
{
	static union {
		struct link_mmap map;
		char room[sizeof(struct link_mmap) + LINK_PATH_MAX];
	} r;

	memset(&r, 0, sizeof(r));
	r.map = (struct link_mmap){.header = {.type = LINK_REC_MMAP},
				   .pid = pid,
				   .tid = tid,
				   .tsc = __rdtsc(),
				   .start = number(word[1]),
				   .length = number(word[2]),
				   .page_offset = number(word[3]),
				   .protection = 5,
				   .flags = 2};
	strcpy(r.map.path, word[4]);
	r.map.header.bytes = (uint32_t)((sizeof(r.map) + strlen(word[4]) + 8) & ~(size_t)7);
	put(&r.map.header);
}

static void put_sample(char *const word[], size_t words)
{
	static union {
		struct link_sample sample;
		char room[sizeof(struct link_sample) + WORDS_MAX * sizeof(struct link_branch)];
	} r;
	struct link_branch *branches = (struct link_branch *)(&r.sample + 1);

	memset(&r, 0, sizeof(r));
	r.sample = (struct link_sample){.pid = pid,
					.tid = tid,
					.event = (uint32_t)number(word[1]),
					.precise = 1,
					.tsc = __rdtsc(),
					.ip = number(word[2]),
					.period = number(word[3])};
	for (size_t i = 4; i < words; i++) {
		struct triple t = triple(word[i]);

		branches[r.sample.branches++] =
			(struct link_branch){t.value[0], t.value[1], t.value[2]};
	}
	r.sample.header.type = LINK_REC_SAMPLE;
	r.sample.header.bytes =
		(uint32_t)(sizeof(r.sample) + r.sample.branches * sizeof(*branches));
	put(&r.sample.header);
}

static void send_trace(uint32_t buffer, uint32_t count)
{
	struct link_trace trace = {.header = {LINK_REC_TRACE, sizeof(trace)},
				   .pid = pid,
				   .tid = tid,
				   .tsc = __rdtsc(),
				   .buffer = buffer,
				   .count = count};

	put(&trace.header);
	wake_tool();
}

/* Returns the words of a record: of the branch trace store, or of the log of control flow. */
static size_t record_words(void)
{
	return link_memory->want & LINK_WANT_FLOW ? RECORD_WORDS_MAX : LINK_BTS_BYTES / 8;
}

/* Returns the next buffer, after the tool has read it. */
static uint64_t *free_buffer(void)
{
	uint32_t *full = &link_memory->trace_state[next_buffer];

	if (link_memory->bytes <= sizeof(*link_memory))
		die("there are no trace buffers");
	while (__atomic_load_n(full, __ATOMIC_ACQUIRE)) {
		if (__atomic_load_n(&link_memory->tool_gone, __ATOMIC_ACQUIRE))
			die("nobody reads");
		syscall(SYS_futex, full, FUTEX_WAIT, 1, NULL, NULL, 0);
	}
	return (uint64_t *)((uint8_t *)(link_memory + 1) + (size_t)next_buffer * LINK_TRACE_BYTES);
}

static void send_buffer(uint32_t count)
{
	__atomic_store_n(&link_memory->trace_state[next_buffer], 1, __ATOMIC_RELEASE);
	send_trace(next_buffer, count);
	next_buffer = (next_buffer + 1) % LINK_TRACE_BUFFERS;
}

/* `flags`: of the addresses of branches (hosts/user/link.h). */
static uint32_t put_records(uint64_t *to, uint64_t flags, char *const word[], size_t words)
{
	for (size_t i = 0; i < words; i++, to += record_words()) {
		struct triple t = triple(word[i]);

		memset(to, 0, record_words() * sizeof(*to));
		memcpy(to, t.value, sizeof(t.value));
		to[0] |= flags;
	}
	return (uint32_t)words;
}

static void repeat(uint64_t count, char *const word[], size_t words)
{
	static uint64_t list[WORDS_MAX * RECORD_WORDS_MAX];
	size_t record = record_words(), most = LINK_TRACE_BYTES / (record * sizeof(*list));
	uint32_t length = put_records(list, 0, word, words), at = 0;

	while (count) {
		uint32_t some = (uint32_t)(count < most ? count : most);
		uint64_t *to = free_buffer();

		for (uint32_t i = 0; i < some; i++, to += record) {
			memcpy(to, list + at * record, record * sizeof(*to));
			at = at + 1 == length ? 0 : at + 1;
		}
		send_buffer(some);
		count -= some;
	}
}

static void put_bad_sample(char *const *claim)
{
	struct link_sample sample = {.header = {LINK_REC_SAMPLE, sizeof(sample)},
				     .branches = (uint16_t)number(claim[0]),
				     .chain = (uint32_t)number(claim[1]),
				     .stack = (uint32_t)number(claim[2]),
				     .interrupted_stack = (uint32_t)number(claim[3])};

	put(&sample.header);
	wake_tool();
}

static void end(int status)
{
	link_memory->tsc_start = 1;
	link_memory->tsc_end = __rdtsc();
	__atomic_store_n(&link_memory->state, LINK_EXITED, __ATOMIC_RELEASE);
	exit(status);
}

static void play(char *const word[], size_t words)
{
	if (!strcmp(word[0], "request") && words == 1)
		say_request();
	else if (!strcmp(word[0], "as") && words == 3) {
		pid = (uint32_t)number(word[1]);
		tid = (uint32_t)number(word[2]);
	} else if (!strcmp(word[0], "fork") && words == 3)
		put_task((uint32_t)number(word[1]), (uint32_t)number(word[2]), false);
	else if (!strcmp(word[0], "end") && words == 1)
		put_task(pid, tid, true);
	else if (!strcmp(word[0], "comm") && words == 2)
		put_comm(word[1]);
	else if (!strcmp(word[0], "map") && words == 5)
		put_map(word);
	else if (!strcmp(word[0], "sample") && words >= 4)
		put_sample(word, words);
	else if (!strcmp(word[0], "trace"))
		send_buffer(put_records(free_buffer(), 0, word + 1, words - 1));
	else if (!strcmp(word[0], "count"))
		send_buffer(put_records(free_buffer(), LINK_FLOW_COUNTED, word + 1, words - 1));
	else if (!strcmp(word[0], "repeat") && words > 2)
		repeat(number(word[1]), word + 2, words - 2);
	else if (!strcmp(word[0], "bad-trace") && words == 3)
		send_trace((uint32_t)number(word[1]), (uint32_t)number(word[2]));
	else if (!strcmp(word[0], "bad-sample") && words == 5)
		put_bad_sample(word + 1);
	else if (!strcmp(word[0], "exit") && words == 2)
		end((int)number(word[1]));
	else
		die(word[0]);
}

int main(int argc, char **argv)
{
	static char *word[WORDS_MAX];
	FILE *script = argc == 2 ? fopen(argv[1], "r") : NULL;
	char *line = NULL;
	size_t room = 0;

	map_link();
	pid = tid = (uint32_t)getpid();
	if (!script)
		die("no description");
	__atomic_store_n(&link_memory->state, LINK_RUNNING, __ATOMIC_RELEASE);
	while (getline(&line, &room, script) > 0) {
		char *rest = line;
		size_t words = 0;

		line[strcspn(line, "\n")] = '\0';
		while (words < WORDS_MAX && rest)
			word[words++] = strsep(&rest, " ");
		play(word, words);
	}
	die("the description has no end");
}
