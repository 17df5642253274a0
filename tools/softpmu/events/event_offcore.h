/* SPDX-License-Identifier: MIT */
/* event_offcore.h: Intel's names of off-core responses from Haswell to Skylake. */
#ifndef SOFTPMU_EVENT_OFFCORE_H
#define SOFTPMU_EVENT_OFFCORE_H

#include "tools/softpmu/events/event_names.h"

/*
 * Sets *code to an off-core response event, with the value of its register that a name such as
 * "OFFCORE_RESPONSE.DEMAND_DATA_RD.L3_HIT.ANY_SNOOP" means.
 */
bool event_offcore_find(const struct spmu_model *model, const char *name, struct event_code *code);

#endif
