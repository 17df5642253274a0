/* SPDX-License-Identifier: MIT */
/*
 * symbols.h: names, instruction bytes and source lines of the files that a
 * profile points into.
 *
 * Addresses are those of the file (its program headers), not of a process.
 * Everything handed out lives until symbols_free().
 */
#ifndef SOFTPMU_TOOL_SYMBOLS_H
#define SOFTPMU_TOOL_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbols;	    /* the files opened so far */
struct symbol_file; /* one of them */

/* Another name of the same address. */
struct symbol_other {
	const char *name;
	struct symbol_other *next;
	struct symbol_other *before; /* of the file's, for whoever frees them */
};

struct symbol {
	const char *name; /* as the compiler wrote it: C++ names stay mangled */
	uint64_t start, end;
	const struct symbol_other *others;
};

/* Whether one of its names, with or without its version ("puts@@GLIBC_2.2.5"), matches the shell
 * pattern. */
bool symbol_matches(const struct symbol *symbol, const char *pattern);

/* Files are looked for below `root` (NULL: "/"), as perf's --symfs. */
struct symbols *symbols_new(const char *root);
void symbols_free(struct symbols *symbols);

/*
 * The file of that path, opened at first use.  Never NULL; a file that cannot be
 * used has no symbols and no bytes.  A build-id (0 bytes: not known) that is
 * not the file's own makes it such a file.
 */
struct symbol_file *symbols_file(struct symbols *symbols, const char *path, const uint8_t *build_id,
				 size_t build_id_bytes);

/*
 * A file of one function that a program made while it ran; addresses are the process's.  The
 * name and the code (NULL: it is not known) must live as long as the symbols.
 */
struct symbol_file *symbols_code(struct symbols *symbols, const char *path,
				 const struct symbol *symbol, const void *code);
const void *symbol_file_code(const struct symbol_file *file);

/* The folder below which files are looked for; "" for all of them. */
const char *symbols_root(const struct symbols *symbols);

const char *symbol_file_path(const struct symbol_file *file);

/* Why the file cannot be used, one phrase; NULL when it can. */
const char *symbol_file_trouble(const struct symbol_file *file);

/* The address of the byte at `offset` of the file; false when nothing is loaded from there. */
bool symbol_file_address(const struct symbol_file *file, uint64_t offset, uint64_t *address);

/* The function that covers the address, NULL when none is known. */
const struct symbol *symbol_file_find(const struct symbol_file *file, uint64_t address);

/* Up to `bytes` bytes at the address; how many there are. */
size_t symbol_file_read(const struct symbol_file *file, uint64_t address, void *to, size_t bytes);

/*
 * The source line of the instruction at the address.  False without debug
 * information, or where it says nothing.
 */
bool symbol_file_line(struct symbol_file *file, uint64_t address, const char **source, int *line);

#endif
