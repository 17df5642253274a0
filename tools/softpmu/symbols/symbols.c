/* SPDX-License-Identifier: MIT */
/* symbols.c: the list of opened files with symbols. */
#include "tools/softpmu/symbols/symbols.h"

#include <stdlib.h>

#include "tools/softpmu/base/tool.h"

struct files {
	struct opened {
		struct symbol_file *file;
	} * opened;
	size_t count, room;
};

struct symbols {
	char *root;
	struct files files;
	struct files generated; /* each of one function */
};

struct symbols *symbols_new(const char *root)
{
	struct symbols *symbols = tool_alloc(sizeof(*symbols));

	symbols->root = tool_copy(root ? root : "");
	return symbols;
}

static void free_files(struct files *files)
{
	for (size_t i = 0; i < files->count; i++)
		symbol_file_free(files->opened[i].file);
	free(files->opened);
}

void symbols_free(struct symbols *symbols)
{
	if (!symbols)
		return;
	free_files(&symbols->files);
	free_files(&symbols->generated);
	free(symbols->root);
	free(symbols);
}

static struct symbol_file *add(struct files *files, struct symbol_file *file)
{
	files->opened =
		tool_room(files->opened, &files->room, files->count, sizeof(*files->opened));
	files->opened[files->count++].file = file;
	return file;
}

struct symbol_file *symbols_file(struct symbols *symbols, const char *path, const uint8_t *build_id,
				 size_t build_id_bytes)
{
	struct files *files = &symbols->files;

	/* The newest first: a process maps a file several times in a row. */
	for (size_t i = files->count; i-- > 0;) {
		struct symbol_file *file = files->opened[i].file;

		if (symbol_file_is(file, path, build_id, build_id_bytes))
			return file;
	}
	return add(files, symbol_file_open(symbols->root, path, build_id, build_id_bytes));
}

struct symbol_file *symbols_code(struct symbols *symbols, const char *path,
				 const struct symbol *symbol, const void *code)
{
	return add(&symbols->generated, symbol_file_of_code(path, symbol, code));
}

const char *symbols_root(const struct symbols *symbols)
{
	return symbols->root;
}
