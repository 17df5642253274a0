/* SPDX-License-Identifier: MIT */
/* uarch_host.h: a model of a machine for tests (uarch.h). */
#ifndef SPMU_TESTS_UARCH_HOST_H
#define SPMU_TESTS_UARCH_HOST_H

#include <stdlib.h>

#include <softpmu/uarch.h>

#include "check.h"

#define LINE 64u
#define PAGE 4096u

struct uarch_host {
	void *memory;
	struct spmu_uarch *model;
	const uint64_t *count; /* of thread 0 */
};

static inline struct uarch_host uarch_make(const struct spmu_machine *machine, unsigned threads,
					   unsigned (*page_shift)(void *opaque, uint64_t linear))
{
	const struct spmu_uarch_config config = {.size = sizeof(config),
						 .machine = machine,
						 .threads = threads,
						 .page_shift = page_shift};
	size_t bytes = (spmu_uarch_bytes(&config) + 63) & ~(size_t)63;
	struct uarch_host h = {.memory = bytes ? aligned_alloc(64, bytes) : NULL};

	if (!h.memory || spmu_uarch_create(h.memory, bytes, &config, &h.model) != SPMU_OK) {
		CHECK(!"the machine is refused");
		exit(test_summary());
	}
	h.count = spmu_uarch_counts(h.model, 0);
	return h;
}

static inline enum spmu_uarch_level load(struct uarch_host *h, unsigned thread, uint64_t linear)
{
	return spmu_uarch_access(h->model, thread, linear, 8, SPMU_UARCH_LOAD);
}

static inline enum spmu_uarch_level store(struct uarch_host *h, unsigned thread, uint64_t linear)
{
	return spmu_uarch_access(h->model, thread, linear, 8, SPMU_UARCH_STORE);
}

#endif
