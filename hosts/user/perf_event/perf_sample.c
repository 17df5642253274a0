/* SPDX-License-Identifier: MIT */
/*
 * perf_sample.c: the layout of PERF_RECORD_SAMPLE and of sample_id (perf_event_open(2), "MMAP
 * layout").
 *
 * Simplified: there are no raw data, no transactions, no physical addresses, no control groups and
 * no sizes of pages.
 */
#include "perf_sample.h"

#include <string.h>

#define ABI_64 2u /* PERF_SAMPLE_REGS_ABI_64 */

/* A record that is being written.  One that gets too long keeps its length and loses the rest. */
struct record {
	uint64_t *word;
	size_t words;
};

#define WORDS (PERF_SAMPLE_MOST / sizeof(uint64_t))

static void put(struct record *r, uint64_t value)
{
	if (r->words < WORDS)
		r->word[r->words] = value;
	r->words++;
}

static void put_all(struct record *r, const void *from, size_t words)
{
	if (words <= WORDS && r->words <= WORDS - words)
		memcpy(r->word + r->words, from, words * sizeof(uint64_t));
	r->words += words;
}

static uint64_t pair(uint32_t low, uint32_t high)
{
	return low | (uint64_t)high << 32;
}

/* --- parts --- */

static void put_first(struct record *r, uint64_t type, const struct perf_sample *s)
{
	if (type & PERF_SAMPLE_IDENTIFIER)
		put(r, s->of.id);
	if (type & PERF_SAMPLE_IP)
		put(r, s->ip);
	if (type & PERF_SAMPLE_TID)
		put(r, pair(s->of.pid, s->of.tid));
	if (type & PERF_SAMPLE_TIME)
		put(r, s->of.time_ns);
	if (type & PERF_SAMPLE_ADDR)
		put(r, s->address);
	if (type & PERF_SAMPLE_ID)
		put(r, s->of.id);
	if (type & PERF_SAMPLE_STREAM_ID)
		put(r, s->of.stream_id);
	if (type & PERF_SAMPLE_CPU)
		put(r, s->of.cpu);
	if (type & PERF_SAMPLE_PERIOD)
		put(r, s->period);
}

static void put_branches(struct record *r, uint64_t mask, const struct perf_sample *s)
{
	put(r, s->branches);
	if (mask & PERF_SAMPLE_BRANCH_HW_INDEX)
		put(r, 0);
	_Static_assert(sizeof(*s->branch) == 3 * sizeof(uint64_t), "from, to, flags");
	put_all(r, s->branch, 3 * s->branches);
}

static void put_registers(struct record *r, uint64_t mask, const uint64_t *registers)
{
	put(r, ABI_64);
	for (unsigned i = 0; i < PERF_SAMPLE_REGISTERS; i++)
		if (mask >> i & 1)
			put(r, registers[i]);
}

/* The size that was asked for, or what the record has room for; the memory; how much of it could be
 * read. */
static void put_stack(struct record *r, const struct perf_event_attr *attr,
		      const struct perf_sample *s)
{
	size_t after = 2; /* words */
	size_t words = attr->sample_stack_user / sizeof(uint64_t), copied;

	if (attr->sample_type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		after++;
	if (attr->sample_type & PERF_SAMPLE_DATA_SRC)
		after++;
	if (attr->sample_type & PERF_SAMPLE_TRANSACTION)
		after++;
	if (attr->sample_type & PERF_SAMPLE_REGS_INTR)
		after += 1 + PERF_SAMPLE_REGISTERS;
	if (r->words + words + after > WORDS)
		words = r->words + after < WORDS ? WORDS - r->words - after : 0;
	put(r, words * sizeof(uint64_t));
	if (!words)
		return;
	copied = s->copy(r->word + r->words, s->registers[PERF_SAMPLE_REG_SP],
			 words * sizeof(uint64_t));
	memset((uint8_t *)(r->word + r->words) + copied, 0, words * sizeof(uint64_t) - copied);
	r->words += words;
	put(r, copied);
}

static void put_rest(struct record *r, const struct perf_event_attr *attr,
		     const struct perf_sample *s)
{
	uint64_t type = attr->sample_type;

	if (type & PERF_SAMPLE_READ)
		put_all(r, s->read, s->read_words);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		put(r, s->chain_words);
		put_all(r, s->chain, s->chain_words);
	}
	if (type & PERF_SAMPLE_RAW)
		put(r, sizeof(uint32_t)); /* four bytes, which are 0 */
	if (type & PERF_SAMPLE_BRANCH_STACK)
		put_branches(r, attr->branch_sample_type, s);
	if (type & PERF_SAMPLE_REGS_USER)
		put_registers(r, attr->sample_regs_user, s->registers);
	if (type & PERF_SAMPLE_STACK_USER)
		put_stack(r, attr, s);
	if (type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		put(r, s->weight);
	if (type & PERF_SAMPLE_DATA_SRC)
		put(r, s->data_source);
	if (type & PERF_SAMPLE_TRANSACTION)
		put(r, 0);
	if (type & PERF_SAMPLE_REGS_INTR)
		put_registers(r, attr->sample_regs_intr, s->registers);
}

size_t perf_sample_write(void *to, const struct perf_event_attr *attr,
			 const struct perf_sample *sample)
{
	struct perf_event_header *header = to;
	struct record r = {.word = to, .words = sizeof(*header) / sizeof(uint64_t)};

	put_first(&r, attr->sample_type, sample);
	put_rest(&r, attr, sample);
	if (r.words > WORDS)
		return 0;
	header->type = PERF_RECORD_SAMPLE;
	header->misc = PERF_RECORD_MISC_USER;
	if (sample->exact)
		header->misc |= PERF_RECORD_MISC_EXACT_IP;
	header->size = (uint16_t)(r.words * sizeof(uint64_t));
	return header->size;
}

/* --- other records --- */

#define ID_FIELDS                                                                                  \
	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |             \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)

size_t perf_sample_id_bytes(const struct perf_event_attr *attr)
{
	size_t words = 0;

	for (uint64_t set = attr->sample_type & ID_FIELDS; set; set &= set - 1)
		words++;
	return attr->sample_id_all ? words * sizeof(uint64_t) : 0;
}

void perf_sample_id_write(uint64_t *to, const struct perf_event_attr *attr,
			  const struct perf_sample_id *id)
{
	uint64_t type = attr->sample_id_all ? attr->sample_type : 0;

	if (type & PERF_SAMPLE_TID)
		*to++ = pair(id->pid, id->tid);
	if (type & PERF_SAMPLE_TIME)
		*to++ = id->time_ns;
	if (type & PERF_SAMPLE_ID)
		*to++ = id->id;
	if (type & PERF_SAMPLE_STREAM_ID)
		*to++ = id->stream_id;
	if (type & PERF_SAMPLE_CPU)
		*to++ = id->cpu;
	if (type & PERF_SAMPLE_IDENTIFIER)
		*to++ = id->id;
}
