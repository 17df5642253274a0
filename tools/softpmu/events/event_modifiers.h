/* SPDX-License-Identifier: MIT */
/*
 * event_modifiers.h: what modifies an event in a list of events (events.c has the grammar).  Each
 * function returns false, and changes nothing, if the text is something else.
 */
#ifndef SOFTPMU_EVENT_MODIFIERS_H
#define SOFTPMU_EVENT_MODIFIERS_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/softpmu/events/event_resolve.h"

/* Takes perf's letters, in any order. */
bool event_modifiers_letters(struct modifiers *modifiers, const char *part);
/* Reads "key" (the value is 1) or "key=N". */
bool event_modifiers_value(const char *text, const char *key, uint64_t *value);
/* Takes the name of the event that sets the tag (NetBurst). */
bool event_modifiers_tag(struct modifiers *modifiers, const char *text);
/* Takes a threshold, edge, inversion or AnyThread, which both syntaxes have. */
bool event_modifiers_select(struct modifiers *modifiers, const char *text);

#endif
