/* SPDX-License-Identifier: MIT */
/* starts.c: tells the engine where functions begin, and which code the tool can read. */
#include "tools/softpmu/symbols/starts.h"

void starts_note(struct link *link, uint64_t address)
{
	uint32_t bit = link_flow_start(address);

	link->flow_start[bit / 8] |= (uint8_t)(1u << bit % 8);
}

static void note_function(void *opaque, uint64_t start, uint64_t end, bool is_stub)
{
	if (!is_stub)
		end = start + 1;
	for (uint64_t at = start; at < end; at += 4)
		starts_note(opaque, at);
}

void starts_note_all(struct code *code, const struct link_mmap *map, struct link *link)
{
	code_each_function(code, map, note_function, link);
}

void starts_note_readable(const struct link_mmap *map, struct link *link)
{
	for (unsigned i = 0; i < LINK_FLOW_READABLE; i++)
		starts_note(link, link_flow_readable(map) + 4 * i);
}
