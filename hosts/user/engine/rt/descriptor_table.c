/* SPDX-License-Identifier: MIT */
/*
 * descriptor_table.c: which descriptors are not simply the program's, and what they are for the
 * engine.  There is one table for each table of the kernel's: threads mostly share it, other
 * tasks in the same memory may do so.  A table is shared, copied and left where the kernel's is;
 * what the program does to descriptors is in linux/descriptors.c.
 *
 */
#include "engine/rt/descriptor_table.h"
#include "engine/rt/engine.h"
#include "engine/rt/sys.h"

static struct descriptor_table *unused;

struct descriptor_table *descriptor_table_new(void)
{
	struct descriptor_table *t = unused;

	if (t)
		unused = t->next;
	else
		t = heap_allocate(sizeof(*t));
	t->users = 1;
	t->count = 0;
	return t;
}

struct descriptor_table *descriptor_table_copy(const struct descriptor_table *of)
{
	struct descriptor_table *copy = descriptor_table_new();

	*copy = *of;
	copy->users = 1;
	return copy;
}

struct descriptor_table *descriptor_table_share(struct descriptor_table *of)
{
	of->users++;
	return of;
}

void descriptor_table_leave(struct descriptor_table *of)
{
	if (--of->users)
		return;
	of->next = unused;
	unused = of;
}

enum descriptor_role descriptor_role(const struct descriptor_table *t, int fd)
{
	for (uint32_t i = 0; i < t->count; i++)
		if (t->entry[i].fd == fd)
			return t->entry[i].role;
	return DESCRIPTOR_OF_PROGRAM;
}

int descriptor_with(const struct descriptor_table *t, enum descriptor_role role)
{
	for (uint32_t i = 0; i < t->count; i++)
		if (t->entry[i].role == role)
			return t->entry[i].fd;
	return -1;
}

int descriptor_between(const struct descriptor_table *t, uint32_t first, uint32_t last)
{
	int lowest = -1;

	for (uint32_t i = 0; i < t->count; i++) {
		int fd = t->entry[i].fd;

		if ((uint32_t)fd >= first && (uint32_t)fd <= last && (lowest < 0 || fd < lowest))
			lowest = fd;
	}
	return lowest;
}

void descriptor_set(struct descriptor_table *t, int fd, enum descriptor_role role)
{
	uint32_t i = 0;

	while (i < t->count && t->entry[i].fd != fd)
		i++;
	if (role == DESCRIPTOR_OF_PROGRAM) {
		if (i < t->count)
			t->entry[i] = t->entry[--t->count];
		return;
	}
	if (i < DESCRIPTORS_MAX) {
		t->entry[i].fd = fd;
		t->entry[i].role = role;
		if (i == t->count)
			t->count++;
		return;
	}
	engine_unsupported("more descriptors than the table of softpmu's own can hold");
}
