/* SPDX-License-Identifier: MIT */
/*
 * keep_file.c: a file of kept translations (keep.c): its name, its sum, who may have written it,
 * mapping and writing.
 *
 * The sum is of more than a run looks at, so it is compared once: then the file is given a time of
 * writing whose nanoseconds are made from the sum.  Whoever writes to it gives it another.
 * That is believed until the system starts anew, for what was not on the disk then.
 */
#include "keep_file.h"

#include <asm/unistd.h>
#include <linux/fcntl.h>
#include <linux/mman.h>

#include "engine.h"
#include "pages.h"
#include "sys.h"

#define NAME_DIGITS  16
#define ACCESS_MODES 022 /* writable by others */
#define NANOSECONDS  UINT64_C(1000000000)
#define PIECE_BYTES  65536
#define UTIME_OMIT   ((1u << 30) - 2)

uint64_t keep_mix(uint64_t sum, uint64_t word)
{
	sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return sum ^ sum >> 29;
}

/* Four sums side by side, since a multiplication takes a while. */
uint64_t keep_sum(uint64_t sum, const void *from, size_t bytes)
{
	uint64_t lane[4] = {sum, 1, 2, 3}, last = 0;
	const uint64_t *at = from;

	for (; bytes >= sizeof(lane); bytes -= sizeof(lane), at += 4)
		for (unsigned i = 0; i < 4; i++)
			lane[i] = keep_mix(lane[i], at[i]);
	for (; bytes >= 8; bytes -= 8)
		lane[0] = keep_mix(lane[0], *at++);
	memcpy(&last, at, bytes);
	lane[0] = keep_mix(lane[0], last ^ (uint64_t)bytes << 56);
	return keep_mix(keep_mix(lane[0], lane[1]), keep_mix(lane[2], lane[3]));
}

void keep_name(char name[LINK_PATH_MAX], const char *folder, uint64_t key)
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

bool keep_is_own(long fd, uint32_t kind, struct keep_stat *is)
{
	uint64_t stat[18] = {0};
	uint32_t mode;

	if (is_error(syscall2(__NR_fstat, fd, (long)stat)))
		return false;
	mode = (uint32_t)stat[3];
	*is = (struct keep_stat){.bytes = stat[6], .written = {stat[11], stat[12]}};
	return (mode & 0170000) == kind && !(mode & ACCESS_MODES) &&
	       (uint32_t)(stat[3] >> 32) == (uint32_t)syscall1(__NR_geteuid, 0);
}

/* --- the time of writing that says that the sum is right --- */

static uint64_t seconds(int clock)
{
	uint64_t time[2] = {0, 0};

	syscall2(__NR_clock_gettime, clock, (long)time);
	return time[0];
}

uint64_t keep_now(void)
{
	return seconds(0 /* CLOCK_REALTIME */);
}

static void seal(long fd, uint64_t sum)
{
	uint64_t times[4] = {0, UTIME_OMIT, keep_now(), sum % NANOSECONDS};

	syscall4(__NR_utimensat, fd, 0, (long)times, 0);
}

static bool is_sealed(const struct keep_stat *is, uint64_t sum)
{
	uint64_t started = keep_now() - seconds(7 /* CLOCK_BOOTTIME */);

	return is->written[1] == sum % NANOSECONDS && is->written[0] > started + 1;
}

/* --- the parts --- */

void keep_front(const struct keep_header *h, struct blocks_part part[KEEP_PARTS])
{
	part[KEEP_MODULES].bytes = h->modules * sizeof(struct module);
	part[KEEP_NUMBERS].bytes = h->numbers * sizeof(uint32_t);
	part[KEEP_TARGETS].bytes = h->targets * sizeof(struct kept_target);
	part[KEEP_INDEX].bytes = h->index * sizeof(uint32_t);
}

static uint64_t in_pages(uint64_t bytes)
{
	return (bytes + PAGE - 1) & -PAGE;
}

/* Of the whole file, but for the sum itself: read in pieces, as mapped it would all stay in memory.
 * False: it cannot be read. */
static bool sum_of(long fd, struct keep_header h, uint64_t bytes, uint64_t *sum)
{
	static uint8_t piece[PIECE_BYTES];

	h.sum = 0;
	*sum = keep_sum(0, &h, sizeof(h));
	for (uint64_t at = sizeof(h); at < bytes;) {
		uint64_t left = bytes - at, wanted = left < PIECE_BYTES ? left : PIECE_BYTES;
		long n = syscall4(__NR_pread64, fd, (long)piece, (long)wanted, (long)at);

		if (n <= 0)
			return false;
		*sum = keep_sum(*sum, piece, (size_t)n);
		at += (uint64_t)n;
	}
	return true;
}

bool keep_read_header(long fd, struct keep_header *h)
{
	return syscall4(__NR_pread64, fd, (long)h, sizeof(*h), 0) == sizeof(*h);
}

static bool map_part(long fd, uint64_t offset, const struct blocks_part *part)
{
	bool code = (uint8_t *)part->at >= cache_base && (uint8_t *)part->at < cache_end;

	return !part->bytes || !is_error(map_memory((uint64_t)part->at, part->bytes,
						    PROT_READ | PROT_WRITE | (code ? PROT_EXEC : 0),
						    MAP_PRIVATE | MAP_FIXED, (int)fd, offset));
}

bool keep_open(long fd, const struct keep_stat *is, const struct keep_header *h,
	       struct blocks_part part[KEEP_PARTS])
{
	uint64_t offset[KEEP_PARTS], end = PAGE, sum, place;
	long view;

	for (unsigned i = 0; i < KEEP_PARTS; i++) {
		offset[i] = end;
		end += in_pages(part[i].bytes);
	}
	if (end != is->bytes)
		return false;
	if (!is_sealed(is, h->sum)) {
		if (!sum_of(fd, *h, is->bytes, &sum) || sum != h->sum)
			return false;
		seal(fd, sum);
	}
	place = engine_place(offset[KEEP_CACHE]);
	view = map_memory(place, offset[KEEP_CACHE], PROT_READ,
			  MAP_PRIVATE | engine_place_flags(place, offset[KEEP_CACHE]), (int)fd, 0);
	if (is_error(view))
		return false;
	for (unsigned i = 0; i < KEEP_CACHE; i++)
		part[i].at = (uint8_t *)view + offset[i];
	for (unsigned i = KEEP_CACHE; i < KEEP_PARTS; i++)
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

static bool write_all(long fd, struct keep_header *h, const struct blocks_part part[KEEP_PARTS])
{
	uint64_t offset = PAGE;

	for (unsigned i = 0; i < KEEP_PARTS; i++) {
		if (!put(fd, part[i].at, part[i].bytes, offset))
			return false;
		offset += in_pages(part[i].bytes);
	}
	if (is_error(syscall2(__NR_ftruncate, fd, (long)offset)) ||
	    !sum_of(fd, *h, offset, &h->sum) || !put(fd, h, sizeof(*h), 0))
		return false;
	seal(fd, h->sum);
	return true;
}

/* Under another name until it is complete. */
bool keep_write(long folder, struct keep_header *h, const struct blocks_part part[KEEP_PARTS])
{
	char name[LINK_PATH_MAX], unfinished[LINK_PATH_MAX];
	struct text t;
	bool good;
	long fd;

	keep_name(name, NULL, h->key);
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

void keep_remove(long folder, uint64_t key)
{
	char name[LINK_PATH_MAX];

	keep_name(name, NULL, key);
	syscall3(__NR_unlinkat, folder, (long)name, 0);
}
