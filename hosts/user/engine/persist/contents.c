/* SPDX-License-Identifier: MIT */
/*
 * contents.c: recognizes files by what they contain.
 *
 * Saved translations are valid for each copy of a module, so a module is known by a sum of the
 * bytes that are mapped.  To read them takes milliseconds for a large program.  So the folder of
 * persistent code caches has a list of sums that are known: for each file, by its device, inode,
 * size and times, and for each part of it that runs have mapped.
 *
 * The list is a hint for this machine.  A file that has changed has another time of change
 * (ctime), so it is read again.  Each entry has a checksum of its own; a damaged one is not used.
 * When the list has reached its size, it begins again.
 */
#include "engine/persist/contents.h"

#include <asm/unistd.h>
#include <linux/fcntl.h>
#include <linux/stat.h>

#include "engine/persist/persist_file.h"
#include "engine/rt/engine.h"
#include "engine/rt/file.h"
#include "engine/rt/sys.h"
#include "hosts/user/checksum.h"

#define LIST_NAME    "sums"
#define ENTRIES_MOST 512
#define NEW_MOST     32

struct entry {
	struct file_version version;
	uint64_t offset, bytes;
	uint64_t sum;
	uint64_t check; /* of the entry itself */
};

static struct entry list[ENTRIES_MOST];
static unsigned entries;
static bool is_read;

static struct entry added[NEW_MOST];
static unsigned addeds;

static uint64_t check_of(const struct entry *e)
{
	return checksum_of(1, e, offsetof(struct entry, check));
}

bool contents_version(int fd, struct file_version *version)
{
	struct stat stat;

	if (!file_stat(fd, &stat) || (stat.st_mode & S_IFMT) != S_IFREG)
		return false;
	*version = (struct file_version){
		.device = stat.st_dev,
		.inode = stat.st_ino,
		.bytes = (uint64_t)stat.st_size,
		.written = {stat.st_mtime, stat.st_mtime_nsec},
		.changed = {stat.st_ctime, stat.st_ctime_nsec},
	};
	return true;
}

/* Reads the list.  (Another process may empty the file, so it is not mapped.) */
static void read_list(void)
{
	struct persist_stat is;
	struct text t;
	char name[LINK_PATH_MAX];
	long fd, n;

	is_read = true;
	if (!engine_link->cache_folder[0])
		return;
	text_start(&t, name, sizeof(name));
	text_add(&t, engine_link->cache_folder);
	text_add(&t, "/" LIST_NAME);
	fd = syscall4(__NR_openat, AT_FDCWD, (long)name,
		      O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
	if (is_error(fd))
		return;
	if (persist_is_trusted(fd, S_IFREG, &is)) {
		n = syscall4(__NR_pread64, fd, (long)list, sizeof(list), 0);
		entries = n > 0 ? (unsigned)((size_t)n / sizeof(list[0])) : 0;
	}
	syscall1(__NR_close, fd);
}

/* Returns the entry of the same part of the same version, or NULL. */
static const struct entry *find(const struct entry *in, unsigned n, const struct entry *wanted)
{
	for (unsigned i = 0; i < n; i++)
		if (!memcmp(&in[i], wanted, offsetof(struct entry, sum)) &&
		    in[i].check == check_of(&in[i]))
			return &in[i];
	return NULL;
}

/* Reads the part.  A mapping would keep all of it in memory.  Returns 0 if it cannot be read. */
static uint64_t read_sum(int fd, uint64_t offset, uint64_t bytes)
{
	static uint8_t piece[CACHE_PIECE_BYTES];
	uint64_t sum = bytes;

	while (bytes) {
		uint64_t wanted = bytes < CACHE_PIECE_BYTES ? bytes : CACHE_PIECE_BYTES;
		long n = syscall4(__NR_pread64, fd, (long)piece, (long)wanted, (long)offset);

		if (n < 0)
			return 0;
		if (!n)
			break; /* a part can end after the file */
		sum = checksum_of(sum, piece, (size_t)n);
		offset += (uint64_t)n;
		bytes -= (uint64_t)n;
	}
	return sum ? sum : 1;
}

uint64_t contents_sum(int fd, const struct file_version *version, uint64_t offset, uint64_t bytes,
		      bool lasting)
{
	struct entry e = {.version = *version, .offset = offset, .bytes = bytes};
	const struct entry *known;

	if (!is_read)
		read_list();
	known = find(list, entries, &e);
	if (!known)
		known = find(added, addeds, &e);
	if (known)
		return known->sum;
	e.sum = read_sum(fd, offset, bytes);
	e.check = check_of(&e);
	if (lasting && e.sum && addeds < NEW_MOST)
		added[addeds++] = e;
	return e.sum;
}

bool contents_are_new(void)
{
	return addeds != 0;
}

/* Other processes add their entries at the same time.  Each write is at the end of the file. */
void contents_save(long folder)
{
	struct persist_stat is;
	long fd =
		syscall4(__NR_openat, folder, (long)LIST_NAME,
			 O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);

	if (is_error(fd))
		return;
	syscall2(__NR_fchmod, fd, 0600); /* whatever the program's mask is */
	if (persist_is_trusted(fd, S_IFREG, &is)) {
		if (is.bytes % sizeof(struct entry) ||
		    is.bytes / sizeof(struct entry) + addeds > ENTRIES_MOST)
			syscall2(__NR_ftruncate, fd, 0);
		syscall3(__NR_write, fd, (long)added, (long)(addeds * sizeof(struct entry)));
	}
	syscall1(__NR_close, fd);
	addeds = 0;
}
