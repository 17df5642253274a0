/* SPDX-License-Identifier: MIT */
/* event_modifiers.c: what modifies an event in a list of events (events.c). */
#include "tools/softpmu/events/event_modifiers.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <src/perfdata/perfdata.h>

#include "tools/softpmu/base/tool.h"

bool event_modifiers_letters(struct modifiers *modifiers, const char *part)
{
	struct modifiers taken = *modifiers;

	if (!*part)
		return false;
	for (; *part; part++) {
		switch (*part) {
		case 'u':
			taken.user = true;
			break;
		case 'k':
			taken.kernel = true;
			break;
		case 'h':
			taken.hypervisor = true;
			break;
		case 'G':
			taken.guest = true;
			break;
		case 'H':
			taken.host = true;
			break;
		case 'p':
			taken.precise++;
			break;
		case 'P':
			taken.precise = PRECISE_MAX;
			break;
		case 'D': /* pinned: every event has its own counter anyway */
		case 'W': /* weak group: the same */
		case 'I': /* not when idle: a program that runs is never idle */
			break;
		default:
			return false;
		}
	}
	*modifiers = taken;
	return true;
}

bool event_modifiers_value(const char *text, const char *key, uint64_t *value)
{
	size_t length = strlen(key);

	if (strncasecmp(text, key, length))
		return false;
	if (!text[length]) {
		*value = 1;
		return true;
	}
	return text[length] == '=' && tool_number(text + length + 1, value);
}

bool event_modifiers_tag(struct modifiers *modifiers, const char *text)
{
	if (strncasecmp(text, "tag=", 4) || !text[4])
		return false;
	free(modifiers->tag);
	modifiers->tag = tool_copy(text + 4);
	return true;
}

bool event_modifiers_select(struct modifiers *modifiers, const char *text)
{
	static const struct {
		const char *key;
		uint64_t mask;
	} keys[] = {
		{"cmask", SELECT_CMASK}, {"c", SELECT_CMASK}, {"edge", SELECT_EDGE},
		{"e", SELECT_EDGE},	 {"inv", SELECT_INV}, {"i", SELECT_INV},
		{"any", SELECT_ANY},	 {"t", SELECT_ANY},
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		uint64_t value;
		unsigned shift = (unsigned)__builtin_ctzll(keys[i].mask);

		if (!event_modifiers_value(text, keys[i].key, &value))
			continue;
		if (value > keys[i].mask >> shift)
			return false;
		modifiers->select = (modifiers->select & ~keys[i].mask) | value << shift;
		return true;
	}
	return false;
}
