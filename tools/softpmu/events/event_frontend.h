/* SPDX-License-Identifier: MIT */
/*
 * event_frontend.h: Intel's names of the conditions of FRONTEND_RETIRED, for models of which
 * libpfm4 has no table.
 */
#ifndef SOFTPMU_EVENT_FRONTEND_H
#define SOFTPMU_EVENT_FRONTEND_H

#include "tools/softpmu/events/event_names.h"

/* Returns name number `index`, and what it means; NULL after the last one, and for other models. */
const char *event_frontend_name(const struct spmu_model *model, size_t index, const char **meaning);

/* Sets *code to FRONTEND_RETIRED with the condition that the name means. */
bool event_frontend_find(const struct spmu_model *model, const char *name, struct event_code *code);

#endif
