/* SPDX-License-Identifier: MIT */
/*
 * function_regions.c: finds the functions of --region and --toggle in each file that the program
 * maps, by its symbols.  The program waits meanwhile (points.c of the engine).
 */
#include "tools/softpmu/run/function_regions.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tools/softpmu/base/delayed_loading.h"
#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/symbols/demangle.h"
#include "tools/softpmu/symbols/symbol_file.h"

struct function_files {
	struct symbol_file *file;
	char *path;
	struct function_files *next;
};

/* --- options ------------------------------------------------------------------------------ */

int function_regions_take(struct function_regions *regions, const char *command,
			  const char *pattern, bool toggles)
{
	if (regions->count == FUNCTION_REGIONS_MAX)
		return tool_usage_error(command, "at most %d functions can be regions",
					FUNCTION_REGIONS_MAX);
	if (!*pattern)
		return tool_usage_error(command, "%s needs the name of a function",
					toggles ? "--toggle" : "--region");
	regions->wanted[regions->count++] =
		(struct function_region){.pattern = pattern, .toggles = toggles};
	return -1;
}

bool function_regions_toggle(const struct function_regions *regions)
{
	for (size_t i = 0; i < regions->count; i++)
		if (regions->wanted[i].toggles)
			return true;
	return false;
}

/* --- functions ---------------------------------------------------------------------------- */

static const struct symbol_file *file_of(struct function_regions *regions, const char *path)
{
	struct function_files *f;

	for (f = regions->files; f; f = f->next)
		if (!strcmp(f->path, path))
			return f->file;
	f = tool_alloc(sizeof(*f));
	f->file = symbol_file_open("", path, NULL, 0);
	f->path = tool_copy(path);
	f->next = regions->files;
	regions->files = f;
	return f->file;
}

/* Returns the option that the function matches; one of --toggle if there are several. */
static struct function_region *wanted_for(struct function_regions *regions,
					  const struct symbol *symbol)
{
	struct function_region *found = NULL;

	for (size_t i = 0; i < regions->count; i++) {
		struct function_region *w = &regions->wanted[i];

		if (!symbol_file_matches(symbol, w->pattern))
			continue;
		w->found = true;
		if (!found || w->toggles)
			found = w;
	}
	return found;
}

/* Returns the index of the region of this name, as the engine does (client.c), or
 * LINK_REGIONS_MAX. */
static uint32_t region_of(struct link_region *region, const char *name, bool toggles)
{
	char cut[LINK_REGION_NAME];

	snprintf(cut, sizeof(cut), "%s", name);
	for (uint32_t i = 0; i < LINK_REGIONS_MAX; i++) {
		uint32_t nobody = LINK_REGION_FREE;

		if (__atomic_compare_exchange_n(&region[i].state, &nobody, LINK_REGION_CLAIMED,
						false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
			memcpy(region[i].name, cut, sizeof(cut));
			region[i].toggles = toggles;
			__atomic_store_n(&region[i].state, LINK_REGION_NAMED, __ATOMIC_RELEASE);
			return i;
		}
		if (nobody == LINK_REGION_NAMED && !strncmp(region[i].name, cut, sizeof(cut)))
			return i;
	}
	return LINK_REGIONS_MAX;
}

static size_t find(void *opaque, const struct link_mmap *mmap, struct link_region *region,
		   struct link_point *point, size_t room)
{
	struct function_regions *regions = opaque;
	const struct symbol_file *file;
	const struct symbol *symbol;
	uint64_t base;
	size_t n = 0;

	if (!(mmap->protection & PROT_EXEC) || mmap->path[0] != '/')
		return 0;
	file = file_of(regions, mmap->path);
	if (!symbol_file_address(file, mmap->page_offset, &base))
		return 0;
	for (size_t i = 0; (symbol = symbol_file_at(file, i)); i++) {
		const struct function_region *w;
		uint32_t index;

		if (symbol->start < base || symbol->start - base >= mmap->length)
			continue;
		w = wanted_for(regions, symbol);
		if (!w)
			continue;
		index = region_of(region, demangle_name(symbol->name), w->toggles);
		if (n == room || index == LINK_REGIONS_MAX) {
			regions->lost = true;
			continue;
		}
		point[n++] =
			(struct link_point){mmap->start + (symbol->start - base), mmap->pid, index};
	}
	return n;
}

void function_regions_request(struct function_regions *regions, struct launch_request *request)
{
	if (!regions->count)
		return;
	delayed_loading_load_all();
	request->points = find;
	request->points_opaque = regions;
	request->events_off = function_regions_toggle(regions);
}

void function_regions_say(const struct function_regions *regions)
{
	for (size_t i = 0; i < regions->count; i++)
		if (!regions->wanted[i].found)
			tool_error("no function of the program matches '%s'",
				   regions->wanted[i].pattern);
	if (regions->lost)
		tool_error("too many functions match: at most %d have regions", LINK_REGIONS_MAX);
}

void function_regions_free(struct function_regions *regions)
{
	struct function_files *f;

	while ((f = regions->files)) {
		regions->files = f->next;
		symbol_file_free(f->file);
		free(f->path);
		free(f);
	}
}
