/* SPDX-License-Identifier: MIT */
/* keep_state.h: what is known for keeping translations: keep.c gathers it, keep_save.c uses it. */
#ifndef SOFTPMU_ENGINE_KEEP_STATE_H
#define SOFTPMU_ENGINE_KEEP_STATE_H

#include "keep_file.h"

#define KEEP_MODULES_MAX 256			      /* struct block has their numbers in a byte */
#define KEEP_MAGIC	 UINT64_C(0x7470656b756d7073) /* "spmukept" */
#define KEEP_BYTES_MOST	 (UINT64_C(96) << 20)
#define KEEP_OF_RETURN	 (UINT64_C(1) << 61)

/* A jump between modules. */
struct keep_jump {
	uint64_t key; /* of the code that it goes to */
	uint32_t rel32;
};

struct keep_state {
	/* Mapped now, and in the file that was loaded. */
	struct module mapped[KEEP_MODULES_MAX], kept[KEEP_MODULES_MAX];
	unsigned mappeds, kepts;
	const uint32_t *number; /* of blocks: that file's */
	const struct kept_target *target;
	const uint32_t *index;
	uint32_t index_size, blocks; /* of that file */

	struct keep_jump *jump;
	unsigned jumps;
	/* Keys that indirect branches find, with KEEP_OF_RETURN those that returns do. */
	uint64_t *found;
	unsigned founds;

	bool loaded, off;
	uint32_t owner; /* the process that may write the file */
};
extern struct keep_state keep;

bool keep_is_same(const struct identity *a, const struct identity *b);
/* What translated code depends on besides the program. */
uint64_t keep_key(void);

#endif
