/* SPDX-License-Identifier: MIT */
/*
 * perfdata.c: the reader of perf.data reads back what the writer wrote, as a file and in the pipe
 * form, compressed or not. No damaged file makes the
 * reader look outside of the file (perfdata.sh runs this under sanitizers).
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <src/perfdata/perfdata.h>
#include <tests/unit/check.h>

#define SAMPLES	  300
#define TRACES	  3
#define TRACED	  1000
#define MUTATIONS 10000
#define REGS_MASK (UINT64_C(1) << PERFDATA_AX | UINT64_C(1) << PERFDATA_IP | UINT64_C(1) << 23)

static char path[4096];
static int compression; /* of the file that is written */
static bool pipe_form;

static uint64_t random_state = 88172645463325252u;

static uint64_t random_number(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static struct perf_event_attr make_attr(uint32_t type, uint64_t config)
{
	struct perf_event_attr attr = {
		.type = type,
		.config = config,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU |
			       PERF_SAMPLE_PERIOD | PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_CALLCHAIN |
			       PERF_SAMPLE_BRANCH_STACK,
		.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY,
		.sample_regs_intr = REGS_MASK,
		.sample_period = 1000,
		.sample_id_all = 1,
	};

	return attr;
}

/* The branches of sample n begin at n, and so do the addresses of its chain. */
static struct perfdata_branch branches[2 * SAMPLES];
static struct perfdata_address chain[2 * SAMPLES];
static struct perfdata_bts traced[TRACED];

static void fill_branches(void)
{
	for (uint64_t i = 0; i < 2 * SAMPLES; i++) {
		branches[i] = (struct perfdata_branch){i << 40, ~i, i & 3};
		chain[i].ip = i * 7;
	}
	for (uint64_t i = 0; i < TRACED; i++)
		traced[i] = (struct perfdata_bts){0x400000 + i, 0x500000 + 3 * i, i & 16};
}

static struct perfdata_sample make_sample(uint64_t number)
{
	struct perfdata_sample sample = {
		.event = number % 2,
		.misc = PERF_RECORD_MISC_USER | PERF_RECORD_MISC_EXACT_IP,
		.pid = 100,
		.tid = 101,
		.cpu = (uint32_t)(number % 7),
		.time_ns = 1000000 + number,
		.ip = 0x400000 + number * 3,
		.address = number << 32,
		.period = 1000 + number,
		.regs_mask = REGS_MASK,
		.branches = branches + number,
		.branch_count = number % 33,
		.chain = chain + number,
		.chain_count = number % 5,
	};

	sample.regs[PERFDATA_AX] = ~number;
	sample.regs[PERFDATA_IP] = sample.ip + 5;
	sample.regs[23] = number * number;
	return sample;
}

static const struct perfdata_mmap known_map = {
	.pid = 100,
	.tid = 101,
	.time_ns = 999999,
	.start = 0x400000,
	.length = 0x10000,
	.page_offset = 0x2000,
	.protection = 5,
	.flags = 2,
	.build_id = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20},
	.build_id_bytes = 20,
	.path = "/a/path/of/some/length",
};

static const struct perfdata_mmap plain_map = {
	.pid = 100,
	.tid = 101,
	.time_ns = 999999,
	.start = 0x7000000,
	.length = 0x1000,
	.major = 8,
	.minor = 1,
	.inode = 4711,
	.protection = 7,
	.flags = 2,
	.path = "//anon",
};

/* Checks the file as it would be if the writer were killed now. */
static void check_unfinished(struct perfdata_writer *writer, uint64_t samples)
{
	struct perfdata_reader *reader;
	struct perfdata_record record;
	uint64_t found = 0;
	char *error;

	perfdata_sync(writer);
	reader = perfdata_open(path, &error);
	if (!CHECK(reader))
		exit(test_summary());
	CHECK_EQ(perfdata_event_count(reader), 3);
	while (perfdata_next(reader, &record, &error) > 0)
		found += record.type == PERF_RECORD_SAMPLE;
	CHECK(!error);
	CHECK_EQ(found, samples);
	perfdata_close(reader);
}

static void write_file(void)
{
	char *command[] = {"softpmu", "record", "-c", "1000", "a program", NULL};
	struct perfdata_event events[] = {
		{.name = "instructions:upp", .attr = make_attr(PERF_TYPE_HARDWARE, 1)},
		{.name = "intel_bts//u", .attr = make_attr(PERFDATA_TYPE_INTEL_BTS, 0)},
		{.name = "a name, longer than the sixty-four bytes that texts are padded to: "
			 "r20c4:u",
		 .attr = make_attr(PERF_TYPE_RAW, 0x20c4)},
	};
	struct perfdata_about about = {.version = "1.2",
				       .cpu_name = "a cpu",
				       .cpu_id = "X,6,1,1",
				       .command = command,
				       .compression = compression};
	struct perfdata_comm comm = {
		.pid = 100, .tid = 101, .time_ns = 999998, .exec = true, .comm = "sixteen letters"};
	struct perfdata_task task = {
		.pid = 100, .ppid = 1, .tid = 101, .ptid = 1, .time_ns = 2000000};
	struct perfdata_writer *writer;
	struct stat status;
	uint64_t bytes;
	char *error;

	if (pipe_form)
		about.pipe_fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	writer = perfdata_create(path, events, 3, &about, &error);
	if (!CHECK(writer))
		exit(test_summary());
	CHECK(perfdata_add_comm(writer, &comm));
	CHECK(perfdata_add_mmap(writer, &known_map));
	CHECK(perfdata_add_mmap(writer, &plain_map));
	CHECK(perfdata_begin_trace(writer, 100, 101, 999999));
	for (uint64_t i = 0; i < SAMPLES; i++) {
		struct perfdata_sample sample = make_sample(i);
		struct perfdata_trace trace = {.pid = 100,
					       .tid = 101,
					       .time_ns = sample.time_ns,
					       .records = traced,
					       .count = TRACED - i};

		if (i % (SAMPLES / TRACES) == 0)
			CHECK(perfdata_add_trace(writer, &trace));

		if (!perfdata_add_sample(writer, &sample))
			CHECK(false);
		if (i == SAMPLES / 2)
			check_unfinished(writer, i + 1);
	}
	CHECK(perfdata_add_exit(writer, &task));
	CHECK_EQ(perfdata_samples(writer), SAMPLES);
	CHECK_EQ(perfdata_traced(writer), TRACES * TRACED - SAMPLES);
	CHECK_EQ(perfdata_write_error(writer), 0);
	CHECK(perfdata_finish(writer, &bytes, &error));
	CHECK(!stat(path, &status) && (uint64_t)status.st_size == bytes);
	CHECK(!error);
	if (pipe_form)
		close(about.pipe_fd);
}

/* A file that is abandoned leaves the older one in place. */
static void give_up(void)
{
	const struct perfdata_event event = {.name = "cycles"};
	const struct perfdata_about about = {0};
	struct stat before, after;
	struct perfdata_writer *writer;
	char *error;

	CHECK(!stat(path, &before));
	writer = perfdata_create(path, &event, 1, &about, &error);
	if (!CHECK(writer))
		exit(test_summary());
	CHECK(!stat(path, &after) && before.st_ino != after.st_ino);
	perfdata_abandon(writer);
	CHECK(!stat(path, &after) && before.st_ino == after.st_ino);
}

static bool same_sample(const struct perfdata_sample *a, const struct perfdata_sample *b)
{
	return a->event == b->event && a->misc == b->misc && a->pid == b->pid && a->tid == b->tid &&
	       a->cpu == b->cpu && a->time_ns == b->time_ns && a->ip == b->ip &&
	       a->address == b->address && a->period == b->period && a->regs_mask == b->regs_mask &&
	       !memcmp(a->regs, b->regs, sizeof(a->regs)) && a->branch_count == b->branch_count &&
	       !memcmp(a->branches, b->branches, a->branch_count * sizeof(*a->branches)) &&
	       a->chain_count == b->chain_count &&
	       !memcmp(a->chain, b->chain, a->chain_count * sizeof(*a->chain));
}

static void check_map(const struct perfdata_mmap *map, const struct perfdata_mmap *want)
{
	CHECK_EQ(map->pid, want->pid);
	CHECK_EQ(map->tid, want->tid);
	CHECK_EQ(map->time_ns, want->time_ns);
	CHECK_EQ(map->start, want->start);
	CHECK_EQ(map->length, want->length);
	CHECK_EQ(map->page_offset, want->page_offset);
	CHECK_EQ(map->protection, want->protection);
	CHECK_EQ(map->inode, want->inode);
	CHECK_EQ(map->major, want->major);
	CHECK_EQ(map->build_id_bytes, want->build_id_bytes);
	CHECK(!memcmp(map->build_id, want->build_id, sizeof(map->build_id)));
	CHECK(!strcmp(map->path, want->path));
}

static void check_trace(const struct perfdata_trace *trace, uint64_t number)
{
	uint64_t sample = number * (SAMPLES / TRACES);

	CHECK_EQ(trace->tid, 101);
	CHECK_EQ(trace->time_ns, make_sample(sample).time_ns);
	if (CHECK_EQ(trace->count, TRACED - sample))
		CHECK(!memcmp(trace->records, traced, trace->count * sizeof(*traced)));
}

static void read_file(void)
{
	struct perfdata_reader *reader;
	struct perfdata_record record;
	uint8_t id[PERFDATA_BUILD_ID_MAX];
	uint64_t samples = 0, same = 0, traces = 0;
	unsigned maps = 0, comms = 0, exits = 0, others = 0;
	char *error;

	reader = perfdata_open(path, &error);
	if (!CHECK(reader))
		exit(test_summary());
	CHECK_EQ(perfdata_event_count(reader), 3);
	CHECK(!strcmp(perfdata_event_at(reader, 0)->name, "instructions:upp"));
	CHECK(strstr(perfdata_event_at(reader, 2)->name, "r20c4:u"));
	CHECK_EQ(perfdata_event_at(reader, 2)->attr.config, 0x20c4);
	CHECK(!perfdata_event_at(reader, 3));
	CHECK(!strcmp(perfdata_about_text(reader, "version"), "1.2"));
	CHECK(!strcmp(perfdata_about_text(reader, "cpu id"), "X,6,1,1"));
	CHECK(!strcmp(perfdata_about_text(reader, "command line"),
		      "softpmu record -c 1000 a program"));
	CHECK(!perfdata_about_text(reader, "no such thing"));
	/* Before a pipe there is no table of build-ids yet. */
	CHECK_EQ(perfdata_build_id(reader, known_map.path, id), pipe_form ? 0 : 20);
	CHECK(pipe_form || !memcmp(id, known_map.build_id, 20));
	CHECK_EQ(perfdata_build_id(reader, plain_map.path, id), 0);
	while (perfdata_next(reader, &record, &error) > 0) {
		struct perfdata_sample want;

		switch (record.type) {
		case PERF_RECORD_SAMPLE:
			want = make_sample(samples++);
			same += same_sample(&record.sample, &want);
			break;
		case PERF_RECORD_MMAP2:
			check_map(&record.mmap, maps++ ? &plain_map : &known_map);
			break;
		case PERF_RECORD_COMM:
			comms += !strcmp(record.comm.comm, "sixteen letters") && record.comm.exec;
			break;
		case PERF_RECORD_EXIT:
			exits += record.task.pid == 100 && record.task.time_ns == 2000000;
			break;
		case PERFDATA_RECORD_AUXTRACE:
			check_trace(&record.trace, traces++);
			break;
		case PERFDATA_RECORD_AUXTRACE_INFO:
		case PERF_RECORD_ITRACE_START:
		case PERF_RECORD_AUX:
			others++;
			break;
		default: /* the pipe form's own */
			CHECK(pipe_form && record.type >= 64);
		}
	}
	CHECK(!error);
	CHECK_EQ(traces, TRACES);
	CHECK_EQ(others, 2 + TRACES);
	CHECK_EQ(samples, SAMPLES);
	CHECK_EQ(same, SAMPLES);
	CHECK_EQ(maps, 2);
	CHECK_EQ(comms, 1);
	CHECK_EQ(exits, 1);
	perfdata_rewind(reader);
	CHECK_EQ(perfdata_next(reader, &record, &error), 1);
	perfdata_close(reader);
}

/* --- damage ----------------------------------------------------------------------------- */

static uint8_t *load(size_t *bytes)
{
	struct stat status;
	FILE *file = fopen(path, "r");
	uint8_t *contents;

	if (!file || fstat(fileno(file), &status))
		exit(1);
	*bytes = (size_t)status.st_size;
	contents = malloc(*bytes);
	if (!contents || fread(contents, 1, *bytes, file) != *bytes)
		exit(1);
	fclose(file);
	return contents;
}

/* Damaged files are in memory, because thousands of them would keep a disk busy. */
static void store(int fd, const uint8_t *contents, size_t bytes)
{
	if (ftruncate(fd, 0) || pwrite(fd, contents, bytes, 0) != (ssize_t)bytes)
		exit(1);
}

static unsigned long sum_lists(const struct perfdata_record *record)
{
	unsigned long sum = 0;

	if (record->type == PERF_RECORD_SAMPLE) {
		for (uint64_t i = 0; i < record->sample.branch_count; i++)
			sum += record->sample.branches[i].to;
		for (uint64_t i = 0; i < record->sample.chain_count; i++)
			sum += record->sample.chain[i].ip;
	}
	if (record->type == PERFDATA_RECORD_AUXTRACE && record->trace.count)
		sum += record->trace.records[0].from +
		       record->trace.records[record->trace.count - 1].misc;
	return sum;
}

/* Reads all records.  The sum makes sure that every text and build-id is looked at. */
static unsigned long read_damaged(const char *damaged, unsigned *refused)
{
	struct perfdata_record record;
	uint8_t id[PERFDATA_BUILD_ID_MAX];
	unsigned long sum = 0;
	char *error;
	struct perfdata_reader *reader = perfdata_open(damaged, &error);
	int next;

	if (!reader) {
		*refused += error != NULL;
		free(error);
		return 0;
	}
	for (size_t i = 0; i < perfdata_event_count(reader); i++)
		sum += strlen(perfdata_event_at(reader, i)->name);
	if (perfdata_about_text(reader, "command line"))
		sum += strlen(perfdata_about_text(reader, "command line"));
	sum += perfdata_build_id(reader, "/no/such", id);
	while ((next = perfdata_next(reader, &record, &error)) > 0) {
		sum += sum_lists(&record);
		if (record.type == PERF_RECORD_COMM)
			sum += strlen(record.comm.comm);
		if (record.type == PERF_RECORD_MMAP || record.type == PERF_RECORD_MMAP2)
			sum += strlen(record.mmap.path);
	}
	*refused += next < 0;
	free(error);
	perfdata_close(reader);
	return sum;
}

static void damage(unsigned mutations)
{
	size_t bytes, front, tail = 4096;
	uint8_t *good = load(&bytes), *bad = malloc(bytes);
	unsigned refused = 0;
	unsigned long sum = 0;
	int fd = memfd_create("damaged", MFD_CLOEXEC);
	char name[64];

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	/* Most of the samples between the interesting bytes at both ends are left out. */
	if (fd < 0 || !bad || bytes < 2 * tail)
		exit(1);
	front = tail;
	for (unsigned i = 0; i < mutations; i++) {
		unsigned changes = 1 + (unsigned)(random_number() % 4);

		memcpy(bad, good, bytes);
		while (changes--) {
			uint64_t number = random_number();
			size_t at = number & 1 ? (number >> 8) % front
					       : bytes - 1 - (number >> 8) % tail;

			bad[at] = number & 2 ? (uint8_t)(number >> 56)
					     : bad[at] ^ (1u << (number >> 60) % 8);
		}
		store(fd, bad, i % 3 ? bytes : random_number() % bytes + 1);
		sum += read_damaged(name, &refused);
	}
	CHECK(sum > 0);
	CHECK(refused > mutations / 20); /* otherwise the damage did nothing */
	close(fd);
	free(bad);
	free(good);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 1;
	snprintf(path, sizeof(path), "%s", argv[1]);
	fill_branches();
	write_file();
	give_up();
	read_file();
	damage(MUTATIONS);
	compression = 1;
	write_file();
	read_file();
	damage(MUTATIONS / 25);
	pipe_form = true;
	write_file();
	read_file();
	damage(MUTATIONS / 25);
	compression = 0;
	write_file();
	read_file();
	damage(MUTATIONS / 25);
	unlink(path);
	return test_summary();
}
