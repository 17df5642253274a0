/* SPDX-License-Identifier: MIT */
/*
 * disasm.c FILE: disassembles the .text of an object file with the tool's code, in AT&T's syntax.
 * Prints a line with address, tab and text for each instruction.
 */
#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/disasm/disasm.h"

enum { LONGEST = 15 };

void *tool_alloc(size_t bytes)
{
	return calloc(1, bytes);
}

static bool no_name(void *opaque, uint64_t address, char *text, size_t bytes)
{
	(void)opaque, (void)address, (void)text, (void)bytes;
	return false;
}

static uint8_t *read_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	uint8_t *all = NULL;
	long bytes;

	if (!file)
		return NULL;
	if (!fseek(file, 0, SEEK_END) && (bytes = ftell(file)) > 0 && !fseek(file, 0, SEEK_SET)) {
		all = malloc((size_t)bytes);
		if (all && fread(all, 1, (size_t)bytes, file) != (size_t)bytes)
			all = NULL;
	}
	fclose(file);
	return all;
}

static void print_section(struct disasm *disasm, const uint8_t *code, const Elf64_Shdr *section)
{
	char text[512];
	size_t length;

	for (size_t at = 0; at < section->sh_size; at += length) {
		size_t room = section->sh_size - at;

		length = disasm_one(disasm, code + at, room < LONGEST ? room : LONGEST,
				    section->sh_addr + at, text, sizeof(text));
		printf("%" PRIx64 "\t%s\n", section->sh_addr + at, text);
	}
}

int main(int argc, char **argv)
{
	struct disasm *disasm = disasm_new(false, no_name, NULL);
	const uint8_t *file = argc == 2 ? read_file(argv[1]) : NULL;
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)file;
	const Elf64_Shdr *sections;
	const char *names;

	if (!file || !disasm)
		return 1;
	sections = (const Elf64_Shdr *)(file + header->e_shoff);
	names = (const char *)file + sections[header->e_shstrndx].sh_offset;
	for (size_t i = 0; i < header->e_shnum; i++) {
		if (!strcmp(names + sections[i].sh_name, ".text"))
			print_section(disasm, file + sections[i].sh_offset, &sections[i]);
	}
	return 0;
}
