/* SPDX-License-Identifier: MIT */
/*
 * keep_file.c: a file of kept translations (keep.c): its name, its sum, who may have written it,
 * reading and writing in pieces.
 */
#include "keep_file.h"

#include <asm/unistd.h>
#include <linux/fcntl.h>

#include "context.h"
#include "sys.h"

#define NAME_DIGITS  16
#define ACCESS_MODES 022 /* writable by others */

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

bool keep_is_own(long fd, uint32_t kind, uint64_t *bytes)
{
	uint64_t stat[18] = {0};
	uint32_t mode;

	if (is_error(syscall2(__NR_fstat, fd, (long)stat)))
		return false;
	mode = (uint32_t)stat[3];
	*bytes = stat[6];
	return (mode & 0170000) == kind && !(mode & ACCESS_MODES) &&
	       (uint32_t)(stat[3] >> 32) == (uint32_t)syscall1(__NR_geteuid, 0);
}

void keep_get(struct keep_reader *r, void *to, uint64_t bytes)
{
	r->good = r->good && bytes <= r->left &&
		  syscall4(__NR_pread64, r->fd, (long)to, (long)bytes, (long)r->at) == (long)bytes;
	if (!r->good)
		return;
	r->at += bytes;
	r->left -= bytes;
	r->sum = keep_sum(r->sum, to, bytes);
}

static bool put(long fd, const void *from, uint64_t bytes)
{
	while (bytes) {
		long n = syscall3(__NR_write, fd, (long)from, (long)bytes);

		if (n <= 0)
			return false;
		from = (const uint8_t *)from + n;
		bytes -= (uint64_t)n;
	}
	return true;
}

static bool write_parts(long fd, const struct blocks_part *part, unsigned parts)
{
	for (unsigned i = 0; i < parts; i++)
		if (!put(fd, part[i].at, part[i].bytes))
			return false;
	return true;
}

/* Under another name until it is complete. */
bool keep_write(long folder, uint64_t key, const struct blocks_part *part, unsigned parts)
{
	char name[LINK_PATH_MAX], unfinished[LINK_PATH_MAX];
	struct text t;
	bool good;
	long fd;

	keep_name(name, NULL, key);
	text_start(&t, unfinished, sizeof(unfinished));
	text_add(&t, name);
	text_add(&t, ".");
	text_add_number(&t, current->pid);
	fd = syscall4(__NR_openat, folder, (long)unfinished,
		      O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (is_error(fd))
		return false;
	syscall2(__NR_fchmod, fd, 0600); /* whatever the program's mask is */
	good = write_parts(fd, part, parts);
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
