/* SPDX-License-Identifier: MIT */
/* copy.h: the machine code of one block (copy.c). */
#ifndef SOFTPMU_ENGINE_COPY_H
#define SOFTPMU_ENGINE_COPY_H

#include "emit.h"
#include "path.h"

#define CHARGED_METERS_MAX 64 /* more of them would not fit beside a trace's sides */

struct copy_how {
	const struct path *path;
	/* The program address whose code comes right behind it, so that no jump has to go there; 0:
	 * none. */
	uint64_t behind;
	bool aligned; /* worth NOPs */
};

/* The code of block b (its number, and what it is, are known) and what goes with it: its map, its
 * ways out among the cold code. */
void copy_block(struct emit *e, struct block *b, const struct copy_how *how);

/* translate.c: the code of this key that is there, or is going to be seen with the block in hand;
 * 0: none. */
uint64_t translated_code(uint64_t key);

#endif
