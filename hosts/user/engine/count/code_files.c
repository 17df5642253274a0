/* SPDX-License-Identifier: MIT */
/* code_files.c: knows which files have code in the process, and what the tool says of places in
 * them. */
#include "engine/count/code_files.h"

#include "engine/count/count.h"
#include "engine/rt/engine.h"
#include "engine/rt/lock.h"

#define MAPPINGS_MAX 4096

/* Newer mappings cover older ones. */
static struct mapping {
	uint64_t start, end;
	uint64_t file, offset; /* of its marks */
	bool is_file;	       /* the code is always that of a file that the tool can read */
	bool is_covered;       /* in part */
} mapping[MAPPINGS_MAX];
static unsigned mappings;
static unsigned recent; /* the mapping that was found last */

static bool cover(uint64_t start, uint64_t end)
{
	bool any = false;

	for (unsigned i = 0; i < mappings; i++) {
		if (mapping[i].start >= end || start >= mapping[i].end)
			continue;
		mapping[i].is_covered = true;
		any = true;
	}
	return any;
}

static void add(const struct link_mmap *map)
{
	uint64_t file = link_mark_file(map);

	/* If there are too many, nothing is known of any place. */
	if (mappings == MAPPINGS_MAX)
		return;
	mapping[mappings++] = (struct mapping){
		.start = map->start,
		.end = map->start + map->length,
		.file = file,
		.offset = map->page_offset,
		.is_file = link_flow_is_file(map) &&
			   link_is_marked(engine_link, LINK_MARK_READABLE, file, map->page_offset),
	};
}

void code_files_map(const struct link_mmap *map, void (*before)(void))
{
	if (cover(map->start, map->start + map->length) && before) {
		lock_stop_others();
		before();
		lock_resume_others();
	}
	ring_write(&map->header);
	ring_settle();
	add(map);
}

static bool contains(const struct mapping *m, uint64_t address)
{
	return address >= m->start && address < m->end;
}

/* Returns the mapping at the address, or NULL. */
static const struct mapping *find(uint64_t address)
{
	const struct mapping *last = &mapping[recent];

	if (mappings == MAPPINGS_MAX)
		return NULL;
	if (contains(last, address) && !last->is_covered)
		return last;
	for (unsigned i = mappings; i-- > 0;) {
		if (!contains(&mapping[i], address))
			continue;
		recent = i;
		return &mapping[i];
	}
	return NULL;
}

bool code_files_have(uint64_t address)
{
	const struct mapping *m = find(address);

	return m && m->is_file;
}

bool code_files_marked(enum link_mark mark, uint64_t address)
{
	const struct mapping *m = find(address);

	return m && link_is_marked(engine_link, mark, m->file, address - m->start + m->offset);
}
