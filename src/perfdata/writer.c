/* SPDX-License-Identifier: MIT */
/*
 * writer.c: append records to a perf.data.
 *
 * The file grows under a temporary name and gets its own at the end.  When the
 * disk is full the file is cut after the last whole record; what cannot
 * be had then is given up in this order: later records, the last stretch of records in favour of
 * the header's features, the features.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <src/perfdata/layout.h>

#define BUFFER_BYTES (256u << 10)

struct perfdata_writer {
	int fd;
	char *path, *temporary; /* temporary: NULL when the file is written directly */
	struct perfdata_header header;
	struct feature_source about;

	uint8_t *buffer; /* records that are not in the file yet */
	size_t buffered;
	uint64_t buffered_samples;
	uint64_t written, written_samples; /* whole records in the file */
	uint64_t before, before_samples;   /* the same before the last stretch */
	int error;
};

/* --- the file ---------------------------------------------------------------------- */

/* How many bytes got there; errno tells why not all. */
static size_t write_at(int fd, const void *bytes, size_t count, uint64_t offset)
{
	const uint8_t *at = bytes;
	size_t done = 0;

	while (done < count) {
		ssize_t put = pwrite(fd, at + done, count - done, (off_t)(offset + done));

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			break;
		done += (size_t)put;
	}
	return done;
}

/* Whole records in the first `bytes` of the buffer, and the samples among them. */
static size_t whole_records(const struct perfdata_writer *writer, size_t bytes, uint64_t *samples)
{
	size_t at = 0;

	*samples = 0;
	while (at + sizeof(struct perf_event_header) <= bytes) {
		struct perf_event_header header;

		memcpy(&header, writer->buffer + at, sizeof(header));
		if (at + header.size > bytes)
			break;
		at += header.size;
		*samples += header.type == PERF_RECORD_SAMPLE;
	}
	return at;
}

static void truncate_data(struct perfdata_writer *writer)
{
	/* A device cannot be cut; then the header's length is what counts. */
	if (ftruncate(writer->fd, (off_t)(writer->header.data.offset + writer->written)))
		return;
}

static void flush(struct perfdata_writer *writer)
{
	size_t bytes = writer->buffered, done;
	uint64_t samples = writer->buffered_samples;

	if (!bytes || writer->error)
		return;
	done = write_at(writer->fd, writer->buffer, bytes,
			writer->header.data.offset + writer->written);
	writer->before = writer->written;
	writer->before_samples = writer->written_samples;
	if (done < bytes) {
		writer->error = errno ? errno : EIO;
		bytes = whole_records(writer, done, &samples);
	}
	writer->written += bytes;
	writer->written_samples += samples;
	writer->buffered = 0;
	writer->buffered_samples = 0;
	if (writer->error)
		truncate_data(writer);
}

static bool write_header(struct perfdata_writer *writer)
{
	writer->header.data.bytes = writer->written;
	return write_at(writer->fd, &writer->header, sizeof(writer->header), 0) ==
	       sizeof(writer->header);
}

void perfdata_sync(struct perfdata_writer *writer)
{
	flush(writer);
	write_header(writer);
}

/* --- beginning ----------------------------------------------------------------------- */

static void release(struct perfdata_writer *writer)
{
	struct feature_source *about = &writer->about;

	if (writer->fd >= 0)
		close(writer->fd);
	for (size_t i = 0; about->events && i < about->event_count; i++)
		free((char *)about->events[i].name);
	free(about->events);
	for (size_t i = 0; i < about->file_count; i++)
		free(about->files[i].path);
	free(about->files);
	for (char **each = about->command; each && *each; each++)
		free(*each);
	free(about->command);
	free(about->version);
	free(about->cpu_name);
	free(about->cpu_id);
	free(writer->buffer);
	free(writer->temporary);
	free(writer->path);
	free(writer);
}

static bool copy_text(char **to, const char *from)
{
	*to = from ? strdup(from) : NULL;
	return *to || !from;
}

static bool copy_command(struct feature_source *to, char *const *from)
{
	size_t count = 0;

	if (!from)
		return true;
	while (from[count])
		count++;
	to->command = calloc(count + 1, sizeof(*to->command));
	for (size_t i = 0; to->command && i < count; i++) {
		if (!copy_text(&to->command[i], from[i]))
			return false;
	}
	return to->command;
}

static bool copy_events(struct feature_source *to, const struct perfdata_event *from, size_t count)
{
	to->events = calloc(count ? count : 1, sizeof(*to->events));
	if (!to->events)
		return false;
	for (to->event_count = 0; to->event_count < count; to->event_count++) {
		struct perfdata_event *event = &to->events[to->event_count];

		*event = from[to->event_count];
		event->attr.size = sizeof(event->attr);
		event->id = to->event_count + 1;
		event->name = strdup(event->name);
		if (!event->name)
			return false;
	}
	return true;
}

static bool copy_facts(struct perfdata_writer *writer, const struct perfdata_event *events,
		       size_t count, const struct perfdata_about *about)
{
	struct feature_source *to = &writer->about;

	writer->buffer = malloc(BUFFER_BYTES);
	return writer->buffer && copy_text(&to->version, about->version) &&
	       copy_text(&to->cpu_name, about->cpu_name) && copy_text(&to->cpu_id, about->cpu_id) &&
	       copy_command(to, about->command) && copy_events(to, events, count);
}

/* A new file beside the one that it will become; a device or pipe is opened as it is. */
static bool open_file(struct perfdata_writer *writer, const char *path)
{
	struct stat status;
	mode_t mask;

	writer->path = strdup(path);
	if (!writer->path)
		return false;
	if (!stat(path, &status) && !S_ISREG(status.st_mode)) {
		writer->fd = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
		if (writer->fd >= 0 && !S_ISCHR(status.st_mode) && !S_ISBLK(status.st_mode)) {
			errno = ESPIPE;
			return false;
		}
		return writer->fd >= 0;
	}
	if (asprintf(&writer->temporary, "%s.XXXXXX", path) < 0) {
		writer->temporary = NULL;
		return false;
	}
	writer->fd = mkostemp(writer->temporary, O_CLOEXEC);
	if (writer->fd < 0) {
		free(writer->temporary);
		writer->temporary = NULL;
		return false;
	}
	/* As perf has it: for the user alone, unless the mask is tighter still. */
	mask = umask(0);
	umask(mask);
	fchmod(writer->fd, 0600 & ~mask);
	return true;
}

/* Everything before the records. */
static bool write_front(struct perfdata_writer *writer)
{
	struct perfdata_header *header = &writer->header;
	const struct feature_source *about = &writer->about;
	uint64_t at = sizeof(*header);

	memcpy(header->magic, PERFDATA_MAGIC, sizeof(header->magic));
	header->header_bytes = sizeof(*header);
	header->attr_bytes = sizeof(struct perf_event_attr) + sizeof(struct perfdata_section);
	for (size_t i = 0; i < about->event_count; i++, at += sizeof(uint64_t)) {
		if (write_at(writer->fd, &about->events[i].id, sizeof(uint64_t), at) !=
		    sizeof(uint64_t))
			return false;
	}
	header->attrs.offset = at;
	header->attrs.bytes = about->event_count * header->attr_bytes;
	for (size_t i = 0; i < about->event_count; i++, at += header->attr_bytes) {
		uint8_t entry[sizeof(struct perf_event_attr) + sizeof(struct perfdata_section)];
		struct perfdata_section ids = {.offset = sizeof(*header) + i * sizeof(uint64_t),
					       .bytes = sizeof(uint64_t)};

		memcpy(entry, &about->events[i].attr, sizeof(struct perf_event_attr));
		memcpy(entry + sizeof(struct perf_event_attr), &ids, sizeof(ids));
		if (write_at(writer->fd, entry, sizeof(entry), at) != sizeof(entry))
			return false;
	}
	header->data.offset = at;
	return write_header(writer);
}

struct perfdata_writer *perfdata_create(const char *path, const struct perfdata_event *events,
					size_t count, const struct perfdata_about *about,
					char **error)
{
	struct perfdata_writer *writer = calloc(1, sizeof(*writer));

	*error = NULL;
	if (!writer)
		goto failed;
	writer->fd = -1;
	if (!copy_facts(writer, events, count, about) || !open_file(writer, path) ||
	    !write_front(writer))
		goto failed;
	return writer;

failed:
	if (asprintf(error, "cannot write %s: %s", path, strerror(errno ? errno : EIO)) < 0)
		*error = NULL;
	perfdata_abandon(writer);
	return NULL;
}

/* --- records --------------------------------------------------------------------------- */

/* Room for a record of that size, its header filled in; bad when there is none. */
static struct cursor begin_record(struct perfdata_writer *writer, uint32_t type, uint16_t misc,
				  size_t body_bytes)
{
	size_t bytes = sizeof(struct perf_event_header) + body_bytes;
	struct perf_event_header header = {.type = type, .misc = misc, .size = (uint16_t)bytes};
	struct cursor cursor = {.writing = true};

	if (writer->buffered + bytes > BUFFER_BYTES)
		flush(writer);
	if (writer->error || bytes > RECORD_BYTES_MAX) {
		cursor.bad = true;
		return cursor;
	}
	cursor.at = writer->buffer + writer->buffered;
	cursor.end = cursor.at + bytes;
	cursor_bytes(&cursor, &header, sizeof(header));
	return cursor;
}

/* The record counts when its body filled its room exactly. */
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

/* The size of an event's samples follows from its attr. */
static size_t sample_bytes(const struct perf_event_attr *attr)
{
	static const uint64_t words = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
				      PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID |
				      PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
	size_t count = (size_t)__builtin_popcountll(attr->sample_type & words);

	if (attr->sample_type & PERF_SAMPLE_REGS_INTR)
		count += 1 + (size_t)__builtin_popcountll(attr->sample_regs_intr);
	return 8 * count;
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
	cursor = begin_record(writer, PERF_RECORD_SAMPLE, sample->misc, sample_bytes(attr));
	body_sample(&cursor, attr, &copy, &id);
	if (!end_record(writer, &cursor))
		return false;
	writer->buffered_samples++;
	if (!about->first_ns || sample->time_ns < about->first_ns)
		about->first_ns = sample->time_ns;
	if (sample->time_ns > about->last_ns)
		about->last_ns = sample->time_ns;
	return true;
}

static void remember_file(struct feature_source *about, const struct perfdata_mmap *map)
{
	struct known_file *grown;

	for (size_t i = 0; i < about->file_count; i++) {
		if (!strcmp(about->files[i].path, map->path))
			return;
	}
	/* Without memory the file's id stands in its mapping alone. */
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

	if (map->build_id_bytes) {
		misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
		remember_file(&writer->about, map);
	}
	/* pid and tid, three words of place, three of identity, protection and flags */
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

bool perfdata_add_exit(struct perfdata_writer *writer, const struct perfdata_task *task)
{
	struct perfdata_task copy = *task;
	struct cursor cursor =
		begin_record(writer, PERF_RECORD_EXIT, 0, 3 * 8 + trailer_bytes(writer));

	body_task(&cursor, &copy);
	end_with_id(writer, &cursor, task->pid, task->tid, task->time_ns);
	return end_record(writer, &cursor);
}

int perfdata_write_error(const struct perfdata_writer *writer)
{
	return writer->error;
}

uint64_t perfdata_samples(const struct perfdata_writer *writer)
{
	return writer->written_samples + writer->buffered_samples;
}

uint64_t perfdata_bytes(const struct perfdata_writer *writer)
{
	return writer->header.data.offset + writer->written + writer->buffered;
}

/* --- the end ----------------------------------------------------------------------------- */

/* Give the last records of the last stretch for `bytes` of room.  They still stand in the buffer.
 */
static void make_room(struct perfdata_writer *writer, size_t bytes)
{
	size_t stretch = (size_t)(writer->written - writer->before);
	uint64_t samples = 0;
	size_t kept = 0;

	/* File systems give room by the page, and both ends may share one. */
	bytes += 2 * (size_t)sysconf(_SC_PAGESIZE);
	if (stretch > bytes)
		kept = whole_records(writer, stretch - bytes, &samples);
	writer->written = writer->before + kept;
	writer->written_samples = writer->before_samples + samples;
	truncate_data(writer);
}

/* On failure *bytes is what there should have been room for. */
static bool write_features(struct perfdata_writer *writer, size_t *bytes)
{
	uint64_t offset = writer->header.data.offset + writer->written;
	size_t done;
	uint8_t *features = features_build(&writer->about, offset, &writer->header, bytes);

	if (!features) {
		errno = ENOMEM;
	} else {
		done = write_at(writer->fd, features, *bytes, offset);
		free(features);
		if (done == *bytes)
			return true;
	}
	memset(writer->header.features, 0, sizeof(writer->header.features));
	if (!writer->error)
		writer->error = errno;
	truncate_data(writer);
	return false;
}

/* perf keeps what had the name before. */
static bool take_name(struct perfdata_writer *writer)
{
	char *old;

	if (!writer->temporary)
		return true;
	if (asprintf(&old, "%s.old", writer->path) < 0)
		return false;
	if (rename(writer->path, old) && errno != ENOENT) {
		free(old);
		return false;
	}
	free(old);
	return !rename(writer->temporary, writer->path);
}

bool perfdata_finish(struct perfdata_writer *writer, char **error)
{
	size_t bytes = 0;
	bool good;

	*error = NULL;
	flush(writer);
	if (!write_features(writer, &bytes)) {
		/* The names of the events are worth more than the last samples. */
		make_room(writer, bytes);
		write_features(writer, &bytes);
	}
	good = write_header(writer) && take_name(writer);
	if (!good && !writer->error)
		writer->error = errno;
	if (writer->error && asprintf(error, "writing %s: %s: kept %llu samples", writer->path,
				      strerror(writer->error),
				      (unsigned long long)(good ? writer->written_samples : 0)) < 0)
		*error = NULL;
	good = !writer->error;
	release(writer);
	return good;
}

void perfdata_abandon(struct perfdata_writer *writer)
{
	if (!writer)
		return;
	if (writer->temporary)
		unlink(writer->temporary);
	release(writer);
}
