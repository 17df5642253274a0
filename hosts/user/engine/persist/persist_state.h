/* SPDX-License-Identifier: MIT */
/* persist_state.h: the state of the persistent code cache: persist.c collects it, persist_save.c
 * uses it. */
#ifndef SOFTPMU_ENGINE_PERSIST_STATE_H
#define SOFTPMU_ENGINE_PERSIST_STATE_H

#include "engine/persist/persist_file.h"

#define PERSIST_BYTES_MOST (UINT64_C(96) << 20)

struct persist_state {
	/* Mapped now. */
	struct module mapped[PERSIST_MODULES_MAX];
	unsigned mappeds;
	struct meter_list *list; /* the process's first list, which names the file */
	bool loaded;
	uint32_t owner; /* the process that may write the file */
};
extern struct persist_state persist;

bool persist_is_same(const struct identity *a, const struct identity *b);
/* Returns a key of everything that translated code depends on besides the program. */
uint64_t persist_key(void);

#endif
