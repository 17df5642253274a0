/* SPDX-License-Identifier: MIT */
/*
 * code.c: functions and kinds of branches at addresses of running processes.
 *
 * Instruction bytes are the mapped file's; those of memory without a file are read from the
 * process while it is there, and the vDSO's are our own, which are the same.
 *
 * Simplified: code that a program changes in memory is taken as its file has it.
 */
#define _GNU_SOURCE
#include "tools/softpmu/code.h"

#include <Zydis/Zydis.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tools/softpmu/commands.h"
#include "tools/softpmu/symbols.h"

#define INSTRUCTION_MAX 15

struct mapping {
	uint64_t start, end, page_offset;
	struct symbol_file *file;
	bool vdso;
};

struct space {
	struct space *next;
	uint32_t pid;
	struct mapping *maps; /* the newest last */
	size_t count, room;
};

/* Functions by what makes them: a symbol, else a file, else nothing. */
struct known {
	const void *key;
	uint32_t number;
};

struct code {
	struct symbols *symbols;
	struct space *spaces; /* of each process; what was looked for last comes first */
	uint32_t pid;	      /* whose addresses are asked about */
	struct code_function *functions;
	uint32_t function_count, function_room;
	struct known *known; /* open addressing; free: no key */
	size_t known_room;   /* a power of two */
	ZydisDecoder decoder;
};

struct code *code_new(void)
{
	struct code *code = tool_alloc(sizeof(*code));

	code->symbols = symbols_new(NULL);
	ZydisDecoderInit(&code->decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	return code;
}

void code_free(struct code *code)
{
	if (!code)
		return;
	while (code->spaces)
		code_exit(code, code->spaces->pid);
	symbols_free(code->symbols);
	free(code->functions);
	free(code->known);
	free(code);
}

/* --- processes ----------------------------------------------------------------------- */

/* NULL: there is no such process. */
static struct space *find_space(struct code *code, uint32_t pid)
{
	struct space **link = &code->spaces, *space;

	while ((space = *link) && space->pid != pid)
		link = &space->next;
	if (!space)
		return NULL;
	*link = space->next;
	space->next = code->spaces;
	code->spaces = space;
	return space;
}

static struct space *get_space(struct code *code, uint32_t pid)
{
	struct space *space = find_space(code, pid);

	if (space)
		return space;
	space = tool_alloc(sizeof(*space));
	space->pid = pid;
	space->next = code->spaces;
	code->spaces = space;
	return space;
}

void code_enter(struct code *code, uint32_t pid)
{
	code->pid = pid;
}

void code_fork(struct code *code, uint32_t pid, uint32_t parent)
{
	struct space *space = get_space(code, pid);
	const struct space *from = find_space(code, parent);

	space->count = 0;
	if (!from || !from->count)
		return;
	space->maps = tool_grow(space->maps, from->count * sizeof(*space->maps));
	memcpy(space->maps, from->maps, from->count * sizeof(*space->maps));
	space->count = space->room = from->count;
}

void code_exec(struct code *code, uint32_t pid)
{
	get_space(code, pid)->count = 0;
}

void code_exit(struct code *code, uint32_t pid)
{
	struct space *space = find_space(code, pid);

	if (!space)
		return;
	code->spaces = space->next;
	free(space->maps);
	free(space);
}

/* --- mappings ------------------------------------------------------------------------ */

/* Take the range out of the older mappings; true when there was something to take. */
static bool uncover(struct space *space, uint64_t start, uint64_t end)
{
	bool some = false;
	size_t kept = 0, count = space->count;

	for (size_t i = 0; i < count; i++) {
		struct mapping map = space->maps[i];

		if (map.start < end && start < map.end) {
			some = true;
			if (start <= map.start && map.end <= end)
				continue;
		}
		space->maps[kept++] = map;
	}
	space->count = kept;
	return some;
}

bool code_map(struct code *code, const struct link_mmap *link)
{
	struct space *space = get_space(code, link->pid);
	uint64_t end;
	bool covered;

	if (__builtin_add_overflow(link->start, link->length, &end))
		end = UINT64_MAX;
	covered = uncover(space, link->start, end);
	if (space->count == space->room) {
		space->room = space->room ? 2 * space->room : 32;
		space->maps = tool_grow(space->maps, space->room * sizeof(*space->maps));
	}
	space->maps[space->count++] = (struct mapping){
		.start = link->start,
		.end = end,
		.page_offset = link->page_offset,
		.file = symbols_file(code->symbols, link->path, NULL, 0),
		.vdso = !strcmp(link->path, "[vdso]"),
	};
	return covered;
}

static const struct mapping *find_map(struct code *code, uint64_t address)
{
	const struct space *space = find_space(code, code->pid);

	for (size_t i = space ? space->count : 0; i-- > 0;) {
		if (address >= space->maps[i].start && address < space->maps[i].end)
			return &space->maps[i];
	}
	return NULL;
}

/* --- functions ------------------------------------------------------------------------ */

static struct known *find_known(const struct known *known, size_t room, const void *key)
{
	size_t i = (size_t)(((uintptr_t)key >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 20);

	for (i &= room - 1; known[i].key && known[i].key != key;)
		i = (i + 1) & (room - 1);
	return (struct known *)&known[i];
}

static void grow_known(struct code *code)
{
	size_t room = code->known_room ? 2 * code->known_room : 256;
	struct known *grown = tool_alloc(room * sizeof(*grown));

	for (size_t i = 0; i < code->known_room; i++) {
		if (code->known[i].key)
			*find_known(grown, room, code->known[i].key) = code->known[i];
	}
	free(code->known);
	code->known = grown;
	code->known_room = room;
}

static uint32_t intern(struct code *code, const void *key, const struct symbol *symbol,
		       const char *object)
{
	struct known *known;

	if (2 * (size_t)code->function_count >= code->known_room)
		grow_known(code);
	known = find_known(code->known, code->known_room, key);
	if (known->key)
		return known->number;
	if (code->function_count == code->function_room) {
		code->function_room = code->function_room ? 2 * code->function_room : 256;
		code->functions =
			tool_grow(code->functions, code->function_room * sizeof(*code->functions));
	}
	*known = (struct known){key, code->function_count};
	code->functions[code->function_count] =
		(struct code_function){symbol ? symbol->name : NULL, symbol, object, 0, 0};
	return code->function_count++;
}

uint32_t code_function_at(struct code *code, uint64_t address, uint64_t *offset)
{
	const struct mapping *map = find_map(code, address);
	const struct symbol *symbol;
	uint64_t at;

	*offset = address;
	if (!map)
		return intern(code, code, NULL, "[unknown]");
	*offset = address - map->start + map->page_offset;
	if (!symbol_file_address(map->file, *offset, &at))
		return intern(code, map->file, NULL, symbol_file_path(map->file));
	*offset = at;
	symbol = symbol_file_find(map->file, at);
	if (!symbol)
		return intern(code, map->file, NULL, symbol_file_path(map->file));
	*offset = at - symbol->start;
	return intern(code, symbol, symbol, symbol_file_path(map->file));
}

uint32_t code_functions(const struct code *code)
{
	return code->function_count;
}

struct code_function *code_function(struct code *code, uint32_t number)
{
	return &code->functions[number];
}

/* --- branches -------------------------------------------------------------------------- */

static size_t read_memory(pid_t pid, uint64_t address, void *to, size_t bytes)
{
	struct iovec local = {to, bytes}, remote = {(void *)(uintptr_t)address, bytes};
	ssize_t got = process_vm_readv(pid, &local, 1, &remote, 1, 0);

	return got < 0 ? 0 : (size_t)got;
}

static size_t read_code(struct code *code, uint64_t address, uint8_t *to, size_t bytes)
{
	const struct mapping *map = find_map(code, address);
	uint64_t at, own = getauxval(AT_SYSINFO_EHDR);

	if (!map)
		return 0;
	if (bytes > map->end - address)
		bytes = (size_t)(map->end - address);
	if (map->vdso && own)
		return read_memory(getpid(), own + (address - map->start), to, bytes);
	if (symbol_file_address(map->file, address - map->start + map->page_offset, &at))
		return symbol_file_read(map->file, at, to, bytes);
	return read_memory((pid_t)code->pid, address, to, bytes);
}

static enum code_branch kind_of(const ZydisDecodedInstruction *instruction)
{
	/* Near: E8 and E9, EB name their target; FF /2 and /4 do not. */
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
	size_t count = read_code(code, address, bytes, sizeof(bytes));
	ZydisDecodedInstruction instruction;

	*length = 0;
	if (!count || !ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&code->decoder, NULL, bytes,
								  count, &instruction)))
		return BRANCH_UNKNOWN;
	*length = instruction.length;
	return kind_of(&instruction);
}
