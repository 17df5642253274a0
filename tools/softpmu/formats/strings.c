/* SPDX-License-Identifier: MIT */
/* strings.c: gives equal texts the same number. */
#include "tools/softpmu/formats/strings.h"

#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/base/tool.h"

static bool same_string(const void *list, uint32_t number, const void *text)
{
	return !strcmp(((char *const *)list)[number], text);
}

uint32_t strings_number(struct strings *strings, const char *text)
{
	uint64_t hash = 0;
	uint32_t number;

	for (const char *at = text; *at; at++)
		hash = numbering_mix(hash, (unsigned char)*at);
	number = numbering_find(&strings->numbers, hash, same_string, strings->list, text);
	if (number == strings->count) {
		strings->list = tool_room(strings->list, &strings->room, strings->count,
					  sizeof(*strings->list));
		strings->list[strings->count++] = tool_copy(text);
	}
	return number;
}

void strings_free(struct strings *strings)
{
	for (size_t i = 0; i < strings->count; i++)
		free(strings->list[i]);
	free(strings->list);
	numbering_free(&strings->numbers);
}
