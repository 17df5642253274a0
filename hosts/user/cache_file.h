/* SPDX-License-Identifier: MIT */
/* cache_file.h: the beginning of a file of saved translations, which the tool lists and checks.
 * The rest is the engine's (engine/persist/persist_file.h). */
#ifndef SOFTPMU_USER_CACHE_FILE_H
#define SOFTPMU_USER_CACHE_FILE_H

#include <stdint.h>

#define CACHE_MAGIC	  UINT64_C(0x7470656b756d7073) /* "spmukept" */
#define CACHE_PIECE_BYTES 65536u
#define CACHE_PROGRAM_MAX 1024u

/* The nanoseconds of the modification time of a file whose sum has been compared. */
#define CACHE_MARK(sum) ((sum) % UINT64_C(1000000000))

struct cache_title {
	/* Of the rest of the file.  checksum_of() adds pieces of CACHE_PIECE_BYTES to 0, one after
	 * the other. */
	uint64_t sum;
	uint64_t magic, key;
	uint64_t image_sum; /* of the engine that wrote it */
	uint32_t blocks, modules;
	char program[CACHE_PROGRAM_MAX]; /* its path; a longer one is cut off */
};

#endif
