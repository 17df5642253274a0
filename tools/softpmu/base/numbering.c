/* SPDX-License-Identifier: MIT */
/* numbering.c: a hash table with open addressing, at most half full. */
#include "tools/softpmu/base/numbering.h"

#include <stdlib.h>

#include "tools/softpmu/base/tool.h"

static void grow(struct numbering *numbering)
{
	struct numbering old = *numbering;

	numbering->room = old.room ? 2 * old.room : 256;
	numbering->slots = tool_alloc(numbering->room * sizeof(*numbering->slots));
	for (size_t i = 0; i < old.room; i++) {
		size_t at = old.slots[i].hash & (numbering->room - 1);

		if (!old.slots[i].next_number)
			continue;
		while (numbering->slots[at].next_number)
			at = (at + 1) & (numbering->room - 1);
		numbering->slots[at] = old.slots[i];
	}
	free(old.slots);
}

uint32_t numbering_find(struct numbering *numbering, uint64_t hash, numbering_same *same,
			const void *things, const void *thing)
{
	struct numbering_slot *slot;
	size_t at;

	if (2 * (size_t)numbering->count >= numbering->room)
		grow(numbering);
	at = hash & (numbering->room - 1);
	while ((slot = &numbering->slots[at])->next_number) {
		if (slot->hash == hash && same(things, slot->next_number - 1, thing))
			return slot->next_number - 1;
		at = (at + 1) & (numbering->room - 1);
	}
	*slot = (struct numbering_slot){hash, ++numbering->count};
	return numbering->count - 1;
}

void numbering_free(struct numbering *numbering)
{
	free(numbering->slots);
	*numbering = (struct numbering){NULL, 0, 0};
}
