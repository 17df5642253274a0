/* SPDX-License-Identifier: MIT */
/* starts.c: tells the engine where functions begin, and which code the tool can read. */
#include "tools/softpmu/symbols/starts.h"

struct marks {
	struct link *link;
	const struct link_mmap *map;
};

static void mark_one(const struct marks *marks, enum link_mark mark, uint64_t address)
{
	link_mark(marks->link, mark, link_mark_file(marks->map),
		  address - marks->map->start + marks->map->page_offset);
}

static void mark_all(const struct marks *marks, enum link_mark mark, uint64_t start, uint64_t end)
{
	for (uint64_t at = start; at < end; at += 4)
		mark_one(marks, mark, at);
}

static void note_function(void *opaque, const char *name, uint64_t start, uint64_t end)
{
	if (code_is_stub(name)) {
		mark_all(opaque, LINK_MARK_START, start, end);
		mark_all(opaque, LINK_MARK_STUB, start, end);
		return;
	}
	mark_one(opaque, LINK_MARK_START, start);
	if (code_is_resolver(name))
		mark_all(opaque, LINK_MARK_RESOLVER, start, end);
}

void starts_note_all(struct code *code, const struct link_mmap *map, struct link *link)
{
	struct marks marks = {link, map};

	code_each_function(code, map, note_function, &marks);
}

void starts_note_readable(const struct link_mmap *map, struct link *link)
{
	link_mark(link, LINK_MARK_READABLE, link_mark_file(map), map->page_offset);
}
