/* SPDX-License-Identifier: MIT */
/* keep_file.h: a file of kept translations as bytes (keep_file.c). */
#ifndef SOFTPMU_ENGINE_KEEP_FILE_H
#define SOFTPMU_ENGINE_KEEP_FILE_H

#include <hosts/user/link.h>

#include "keep.h"

uint64_t keep_mix(uint64_t sum, uint64_t word);
/* Four sums side by side, since a multiplication takes a while. */
uint64_t keep_sum(uint64_t sum, const void *from, size_t bytes);

void keep_name(char name[LINK_PATH_MAX], const char *folder, uint64_t key);

/* Is the file, or folder, of this kind (S_IFMT), the user's, and can nobody else change it? */
#define KEEP_FILE   0100000u
#define KEEP_FOLDER 0040000u
bool keep_is_own(long fd, uint32_t kind, uint64_t *bytes);

/* A file that is read from its beginning; good until something is missing. */
struct keep_reader {
	long fd;
	uint64_t at, left, sum;
	bool good;
};
void keep_get(struct keep_reader *r, void *to, uint64_t bytes);

/* In place of the file of this key. */
bool keep_write(long folder, uint64_t key, const struct blocks_part *part, unsigned parts);
void keep_remove(long folder, uint64_t key);

#endif
