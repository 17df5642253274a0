/* SPDX-License-Identifier: MIT */
/* copy.h: writes the machine code of one block (copy.c). */
#ifndef SOFTPMU_ENGINE_COPY_H
#define SOFTPMU_ENGINE_COPY_H

#include "engine/x86/emit.h"
#include "engine/translate/path.h"

#define CHARGED_METERS_MAX 64 /* more of them would not fit with the side exits of a trace */

/* Blocks that have been translated but not published, block by block until the code where they
 * continue exists too. */
struct fresh {
	unsigned n;
	struct fresh_block {
		uint64_t key, code;
		bool returned_to;
		uint64_t thunk; /* of returns: before the code */
	} block[RUN_BLOCKS_MAX + 1];
};

/* translate.c: returns the code of this key if it exists or is about to be published with the
 * current block; 0: none. */
static inline uint64_t fresh_code(const struct fresh *fresh, uint64_t key)
{
	for (unsigned i = 0; i < fresh->n; i++)
		if (fresh->block[i].key == key)
			return fresh->block[i].code;
	return lookup_code(key);
}

struct copy_how {
	const struct path *path;
	const struct fresh *fresh;
	/* The program address whose code follows directly, so that it needs no jump; 0: none. */
	uint64_t after;
	bool aligned; /* alignment is worth NOPs */
};

/* Writes the code and the side table of block b, and its exits in the area of rarely run code. The
 * block's number and kind are known. */
void copy_block(struct emit *e, struct block *b, const struct copy_how *how);

#endif
