/* SPDX-License-Identifier: MIT */
/* pmi.h: the interrupt and its entry of the local vector table (pmi.c). */
#ifndef SPMU_SRC_PMI_H
#define SPMU_SRC_PMI_H

#include "src/pmu/core.h"

/* pmi.c */
bool pmi_request(struct spmu_core *core, struct thread *thread);
bool pmi_deliverable(uint32_t lvt);
unsigned pmi_deliver(struct spmu_core *core, unsigned lp);
#define LVT_VECTOR   0xffu
#define LVT_DELIVERY (7u << 8)
#define LVT_MASK     (1u << 16)
#define LVT_WRITABLE (LVT_VECTOR | LVT_DELIVERY | LVT_MASK)
#define LVT_RESET    LVT_MASK

#endif
