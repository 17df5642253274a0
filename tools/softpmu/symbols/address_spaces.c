/* SPDX-License-Identifier: MIT */
/*
 * address_spaces.c: the mappings of each process, as mmap, fork, exec and exit change them.
 *
 * A new mapping is not cut out of the older ones: the newest one at an address counts.  If a new
 * mapping covers an older one completely, the older one is removed.  So a process that maps the
 * same range many times needs no more memory.
 */
#include "tools/softpmu/symbols/address_spaces.h"

#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/base/tool.h"

struct space {
	struct space *next;
	uint32_t pid;
	struct address_mapping *maps; /* the newest last */
	size_t count, room;
	struct address_code code;
};

struct address_spaces {
	struct space *first; /* the process that was looked for last comes first */
};

struct address_spaces *address_spaces_new(void)
{
	return tool_alloc(sizeof(struct address_spaces));
}

void address_spaces_free(struct address_spaces *spaces)
{
	if (!spaces)
		return;
	address_spaces_clear(spaces);
	free(spaces);
}

void address_spaces_clear(struct address_spaces *spaces)
{
	while (spaces->first)
		address_spaces_exit(spaces, spaces->first->pid);
}

/* Returns NULL if there is no such process. */
static struct space *find_space(struct address_spaces *spaces, uint32_t pid)
{
	struct space **link = &spaces->first, *space;

	while ((space = *link) && space->pid != pid)
		link = &space->next;
	if (!space)
		return NULL;
	*link = space->next;
	space->next = spaces->first;
	spaces->first = space;
	return space;
}

static struct space *get_space(struct address_spaces *spaces, uint32_t pid)
{
	struct space *space = find_space(spaces, pid);

	if (space)
		return space;
	space = tool_alloc(sizeof(*space));
	space->pid = pid;
	space->next = spaces->first;
	spaces->first = space;
	return space;
}

static void add_map(struct space *space, const struct address_mapping *map)
{
	space->maps = tool_room(space->maps, &space->room, space->count, sizeof(*space->maps));
	space->maps[space->count++] = *map;
}

void address_spaces_fork(struct address_spaces *spaces, uint32_t pid, uint32_t parent)
{
	struct space *space;
	const struct space *from;

	if (pid == parent)
		return;
	space = get_space(spaces, pid);
	from = find_space(spaces, parent);
	space->count = 0;
	space->code = from ? from->code : (struct address_code){NULL, NULL};
	for (size_t i = 0; from && i < from->count; i++)
		add_map(space, &from->maps[i]);
}

void address_spaces_exec(struct address_spaces *spaces, uint32_t pid)
{
	struct space *space = get_space(spaces, pid);

	space->count = 0;
	space->code = (struct address_code){NULL, NULL};
}

void address_spaces_exit(struct address_spaces *spaces, uint32_t pid)
{
	struct space *space = find_space(spaces, pid);

	if (!space)
		return;
	spaces->first = space->next;
	free(space->maps);
	free(space);
}

/* Removes the mappings that the range covers completely.  Returns true if it touches any. */
static bool uncover(struct space *space, uint64_t start, uint64_t end)
{
	bool some = false;
	size_t kept = 0, count = space->count;

	for (size_t i = 0; i < count; i++) {
		struct address_mapping map = space->maps[i];

		if (map.start < end && start < map.end) {
			some = true;
			if (start <= map.start && map.end <= end)
				continue;
		}
		space->maps[kept++] = map;
	}
	space->count = kept;
	return some;
}

bool address_spaces_map(struct address_spaces *spaces, uint32_t pid,
			const struct address_mapping *map)
{
	struct space *space = get_space(spaces, pid);
	bool covered = uncover(space, map->start, map->end);

	add_map(space, map);
	return covered;
}

bool address_spaces_holds(struct address_spaces *spaces, uint32_t pid, uint64_t start,
			  uint64_t bytes)
{
	const struct space *space = find_space(spaces, pid);

	for (size_t i = 0; space && i < space->count; i++) {
		if (space->maps[i].start < start + bytes && start < space->maps[i].end)
			return true;
	}
	return false;
}

const struct address_mapping *address_spaces_find(struct address_spaces *spaces, uint32_t pid,
						  uint64_t address)
{
	const struct space *space = find_space(spaces, pid);

	for (size_t i = space ? space->count : 0; i-- > 0;) {
		if (address >= space->maps[i].start && address < space->maps[i].end)
			return &space->maps[i];
	}
	return NULL;
}

struct address_code *address_spaces_code(struct address_spaces *spaces, uint32_t pid)
{
	return &get_space(spaces, pid)->code;
}
