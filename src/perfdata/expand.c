/* SPDX-License-Identifier: MIT */
/*
 * expand.c: a perf.data that cannot be mapped as it is: from a pipe, or with compressed records.
 *
 * Both are copied to a temporary file that has no name, so nothing is left of it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <src/perfdata/pack.h>
#include <src/perfdata/reader.h>

#define COPY_BYTES (1u << 20)

/* --- the temporary file ----------------------------------------------------------------------- */

struct copy {
	int fd;
	uint8_t *buffer;
	size_t buffered;
	bool failed; /* errno says why */
};

/* Opens a file without a name where TMPDIR says, or in memory if the file system has no such
 * files. */
static int open_unnamed(void)
{
	const char *folder = secure_getenv("TMPDIR");
	int fd = open(folder && *folder ? folder : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	return fd >= 0 ? fd : memfd_create("perf.data", MFD_CLOEXEC);
}

static bool copy_begin(struct copy *copy)
{
	*copy = (struct copy){.fd = open_unnamed(), .buffer = malloc(COPY_BYTES)};
	return copy->fd >= 0 && copy->buffer;
}

static void copy_flush(struct copy *copy)
{
	size_t done = 0;

	while (done < copy->buffered && !copy->failed) {
		ssize_t put = write(copy->fd, copy->buffer + done, copy->buffered - done);

		if (put > 0)
			done += (size_t)put;
		else
			copy->failed = put == 0 || errno != EINTR;
	}
	copy->buffered = 0;
}

static bool copy_add(void *opaque, const uint8_t *bytes, size_t count)
{
	struct copy *copy = opaque;

	while (count && !copy->failed) {
		size_t room = COPY_BYTES - copy->buffered, part = count < room ? count : room;

		memcpy(copy->buffer + copy->buffered, bytes, part);
		copy->buffered += part;
		bytes += part;
		count -= part;
		if (copy->buffered == COPY_BYTES)
			copy_flush(copy);
	}
	return !copy->failed;
}

/* Returns the file, or -1 if something could not be written. */
static int copy_end(struct copy *copy)
{
	int error;

	if (copy->fd >= 0 && copy->buffer)
		copy_flush(copy);
	error = errno;
	if (copy->failed && copy->fd >= 0) {
		close(copy->fd);
		copy->fd = -1;
	}
	free(copy->buffer);
	errno = error;
	return copy->fd;
}

int expand_stream(int from)
{
	struct copy copy;
	ssize_t got;

	if (!copy_begin(&copy)) {
		copy.failed = true;
		return copy_end(&copy);
	}
	for (;;) {
		got = read(from, copy.buffer, COPY_BYTES);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		copy.buffered = (size_t)got;
		copy_flush(&copy);
	}
	copy.failed |= got < 0;
	return copy_end(&copy);
}

/* --- compressed records ----------------------------------------------------------------------- */

/* What was expanded: whole records go to the copy, the beginning of another waits for its rest. */
struct whole {
	struct copy *copy;
	uint8_t begun[RECORD_BYTES_MAX + 8];
	size_t bytes;
};

/* Returns how many bytes the record has that has begun, as far as that is known. */
static size_t wanted(const struct whole *whole)
{
	struct perf_event_header header;

	if (whole->bytes < sizeof(header))
		return sizeof(header);
	memcpy(&header, whole->begun, sizeof(header));
	return header.size;
}

static bool take_expanded(void *opaque, const uint8_t *bytes, size_t count)
{
	struct whole *whole = opaque;

	while (count) {
		size_t want = wanted(whole), part;

		if (want < sizeof(struct perf_event_header))
			return false;
		part = want - whole->bytes;
		if (part > count)
			part = count;
		memcpy(whole->begun + whole->bytes, bytes, part);
		whole->bytes += part;
		bytes += part;
		count -= part;
		if (whole->bytes < wanted(whole) ||
		    wanted(whole) < sizeof(struct perf_event_header))
			continue;
		if (!copy_add(whole->copy, whole->begun, whole->bytes))
			return false;
		whole->bytes = 0;
	}
	return true;
}

/* Copies all records.  Returns false if one is damaged. */
static bool copy_records(struct perfdata_reader *reader, struct copy *copy,
			 struct unpacker *unpacker)
{
	static struct whole whole;
	uint64_t at = reader->at, bytes;
	struct perf_event_header header;

	whole = (struct whole){.copy = copy};
	for (; at < reader->end; at += bytes) {
		bytes = reader_record_bytes(reader, at, &header);
		/* The reader says what is wrong with a record that is cut short. */
		if (!bytes)
			return copy_add(copy, reader->records + at, reader->end - at);
		if (header.type != RECORD_COMPRESSED) {
			if (!copy_add(copy, reader->records + at, bytes))
				return false;
		} else if (!unpacker_add(unpacker, reader->records + at + sizeof(header),
					 header.size - sizeof(header), take_expanded, &whole)) {
			return false;
		}
	}
	return !whole.bytes;
}

const char *expand_records(struct perfdata_reader *reader)
{
	struct unpacker *unpacker = unpacker_create();
	struct copy copy;
	struct stat status;
	void *memory = MAP_FAILED;
	int fd;

	if (!unpacker)
		return strerror(ENOMEM);
	if (!copy_begin(&copy))
		copy.failed = true;
	else
		reader->damaged = !copy_records(reader, &copy, unpacker);
	unpacker_free(unpacker);
	fd = copy_end(&copy);
	if (fd < 0)
		return strerror(errno);
	if (!fstat(fd, &status) && status.st_size)
		memory = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (memory == MAP_FAILED)
		return "its compressed records cannot be read";
	reader->records = reader->expanded = memory;
	reader->expanded_bytes = (uint64_t)status.st_size;
	reader->begin = reader->at = reader->released = 0;
	reader->end = reader->expanded_bytes;
	return NULL;
}
