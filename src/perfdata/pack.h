/* SPDX-License-Identifier: MIT */
/* pack.h: PERF_RECORD_COMPRESSED, written and read.  These records contain one zstd stream. */
#ifndef SOFTPMU_PERFDATA_PACK_H
#define SOFTPMU_PERFDATA_PACK_H

#include <src/perfdata/layout.h>

/* One record expands to at most so many bytes.  Even if they do not become shorter, the record can
 * hold them. */
#define PACK_BYTES (48u << 10)

struct packer;
struct packer *packer_create(int level); /* NULL: there is no memory */
void packer_free(struct packer *packer); /* NULL is allowed */

/* Compresses at most PACK_BYTES bytes to a record at `to`, which has RECORD_BYTES_MAX bytes.
 * Returns the record's size, 0 if it cannot be compressed. */
size_t packer_add(struct packer *packer, const uint8_t *bytes, size_t count, uint8_t *to);

struct unpacker;
struct unpacker *unpacker_create(void);
void unpacker_free(struct unpacker *unpacker);

/* Expands the body of a record, and calls `take` with what it contains, in parts.  Returns false if
 * it is damaged or `take` returns false. */
bool unpacker_add(struct unpacker *unpacker, const uint8_t *body, size_t count,
		  bool (*take)(void *opaque, const uint8_t *bytes, size_t count), void *opaque);

#endif
