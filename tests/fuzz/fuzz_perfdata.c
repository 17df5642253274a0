/* SPDX-License-Identifier: MIT */
/*
 * fuzz_perfdata.c: the reader of perf.data on arbitrary bytes. It must not read outside of the
 * file, it must end, and what it returns must be inside the file.
 *
 * The first byte chooses: the other bytes are a whole file, or records after a good header, so that
 * records of all kinds are reached.
 */
#define _GNU_SOURCE
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <src/perfdata/layout.h>

static char name[64];
static int fd = -1;

static void put(const void *bytes, size_t count)
{
	FUZZ_HOLDS(write(fd, bytes, count) == (ssize_t)count);
}

/*
 * Writes a header, one event whose samples have the fields that the input chooses, and the section
 * of its attr.
 */
static void put_front(struct fuzz_input *input)
{
	struct perfdata_header header = {.header_bytes = sizeof(header)};
	struct perfdata_section none = {0};
	struct perf_event_attr attr = {
		.size = sizeof(attr), .sample_type = fuzz_word(input), .sample_id_all = 1};

	memcpy(header.magic, PERFDATA_MAGIC, sizeof(header.magic));
	attr.branch_sample_type = fuzz_byte(input) & 1 ? PERF_SAMPLE_BRANCH_HW_INDEX : 0;
	attr.sample_regs_intr = attr.sample_regs_user = fuzz_word(input);
	attr.read_format = fuzz_byte(input);
	header.attr_bytes = sizeof(attr) + sizeof(none);
	header.attrs.offset = sizeof(header);
	header.attrs.bytes = header.attr_bytes;
	header.data.offset = sizeof(header) + header.attr_bytes;
	put(&header, sizeof(header));
	put(&attr, sizeof(attr));
	put(&none, sizeof(none));
}

static uint64_t sum_sample(const struct perfdata_sample *sample)
{
	uint64_t sum = sample->ip;

	for (uint64_t i = 0; i < sample->branch_count; i++)
		sum += sample->branches[i].from + sample->branches[i].flags;
	for (uint64_t i = 0; i < sample->chain_count; i++)
		sum += sample->chain[i].ip;
	return sum;
}

/* Reads each byte of what is returned, so that a sanitizer sees it. */
static uint64_t sum_record(const struct perfdata_record *record)
{
	uint64_t sum = 0;

	switch (record->type) {
	case PERF_RECORD_SAMPLE:
		return sum_sample(&record->sample);
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return strlen(record->mmap.path);
	case PERF_RECORD_COMM:
		return strlen(record->comm.comm);
	case PERFDATA_RECORD_AUXTRACE:
		for (uint64_t i = 0; i < record->trace.count; i++)
			sum += record->trace.records[i].from ^ record->trace.records[i].misc;
		return sum;
	default:
		return 0;
	}
}

static void read_all(size_t size)
{
	struct perfdata_record record;
	uint8_t id[PERFDATA_BUILD_ID_MAX];
	uint64_t kept = 0;
	char *error;
	struct perfdata_reader *reader = perfdata_open(name, &error);
	size_t records = 0;
	int next;

	FUZZ_HOLDS(!reader == (error != NULL));
	if (!reader) {
		free(error);
		return;
	}
	for (size_t i = 0; i < perfdata_event_count(reader); i++)
		kept += strlen(perfdata_event_at(reader, i)->name);
	if (perfdata_about_text(reader, "command line"))
		kept += strlen(perfdata_about_text(reader, "command line"));
	kept += perfdata_build_id(reader, "/no/such", id);
	while ((next = perfdata_next(reader, &record, &error)) > 0) {
		kept += sum_record(&record);
		/* Each record has at least its header. */
		FUZZ_HOLDS(++records <= size / sizeof(struct perf_event_header));
	}
	FUZZ_HOLDS((next < 0) == (error != NULL));
	/* So that the compiler does not leave out a sum. */
	__asm__ volatile("" : : "r"(kept));
	free(error);
	perfdata_close(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = {data, size};

	if (fd < 0) {
		fd = memfd_create("fuzz", MFD_CLOEXEC);
		snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	}
	FUZZ_HOLDS(fd >= 0 && !ftruncate(fd, 0) && !lseek(fd, 0, SEEK_SET));
	if (fuzz_byte(&input) & 1)
		put_front(&input);
	put(input.data, input.size);
	read_all((size_t)lseek(fd, 0, SEEK_CUR));
	return 0;
}
