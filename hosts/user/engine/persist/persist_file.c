/* SPDX-License-Identifier: MIT */
/*
 * persist_file.c: the file of a persistent code cache (persist.c): its name, its checksum, who
 * may have written it, mapping and writing.
 *
 * The checksum covers more than a run reads, so it is compared once.  Then the file gets a
 * modification time whose nanoseconds are derived from the checksum (CACHE_MARK).  A later write
 * changes that time.  The mark is not trusted after a restart of the system, for a file that was
 * not on the disk then.  Only the owner can set the mark, so other users of the system's folder
 * compare the checksum in each run, unless `softpmu cache import` has set it.
 */
#include "engine/persist/persist_file.h"

#include <asm/unistd.h>
#include <linux/fcntl.h>
#include <linux/mman.h>
#include <linux/stat.h>
#include <linux/time.h>

#include "engine/cache/cache.h"
#include "engine/cache/persistent.h"
#include "engine/count/meter_list.h"
#include "engine/rt/context.h"
#include "engine/rt/file.h"
#include "engine/rt/sys.h"
#include "hosts/user/checksum.h"

#define NAME_DIGITS 16
#define UTIME_OMIT  ((1u << 30) - 2)

void persist_name(char name[LINK_PATH_MAX], const char *folder, uint64_t key)
{
	struct text t;

	text_start(&t, name, LINK_PATH_MAX);
	if (folder) {
		text_add(&t, folder);
		text_add(&t, "/");
	}
	for (unsigned i = 0; i < NAME_DIGITS; i++, key <<= 4) {
		const char digit[2] = {"0123456789abcdef"[key >> 60], 0};

		text_add(&t, digit);
	}
}

bool persist_is_trusted(long fd, uint32_t kind, struct persist_stat *is)
{
	struct stat stat;

	if (!file_stat((int)fd, &stat))
		return false;
	*is = (struct persist_stat){.bytes = (uint64_t)stat.st_size,
				    .written = {stat.st_mtime, stat.st_mtime_nsec}};
	return (stat.st_mode & S_IFMT) == kind && !(stat.st_mode & (S_IWGRP | S_IWOTH)) &&
	       (!stat.st_uid || stat.st_uid == (uint32_t)syscall1(__NR_geteuid, 0));
}

/* --- the time of writing that says that the sum is right --- */

static uint64_t seconds(int clock)
{
	uint64_t time[2] = {0, 0};

	syscall2(__NR_clock_gettime, clock, (long)time);
	return time[0];
}

uint64_t persist_now(void)
{
	return seconds(CLOCK_REALTIME);
}

static void seal(long fd, uint64_t sum)
{
	uint64_t times[4] = {0, UTIME_OMIT, persist_now(), CACHE_MARK(sum)};

	syscall4(__NR_utimensat, fd, 0, (long)times, 0);
}

static bool is_sealed(const struct persist_stat *is, uint64_t sum)
{
	uint64_t started = persist_now() - seconds(CLOCK_BOOTTIME);

	return is->written[1] == CACHE_MARK(sum) && is->written[0] > started + 1;
}

/* --- the parts --- */

void persist_front(const struct persist_header *h, struct blocks_part part[PERSIST_PARTS])
{
	part[PERSIST_MODULES].bytes = h->title.modules * sizeof(struct module);
	part[PERSIST_NUMBERS].bytes = h->numbers * sizeof(uint32_t);
	part[PERSIST_TARGETS].bytes = h->targets * sizeof(struct persistent_target);
	part[PERSIST_LISTS].bytes = VARIANTS_MAX * sizeof(union meter_list_room);
	part[PERSIST_INDEX].bytes = h->index * sizeof(uint32_t);
}

/* Computes the sum of a file (cache_file.h).  It reads the file in pieces, because a mapping would
 * keep all of it in memory.  Returns false if it cannot be read. */
static bool sum_of(long fd, uint64_t bytes, uint64_t *sum)
{
	static uint8_t piece[CACHE_PIECE_BYTES];

	*sum = 0;
	for (uint64_t at = sizeof(*sum); at < bytes;) {
		uint64_t left = bytes - at;
		uint64_t wanted = left < sizeof(piece) ? left : sizeof(piece);
		long n = syscall4(__NR_pread64, fd, (long)piece, (long)wanted, (long)at);

		if (n <= 0)
			return false;
		*sum = checksum_of(*sum, piece, (size_t)n);
		at += (uint64_t)n;
	}
	return true;
}

bool persist_read_header(long fd, struct persist_header *h)
{
	return syscall4(__NR_pread64, fd, (long)h, sizeof(*h), 0) == sizeof(*h);
}

static bool map_part(long fd, uint64_t offset, const struct blocks_part *part)
{
	bool code = (uint8_t *)part->at >= cache_base && (uint8_t *)part->at < cache_end;

	return !part->bytes || !is_error(sys_map((uint64_t)part->at, part->bytes,
						 PROT_READ | PROT_WRITE | (code ? PROT_EXEC : 0),
						 MAP_PRIVATE | MAP_FIXED, (int)fd, offset));
}

bool persist_open(long fd, const struct persist_stat *is, const struct persist_header *h,
		  struct blocks_part part[PERSIST_PARTS])
{
	uint64_t offset[PERSIST_PARTS], end = PAGE, sum, place;
	long view;

	for (unsigned i = 0; i < PERSIST_PARTS; i++) {
		offset[i] = end;
		end += in_pages(part[i].bytes);
	}
	if (end != is->bytes)
		return false;
	if (!is_sealed(is, h->title.sum)) {
		if (!sum_of(fd, is->bytes, &sum) || sum != h->title.sum)
			return false;
		seal(fd, sum);
	}
	place = heap_place(offset[PERSIST_CACHE]);
	view = sys_map(place, offset[PERSIST_CACHE], PROT_READ,
		       MAP_PRIVATE | heap_place_flags(place, offset[PERSIST_CACHE]), (int)fd, 0);
	if (is_error(view))
		return false;
	for (unsigned i = 0; i < PERSIST_CACHE; i++)
		part[i].at = (uint8_t *)view + offset[i];
	for (unsigned i = PERSIST_CACHE; i < PERSIST_PARTS; i++)
		if (!map_part(fd, offset[i], part + i))
			return false;
	return true;
}

/* --- writing --- */

static bool put(long fd, const void *from, uint64_t bytes, uint64_t offset)
{
	while (bytes) {
		long n = syscall4(__NR_pwrite64, fd, (long)from, (long)bytes, (long)offset);

		if (n <= 0)
			return false;
		from = (const uint8_t *)from + n;
		bytes -= (uint64_t)n;
		offset += (uint64_t)n;
	}
	return true;
}

static bool write_all(long fd, struct persist_header *h,
		      const struct blocks_part part[PERSIST_PARTS])
{
	uint64_t offset = PAGE;

	for (unsigned i = 0; i < PERSIST_PARTS; i++) {
		if (!put(fd, part[i].at, part[i].bytes, offset))
			return false;
		offset += in_pages(part[i].bytes);
	}
	if (is_error(syscall2(__NR_ftruncate, fd, (long)offset)) || !put(fd, h, sizeof(*h), 0) ||
	    !sum_of(fd, offset, &h->title.sum) || !put(fd, &h->title.sum, sizeof(h->title.sum), 0))
		return false;
	seal(fd, h->title.sum);
	return true;
}

/* Writes under another name until the file is complete. */
bool persist_write(long folder, struct persist_header *h,
		   const struct blocks_part part[PERSIST_PARTS])
{
	char name[LINK_PATH_MAX], unfinished[LINK_PATH_MAX];
	struct text t;
	bool good;
	long fd;

	persist_name(name, NULL, h->title.key);
	text_start(&t, unfinished, sizeof(unfinished));
	text_add(&t, name);
	text_add(&t, ".");
	text_add_number(&t, current->pid);
	fd = syscall4(__NR_openat, folder, (long)unfinished,
		      O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (is_error(fd))
		return false;
	syscall2(__NR_fchmod, fd, 0600); /* whatever the program's mask is */
	good = write_all(fd, h, part);
	syscall1(__NR_close, fd);
	good = good &&
	       !is_error(syscall4(__NR_renameat, folder, (long)unfinished, folder, (long)name));
	if (!good)
		syscall3(__NR_unlinkat, folder, (long)unfinished, 0);
	return good;
}

void persist_remove(long folder, uint64_t key)
{
	char name[LINK_PATH_MAX];

	persist_name(name, NULL, key);
	syscall3(__NR_unlinkat, folder, (long)name, 0);
}
