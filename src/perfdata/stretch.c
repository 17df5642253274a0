/* SPDX-License-Identifier: MIT */
/*
 * stretch.c: a stretch of records on its way into the file: compressed or as it is, and what a full
 * disk leaves of it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <src/perfdata/writer.h>

/* --- the file or the pipe --------------------------------------------------------------------- */

/* If the reader of a pipe has ended, the write fails or is short, and the tool continues.  The
 * signal is removed that the kernel sends then. */
static ssize_t write_to_pipe(int fd, const void *bytes, size_t count)
{
	const struct timespec now = {0};
	sigset_t pipe, before, pending;
	ssize_t put;
	int error;

	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, &pipe, &before);
	put = write(fd, bytes, count);
	error = errno;
	if (put < (ssize_t)count && !sigismember(&pending, SIGPIPE))
		sigtimedwait(&pipe, NULL, &now);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = error;
	if (put < 0 && error == EAGAIN) {
		struct pollfd room = {.fd = fd, .events = POLLOUT};

		poll(&room, 1, -1);
		errno = EINTR;
	}
	return put;
}

size_t writer_put(const struct perfdata_writer *writer, const void *bytes, size_t count,
		  uint64_t offset)
{
	const uint8_t *at = bytes;
	size_t done = 0;

	while (done < count) {
		ssize_t put = writer->pipe ? write_to_pipe(writer->fd, at + done, count - done)
					   : pwrite(writer->fd, at + done, count - done,
						    (off_t)(offset + done));

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			break;
		done += (size_t)put;
	}
	return done;
}

/* --- records ---------------------------------------------------------------------------------- */

/* Counts the whole records in the first `bytes` bytes there, and the samples among them. */
static size_t count_records(const uint8_t *records, size_t bytes, uint64_t *samples)
{
	size_t at = 0;

	*samples = 0;
	while (at + sizeof(struct perf_event_header) <= bytes) {
		struct perf_event_header header;

		memcpy(&header, records + at, sizeof(header));
		if (at + header.size > bytes)
			break;
		at += header.size;
		*samples += header.type == PERF_RECORD_SAMPLE;
	}
	return at;
}

size_t writer_whole_records(const struct perfdata_writer *writer, size_t bytes, uint64_t *samples)
{
	size_t at = 0;

	if (!writer->packer)
		return count_records(writer->buffer, bytes, samples);
	*samples = 0;
	for (unsigned i = 0; i < writer->packs && at + writer->pack[i].bytes <= bytes; i++) {
		at += writer->pack[i].bytes;
		*samples += writer->pack[i].samples;
	}
	return at;
}

/* Compresses the buffer.  Each compressed record has whole records.  Returns its bytes. */
static size_t pack_buffer(struct perfdata_writer *writer)
{
	size_t from = 0, to = 0;

	writer->packs = 0;
	while (from < writer->buffered) {
		struct pack *pack = &writer->pack[writer->packs++];
		size_t left = writer->buffered - from;
		size_t part = count_records(writer->buffer + from,
					    left < PACK_BYTES ? left : PACK_BYTES, &pack->samples);

		pack->bytes = packer_add(writer->packer, writer->buffer + from, part,
					 writer->packed + to);
		if (!pack->bytes) {
			writer->packs--;
			writer->error = ENOMEM;
			break;
		}
		from += part;
		to += pack->bytes;
	}
	writer->about.packed_from += from;
	writer->about.packed_to += to;
	return to;
}

void writer_flush(struct perfdata_writer *writer)
{
	const uint8_t *stretch = writer->packer ? writer->packed : writer->buffer;
	size_t bytes = writer->buffered, done;
	uint64_t samples = writer->buffered_samples;

	if (!bytes || writer->error)
		return;
	if (writer->packer)
		bytes = pack_buffer(writer);
	done = writer_put(writer, stretch, bytes, writer->header.data.offset + writer->written);
	writer->before = writer->written;
	writer->before_samples = writer->written_samples;
	writer->trace_last = false;
	if (done < bytes)
		writer->error = errno ? errno : EIO;
	if (writer->error)
		bytes = writer_whole_records(writer, done, &samples);
	writer->written += bytes;
	writer->written_samples += samples;
	writer->buffered = 0;
	writer->buffered_samples = 0;
	if (writer->error)
		writer_cut(writer);
}
