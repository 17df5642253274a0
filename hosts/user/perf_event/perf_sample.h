/* SPDX-License-Identifier: MIT */
/* perf_sample.h: PERF_RECORD_SAMPLE, and the fields at the end of other records (perf_sample.c). */
#ifndef SOFTPMU_PERF_SAMPLE_H
#define SOFTPMU_PERF_SAMPLE_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The size of a record is a 16-bit field, and a multiple of 8. */
#define PERF_SAMPLE_MOST 65528u

#define PERF_SAMPLE_REGISTERS 24 /* asm/perf_regs.h: AX to R15 */
#define PERF_SAMPLE_REG_BP    6
#define PERF_SAMPLE_REG_SP    7
#define PERF_SAMPLE_REG_IP    8

/* Whose record it is, and when it was made. */
struct perf_sample_id {
	uint32_t pid, tid, cpu;
	uint64_t time_ns, id, stream_id;
};

/* Copies memory of the program, as far as it can be read.  Returns how many bytes. */
typedef size_t perf_sample_copy(void *to, uint64_t from, size_t bytes);

/* What a sample can have.  Which fields the record has is in the event's sample_type. */
struct perf_sample {
	struct perf_sample_id of;
	uint64_t ip, address, period;
	bool exact;	      /* `ip` is the instruction that the sample belongs to */
	const uint64_t *read; /* PERF_SAMPLE_READ, as read(2) gives it */
	size_t read_words;
	const uint64_t *chain; /* with PERF_CONTEXT_USER */
	size_t chain_words;
	const struct perf_branch_entry *branch; /* newest first */
	size_t branches;
	const uint64_t *registers; /* in the order of asm/perf_regs.h */
	uint64_t weight, data_source;
	perf_sample_copy *copy; /* for PERF_SAMPLE_STACK_USER */
};

/* Writes the record.  Returns its size; 0: it would be longer than PERF_SAMPLE_MOST, which is the
 * room that `to` has. */
size_t perf_sample_write(void *to, const struct perf_event_attr *attr,
			 const struct perf_sample *sample);

/* Returns the size of the fields that end other records of the event, and writes them. */
size_t perf_sample_id_bytes(const struct perf_event_attr *attr);
void perf_sample_id_write(uint64_t *to, const struct perf_event_attr *attr,
			  const struct perf_sample_id *id);

#endif
