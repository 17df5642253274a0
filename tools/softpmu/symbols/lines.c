/* SPDX-License-Identifier: MIT */
/*
 * lines.c: line tables through libdw.
 *
 * The unit of an address is searched in the address ranges of the compilation units, because not
 * every compiler writes .debug_aranges.
 */
#include "tools/softpmu/symbols/lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>

#include "tools/softpmu/base/tool.h"

struct lines {
	Dwarf *dwarf;
	Dwarf_Die unit;
	bool unit_valid; /* `unit` is the last one that was used */
	struct path *paths;
};

/* A source's name in the line table, and its full path. */
struct path {
	struct path *next;
	const char *name;
	char *full;
};

/* Opens the file's DWARF.  Returns NULL if it has no unit. */
static Dwarf *open_dwarf(Elf *elf)
{
	Dwarf *dwarf = elf ? dwarf_begin_elf(elf, DWARF_C_READ, NULL) : NULL;
	Dwarf_CU *unit;

	if (dwarf && dwarf_get_units(dwarf, NULL, &unit, NULL, NULL, NULL, NULL) != 0) {
		dwarf_end(dwarf);
		dwarf = NULL;
	}
	return dwarf;
}

struct lines *lines_open(Elf *file, Elf *debug)
{
	Dwarf *dwarf = open_dwarf(file);
	struct lines *lines;

	if (!dwarf)
		dwarf = open_dwarf(debug);
	if (!dwarf)
		return NULL;
	lines = tool_alloc(sizeof(*lines));
	lines->dwarf = dwarf;
	return lines;
}

void lines_close(struct lines *lines)
{
	struct path *path;

	if (!lines)
		return;
	while ((path = lines->paths) != NULL) {
		lines->paths = path->next;
		free(path->full);
		free(path);
	}
	dwarf_end(lines->dwarf);
	free(lines);
}

/* Makes the unit that covers the address the current one. */
static bool find_unit(struct lines *lines, uint64_t address)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;
	uint8_t type;

	if (lines->unit_valid && dwarf_haspc(&lines->unit, address) == 1)
		return true;
	while (dwarf_get_units(lines->dwarf, unit, &unit, NULL, &type, &die, NULL) == 0) {
		if (type == DW_UT_compile && dwarf_haspc(&die, address) == 1) {
			lines->unit = die;
			lines->unit_valid = true;
			return true;
		}
	}
	return false;
}

/* Returns the full path of a name, which may be relative to the folder of the compiler's run. */
static const char *full_path(struct lines *lines, const char *name)
{
	Dwarf_Attribute attribute;
	const char *folder;
	struct path *path;

	if (name[0] == '/')
		return name;
	for (path = lines->paths; path; path = path->next) {
		if (path->name == name)
			return path->full;
	}
	folder = dwarf_formstring(dwarf_attr(&lines->unit, DW_AT_comp_dir, &attribute));
	if (!folder)
		return name;
	path = tool_alloc(sizeof(*path));
	path->name = name;
	path->full = tool_print("%s/%s", folder, name);
	path->next = lines->paths;
	lines->paths = path;
	return path->full;
}

bool lines_find(struct lines *lines, uint64_t address, const char **source, int *line)
{
	const char *name;
	Dwarf_Line *found;

	if (!find_unit(lines, address))
		return false;
	found = dwarf_getsrc_die(&lines->unit, address);
	if (!found || dwarf_lineno(found, line) != 0 || *line == 0)
		return false;
	name = dwarf_linesrc(found, NULL, NULL);
	if (!name)
		return false;
	*source = full_path(lines, name);
	return true;
}
