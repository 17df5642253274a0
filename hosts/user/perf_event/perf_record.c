/* SPDX-License-Identifier: MIT */
/*
 * perf_record.c: the layouts of records other than samples (perf_event_open(2), "MMAP layout").
 */
#include "perf_record.h"

#include <string.h>

#define EXECUTE 4u /* PROT_EXEC */

/* A record that is being written, in words. */
struct record {
	uint64_t *word;
	size_t words;
};

static struct record begin(void *to)
{
	return (struct record){.word = to, .words = sizeof(struct perf_event_header) / 8};
}

static void put(struct record *r, uint64_t value)
{
	r->word[r->words++] = value;
}

static void put_pair(struct record *r, uint32_t low, uint32_t high)
{
	put(r, low | (uint64_t)high << 32);
}

/* A string, with its end, in whole words. */
static void put_text(struct record *r, const char *text)
{
	size_t bytes =
		strlen(text) < PERF_RECORD_PATH_MOST ? strlen(text) : PERF_RECORD_PATH_MOST - 1;
	size_t words = bytes / 8 + 1;

	memset(r->word + r->words, 0, 8 * words);
	memcpy(r->word + r->words, text, bytes);
	r->words += words;
}

static size_t end(struct record *r, uint32_t type, uint32_t misc,
		  const struct perf_event_attr *attr, const struct perf_sample_id *of)
{
	struct perf_event_header *header = (struct perf_event_header *)r->word;
	size_t bytes = 8 * r->words + perf_sample_id_bytes(attr);

	perf_sample_id_write(r->word + r->words, attr, of);
	*header = (struct perf_event_header){type, (uint16_t)misc, (uint16_t)bytes};
	return bytes;
}

bool perf_record_wants_mapping(const struct perf_event_attr *attr, bool executable)
{
	return executable ? attr->mmap || attr->mmap2 : attr->mmap_data;
}

bool perf_record_wants_task(const struct perf_event_attr *attr)
{
	return attr->comm || attr->mmap || attr->mmap2 || attr->mmap_data || attr->task;
}

size_t perf_record_mmap(void *to, const struct perf_event_attr *attr,
			const struct perf_sample_id *of, const struct perf_record_mapping *mapping)
{
	struct record r = begin(to);
	uint32_t misc = PERF_RECORD_MISC_USER;

	if (!(mapping->protection & EXECUTE))
		misc |= PERF_RECORD_MISC_MMAP_DATA;
	put_pair(&r, of->pid, of->tid);
	put(&r, mapping->start);
	put(&r, mapping->bytes);
	put(&r, mapping->offset);
	if (attr->mmap2) {
		put_pair(&r, mapping->device_major, mapping->device_minor);
		put(&r, mapping->inode);
		put(&r, 0); /* the generation of the inode */
		put_pair(&r, mapping->protection, mapping->flags);
	}
	put_text(&r, mapping->path);
	return end(&r, attr->mmap2 ? PERF_RECORD_MMAP2 : PERF_RECORD_MMAP, misc, attr, of);
}

size_t perf_record_comm(void *to, const struct perf_event_attr *attr,
			const struct perf_sample_id *of, const char *name, bool exec)
{
	struct record r = begin(to);

	put_pair(&r, of->pid, of->tid);
	put_text(&r, name);
	return end(&r, PERF_RECORD_COMM, exec ? PERF_RECORD_MISC_COMM_EXEC : 0, attr, of);
}

size_t perf_record_task(void *to, const struct perf_event_attr *attr,
			const struct perf_sample_id *of, const struct perf_record_task *task,
			bool ended)
{
	struct record r = begin(to);

	put_pair(&r, task->pid, task->ppid);
	put_pair(&r, task->tid, task->ptid);
	put(&r, of->time_ns);
	return end(&r, ended ? PERF_RECORD_EXIT : PERF_RECORD_FORK, 0, attr, of);
}

size_t perf_record_lost(void *to, const struct perf_event_attr *attr,
			const struct perf_sample_id *of, uint64_t lost)
{
	struct record r = begin(to);

	put(&r, of->id);
	put(&r, lost);
	return end(&r, PERF_RECORD_LOST, 0, attr, of);
}

size_t perf_record_read(void *to, const struct perf_event_attr *attr,
			const struct perf_sample_id *of, const uint64_t *read, size_t words)
{
	struct record r = begin(to);

	put_pair(&r, of->pid, of->tid);
	for (size_t i = 0; i < words; i++)
		put(&r, read[i]);
	return end(&r, PERF_RECORD_READ, 0, attr, of);
}
