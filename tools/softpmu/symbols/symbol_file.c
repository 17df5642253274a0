/* SPDX-License-Identifier: MIT */
/*
 * symbol_file.c: symbols and bytes of an ELF file through elfutils.
 *
 * Symbols come from .symtab.  Those of a stripped file come from its debug file
 * (/usr/lib/debug/.build-id/XX/REST.debug), otherwise from .dynsym.  Functions without a symbol are
 * found in the unwind table and named after their address.  If an address has several names, the
 * one that perf would choose is shown.
 *
 * Simplified: no .gnu_debuglink, no .gnu_debugdata, no names for PLT entries.
 */
#include "tools/softpmu/symbols/symbol_file.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/symbols/call_frames.h"
#include "tools/softpmu/symbols/code_section.h"
#include "tools/softpmu/symbols/demangle.h"
#include "tools/softpmu/symbols/lines.h"
#include "tools/softpmu/symbols/unwind.h"

#define DEBUG_FOLDER "/usr/lib/debug/.build-id"

/* Symbols can be nested: how many symbols back one that covers an address is searched. */
#define NESTING 16

/* A symbol, and what decides which of several names is shown. */
struct entry {
	struct symbol symbol;
	uint8_t binding;
	bool sized;
};

/* "sub_401000" */
struct made_name {
	char text[24];
};

struct elf_file {
	int fd; /* -1: not open */
	Elf *elf;
};

struct symbol_file {
	char *path;
	const char *trouble;
	uint8_t build_id[32];
	size_t build_id_bytes;
	struct elf_file main, debug;
	struct entry *entries; /* sorted by start */
	size_t count, room;
	struct symbol_other *others; /* a list of all of them */
	struct made_name *names;     /* of functions without a symbol */
	size_t unnamed;
	const uint8_t *code; /* of a generated function, the only one of the file */
	bool lines_tried;
	struct lines *lines; /* NULL: there are none */
	bool frames_tried;
	struct call_frames *frames; /* NULL: there are none */
};

static void elf_close(struct elf_file *file)
{
	if (file->elf)
		elf_end(file->elf);
	if (file->fd >= 0)
		close(file->fd);
	*file = (struct elf_file){.fd = -1};
}

void symbol_file_free(struct symbol_file *file)
{
	lines_close(file->lines);
	call_frames_close(file->frames);
	elf_close(&file->main);
	elf_close(&file->debug);
	while (file->others) {
		struct symbol_other *before = file->others->before;

		free(file->others);
		file->others = before;
	}
	free(file->entries);
	free(file->names);
	free(file->path);
	free(file);
}

/* Opens a file.  Returns NULL, or a phrase that says why it cannot be used. */
static const char *elf_open(const char *root, const char *path, struct elf_file *file)
{
	char *full = tool_print("%s%s", root, path);
	const char *trouble = NULL;
	struct stat status;
	GElf_Ehdr header;

	/* A profile can name a file whose opening blocks: a FIFO, a device. */
	file->fd = open(full, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	free(full);
	if (file->fd < 0)
		return errno == ENOENT ? "it no longer exists" : "it cannot be opened";
	if (fstat(file->fd, &status) != 0 || !S_ISREG(status.st_mode))
		trouble = "it is not a regular file";
	else if (!(file->elf = elf_begin(file->fd, ELF_C_READ_MMAP, NULL)) ||
		 elf_kind(file->elf) != ELF_K_ELF || !gelf_getehdr(file->elf, &header))
		trouble = "it is not an ELF file";
	else if (header.e_machine != EM_X86_64)
		trouble = "it is not an x86-64 file";
	if (trouble)
		elf_close(file);
	return trouble;
}

static bool same_build_id(const struct elf_file *file, const uint8_t *id, size_t bytes)
{
	const void *own;
	ssize_t own_bytes = dwelf_elf_gnu_build_id(file->elf, &own);

	/* perf pads a short build-id with zeros. */
	return own_bytes > 0 && (size_t)own_bytes <= bytes &&
	       memcmp(own, id, (size_t)own_bytes) == 0;
}

static struct entry *new_entry(struct symbol_file *file)
{
	file->entries = tool_room(file->entries, &file->room, file->count, sizeof(*file->entries));
	return &file->entries[file->count++];
}

static void add_symbol(struct symbol_file *file, Elf *elf, const GElf_Sym *sym, const char *name)
{
	unsigned type = GELF_ST_TYPE(sym->st_info);
	uint64_t end;

	if (!name || !*name)
		return;
	/* Assembler labels without a type count as functions, as in perf. */
	if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
		return;
	if (!code_section_end(elf, sym, &end))
		return;
	if (sym->st_size)
		end = sym->st_value + sym->st_size;
	*new_entry(file) = (struct entry){.symbol = {name, sym->st_value, end, NULL},
					  .binding = GELF_ST_BIND(sym->st_info),
					  .sized = sym->st_size != 0};
}

/* Reads the symbol table of that type.  Returns false if the file has none. */
static bool read_table(struct symbol_file *file, const struct elf_file *from, uint32_t type)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	Elf_Data *data;
	GElf_Sym sym;
	size_t i;

	if (!from->elf)
		return false;
	while ((section = elf_nextscn(from->elf, section)) != NULL) {
		if (!gelf_getshdr(section, &header) || header.sh_type != type ||
		    header.sh_entsize == 0)
			continue;
		data = elf_getdata(section, NULL);
		if (!data)
			return false;
		for (i = 0; i < header.sh_size / header.sh_entsize; i++) {
			if (gelf_getsym(data, (int)i, &sym))
				add_symbol(file, from->elf, &sym,
					   elf_strptr(from->elf, header.sh_link, sym.st_name));
		}
		return true;
	}
	return false;
}

static size_t underscores(const char *name)
{
	return strspn(name, "_");
}

/* Compares two names of one address.  Negative: a is shown. */
static int prefer(const struct entry *a, const struct entry *b)
{
	size_t a_length = strlen(a->symbol.name), b_length = strlen(b->symbol.name);

	if (a->sized != b->sized)
		return a->sized ? -1 : 1;
	if ((a->binding == STB_WEAK) != (b->binding == STB_WEAK))
		return a->binding == STB_WEAK ? 1 : -1;
	if ((a->binding == STB_GLOBAL) != (b->binding == STB_GLOBAL))
		return a->binding == STB_GLOBAL ? -1 : 1;
	if (underscores(a->symbol.name) != underscores(b->symbol.name))
		return underscores(a->symbol.name) < underscores(b->symbol.name) ? -1 : 1;
	if (a_length != b_length)
		return a_length > b_length ? -1 : 1;
	return strcmp(a->symbol.name, b->symbol.name);
}

static int by_start(const void *one, const void *other)
{
	const struct entry *a = one, *b = other;

	if (a->symbol.start != b->symbol.start)
		return a->symbol.start < b->symbol.start ? -1 : 1;
	return prefer(a, b);
}

/* Adds the name of `entry` to the other names of `of`. */
static void keep_other(struct symbol_file *file, struct entry *of, const struct entry *entry)
{
	struct symbol_other *other = tool_alloc(sizeof(*other));

	*other = (struct symbol_other){entry->symbol.name, (struct symbol_other *)of->symbol.others,
				       file->others};
	of->symbol.others = other;
	file->others = other;
}

bool symbol_file_matches(const struct symbol *symbol, const char *pattern)
{
	const struct symbol_other *other = symbol->others;

	if (demangle_matches(symbol->name, pattern))
		return true;
	while (other && !demangle_matches(other->name, pattern))
		other = other->next;
	return other;
}

/* Sorts the symbols, keeps one for each address, and ends a symbol without a size at the next. */
static void sort_symbols(struct symbol_file *file)
{
	size_t kept = 0, i;

	if (file->count == 0)
		return;
	qsort(file->entries, file->count, sizeof(*file->entries), by_start);
	for (i = 0; i < file->count; i++) {
		if (kept == 0 ||
		    file->entries[kept - 1].symbol.start != file->entries[i].symbol.start)
			file->entries[kept++] = file->entries[i];
		else
			keep_other(file, &file->entries[kept - 1], &file->entries[i]);
	}
	file->count = kept;
	for (i = 0; i < kept; i++) {
		struct entry *entry = &file->entries[i];

		if (!entry->sized && i + 1 < kept &&
		    entry->symbol.end > file->entries[i + 1].symbol.start)
			entry->symbol.end = file->entries[i + 1].symbol.start;
	}
}

/*
 * Adds functions without a symbol, as in a stripped file.  A function is named after its address, a
 * section of linkage stubs after the section.
 */
static void add_unnamed(struct symbol_file *file)
{
	size_t named = file->count, count, i;
	uint64_t *starts = unwind_starts(file->main.elf, &count);
	const char *section;
	GElf_Shdr header;

	if (!starts)
		return;
	file->names = tool_alloc(count * sizeof(*file->names));
	for (i = 0; i < count; i++) {
		const struct symbol *symbol;
		struct entry *entry;

		/* Only symbols are sorted yet; functions added here follow them. */
		file->count = named;
		symbol = symbol_file_find(file, starts[i]);
		file->count = named + file->unnamed;
		if (symbol || !code_section_at(file->main.elf, starts[i], &header, &section))
			continue;
		entry = new_entry(file);
		snprintf(file->names[file->unnamed].text, sizeof(file->names[0].text),
			 "sub_%" PRIx64, starts[i]);
		*entry = (struct entry){
			.symbol = {strncmp(section, ".plt", 4) ? file->names[file->unnamed].text
							       : section,
				   starts[i], header.sh_addr + header.sh_size, NULL},
			.binding = STB_LOCAL};
		file->unnamed++;
	}
	free(starts);
}

static void open_debug_file(const char *root, struct symbol_file *file)
{
	char path[sizeof(DEBUG_FOLDER) + 2 * sizeof(file->build_id) + 16];
	const void *id;
	ssize_t bytes = dwelf_elf_gnu_build_id(file->main.elf, &id);
	int length;
	ssize_t i;

	if (bytes < 2 || (size_t)bytes > sizeof(file->build_id))
		return;
	length = snprintf(path, sizeof(path), "%s/%02x/", DEBUG_FOLDER, *(const uint8_t *)id);
	for (i = 1; i < bytes; i++)
		length += snprintf(path + length, sizeof(path) - (size_t)length, "%02x",
				   ((const uint8_t *)id)[i]);
	snprintf(path + length, sizeof(path) - (size_t)length, ".debug");
	if (!elf_open(root, path, &file->debug) && !same_build_id(&file->debug, id, (size_t)bytes))
		elf_close(&file->debug);
}

static void open_file(const char *root, struct symbol_file *file)
{
	if (file->path[0] != '/') {
		/* [vdso], //anon and the like are not files; our own vDSO may differ. */
		file->trouble = "it is not a file";
		return;
	}
	file->trouble = elf_open(root, file->path, &file->main);
	if (file->trouble)
		return;
	if (file->build_id_bytes &&
	    !same_build_id(&file->main, file->build_id, file->build_id_bytes)) {
		file->trouble = "it has changed since it was recorded";
		elf_close(&file->main);
		return;
	}
	open_debug_file(root, file);
	if (!read_table(file, &file->main, SHT_SYMTAB) &&
	    !read_table(file, &file->debug, SHT_SYMTAB))
		read_table(file, &file->main, SHT_DYNSYM);
	sort_symbols(file);
	add_unnamed(file);
	sort_symbols(file);
}

struct symbol_file *symbol_file_open(const char *root, const char *path, const uint8_t *build_id,
				     size_t build_id_bytes)
{
	struct symbol_file *file = tool_alloc(sizeof(*file));

	if (build_id_bytes > sizeof(file->build_id))
		build_id_bytes = sizeof(file->build_id);
	file->path = tool_copy(path);
	if (build_id_bytes)
		memcpy(file->build_id, build_id, build_id_bytes);
	file->build_id_bytes = build_id_bytes;
	file->main.fd = file->debug.fd = -1;
	elf_version(EV_CURRENT);
	open_file(root, file);
	return file;
}

struct symbol_file *symbol_file_of_code(const char *path, const struct symbol *symbol,
					const void *code)
{
	struct symbol_file *file = tool_alloc(sizeof(*file));

	file->path = tool_copy(path);
	file->main.fd = file->debug.fd = -1;
	file->lines_tried = true;
	file->code = code;
	file->entries = tool_alloc(sizeof(*file->entries));
	file->entries[file->count++] = (struct entry){.symbol = *symbol, .sized = true};
	return file;
}

bool symbol_file_is(const struct symbol_file *file, const char *path, const uint8_t *build_id,
		    size_t build_id_bytes)
{
	if (build_id_bytes > sizeof(file->build_id))
		build_id_bytes = sizeof(file->build_id);
	return !strcmp(file->path, path) && file->build_id_bytes == build_id_bytes &&
	       (!build_id_bytes || !memcmp(file->build_id, build_id, build_id_bytes));
}

const void *symbol_file_code(const struct symbol_file *file)
{
	return file->code;
}

const char *symbol_file_path(const struct symbol_file *file)
{
	return file->path;
}

const char *symbol_file_trouble(const struct symbol_file *file)
{
	return file->trouble;
}

/* Returns the next PT_LOAD header, beginning at *index. */
static bool next_load(const struct symbol_file *file, size_t *index, GElf_Phdr *header)
{
	size_t count;

	if (!file->main.elf || elf_getphdrnum(file->main.elf, &count) != 0)
		return false;
	while (*index < count) {
		if (gelf_getphdr(file->main.elf, (int)(*index)++, header) &&
		    header->p_type == PT_LOAD)
			return true;
	}
	return false;
}

bool symbol_file_address(const struct symbol_file *file, uint64_t offset, uint64_t *address)
{
	GElf_Phdr header;
	size_t i = 0;

	while (next_load(file, &i, &header)) {
		if (offset >= header.p_offset && offset - header.p_offset < header.p_filesz &&
		    header.p_flags & PF_X) {
			*address = offset - header.p_offset + header.p_vaddr;
			return true;
		}
	}
	return false;
}

const struct symbol *symbol_file_at(const struct symbol_file *file, size_t index)
{
	return index < file->count ? &file->entries[index].symbol : NULL;
}

const struct symbol *symbol_file_find(const struct symbol_file *file, uint64_t address)
{
	size_t low = 0, high = file->count, back;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (file->entries[middle].symbol.start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (back = 1; back <= low && back <= NESTING; back++) {
		if (address < file->entries[low - back].symbol.end)
			return &file->entries[low - back].symbol;
	}
	return NULL;
}

size_t symbol_file_read(const struct symbol_file *file, uint64_t address, void *to, size_t bytes)
{
	GElf_Phdr header;
	size_t size, i = 0;
	const char *raw;

	if (file->code) {
		const struct symbol *symbol = &file->entries[0].symbol;

		if (address < symbol->start || address >= symbol->end)
			return 0;
		if (bytes > symbol->end - address)
			bytes = symbol->end - address;
		memcpy(to, file->code + (address - symbol->start), bytes);
		return bytes;
	}
	if (!file->main.elf || !(raw = elf_rawfile(file->main.elf, &size)))
		return 0;
	while (next_load(file, &i, &header)) {
		uint64_t skip = address - header.p_vaddr;

		if (address < header.p_vaddr || skip >= header.p_filesz || header.p_offset > size ||
		    skip >= size - header.p_offset)
			continue;
		if (bytes > header.p_filesz - skip)
			bytes = header.p_filesz - skip;
		if (bytes > size - header.p_offset - skip)
			bytes = size - header.p_offset - skip;
		memcpy(to, raw + header.p_offset + skip, bytes);
		return bytes;
	}
	return 0;
}

bool symbol_file_line(struct symbol_file *file, uint64_t address, const char **source, int *line)
{
	if (!file->lines_tried) {
		file->lines_tried = true;
		file->lines = lines_open(file->main.elf, file->debug.elf);
	}
	return file->lines && lines_find(file->lines, address, source, line);
}

struct call_frames *symbol_file_frames(struct symbol_file *file)
{
	if (!file->frames_tried)
		file->frames = call_frames_open(file->main.elf);
	file->frames_tried = true;
	return file->frames;
}
