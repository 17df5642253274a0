/* SPDX-License-Identifier: MIT */
/* facts.c: reads the header features of a perf.data. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <src/perfdata/reader.h>

bool reader_has(const struct perfdata_reader *reader, uint64_t offset, uint64_t bytes)
{
	return offset <= reader->bytes && bytes <= reader->bytes - offset;
}

struct cursor reader_cursor(const struct perfdata_reader *reader, struct perfdata_section section)
{
	struct cursor cursor = {.at = reader->file, .end = reader->file, .bad = true};

	if (reader_has(reader, section.offset, section.bytes)) {
		cursor.at = reader->file + section.offset;
		cursor.end = cursor.at + section.bytes;
		cursor.bad = false;
	}
	return cursor;
}

/* A counted text of a feature. */
static const char *feature_text(struct cursor *cursor)
{
	uint32_t bytes = 0;
	const char *text;

	cursor_u32(cursor, &bytes);
	text = (const char *)cursor->at;
	cursor_skip(cursor, bytes);
	if (cursor->bad || !memchr(text, 0, bytes))
		return NULL;
	return text;
}

static struct cursor feature(const struct perfdata_reader *reader, unsigned bit)
{
	return reader_cursor(reader, reader->feature[bit]);
}

/* The descriptors follow the records directly. A file without descriptors is valid, too. */
static void find_features(struct perfdata_reader *reader)
{
	const struct perfdata_header *header = &reader->header;
	uint64_t at;

	if (!header->data.bytes ||
	    __builtin_add_overflow(header->data.offset, header->data.bytes, &at))
		return;
	for (unsigned bit = 0; bit < FEATURES_MAX; bit++) {
		struct perfdata_section section;

		if (!(header->features[bit / 64] >> bit % 64 & 1))
			continue;
		if (!reader_has(reader, at, sizeof(section)))
			return;
		memcpy(&section, reader->file + at, sizeof(section));
		at += sizeof(section);
		if (reader_has(reader, section.offset, section.bytes))
			reader->feature[bit] = section;
	}
}

/* Takes names from EVENT_DESC, whose events have the order of the attrs. */
static void read_names(struct perfdata_reader *reader)
{
	struct cursor cursor = feature(reader, FEATURE_EVENT_DESC);
	uint32_t count = 0, attr_bytes = 0;

	if (reader->feature[FEATURE_EVENT_DESC].bytes) {
		cursor_u32(&cursor, &count);
		cursor_u32(&cursor, &attr_bytes);
	}
	for (uint32_t i = 0; i < count && i < reader->event_count && !cursor.bad; i++) {
		uint32_t ids = 0;

		cursor_skip(&cursor, attr_bytes);
		cursor_u32(&cursor, &ids);
		reader->events[i].event.name = feature_text(&cursor);
		cursor_skip(&cursor, (uint64_t)ids * sizeof(uint64_t));
	}
	for (size_t i = 0; i < reader->event_count; i++) {
		struct read_event *event = &reader->events[i];

		if (event->event.name)
			continue;
		if (asprintf(&event->name, "event %u:%#llx", event->event.attr.type,
			     (unsigned long long)event->event.attr.config) < 0)
			event->name = NULL;
		event->event.name = event->name ? event->name : "unknown";
	}
}

static void join_command(struct perfdata_reader *reader)
{
	struct cursor cursor = feature(reader, FEATURE_CMDLINE);
	uint32_t count = 0;
	size_t length = 0;
	char *text;

	if (!reader->feature[FEATURE_CMDLINE].bytes)
		return;
	text = malloc(reader->feature[FEATURE_CMDLINE].bytes + 1);
	if (!text)
		return;
	cursor_u32(&cursor, &count);
	for (uint32_t i = 0; i < count; i++) {
		const char *word = feature_text(&cursor);

		if (!word)
			break;
		/* Each word is shorter than its space in the file. */
		length += (size_t)sprintf(text + length, "%s%s", i ? " " : "", word);
	}
	text[length] = '\0';
	reader->command = text;
}

void reader_read_features(struct perfdata_reader *reader)
{
	if (reader->header.header_bytes != PIPE_HEADER_BYTES)
		find_features(reader);
	read_names(reader);
	join_command(reader);
}

/* --- facts ---------------------------------------------------------------------------------- */

size_t perfdata_event_count(const struct perfdata_reader *reader)
{
	return reader->event_count;
}

const struct perfdata_event *perfdata_event_at(const struct perfdata_reader *reader, size_t index)
{
	return index < reader->event_count ? &reader->events[index].event : NULL;
}

const char *perfdata_about_text(const struct perfdata_reader *reader, const char *what)
{
	static const struct {
		const char *what;
		enum perfdata_feature bit;
	} texts[] = {
		{"hostname", FEATURE_HOSTNAME}, {"os release", FEATURE_OSRELEASE},
		{"version", FEATURE_VERSION},	{"arch", FEATURE_ARCH},
		{"cpu", FEATURE_CPUDESC},	{"cpu id", FEATURE_CPUID},
	};

	if (!strcmp(what, "command line"))
		return reader->command;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct cursor cursor = feature(reader, texts[i].bit);

		if (!strcmp(texts[i].what, what))
			return reader->feature[texts[i].bit].bytes ? feature_text(&cursor) : NULL;
	}
	return NULL;
}

size_t perfdata_build_id(const struct perfdata_reader *reader, const char *path,
			 uint8_t id[PERFDATA_BUILD_ID_MAX])
{
	struct cursor cursor = feature(reader, FEATURE_BUILD_ID);

	while (!cursor.bad && cursor.end - cursor.at > BUILD_ID_ENTRY_PATH) {
		const uint8_t *entry = cursor.at;
		struct perf_event_header header;
		size_t bytes;
		const char *name;

		memcpy(&header, entry, sizeof(header));
		if (header.size <= BUILD_ID_ENTRY_PATH)
			return 0;
		cursor_skip(&cursor, header.size);
		name = (const char *)entry + BUILD_ID_ENTRY_PATH;
		if (cursor.bad || !memchr(name, 0, header.size - BUILD_ID_ENTRY_PATH))
			return 0;
		if (strcmp(name, path))
			continue;
		/* Before Linux 5.11 there was no length: it is the 20 bytes of SHA-1. */
		bytes = header.misc & MISC_BUILD_ID_SIZE ? entry[BUILD_ID_ENTRY_BYTES]
							 : PERFDATA_BUILD_ID_MAX;
		if (bytes > PERFDATA_BUILD_ID_MAX)
			return 0;
		memcpy(id, entry + BUILD_ID_ENTRY_ID, bytes);
		return bytes;
	}
	return 0;
}
