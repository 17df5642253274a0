/* SPDX-License-Identifier: MIT */
/*
 * append.c: adds records to a perf.data that is being written.
 *
 * Records are gathered in a buffer. The data of traces goes directly to the file.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <src/perfdata/writer.h>

/* --- records --------------------------------------------------------------------------- */

/* Writes the buffer.  Compressed records replace the features, without which nobody can expand
 * them.  So the features follow at once: the file of a killed writer can be read. */
static void empty_buffer(struct perfdata_writer *writer)
{
	if (writer->packer)
		perfdata_sync(writer);
	else
		writer_flush(writer);
}

/*
 * Reserves space for a record of this size and fills its header in. The cursor is bad if there is
 * no space.
 */
static struct cursor begin_record(struct perfdata_writer *writer, uint32_t type, uint16_t misc,
				  size_t body_bytes)
{
	size_t bytes = sizeof(struct perf_event_header) + body_bytes;
	struct perf_event_header header = {.type = type, .misc = misc, .size = (uint16_t)bytes};
	struct cursor cursor = {.writing = true};

	if (writer->buffered + bytes > BUFFER_BYTES)
		empty_buffer(writer);
	if (writer->error || bytes > (writer->packer ? PACK_BYTES : RECORD_BYTES_MAX)) {
		cursor.bad = true;
		return cursor;
	}
	cursor.at = writer->buffer + writer->buffered;
	cursor.end = cursor.at + bytes;
	cursor_bytes(&cursor, &header, sizeof(header));
	return cursor;
}

/* Adds the record if its body filled the space exactly. */
static bool end_record(struct perfdata_writer *writer, const struct cursor *cursor)
{
	if (cursor->bad || cursor->at != cursor->end)
		return false;
	writer->buffered = (size_t)(cursor->end - writer->buffer);
	return true;
}

static void end_with_id(struct perfdata_writer *writer, struct cursor *cursor, uint32_t pid,
			uint32_t tid, uint64_t time_ns)
{
	const struct perfdata_event *first = &writer->about.events[0];
	struct sample_id trailer = {.pid = pid, .tid = tid, .time_ns = time_ns, .id = first->id};

	body_sample_id(cursor, &first->attr, &trailer);
}

static size_t trailer_bytes(const struct perfdata_writer *writer)
{
	return sample_id_bytes(&writer->about.events[0].attr);
}

static size_t text_bytes(const char *text)
{
	return (strlen(text) + 8) & ~(size_t)7;
}

static void remember_time(struct feature_source *about, uint64_t time_ns)
{
	if (!about->first_ns || time_ns < about->first_ns)
		about->first_ns = time_ns;
	if (time_ns > about->last_ns)
		about->last_ns = time_ns;
}

bool perfdata_add_sample(struct perfdata_writer *writer, const struct perfdata_sample *sample)
{
	struct feature_source *about = &writer->about;
	struct perfdata_sample copy = *sample;
	const struct perf_event_attr *attr;
	struct cursor cursor;
	uint64_t id;

	if (sample->event >= about->event_count)
		return false;
	attr = &about->events[sample->event].attr;
	id = about->events[sample->event].id;
	cursor = begin_record(writer, PERF_RECORD_SAMPLE, sample->misc,
			      body_sample_bytes(attr, sample));
	body_sample(&cursor, attr, &copy, &id);
	if (!end_record(writer, &cursor))
		return false;
	writer->buffered_samples++;
	remember_time(about, sample->time_ns);
	return true;
}

static void remember_file(struct feature_source *about, const struct perfdata_mmap *map)
{
	struct known_file *grown;

	for (size_t i = 0; i < about->file_count; i++) {
		if (!strcmp(about->files[i].path, map->path))
			return;
	}
	/* Without memory, the file's id is only in its mapping. */
	grown = realloc(about->files, (about->file_count + 1) * sizeof(*grown));
	if (!grown)
		return;
	about->files = grown;
	grown += about->file_count;
	memcpy(grown->build_id, map->build_id, sizeof(grown->build_id));
	grown->build_id_bytes = map->build_id_bytes;
	grown->path = strdup(map->path);
	if (grown->path)
		about->file_count++;
}

bool perfdata_add_mmap(struct perfdata_writer *writer, const struct perfdata_mmap *map)
{
	struct perfdata_mmap copy = *map;
	uint16_t misc = PERF_RECORD_MISC_USER;
	struct cursor cursor;

	if (!(map->protection & PROT_EXEC))
		misc |= PERF_RECORD_MISC_MMAP_DATA;
	if (map->build_id_bytes) {
		misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
		remember_file(&writer->about, map);
	}
	/* pid and tid, three words of address, three of identity, protection and flags */
	cursor = begin_record(writer, PERF_RECORD_MMAP2, misc,
			      8 * 8 + text_bytes(map->path) + trailer_bytes(writer));
	body_mmap2(&cursor, &copy, map->build_id_bytes);
	end_with_id(writer, &cursor, map->pid, map->tid, map->time_ns);
	return end_record(writer, &cursor);
}

bool perfdata_add_comm(struct perfdata_writer *writer, const struct perfdata_comm *comm)
{
	struct perfdata_comm copy = *comm;
	uint16_t misc = comm->exec ? PERF_RECORD_MISC_COMM_EXEC : 0;
	struct cursor cursor = begin_record(writer, PERF_RECORD_COMM, misc,
					    8 + text_bytes(comm->comm) + trailer_bytes(writer));

	body_comm(&cursor, &copy);
	end_with_id(writer, &cursor, comm->pid, comm->tid, comm->time_ns);
	return end_record(writer, &cursor);
}

static bool add_task(struct perfdata_writer *writer, uint32_t type,
		     const struct perfdata_task *task)
{
	struct perfdata_task copy = *task;
	struct cursor cursor = begin_record(writer, type, 0, 3 * 8 + trailer_bytes(writer));

	body_task(&cursor, &copy);
	end_with_id(writer, &cursor, task->pid, task->tid, task->time_ns);
	return end_record(writer, &cursor);
}

bool perfdata_add_fork(struct perfdata_writer *writer, const struct perfdata_task *task)
{
	return add_task(writer, PERF_RECORD_FORK, task);
}

bool perfdata_add_exit(struct perfdata_writer *writer, const struct perfdata_task *task)
{
	return add_task(writer, PERF_RECORD_EXIT, task);
}

/* --- traces ---------------------------------------------------------------------------- */

bool perfdata_begin_trace(struct perfdata_writer *writer, uint32_t pid, uint32_t tid,
			  uint64_t time_ns)
{
	/* References are in the clock's nanoseconds. */
	struct trace_info info = {
		.type = PERFDATA_TRACE_INTEL_BTS, .events = PERFDATA_TYPE_INTEL_BTS, .mult = 1};
	struct cursor cursor =
		begin_record(writer, PERFDATA_RECORD_AUXTRACE_INFO, 0, TRACE_INFO_BYTES);

	body_trace_info(&cursor, &info);
	if (!end_record(writer, &cursor))
		return false;
	cursor = begin_record(writer, PERF_RECORD_ITRACE_START, 0, 8 + trailer_bytes(writer));
	cursor_u32(&cursor, &pid);
	cursor_u32(&cursor, &tid);
	end_with_id(writer, &cursor, pid, tid, time_ns);
	return end_record(writer, &cursor);
}

/* The kernel's record that a stretch of the trace exists. perf writes it before the data. */
static bool announce_trace(struct perfdata_writer *writer, const struct perfdata_trace *trace)
{
	uint64_t bytes = trace->count * sizeof(*trace->records), flags = 0;
	struct cursor cursor =
		begin_record(writer, PERF_RECORD_AUX, 0, 3 * 8 + trailer_bytes(writer));

	cursor_u64(&cursor, &writer->trace_bytes);
	cursor_u64(&cursor, &bytes);
	cursor_u64(&cursor, &flags);
	end_with_id(writer, &cursor, trace->pid, trace->tid, trace->time_ns);
	return end_record(writer, &cursor);
}

static bool remember_trace(struct perfdata_writer *writer, uint64_t offset, uint64_t bytes)
{
	struct feature_source *about = &writer->about;
	struct trace_place *grown =
		realloc(about->traces, (about->trace_count + 1) * sizeof(*grown));

	if (!grown)
		return false;
	about->traces = grown;
	grown[about->trace_count++] = (struct trace_place){offset, bytes};
	return true;
}

/* Finds the number of the thread; false if there is no memory. */
static bool trace_index(struct perfdata_writer *writer, uint32_t tid, uint32_t *index)
{
	uint32_t *grown;
	size_t i;

	for (i = writer->trace_tid_count; i-- > 0;) {
		*index = (uint32_t)i;
		if (writer->trace_tids[i] == tid)
			return true;
	}
	i = writer->trace_tid_count;
	grown = realloc(writer->trace_tids, (i + 1) * sizeof(*grown));
	if (!grown)
		return false;
	writer->trace_tids = grown;
	grown[writer->trace_tid_count++] = tid;
	*index = (uint32_t)i;
	return true;
}

/* Writes the record, the data and the padding, or nothing. */
static bool write_trace(struct perfdata_writer *writer, const struct perfdata_trace *trace)
{
	uint8_t head[sizeof(struct perf_event_header) + TRACE_HEADER_BYTES];
	uint8_t padding[TRACE_PADDING] = {0};
	uint64_t bytes = trace->count * sizeof(*trace->records);
	uint64_t offset = writer->header.data.offset + writer->written;
	struct perf_event_header header = {.type = PERFDATA_RECORD_AUXTRACE, .size = sizeof(head)};
	struct trace_header body = {.bytes = bytes + sizeof(padding),
				    .offset = writer->trace_bytes,
				    .reference = trace->time_ns,
				    .tid = trace->tid};
	struct cursor cursor = {.at = head, .end = head + sizeof(head), .writing = true};

	errno = 0;
	if (!trace_index(writer, trace->tid, &body.index)) {
		writer->error = ENOMEM;
		return false;
	}
	cursor_bytes(&cursor, &header, sizeof(header));
	body_trace_header(&cursor, &body);
	if (!remember_trace(writer, offset, sizeof(head)) ||
	    writer_put(writer, head, sizeof(head), offset) < sizeof(head) ||
	    writer_put(writer, trace->records, bytes, offset + sizeof(head)) < bytes ||
	    writer_put(writer, padding, sizeof(padding), offset + sizeof(head) + bytes) <
		    sizeof(padding)) {
		writer->error = errno ? errno : EIO;
		writer_cut(writer);
		writer_forget_traces(writer);
		return false;
	}
	writer->before = writer->written;
	writer->before_samples = writer->written_samples;
	writer->trace_last = true;
	writer->written += sizeof(head) + bytes + sizeof(padding);
	return true;
}

bool perfdata_add_trace(struct perfdata_writer *writer, const struct perfdata_trace *trace)
{
	if (!trace->count)
		return true;
	if (!announce_trace(writer, trace))
		return false;
	writer_flush(writer);
	if (writer->error || !write_trace(writer, trace))
		return false;
	if (writer->packer)
		perfdata_sync(writer);
	writer->traced += trace->count;
	writer->trace_bytes += trace->count * sizeof(*trace->records);
	remember_time(&writer->about, trace->time_ns);
	return true;
}
