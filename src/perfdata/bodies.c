/* SPDX-License-Identifier: MIT */
/*
 * bodies.c: the bodies of records, each described once for reading and for writing.
 *
 * Order and sizes are those of perf_event_open(2) and linux/perf_event.h; those of trace records
 * are perf's own. The reader skips parts that the writer does not write.
 */
#include <string.h>

#include <src/perfdata/layout.h>

/* --- the cursor -------------------------------------------------------------- */

static bool has_bytes(struct cursor *cursor, uint64_t bytes)
{
	if (!cursor->bad && (uint64_t)(cursor->end - cursor->at) < bytes)
		cursor->bad = true;
	return !cursor->bad;
}

void cursor_bytes(struct cursor *cursor, void *bytes, size_t count)
{
	if (!has_bytes(cursor, count)) {
		if (!cursor->writing)
			memset(bytes, 0, count);
		return;
	}
	if (cursor->writing)
		memcpy(cursor->at, bytes, count);
	else
		memcpy(bytes, cursor->at, count);
	cursor->at += count;
}

void cursor_u64(struct cursor *cursor, uint64_t *value)
{
	cursor_bytes(cursor, value, sizeof(*value));
}

void cursor_u32(struct cursor *cursor, uint32_t *value)
{
	cursor_bytes(cursor, value, sizeof(*value));
}

void cursor_skip(struct cursor *cursor, uint64_t count)
{
	if (!has_bytes(cursor, count))
		return;
	if (cursor->writing)
		memset(cursor->at, 0, count);
	cursor->at += count;
}

void cursor_text(struct cursor *cursor, const char **text)
{
	if (cursor->writing) {
		size_t length = strlen(*text), padded = (length + 8) & ~(size_t)7;

		if (!has_bytes(cursor, padded))
			return;
		memset(cursor->at, 0, padded);
		memcpy(cursor->at, *text, length);
		cursor->at += padded;
		return;
	}
	*text = "";
	if (cursor->bad || !memchr(cursor->at, 0, (size_t)(cursor->end - cursor->at))) {
		cursor->bad = true;
		return;
	}
	*text = (const char *)cursor->at;
	cursor->at += cursor->end - cursor->at;
}

/* --- samples ------------------------------------------------------------------- */

/* A counted list of items of a fixed size, with `between` bytes between count and items. */
static const void *list(struct cursor *cursor, const void *items, uint64_t *count,
			size_t item_bytes, size_t between)
{
	const void *at;

	cursor_u64(cursor, count);
	cursor_skip(cursor, between);
	if (*count > RECORD_BYTES_MAX)
		cursor->bad = true;
	if (cursor->writing) {
		cursor_bytes(cursor, (void *)items, *count * item_bytes);
		return items;
	}
	at = cursor->at;
	cursor_skip(cursor, *count * item_bytes);
	if (cursor->bad)
		*count = 0;
	return at;
}

static void skip_read_values(struct cursor *cursor, uint64_t format)
{
	uint64_t value_bytes = 8, count = 1;

	if (format & PERF_FORMAT_ID)
		value_bytes += 8;
	if (format & PERF_FORMAT_LOST)
		value_bytes += 8;
	if (format & PERF_FORMAT_GROUP)
		cursor_u64(cursor, &count);
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		cursor_skip(cursor, 8);
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		cursor_skip(cursor, 8);
	if (count > RECORD_BYTES_MAX)
		cursor->bad = true;
	else
		cursor_skip(cursor, count * value_bytes);
}

static void skip_raw(struct cursor *cursor)
{
	uint32_t bytes = 0;

	/* The count and the bytes together are padded to whole words. */
	cursor_u32(cursor, &bytes);
	cursor_skip(cursor, bytes);
	cursor_skip(cursor, (8 - (bytes + 4u) % 8) % 8);
}

static void skip_stack(struct cursor *cursor)
{
	uint64_t bytes = 0;

	cursor_u64(cursor, &bytes);
	cursor_skip(cursor, bytes);
	if (bytes)
		cursor_skip(cursor, 8);
}

static bool has_hardware_index(const struct perf_event_attr *attr)
{
	return attr->branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX;
}

/* Registers in the order of their bits, after a word that says whether there are any. */
static void registers(struct cursor *cursor, uint64_t mask, struct perfdata_sample *sample)
{
	uint64_t abi = PERF_SAMPLE_REGS_ABI_64;

	cursor_u64(cursor, &abi);
	if (abi == PERF_SAMPLE_REGS_ABI_NONE)
		return;
	if (sample)
		sample->regs_mask = mask & ((UINT64_C(1) << PERFDATA_REGS) - 1);
	for (uint64_t rest = mask; rest; rest &= rest - 1) {
		unsigned number = (unsigned)__builtin_ctzll(rest);

		if (sample && number < PERFDATA_REGS)
			cursor_u64(cursor, &sample->regs[number]);
		else
			cursor_skip(cursor, 8);
	}
}

/* The parts between the period and the registers. Only call chain, branches,
 * weight and data source are written. */
static void middle(struct cursor *cursor, const struct perf_event_attr *attr,
		   struct perfdata_sample *sample)
{
	uint64_t type = attr->sample_type;

	if (type & PERF_SAMPLE_READ)
		skip_read_values(cursor, attr->read_format);
	if (type & PERF_SAMPLE_CALLCHAIN)
		sample->chain = list(cursor, sample->chain, &sample->chain_count,
				     sizeof(*sample->chain), 0);
	if (type & PERF_SAMPLE_RAW)
		skip_raw(cursor);
	if (type & PERF_SAMPLE_BRANCH_STACK)
		sample->branches =
			list(cursor, sample->branches, &sample->branch_count,
			     sizeof(*sample->branches), has_hardware_index(attr) ? 8 : 0);
	if (type & PERF_SAMPLE_REGS_USER)
		registers(cursor, attr->sample_regs_user, NULL);
	if (type & PERF_SAMPLE_STACK_USER)
		skip_stack(cursor);
	if (type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		cursor_u64(cursor, &sample->weight);
	if (type & PERF_SAMPLE_DATA_SRC)
		cursor_u64(cursor, &sample->data_source);
	if (type & PERF_SAMPLE_TRANSACTION)
		cursor_skip(cursor, 8);
}

static size_t count_of(uint64_t type, uint64_t parts)
{
	return (size_t)__builtin_popcountll(type & parts);
}

size_t body_sample_bytes(const struct perf_event_attr *attr, const struct perfdata_sample *sample)
{
	static const uint64_t words = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
				      PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID |
				      PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
				      PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC;
	uint64_t type = attr->sample_type;
	size_t count = count_of(type, words);

	if (type & PERF_SAMPLE_CALLCHAIN)
		count += 1 + sample->chain_count;
	if (type & PERF_SAMPLE_BRANCH_STACK)
		count += 1 + has_hardware_index(attr) +
			 sample->branch_count * sizeof(*sample->branches) / 8;
	if (type & PERF_SAMPLE_REGS_INTR)
		count += 1 + count_of(attr->sample_regs_intr, UINT64_MAX);
	return 8 * count;
}

void body_sample(struct cursor *cursor, const struct perf_event_attr *attr,
		 struct perfdata_sample *sample, uint64_t *id)
{
	uint64_t type = attr->sample_type;

	if (type & PERF_SAMPLE_IDENTIFIER)
		cursor_u64(cursor, id);
	if (type & PERF_SAMPLE_IP)
		cursor_u64(cursor, &sample->ip);
	if (type & PERF_SAMPLE_TID) {
		cursor_u32(cursor, &sample->pid);
		cursor_u32(cursor, &sample->tid);
	}
	if (type & PERF_SAMPLE_TIME)
		cursor_u64(cursor, &sample->time_ns);
	if (type & PERF_SAMPLE_ADDR)
		cursor_u64(cursor, &sample->address);
	if (type & PERF_SAMPLE_ID)
		cursor_u64(cursor, id);
	if (type & PERF_SAMPLE_STREAM_ID)
		cursor_skip(cursor, 8);
	if (type & PERF_SAMPLE_CPU) {
		cursor_u32(cursor, &sample->cpu);
		cursor_skip(cursor, 4);
	}
	if (type & PERF_SAMPLE_PERIOD)
		cursor_u64(cursor, &sample->period);
	middle(cursor, attr, sample);
	if (type & PERF_SAMPLE_REGS_INTR)
		registers(cursor, attr->sample_regs_intr, sample);
}

/* --- other records --------------------------------------------------------------- */

void body_mmap(struct cursor *cursor, struct perfdata_mmap *map)
{
	cursor_u32(cursor, &map->pid);
	cursor_u32(cursor, &map->tid);
	cursor_u64(cursor, &map->start);
	cursor_u64(cursor, &map->length);
	cursor_u64(cursor, &map->page_offset);
	cursor_text(cursor, &map->path);
}

void body_mmap2(struct cursor *cursor, struct perfdata_mmap *map, bool with_build_id)
{
	cursor_u32(cursor, &map->pid);
	cursor_u32(cursor, &map->tid);
	cursor_u64(cursor, &map->start);
	cursor_u64(cursor, &map->length);
	cursor_u64(cursor, &map->page_offset);
	if (with_build_id) {
		cursor_bytes(cursor, &map->build_id_bytes, 1);
		cursor_skip(cursor, 3);
		cursor_bytes(cursor, map->build_id, PERFDATA_BUILD_ID_MAX);
		if (map->build_id_bytes > PERFDATA_BUILD_ID_MAX)
			cursor->bad = true;
	} else {
		cursor_u32(cursor, &map->major);
		cursor_u32(cursor, &map->minor);
		cursor_u64(cursor, &map->inode);
		cursor_skip(cursor, 8); /* generation */
	}
	cursor_u32(cursor, &map->protection);
	cursor_u32(cursor, &map->flags);
	cursor_text(cursor, &map->path);
}

void body_comm(struct cursor *cursor, struct perfdata_comm *comm)
{
	cursor_u32(cursor, &comm->pid);
	cursor_u32(cursor, &comm->tid);
	cursor_text(cursor, &comm->comm);
}

void body_task(struct cursor *cursor, struct perfdata_task *task)
{
	cursor_u32(cursor, &task->pid);
	cursor_u32(cursor, &task->ppid);
	cursor_u32(cursor, &task->tid);
	cursor_u32(cursor, &task->ptid);
	cursor_u64(cursor, &task->time_ns);
}

/* --- traces ----------------------------------------------------------------------- */

void body_trace_info(struct cursor *cursor, struct trace_info *info)
{
	uint64_t may_convert = 1, snapshots = 0;

	cursor_u32(cursor, &info->type);
	cursor_skip(cursor, 4);
	if (info->type != PERFDATA_TRACE_INTEL_BTS)
		return;
	cursor_u64(cursor, &info->events);
	cursor_u64(cursor, &info->shift);
	cursor_u64(cursor, &info->mult);
	cursor_u64(cursor, &info->zero);
	cursor_u64(cursor, &may_convert);
	cursor_u64(cursor, &snapshots);
}

void body_trace_header(struct cursor *cursor, struct trace_header *header)
{
	uint32_t no_cpu = UINT32_MAX;

	cursor_u64(cursor, &header->bytes);
	cursor_u64(cursor, &header->offset);
	cursor_u64(cursor, &header->reference);
	cursor_u32(cursor, &header->index);
	cursor_u32(cursor, &header->tid);
	cursor_u32(cursor, &no_cpu); /* it follows the thread */
	cursor_skip(cursor, 4);
}

/* --- the trailer ------------------------------------------------------------------ */

#define TRAILER_PARTS                                                                              \
	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |             \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)

size_t sample_id_bytes(const struct perf_event_attr *attr)
{
	if (!attr->sample_id_all)
		return 0;
	return 8 * (size_t)__builtin_popcountll(attr->sample_type & TRAILER_PARTS);
}

void body_sample_id(struct cursor *cursor, const struct perf_event_attr *attr,
		    struct sample_id *sample_id)
{
	uint64_t type = attr->sample_type;

	if (!attr->sample_id_all)
		return;
	if (type & PERF_SAMPLE_TID) {
		cursor_u32(cursor, &sample_id->pid);
		cursor_u32(cursor, &sample_id->tid);
	}
	if (type & PERF_SAMPLE_TIME)
		cursor_u64(cursor, &sample_id->time_ns);
	if (type & PERF_SAMPLE_ID)
		cursor_u64(cursor, &sample_id->id);
	if (type & PERF_SAMPLE_STREAM_ID)
		cursor_skip(cursor, 8);
	if (type & PERF_SAMPLE_CPU) {
		cursor_u32(cursor, &sample_id->cpu);
		cursor_skip(cursor, 4);
	}
	if (type & PERF_SAMPLE_IDENTIFIER)
		cursor_u64(cursor, &sample_id->id);
}
