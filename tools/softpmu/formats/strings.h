/* SPDX-License-Identifier: MIT */
/* strings.h: the table of strings of a file format: each text once, known by its number. */
#ifndef SOFTPMU_TOOL_STRINGS_H
#define SOFTPMU_TOOL_STRINGS_H

#include "tools/softpmu/base/numbering.h"

struct strings { /* all zeros: empty */
	char **list;
	size_t count, room;
	struct numbering numbers;
};

/* Returns the text's number.  A new text gets the number of texts so far. */
uint32_t strings_number(struct strings *strings, const char *text);
void strings_free(struct strings *strings);

#endif
