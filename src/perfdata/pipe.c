/* SPDX-License-Identifier: MIT */
/*
 * pipe.c: the pipe form of perf.data, in which records take the place of the header.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <src/perfdata/reader.h>
#include <src/perfdata/writer.h>

/* --- reading ---------------------------------------------------------------------------------- */

uint64_t reader_record_bytes(const struct perfdata_reader *reader, uint64_t at,
			     struct perf_event_header *header)
{
	uint64_t left = reader->end - at, bytes;
	const uint8_t *record = reader->records + at;
	uint32_t tracing = 0;

	if (left < sizeof(*header))
		return 0;
	memcpy(header, record, sizeof(*header));
	bytes = header->size;
	if (bytes < sizeof(*header) || bytes > left)
		return 0;
	if (header->type == RECORD_HEADER_TRACING_DATA && bytes >= sizeof(*header) + 4) {
		memcpy(&tracing, record + sizeof(*header), sizeof(tracing));
		bytes += (tracing + UINT64_C(7)) & ~UINT64_C(7);
	}
	if (header->type == PERFDATA_RECORD_AUXTRACE) {
		struct cursor cursor = {.at = (uint8_t *)record + sizeof(*header),
					.end = record + header->size};
		struct trace_header trace = {0};

		body_trace_header(&cursor, &trace);
		if (cursor.bad || trace.bytes > left - bytes)
			return 0;
		bytes += trace.bytes;
	}
	return bytes <= left ? bytes : 0;
}

/* Adds the event of a HEADER_ATTR at `at`, whose ids follow its attr. */
static bool add_event(struct perfdata_reader *reader, uint64_t at, size_t bytes)
{
	struct read_event *grown, *event;
	uint32_t attr_bytes;
	size_t known = sizeof(event->event.attr);

	at += sizeof(struct perf_event_header);
	bytes -= sizeof(struct perf_event_header);
	if (bytes < PERF_ATTR_SIZE_VER0)
		return false;
	memcpy(&attr_bytes, reader->file + at + offsetof(struct perf_event_attr, size),
	       sizeof(attr_bytes));
	if (attr_bytes < PERF_ATTR_SIZE_VER0 || attr_bytes > bytes)
		return false;
	grown = realloc(reader->events, (reader->event_count + 1) * sizeof(*grown));
	if (!grown)
		return false;
	reader->events = grown;
	event = &grown[reader->event_count++];
	memset(event, 0, sizeof(*event));
	memcpy(&event->event.attr, reader->file + at, attr_bytes < known ? attr_bytes : known);
	event->ids = (struct perfdata_section){at + attr_bytes, bytes - attr_bytes};
	if (event->ids.bytes >= sizeof(uint64_t))
		memcpy(&event->event.id, reader->file + event->ids.offset, sizeof(uint64_t));
	return true;
}

static void add_feature(struct perfdata_reader *reader, uint64_t at, size_t bytes)
{
	size_t before = sizeof(struct perf_event_header) + sizeof(uint64_t);
	uint64_t bit;

	if (bytes < before)
		return;
	memcpy(&bit, reader->file + at + sizeof(struct perf_event_header), sizeof(bit));
	if (bit < FEATURES_MAX)
		reader->feature[bit] = (struct perfdata_section){at + before, bytes - before};
}

const char *reader_read_pipe(struct perfdata_reader *reader)
{
	uint64_t bytes;

	memset(&reader->header.attr_bytes, 0,
	       sizeof(reader->header) - offsetof(struct perfdata_header, attr_bytes));
	reader->begin = reader->at = PIPE_HEADER_BYTES;
	reader->end = reader->bytes;
	for (uint64_t at = reader->begin; at < reader->end; at += bytes) {
		struct perf_event_header header;

		bytes = reader_record_bytes(reader, at, &header);
		if (!bytes)
			break;
		if (header.type == RECORD_HEADER_ATTR && !add_event(reader, at, header.size))
			return "an event is damaged";
		if (header.type == RECORD_HEADER_FEATURE)
			add_feature(reader, at, header.size);
	}
	return reader->event_count ? NULL : "the file names no event";
}

/* --- writing ---------------------------------------------------------------------------------- */

static bool put(struct perfdata_writer *writer, const void *bytes, size_t count)
{
	writer->header.data.offset += count;
	return writer_put(writer, bytes, count, 0) == count;
}

static bool put_event(struct perfdata_writer *writer, const struct perfdata_event *event)
{
	struct perf_event_header header = {.type = RECORD_HEADER_ATTR,
					   .size = sizeof(header) + sizeof(event->attr) +
						   sizeof(event->id)};

	return put(writer, &header, sizeof(header)) &&
	       put(writer, &event->attr, sizeof(event->attr)) &&
	       put(writer, &event->id, sizeof(event->id));
}

static bool put_feature(struct perfdata_writer *writer, uint64_t bit, const uint8_t *body,
			size_t bytes)
{
	struct perf_event_header header = {
		.type = RECORD_HEADER_FEATURE,
		.size = (uint16_t)(sizeof(header) + sizeof(bit) + bytes)};

	/* A feature without a body, or with one that is too long, is left out. */
	if (!bytes || bytes > RECORD_BYTES_MAX - sizeof(header) - sizeof(bit))
		return true;
	return put(writer, &header, sizeof(header)) && put(writer, &bit, sizeof(bit)) &&
	       put(writer, body, bytes);
}

bool writer_pipe_front(struct perfdata_writer *writer)
{
	static const uint64_t size = PIPE_HEADER_BYTES;
	const struct feature_source *about = &writer->about;
	struct perfdata_section section;
	size_t bytes, at = 0;
	uint8_t *features = features_build(about, 0, &writer->header, &bytes);
	bool good = features && put(writer, PERFDATA_MAGIC, 8) && put(writer, &size, sizeof(size));

	for (size_t i = 0; i < about->event_count && good; i++)
		good = put_event(writer, &about->events[i]);
	for (uint64_t bit = 0; bit < FEATURES_MAX && good; bit++) {
		if (!(writer->header.features[bit / 64] >> bit % 64 & 1))
			continue;
		memcpy(&section, features + at, sizeof(section));
		at += sizeof(section);
		good = put_feature(writer, bit, features + section.offset, section.bytes);
	}
	free(features);
	return good;
}
