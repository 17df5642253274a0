/* SPDX-License-Identifier: MIT */
/*
 * code.c: finds the function, and the kind of a branch, at an address of a running process.
 *
 * Instruction bytes come from the mapped file.  Those of memory without a file are read from the
 * process while it runs.  The vDSO's are read from this process, because they are the same.
 *
 * Simplified: code that a program changes in memory is taken as it is in its file.
 */
#define _GNU_SOURCE
#include "tools/softpmu/symbols/code.h"

#include <Zydis/Zydis.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <hosts/user/reach.h>

#include "tools/softpmu/base/numbering.h"
#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/symbols/address_spaces.h"
#include "tools/softpmu/symbols/call_frames.h"
#include "tools/softpmu/symbols/demangle.h"
#include "tools/softpmu/symbols/symbols.h"

#define INSTRUCTION_MAX 15
#define PAGE		4096

struct code {
	struct symbols *symbols;
	struct address_spaces *spaces;
	uint32_t pid; /* the current process */
	struct code_function *functions;
	/* What identifies each function: its symbol, otherwise its file, otherwise `code`. */
	const void **keys;
	size_t function_count, function_room, key_room;
	struct numbering numbers;
	ZydisDecoder decoder;
	/* The unwind table of the vDSO; NULL: not needed yet, or none. */
	Elf *vdso;
	struct call_frames *vdso_frames;
};

struct code *code_new(void)
{
	struct code *code = tool_alloc(sizeof(*code));

	code->symbols = symbols_new(NULL);
	code->spaces = address_spaces_new();
	ZydisDecoderInit(&code->decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	return code;
}

void code_free(struct code *code)
{
	if (!code)
		return;
	call_frames_close(code->vdso_frames);
	if (code->vdso)
		elf_end(code->vdso);
	address_spaces_free(code->spaces);
	symbols_free(code->symbols);
	free(code->functions);
	free(code->keys);
	numbering_free(&code->numbers);
	free(code);
}

/* --- processes ----------------------------------------------------------------------- */

void code_enter(struct code *code, uint32_t pid)
{
	code->pid = pid;
}

void code_fork(struct code *code, uint32_t pid, uint32_t parent)
{
	address_spaces_fork(code->spaces, pid, parent);
}

void code_exec(struct code *code, uint32_t pid)
{
	address_spaces_exec(code->spaces, pid);
}

void code_exit(struct code *code, uint32_t pid)
{
	address_spaces_exit(code->spaces, pid);
}

/* Finds the first byte of the mapping that belongs to the file's code: its segment may begin within
 * a page.  Returns false if the file cannot be read. */
static bool find_segment(const struct symbol_file *file, const struct link_mmap *map,
			 uint64_t *offset, uint64_t *address)
{
	for (*offset = 0; *offset < map->length && *offset < PAGE; ++*offset) {
		if (symbol_file_address(file, map->page_offset + *offset, address))
			return true;
	}
	return false;
}

static bool is_readable(const struct symbol_file *file, const struct link_mmap *map)
{
	uint64_t offset, address;

	return link_flow_is_file(map) && find_segment(file, map, &offset, &address);
}

bool code_map(struct code *code, const struct link_mmap *link)
{
	struct symbol_file *file = symbols_file(code->symbols, link->path, NULL, 0);
	struct address_mapping map = {
		.start = link->start,
		.page_offset = link->page_offset,
		.is_constant = is_readable(file, link),
		.path = symbol_file_path(file),
		.file = file,
	};

	if (__builtin_add_overflow(link->start, link->length, &map.end))
		map.end = UINT64_MAX;
	return address_spaces_map(code->spaces, link->pid, &map);
}

bool code_is_mapped(struct code *code, const struct link_mmap *link)
{
	return address_spaces_holds(code->spaces, link->pid, link->start, link->length);
}

static const struct address_mapping *find_map(struct code *code, uint64_t address)
{
	return address_spaces_find(code->spaces, code->pid, address);
}

bool code_is_memory(struct code *code, uint64_t address)
{
	const struct address_mapping *map = find_map(code, address);

	return !map || !map->is_constant;
}

bool code_is_stub(const char *name)
{
	return name && !strncmp(name, ".plt", 4);
}

bool code_is_resolver(const char *name)
{
	static const char resolver[] = "_dl_runtime_resolve";

	return name && !strncmp(name, resolver, sizeof(resolver) - 1);
}

void code_each_function(struct code *code, const struct link_mmap *map,
			void (*visit)(void *opaque, const char *name, uint64_t start, uint64_t end),
			void *opaque)
{
	struct symbol_file *file = symbols_file(code->symbols, map->path, NULL, 0);
	const struct symbol *symbol;
	uint64_t offset, at, base;

	if (!find_segment(file, map, &offset, &at))
		return;
	base = map->start + offset - at;
	for (size_t i = 0; (symbol = symbol_file_at(file, i)); i++)
		if (symbol->start >= at && symbol->start < at + (map->length - offset))
			visit(opaque, symbol->name, symbol->start + base, symbol->end + base);
}

/* --- functions ------------------------------------------------------------------------ */

static bool same_key(const void *keys, uint32_t number, const void *key)
{
	return ((const void *const *)keys)[number] == key;
}

static uint32_t intern(struct code *code, const void *key, const struct symbol *symbol,
		       const char *object)
{
	uint32_t number = numbering_find(&code->numbers, numbering_mix(0, (uintptr_t)key), same_key,
					 code->keys, key);
	size_t count = code->function_count;

	if (number < count)
		return number;
	code->keys = tool_room(code->keys, &code->key_room, count, sizeof(*code->keys));
	code->functions =
		tool_room(code->functions, &code->function_room, count, sizeof(*code->functions));
	code->keys[count] = key;
	code->functions[count] = (struct code_function){.symbol = symbol, .object = object};
	if (symbol) {
		code->functions[count].name = symbol->name;
		code->functions[count].shown = demangle_name(symbol->name);
	}
	code->function_count++;
	return number;
}

uint32_t code_function_at(struct code *code, uint64_t address, uint64_t *offset)
{
	const struct address_mapping *map = find_map(code, address);
	const struct symbol *symbol;
	uint64_t at;

	*offset = address;
	if (!map)
		return intern(code, code, NULL, "[unknown]");
	*offset = address - map->start + map->page_offset;
	if (!symbol_file_address(map->file, *offset, &at))
		return intern(code, map->file, NULL, map->path);
	*offset = at;
	symbol = symbol_file_find(map->file, at);
	if (!symbol)
		return intern(code, map->file, NULL, map->path);
	*offset = at - symbol->start;
	return intern(code, symbol, symbol, map->path);
}

const char *code_object_at(struct code *code, uint64_t address, uint64_t *file_address)
{
	const struct address_mapping *map = find_map(code, address);

	*file_address = address;
	if (!map)
		return "[unknown]";
	symbol_file_address(map->file, address - map->start + map->page_offset, file_address);
	return map->path;
}

uint32_t code_functions(const struct code *code)
{
	return (uint32_t)code->function_count;
}

struct code_function *code_function(struct code *code, uint32_t number)
{
	return &code->functions[number];
}

/* --- frames ---------------------------------------------------------------------------- */

static bool is_vdso(const struct address_mapping *map)
{
	return !strcmp(map->path, "[vdso]");
}

static struct call_frames *vdso_frames(struct code *code, const struct address_mapping *map)
{
	char *own = (char *)getauxval(AT_SYSINFO_EHDR); /* NOLINT: the kernel gives a number */

	if (!code->vdso && own) {
		elf_version(EV_CURRENT);
		code->vdso = elf_memory(own, map->end - map->start);
		code->vdso_frames = call_frames_open(code->vdso);
	}
	return code->vdso_frames;
}

struct call_frames *code_frames_at(struct code *code, uint64_t address, uint64_t *file_address)
{
	const struct address_mapping *map = find_map(code, address);

	if (!map)
		return NULL;
	*file_address = address - map->start + map->page_offset;
	if (is_vdso(map))
		return vdso_frames(code, map);
	return symbol_file_address(map->file, *file_address, file_address)
		       ? symbol_file_frames(map->file)
		       : NULL;
}

/* --- branches -------------------------------------------------------------------------- */

static size_t read_memory(pid_t pid, uint64_t address, void *to, size_t bytes)
{
	ssize_t got = reach_read(pid, address, to, bytes);

	return got < 0 ? 0 : (size_t)got;
}

size_t code_read(struct code *code, uint64_t address, void *to, size_t bytes)
{
	const struct address_mapping *map = find_map(code, address);
	uint64_t at, own = getauxval(AT_SYSINFO_EHDR);

	if (!map)
		return 0;
	if (bytes > map->end - address)
		bytes = (size_t)(map->end - address);
	if (is_vdso(map) && own)
		return read_memory(getpid(), own + (address - map->start), to, bytes);
	if (symbol_file_address(map->file, address - map->start + map->page_offset, &at))
		return symbol_file_read(map->file, at, to, bytes);
	return read_memory((pid_t)code->pid, address, to, bytes);
}

size_t code_read_file(struct code *code, const char *path, uint64_t address, void *to, size_t bytes)
{
	return symbol_file_read(symbols_file(code->symbols, path, NULL, 0), address, to, bytes);
}

static enum code_branch kind_of(const ZydisDecodedInstruction *instruction)
{
	/* Near branches: E8, E9 and EB contain their target; FF /2 and /4 do not. */
	bool indirect = instruction->opcode == 0xff;
	bool far = instruction->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR;

	switch (instruction->meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
		return BRANCH_COND;
	case ZYDIS_CATEGORY_UNCOND_BR:
		return far ? BRANCH_FAR : indirect ? BRANCH_JUMP_INDIRECT : BRANCH_JUMP;
	case ZYDIS_CATEGORY_CALL:
		return far ? BRANCH_FAR : indirect ? BRANCH_CALL_INDIRECT : BRANCH_CALL;
	case ZYDIS_CATEGORY_RET:
		if (instruction->opcode == 0xcf)
			return BRANCH_SYSTEM_RETURN;
		return far ? BRANCH_FAR : BRANCH_RETURN;
	case ZYDIS_CATEGORY_SYSCALL:
		return BRANCH_SYSCALL;
	case ZYDIS_CATEGORY_SYSRET:
		return BRANCH_SYSTEM_RETURN;
	case ZYDIS_CATEGORY_INTERRUPT:
		return BRANCH_FAR;
	default:
		return BRANCH_UNKNOWN;
	}
}

enum code_branch code_branch_at(struct code *code, uint64_t address, unsigned *length)
{
	uint8_t bytes[INSTRUCTION_MAX];
	size_t count = code_read(code, address, bytes, sizeof(bytes));
	ZydisDecodedInstruction instruction;

	*length = 0;
	if (!count || !ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&code->decoder, NULL, bytes,
								  count, &instruction)))
		return BRANCH_UNKNOWN;
	*length = instruction.length;
	return kind_of(&instruction);
}
