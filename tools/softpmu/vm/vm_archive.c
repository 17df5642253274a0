/* SPDX-License-Identifier: MIT */
/*
 * vm_archive.c: writes a cpio archive in the "newc" form, as Linux reads its initramfs
 * (Documentation/driver-api/early-userspace/buffer-format.rst of Linux): a header of 13 numbers
 * with eight hexadecimal digits each, the name and the contents, each padded to four bytes.
 *
 * All files belong to root, and hard links become copies.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/vm/vm.h"

static bool put(struct vm_archive *archive, const void *bytes, size_t size)
{
	const char *at = bytes;

	archive->bytes += size;
	while (size) {
		ssize_t written = write(archive->fd, at, size);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0) {
			tool_error("cannot write the guest's files: %s", strerror(errno));
			return false;
		}
		at += written;
		size -= (size_t)written;
	}
	return true;
}

static bool pad(struct vm_archive *archive)
{
	static const char zeros[4];

	return put(archive, zeros, -archive->bytes & 3);
}

static bool put_header(struct vm_archive *archive, const char *name, mode_t mode, time_t time,
		       uint64_t size)
{
	char header[110 + 1];

	if (size > UINT32_MAX) {
		tool_error("%s is too large for the guest's memory", name);
		return false;
	}
	if (time > archive->newest)
		time = archive->newest;
	/* inode, mode, owner, group, links, time, size, two devices, length of the name, sum */
	snprintf(header, sizeof(header),
		 "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x", ++archive->entries,
		 (unsigned)mode, 0, 0, 1, (unsigned)time, (unsigned)size, 0, 0, 0, 0,
		 (unsigned)strlen(name) + 1, 0);
	return put(archive, header, sizeof(header) - 1) && put(archive, name, strlen(name) + 1) &&
	       pad(archive);
}

bool vm_archive_open(struct vm_archive *archive, time_t newest)
{
	*archive = (struct vm_archive){.newest = newest};
	archive->fd = vm_run_hidden_file("initramfs", "", 0);
	if (archive->fd < 0)
		tool_error("cannot make the archive of the guest's files: %s", strerror(errno));
	return archive->fd >= 0;
}

/* Writes `size` bytes of the file, and zeros for what is missing if it has become shorter. */
static bool put_contents(struct vm_archive *archive, int fd, uint64_t size)
{
	static char buffer[1 << 16];

	while (size) {
		size_t wanted = size < sizeof(buffer) ? (size_t)size : sizeof(buffer);
		ssize_t got = read(fd, buffer, wanted);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			tool_error("cannot read a file for the guest: %s", strerror(errno));
			return false;
		}
		if (got == 0) {
			memset(buffer, 0, wanted);
			got = (ssize_t)wanted;
		}
		if (!put(archive, buffer, (size_t)got))
			return false;
		size -= (uint64_t)got;
	}
	return pad(archive);
}

bool vm_archive_begin_with(struct vm_archive *archive, const char *file)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	struct stat st;
	bool good;

	if (fd < 0 || fstat(fd, &st)) {
		tool_error("cannot read %s: %s", file, strerror(errno));
		if (fd >= 0)
			close(fd);
		return false;
	}
	good = put_contents(archive, fd, (uint64_t)st.st_size);
	close(fd);
	return good;
}

bool vm_archive_folder(struct vm_archive *archive, const char *name)
{
	return put_header(archive, name, S_IFDIR | 0755, archive->newest, 0);
}

bool vm_archive_text(struct vm_archive *archive, const char *name, const char *text)
{
	size_t length = strlen(text);

	return put_header(archive, name, S_IFREG | 0644, archive->newest, length) &&
	       put(archive, text, length) && pad(archive);
}

/* --- a whole folder ------------------------------------------------------- */

/* The arguments of the callback, to which nftw() passes nothing. */
static struct vm_archive *tree_archive;
static const char *tree_name;
static size_t tree_prefix;

static bool put_file(const char *path, const char *name, const struct stat *st)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool good;

	if (fd < 0) {
		tool_error("cannot read %s: %s", path, strerror(errno));
		return false;
	}
	good = put_header(tree_archive, name, st->st_mode, st->st_mtime, (uint64_t)st->st_size) &&
	       put_contents(tree_archive, fd, (uint64_t)st->st_size);
	close(fd);
	return good;
}

static bool put_link(const char *path, const char *name, const struct stat *st)
{
	char target[4096];
	ssize_t length = readlink(path, target, sizeof(target));

	if (length < 0 || length == sizeof(target)) {
		tool_error("cannot read the link %s", path);
		return false;
	}
	return put_header(tree_archive, name, st->st_mode, st->st_mtime, (uint64_t)length) &&
	       put(tree_archive, target, (size_t)length) && pad(tree_archive);
}

static int put_entry(const char *path, const struct stat *st, int kind, struct FTW *where)
{
	char *name = tool_print("%s%s", tree_name, path + tree_prefix);
	bool good = true;

	(void)where;
	if (kind == FTW_NS || kind == FTW_DNR) {
		tool_error("cannot read %s", path);
		good = false;
	} else if (S_ISREG(st->st_mode)) {
		good = put_file(path, name, st);
	} else if (S_ISLNK(st->st_mode)) {
		good = put_link(path, name, st);
	} else if (S_ISDIR(st->st_mode)) {
		good = put_header(tree_archive, name, st->st_mode, st->st_mtime, 0);
	} else {
		tool_error("note: %s is not a file, folder or link, and is left out", path);
	}
	free(name);
	return good ? 0 : 1;
}

bool vm_archive_tree(struct vm_archive *archive, const char *name, const char *folder)
{
	char *path = tool_copy(folder);
	size_t length = strlen(path);
	int status;

	while (length > 1 && path[length - 1] == '/')
		path[--length] = '\0';
	tree_archive = archive;
	tree_name = name;
	tree_prefix = strcmp(path, "/") ? length : 0;
	errno = 0;
	status = nftw(path, put_entry, 16, FTW_PHYS);
	if (status < 0)
		tool_error("cannot read %s: %s", folder, strerror(errno));
	free(path);
	return status == 0;
}

bool vm_archive_close(struct vm_archive *archive)
{
	return put_header(archive, "TRAILER!!!", 0, 0, 0);
}
