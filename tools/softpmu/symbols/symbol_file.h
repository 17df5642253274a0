/* SPDX-License-Identifier: MIT */
/*
 * symbol_file.h: names, instruction bytes and source lines of one file.
 *
 * Addresses are those of the file (its program headers), not of a process.
 */
#ifndef SOFTPMU_TOOL_SYMBOL_FILE_H
#define SOFTPMU_TOOL_SYMBOL_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct call_frames;
struct symbol_file;

/* Another name of the same address. */
struct symbol_other {
	const char *name;
	struct symbol_other *next;
	struct symbol_other *before; /* in the list of the file, which frees it */
};

struct symbol {
	const char *name; /* as the compiler wrote it; demangle.h has the name to show */
	uint64_t start, end;
	const struct symbol_other *others;
};

/* Returns true if one of its names matches the shell pattern: see demangle_matches(). */
bool symbol_file_matches(const struct symbol *symbol, const char *pattern);

/*
 * Opens the file of that path below the folder `root`.  Never returns NULL: a file that cannot be
 * used has no symbols and no bytes.  A file with another build-id than the given one (0 bytes: not
 * known) cannot be used.
 */
struct symbol_file *symbol_file_open(const char *root, const char *path, const uint8_t *build_id,
				     size_t build_id_bytes);

/*
 * Makes a file of one function that a program generated.  Its addresses are those of the process.
 * The name and the code (NULL: it is not known) must live as long as the file.
 */
struct symbol_file *symbol_file_of_code(const char *path, const struct symbol *symbol,
					const void *code);
void symbol_file_free(struct symbol_file *file);

/* Returns true if the file was opened with that path and that build-id. */
bool symbol_file_is(const struct symbol_file *file, const char *path, const uint8_t *build_id,
		    size_t build_id_bytes);

/* Returns the code of a generated function. */
const void *symbol_file_code(const struct symbol_file *file);

const char *symbol_file_path(const struct symbol_file *file);

/* Returns a phrase that says why the file cannot be used, or NULL. */
const char *symbol_file_trouble(const struct symbol_file *file);

/* Finds the address of the byte at `offset` of the file.  Returns false if it is not loaded. */
bool symbol_file_address(const struct symbol_file *file, uint64_t offset, uint64_t *address);

/* Returns function number `index` in the order of addresses, or NULL after the last. */
const struct symbol *symbol_file_at(const struct symbol_file *file, size_t index);

/* Returns the function that covers the address, or NULL. */
const struct symbol *symbol_file_find(const struct symbol_file *file, uint64_t address);

/* Reads up to `bytes` bytes at the address.  Returns how many there are. */
size_t symbol_file_read(const struct symbol_file *file, uint64_t address, void *to, size_t bytes);

/*
 * Finds the source line of the instruction at the address.  Returns false if debug information does
 * not tell it.
 */
bool symbol_file_line(struct symbol_file *file, uint64_t address, const char **source, int *line);

/* Returns the file's unwind table, which lives as long as the file, or NULL. */
struct call_frames *symbol_file_frames(struct symbol_file *file);

#endif
