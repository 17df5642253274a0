/* SPDX-License-Identifier: MIT */
/* identify.c: what a profile says of the files with the code that ran. */
#include "tools/softpmu/flow/identify.h"

#include <stdlib.h>

#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/symbols/symbols.h"

/* A function that ran. */
struct found {
	uint32_t object;
	const struct symbol *symbol;
};

struct list {
	struct found *found;
	size_t count, room;
};

static int by_place(const void *one, const void *other)
{
	const struct found *a = one, *b = other;

	if (a->object != b->object)
		return a->object < b->object ? -1 : 1;
	if (a->symbol->start != b->symbol->start)
		return a->symbol->start < b->symbol->start ? -1 : 1;
	return 0;
}

/* Adds the functions of a thread's instructions, which are sorted. */
static void find_functions(struct list *list, const struct exact_thread *thread,
			   struct symbol_file *const *files)
{
	struct found last = {.symbol = NULL};

	for (size_t i = 0; i < thread->insn_count; i++) {
		struct exact_place at = thread->insns[i].at;

		if (last.symbol && last.object == at.object && at.address >= last.symbol->start &&
		    at.address < last.symbol->end)
			continue;
		last = (struct found){at.object, symbol_file_find(files[at.object], at.address)};
		if (!last.symbol)
			continue;
		list->found = tool_room(list->found, &list->room, list->count, sizeof(last));
		list->found[list->count++] = last;
	}
}

static void add_names(struct exact *exact, struct list *list)
{
	if (list->count)
		qsort(list->found, list->count, sizeof(*list->found), by_place);
	for (size_t i = 0; i < list->count; i++) {
		const struct found *f = &list->found[i];

		if (i && !by_place(f, f - 1))
			continue;
		exact_add_name(&exact->objects[f->object], f->symbol->start, f->symbol->end,
			       f->symbol->name);
	}
}

void identify_objects(struct exact *exact)
{
	struct symbols *symbols = symbols_new(NULL);
	struct symbol_file **files =
		tool_alloc((exact->object_count + 1) * sizeof(struct symbol_file *));
	struct list list = {0};

	for (size_t i = 0; i < exact->object_count; i++) {
		struct exact_object *object = &exact->objects[i];

		object->build_id_bytes = perfdata_read_build_id(object->path, object->build_id);
		files[i] = symbols_file(symbols, object->path, object->build_id,
					object->build_id_bytes);
	}
	exact_sort(exact);
	for (size_t t = 0; t < exact->thread_count; t++)
		find_functions(&list, exact->threads[t], files);
	add_names(exact, &list);
	free(list.found);
	free(files);
	symbols_free(symbols);
}
