/* SPDX-License-Identifier: MIT */
/* copy_flow.h: what a block does about control flow (copy_flow.c). */
#ifndef SOFTPMU_ENGINE_COPY_FLOW_H
#define SOFTPMU_ENGINE_COPY_FLOW_H

#include "engine/translate/copy_edges.h"

/* A branch that is taken. */
struct taken {
	unsigned branch;
	uint64_t kind, to; /* SPMU_SIGBIT; 0: RCX holds the target */
	enum copy_way way;
};

/* Emits the code that logs or counts the branch. */
void copy_flow(struct copy *copy, struct emit *e, const struct taken *taken);

#endif
