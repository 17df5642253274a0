/* SPDX-License-Identifier: MIT */
/*
 * writer.c: a perf.data that grows: its beginning, its end, and what a full disk leaves of it.
 *
 * Each perfdata_sync() updates the header, so that the file of a killed writer can be read. If the
 * disk is full, the file is cut after the last whole record. Then the writer gives up what it
 * cannot keep, in this order: later records; the last stretch of records, to have space for the
 * header's features; the features.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <src/perfdata/writer.h>

/* --- the file ---------------------------------------------------------------------- */

void writer_cut(struct perfdata_writer *writer)
{
	/* A device cannot be cut. Then the length in the header decides. */
	if (!writer->pipe &&
	    ftruncate(writer->fd, (off_t)(writer->header.data.offset + writer->written)))
		return;
}

void writer_forget_traces(struct perfdata_writer *writer)
{
	struct feature_source *about = &writer->about;
	uint64_t end = writer->header.data.offset + writer->written;

	while (about->trace_count && about->traces[about->trace_count - 1].offset >= end)
		about->trace_count--;
}

/* Notes that the first `bytes` of the records are in the file. */
static bool write_header(struct perfdata_writer *writer, uint64_t bytes)
{
	writer->header.data.bytes = bytes;
	return writer_put(writer, &writer->header, sizeof(writer->header), 0) ==
	       sizeof(writer->header);
}

/* Writes the features after the records.  Returns false if not all could be written; *bytes is how
 * much space was needed. */
static bool put_features(struct perfdata_writer *writer, size_t *bytes)
{
	uint64_t offset = writer->header.data.offset + writer->written;
	uint8_t *features = features_build(&writer->about, offset, &writer->header, bytes);
	bool good = false;

	errno = ENOMEM;
	if (features)
		good = writer_put(writer, features, *bytes, offset) == *bytes;
	free(features);
	if (!good)
		memset(writer->header.features, 0, sizeof(writer->header.features));
	return good;
}

/* Nobody can expand records of a file that does not say how they were compressed. */
static void sync_packed(struct perfdata_writer *writer)
{
	size_t bytes;

	writer_flush(writer);
	if (writer->pipe)
		return;
	if (!writer->error)
		put_features(writer, &bytes);
	write_header(writer, writer->written);
}

/*
 * The buffer keeps its content: if the disk is full, its records can be given up for the features.
 */
void perfdata_sync(struct perfdata_writer *writer)
{
	uint64_t samples;
	size_t done = 0;

	if (writer->packer || writer->pipe) {
		sync_packed(writer);
		return;
	}
	if (!writer->error)
		done = writer_put(writer, writer->buffer, writer->buffered,
				  writer->header.data.offset + writer->written);
	write_header(writer, writer->written + writer_whole_records(writer, done, &samples));
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
	free(about->traces);
	free(writer->trace_tids);
	for (char **each = about->command; each && *each; each++)
		free(*each);
	free(about->command);
	free(about->version);
	free(about->cpu_name);
	free(about->cpu_id);
	packer_free(writer->packer);
	free(writer->packed);
	free(writer->buffer);
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
	if (about->compression) {
		to->compression = about->compression;
		writer->packed = malloc((size_t)PACKS_MAX * RECORD_BYTES_MAX);
		writer->packer = packer_create(about->compression);
		if (!writer->packed || !writer->packer)
			return false;
	}
	return writer->buffer && copy_text(&to->version, about->version) &&
	       copy_text(&to->cpu_name, about->cpu_name) && copy_text(&to->cpu_id, about->cpu_id) &&
	       copy_command(to, about->command) && copy_events(to, events, count);
}

/* Gives the existing file another name, as perf does, or gives the name back. */
static bool move_old(struct perfdata_writer *writer, bool back)
{
	char *old;
	int moved;

	if (asprintf(&old, "%s.old", writer->path) < 0)
		return false;
	moved = back ? rename(old, writer->path) : rename(writer->path, old);
	free(old);
	writer->moved_old = !back && !moved;
	return !moved || errno == ENOENT;
}

/*
 * Makes a new file, so that a reader of the older file keeps that one. A device is opened directly.
 */
static bool open_file(struct perfdata_writer *writer, const char *path)
{
	struct stat status;

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
	if (!move_old(writer, false))
		return false;
	/* Only the user has access, as with perf. */
	writer->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	writer->is_new = writer->fd >= 0;
	return writer->is_new;
}

static bool open_pipe(struct perfdata_writer *writer, const char *name, int fd)
{
	writer->path = strdup(name);
	writer->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	writer->pipe = true;
	return writer->path && writer->fd >= 0;
}

/* Writes everything before the records. */
static bool write_front(struct perfdata_writer *writer)
{
	struct perfdata_header *header = &writer->header;
	const struct feature_source *about = &writer->about;
	uint64_t at = sizeof(*header);

	memcpy(header->magic, PERFDATA_MAGIC, sizeof(header->magic));
	header->header_bytes = sizeof(*header);
	header->attr_bytes = sizeof(struct perf_event_attr) + sizeof(struct perfdata_section);
	for (size_t i = 0; i < about->event_count; i++, at += sizeof(uint64_t)) {
		if (writer_put(writer, &about->events[i].id, sizeof(uint64_t), at) !=
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
		if (writer_put(writer, entry, sizeof(entry), at) != sizeof(entry))
			return false;
	}
	header->data.offset = at;
	return write_header(writer, 0);
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
	if (!copy_facts(writer, events, count, about) ||
	    !(about->pipe_fd ? open_pipe(writer, path, about->pipe_fd) : open_file(writer, path)) ||
	    !(writer->pipe ? writer_pipe_front(writer) : write_front(writer)))
		goto failed;
	return writer;

failed:
	if (asprintf(error, "cannot write %s: %s", path, strerror(errno ? errno : EIO)) < 0)
		*error = NULL;
	perfdata_abandon(writer);
	return NULL;
}

/* --- what there is ------------------------------------------------------------------------ */

int perfdata_write_error(const struct perfdata_writer *writer)
{
	return writer->error;
}

uint64_t perfdata_samples(const struct perfdata_writer *writer)
{
	return writer->written_samples + writer->buffered_samples;
}

uint64_t perfdata_traced(const struct perfdata_writer *writer)
{
	return writer->traced;
}

uint64_t perfdata_bytes(const struct perfdata_writer *writer)
{
	return writer->header.data.offset + writer->written + writer->buffered;
}

/* --- the end ----------------------------------------------------------------------------- */

/*
 * Gives up the last records of the last stretch for `bytes` bytes of space. They are still in the
 * buffer.
 */
static void make_room(struct perfdata_writer *writer, size_t bytes)
{
	size_t stretch = (size_t)(writer->written - writer->before);
	uint64_t samples = 0;
	size_t kept = 0;

	/* File systems allocate whole pages, and both ends may share one. */
	bytes += 2 * (size_t)sysconf(_SC_PAGESIZE);
	if (stretch > bytes && !writer->trace_last)
		kept = writer_whole_records(writer, stretch - bytes, &samples);
	writer->written = writer->before + kept;
	writer->written_samples = writer->before_samples + samples;
	writer_cut(writer);
	writer_forget_traces(writer);
}

/* On failure, *bytes is how much space was needed. */
static bool write_features(struct perfdata_writer *writer, size_t *bytes)
{
	if (put_features(writer, bytes))
		return true;
	if (!writer->error)
		writer->error = errno;
	writer_cut(writer);
	return false;
}

/* Writes what follows the records, and the header.  Returns false if the file cannot be read. */
static bool end_file(struct perfdata_writer *writer, uint64_t *file_bytes)
{
	size_t bytes = 0;
	bool good;

	if (!write_features(writer, &bytes)) {
		/* The names of the events are worth more than the last samples. */
		make_room(writer, bytes);
		write_features(writer, &bytes);
	}
	*file_bytes = perfdata_bytes(writer) + bytes;
	good = write_header(writer, writer->written);
	if (!good && !writer->error)
		writer->error = errno;
	return good;
}

bool perfdata_finish(struct perfdata_writer *writer, uint64_t *file_bytes, char **error)
{
	bool good = true;

	*error = NULL;
	writer_flush(writer);
	*file_bytes = perfdata_bytes(writer);
	if (!writer->pipe)
		good = end_file(writer, file_bytes);
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
	if (writer->is_new)
		unlink(writer->path);
	if (writer->moved_old)
		move_old(writer, true);
	release(writer);
}
