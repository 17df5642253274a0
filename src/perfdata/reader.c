/* SPDX-License-Identifier: MIT */
/*
 * reader.c: reads a perf.data, written by this project or by perf.
 *
 * It checks each offset and length in the file before it uses it. It does not read files of
 * big-endian machines.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <src/perfdata/reader.h>

/* Memory of records is given back in parts of this size. */
#define RELEASED_BYTES (UINT64_C(16) << 20)

/* --- opening ------------------------------------------------------------------------------ */

/* Opens the file; "-" is standard input.  What comes from a pipe is copied first. */
static int open_file(const char *path)
{
	struct stat status;
	int fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC)
				   : fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
	int copy, error;

	if (fd < 0 || fstat(fd, &status) ||
	    (!S_ISFIFO(status.st_mode) && !S_ISSOCK(status.st_mode)))
		return fd;
	copy = expand_stream(fd);
	error = errno;
	close(fd);
	errno = error;
	return copy;
}

static const char *map_file(struct perfdata_reader *reader)
{
	struct stat status;
	const char *wrong = NULL;
	int fd = open_file(reader->path);

	if (fd < 0)
		return strerror(errno);
	if (fstat(fd, &status)) {
		wrong = strerror(errno);
	} else if (!S_ISREG(status.st_mode)) {
		wrong = S_ISDIR(status.st_mode) ? strerror(EISDIR) : "not a regular file";
	} else if (!status.st_size) {
		wrong = "the file is empty";
	} else {
		void *memory = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);

		if (memory == MAP_FAILED) {
			wrong = strerror(errno);
		} else {
			reader->file = reader->records = memory;
			reader->bytes = (uint64_t)status.st_size;
		}
	}
	close(fd);
	return wrong;
}

static const char *read_header(struct perfdata_reader *reader)
{
	struct perfdata_header *header = &reader->header;
	static const char other_end[] = "2ELIFREP";

	if (reader->bytes < sizeof(header->magic) + sizeof(header->header_bytes))
		return "not a perf.data file";
	memcpy(header, reader->file,
	       reader->bytes < sizeof(*header) ? reader->bytes : sizeof(*header));
	if (!memcmp(header->magic, other_end, sizeof(header->magic)))
		return "written on a big-endian machine";
	if (memcmp(header->magic, PERFDATA_MAGIC, sizeof(header->magic)))
		return "not a perf.data file";
	if (header->header_bytes == PIPE_HEADER_BYTES)
		return reader_read_pipe(reader);
	if (reader->bytes < sizeof(*header) || header->header_bytes < sizeof(*header))
		return "the header is cut short";
	if (!reader_has(reader, header->attrs.offset, header->attrs.bytes))
		return "the events lie outside of the file";
	if (header->data.offset > reader->bytes)
		return "the records lie outside of the file";

	/*
	 * A file that was not finished says 0 or less than it has. A file that was cut says more.
	 */
	reader->begin = reader->at = header->data.offset;
	if (!header->data.bytes || !reader_has(reader, header->data.offset, header->data.bytes))
		reader->end = reader->bytes;
	else
		reader->end = reader->at + header->data.bytes;
	return NULL;
}

static const char *read_attrs(struct perfdata_reader *reader)
{
	const struct perfdata_header *header = &reader->header;
	uint64_t attr_bytes = header->attr_bytes - sizeof(struct perfdata_section);
	uint64_t count;

	if (header->attr_bytes < PERF_ATTR_SIZE_VER0 + sizeof(struct perfdata_section))
		return "the events' size is wrong";
	count = header->attrs.bytes / header->attr_bytes;
	if (!count)
		return "the file names no event";
	reader->events = calloc(count, sizeof(*reader->events));
	if (!reader->events)
		return strerror(ENOMEM);
	reader->event_count = count;
	for (uint64_t i = 0; i < count; i++) {
		const uint8_t *at = reader->file + header->attrs.offset + i * header->attr_bytes;
		struct read_event *event = &reader->events[i];
		size_t known = sizeof(event->event.attr);

		memcpy(&event->event.attr, at, attr_bytes < known ? attr_bytes : known);
		memcpy(&event->ids, at + attr_bytes, sizeof(event->ids));
		if (!reader_has(reader, event->ids.offset, event->ids.bytes))
			return "the events' ids lie outside of the file";
		if (event->ids.bytes >= sizeof(uint64_t))
			memcpy(&event->event.id, reader->file + event->ids.offset,
			       sizeof(uint64_t));
	}
	return NULL;
}

/* A file without features was not finished, and may have compressed records nevertheless. */
static bool may_be_compressed(const struct perfdata_reader *reader)
{
	uint64_t bytes;
	struct perf_event_header header;

	if (reader->feature[FEATURE_COMPRESSED].bytes)
		return true;
	if (reader->header.features[0])
		return false;
	for (uint64_t at = reader->at; at < reader->end; at += bytes) {
		bytes = reader_record_bytes(reader, at, &header);
		if (!bytes || header.type == RECORD_COMPRESSED)
			return bytes;
	}
	return false;
}

struct perfdata_reader *perfdata_open(const char *path, char **error)
{
	struct perfdata_reader *reader = calloc(1, sizeof(*reader));
	const char *wrong;

	*error = NULL;
	if (!reader)
		goto no_memory;
	reader->path = strdup(path);
	if (!reader->path)
		goto no_memory;
	wrong = map_file(reader);
	if (!wrong)
		wrong = read_header(reader);
	if (!wrong && !reader->events)
		wrong = read_attrs(reader);
	if (!wrong) {
		reader_read_features(reader);
		if (may_be_compressed(reader))
			wrong = expand_records(reader);
	}
	if (wrong) {
		if (asprintf(error, "%s: %s", path, wrong) < 0)
			*error = NULL;
		perfdata_close(reader);
		return NULL;
	}
	return reader;

no_memory:
	*error = strdup("out of memory");
	perfdata_close(reader);
	return NULL;
}

void perfdata_close(struct perfdata_reader *reader)
{
	if (!reader)
		return;
	if (reader->file)
		munmap(reader->file, reader->bytes);
	if (reader->expanded)
		munmap(reader->expanded, reader->expanded_bytes);
	for (size_t i = 0; i < reader->event_count; i++)
		free(reader->events[i].name);
	free(reader->events);
	free(reader->command);
	free(reader->path);
	free(reader);
}

/* --- records ---------------------------------------------------------------------------------- */

/* Finds the event that a sample's id names. */
static bool find_event(const struct perfdata_reader *reader, uint64_t id, size_t *index)
{
	for (size_t i = 0; i < reader->event_count; i++) {
		const struct perfdata_section *ids = &reader->events[i].ids;

		for (uint64_t at = 0; at + sizeof(id) <= ids->bytes; at += sizeof(id)) {
			if (!memcmp(reader->file + ids->offset + at, &id, sizeof(id))) {
				*index = i;
				return true;
			}
		}
	}
	return false;
}

/* The id comes first. Without an id, all events must have the same sample format. */
static bool read_sample(const struct perfdata_reader *reader, struct cursor cursor,
			struct perfdata_sample *sample)
{
	const struct perf_event_attr *attr = &reader->events[0].event.attr;
	uint64_t id = 0;

	sample->event = 0;
	if (reader->event_count > 1 && attr->sample_type & PERF_SAMPLE_IDENTIFIER) {
		struct cursor first = cursor;

		cursor_u64(&first, &id);
		if (!find_event(reader, id, &sample->event))
			return false;
		attr = &reader->events[sample->event].event.attr;
	}
	body_sample(&cursor, attr, sample, &id);
	if (cursor.bad)
		return false;
	if (reader->event_count > 1 && !(attr->sample_type & PERF_SAMPLE_IDENTIFIER))
		return find_event(reader, id, &sample->event);
	return true;
}

/* --- traces: their data follows the record that announces it, outside of records ----------- */

/*
 * Converts a reference to the clock's time. The parts are computed separately, as the kernel does.
 */
static uint64_t trace_time(const struct trace_info *info, uint64_t reference)
{
	uint64_t fraction;

	if (info->shift > 63)
		return 0;
	fraction = reference & ((UINT64_C(1) << info->shift) - 1);
	return info->zero + (reference >> info->shift) * info->mult +
	       (fraction * info->mult >> info->shift);
}

/* Finds the event of the trace: the first event if none is a trace. */
static size_t trace_event(const struct perfdata_reader *reader)
{
	size_t event = 0;

	while (event < reader->event_count &&
	       reader->events[event].event.attr.type != reader->trace.events)
		event++;
	return event < reader->event_count ? event : 0;
}

/* Skips the data; false if the file does not have all of it. */
static bool read_trace(struct perfdata_reader *reader, struct cursor cursor,
		       struct perfdata_trace *trace)
{
	struct trace_header header = {0};
	const uint8_t *data = reader->records + reader->at;

	body_trace_header(&cursor, &header);
	if (cursor.bad || header.bytes > reader->end - reader->at)
		return false;
	reader->at += header.bytes;
	trace->tid = header.tid;
	trace->event = trace_event(reader);
	trace->time_ns = trace_time(&reader->trace, header.reference);
	if (reader->trace.type == PERFDATA_TRACE_INTEL_BTS) {
		trace->records = (const struct perfdata_bts *)data;
		trace->count = header.bytes / sizeof(*trace->records);
	}
	/* Padding. */
	while (trace->count && !trace->records[trace->count - 1].from &&
	       !trace->records[trace->count - 1].to)
		trace->count--;
	return true;
}

/* Returns 1 if there is a body, 0 if there is none that we read, -1 if it is damaged. */
static int read_body(struct perfdata_reader *reader, const struct perf_event_header *header,
		     struct cursor cursor, struct perfdata_record *record)
{
	const struct perf_event_attr *attr = &reader->events[0].event.attr;
	struct cursor trailer = cursor;
	struct sample_id sample_id = {0};
	size_t trailing = sample_id_bytes(attr);

	if (header->type == PERF_RECORD_SAMPLE) {
		record->sample.misc = header->misc;
		return read_sample(reader, cursor, &record->sample) ? 1 : -1;
	}
	if (header->type == PERFDATA_RECORD_AUXTRACE_INFO) {
		body_trace_info(&cursor, &reader->trace);
		return cursor.bad ? -1 : 0;
	}
	if (header->type > PERF_RECORD_MMAP2)
		return 0;
	if ((size_t)(cursor.end - cursor.at) < trailing)
		return -1;
	cursor.end -= trailing;
	trailer.at = (uint8_t *)cursor.end;
	body_sample_id(&trailer, attr, &sample_id);

	switch (header->type) {
	case PERF_RECORD_MMAP:
		body_mmap(&cursor, &record->mmap);
		record->mmap.time_ns = sample_id.time_ns;
		/* The old record is a mapping of code unless it says otherwise. */
		if (!(header->misc & PERF_RECORD_MISC_MMAP_DATA))
			record->mmap.protection = PROT_READ | PROT_EXEC;
		break;
	case PERF_RECORD_MMAP2:
		body_mmap2(&cursor, &record->mmap, header->misc & PERF_RECORD_MISC_MMAP_BUILD_ID);
		record->mmap.time_ns = sample_id.time_ns;
		break;
	case PERF_RECORD_COMM:
		body_comm(&cursor, &record->comm);
		record->comm.time_ns = sample_id.time_ns;
		record->comm.exec = header->misc & PERF_RECORD_MISC_COMM_EXEC;
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		body_task(&cursor, &record->task);
		break;
	default:
		return 0;
	}
	return cursor.bad ? -1 : 1;
}

static int damaged(const struct perfdata_reader *reader, const char *what, char **error)
{
	if (asprintf(error, "%s: %s at byte %llu", reader->path, what,
		     (unsigned long long)reader->at) < 0)
		*error = NULL;
	return -1;
}

/*
 * Gives back the memory of records that have been read. Files can be larger than the memory. What
 * is read again comes from the file again.
 */
static void release(struct perfdata_reader *reader)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t from = (reader->released + page - 1) & ~(page - 1), to = reader->at & ~(page - 1);

	if (from < to)
		madvise(reader->records + from, to - from, MADV_DONTNEED);
	reader->released = reader->at;
}

int perfdata_next(struct perfdata_reader *reader, struct perfdata_record *record, char **error)
{
	struct perf_event_header header;
	struct cursor cursor = {0};

	*error = NULL;
	memset(record, 0, sizeof(*record));
	if (reader->at - reader->released > RELEASED_BYTES)
		release(reader);
	if (reader->at == reader->end)
		return reader->damaged ? damaged(reader, "damaged compressed records", error) : 0;
	if (reader->end - reader->at < sizeof(header))
		return damaged(reader, "the file ends within a record", error);
	memcpy(&header, reader->records + reader->at, sizeof(header));
	if (header.size < sizeof(header))
		return damaged(reader, "a record without a size", error);
	if (header.size > reader->end - reader->at)
		return damaged(reader, "the file ends within a record", error);

	cursor.at = reader->records + reader->at + sizeof(header);
	cursor.end = reader->records + reader->at + header.size;
	record->type = header.type;
	if (read_body(reader, &header, cursor, record) < 0)
		return damaged(reader, "a damaged record", error);
	reader->at += header.size;
	if (header.type == PERFDATA_RECORD_AUXTRACE && !read_trace(reader, cursor, &record->trace))
		return damaged(reader, "the file ends within trace data", error);
	return 1;
}

void perfdata_rewind(struct perfdata_reader *reader)
{
	perfdata_seek(reader, reader->begin);
}

uint64_t perfdata_offset(const struct perfdata_reader *reader)
{
	return reader->at;
}

void perfdata_seek(struct perfdata_reader *reader, uint64_t offset)
{
	reader->at = offset;
	reader->released = offset;
}
