/* SPDX-License-Identifier: MIT */
/*
 * symbols.h: the files with symbols that a profile points into, each opened once.
 *
 * Everything handed out lives until symbols_free().
 */
#ifndef SOFTPMU_TOOL_SYMBOLS_H
#define SOFTPMU_TOOL_SYMBOLS_H

#include "tools/softpmu/symbols/symbol_file.h"

struct symbols;

/* Looks for files below `root` (NULL: "/"), as perf's --symfs does. */
struct symbols *symbols_new(const char *root);
void symbols_free(struct symbols *symbols);

/* Returns the file of that path and build-id, opened at first use: see symbol_file_open(). */
struct symbol_file *symbols_file(struct symbols *symbols, const char *path, const uint8_t *build_id,
				 size_t build_id_bytes);

/* Adds a function that a program generated: see symbol_file_of_code(). */
struct symbol_file *symbols_code(struct symbols *symbols, const char *path,
				 const struct symbol *symbol, const void *code);

/* Returns the folder below which files are looked for; "" for all of them. */
const char *symbols_root(const struct symbols *symbols);

#endif
