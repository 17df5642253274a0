/* SPDX-License-Identifier: MIT */
/*
 * unwind.c: reads the search table of .eh_frame_hdr (Linux Standard Base, "The .eh_frame_hdr
 * section").
 *
 * Linkers write a sorted table with 32-bit entries relative to the section.  Other forms are not
 * read.
 */
#include "tools/softpmu/symbols/unwind.h"

#include <gelf.h>
#include <string.h>

#include "tools/softpmu/base/tool.h"

#define HEADER_BYTES	12 /* version, three encodings, pointer to .eh_frame, count */
#define ENTRY_BYTES	8  /* start of the function, address of its entry */
#define VERSION		1
#define ENCODING_UDATA4 0x03
#define ENCODING_PCREL4 0x1b /* pcrel | sdata4 */
#define ENCODING_TABLE	0x3b /* datarel | sdata4 */

static uint32_t word(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

/* Returns the table's bytes and their address, or NULL if there is none in the known form. */
static const uint8_t *find_table(Elf *elf, uint64_t *address, size_t *bytes)
{
	size_t headers, size, i;
	const char *raw = elf_rawfile(elf, &size);
	const uint8_t *table;
	GElf_Phdr header;

	if (!raw || elf_getphdrnum(elf, &headers) != 0)
		return NULL;
	for (i = 0; i < headers; i++) {
		if (gelf_getphdr(elf, (int)i, &header) && header.p_type == PT_GNU_EH_FRAME)
			break;
	}
	if (i == headers || header.p_offset > size || header.p_filesz > size - header.p_offset ||
	    header.p_filesz < HEADER_BYTES)
		return NULL;
	table = (const uint8_t *)raw + header.p_offset;
	if (table[0] != VERSION || table[1] != ENCODING_PCREL4 || table[2] != ENCODING_UDATA4 ||
	    table[3] != ENCODING_TABLE)
		return NULL;
	*address = header.p_vaddr;
	*bytes = header.p_filesz;
	return table;
}

uint64_t *unwind_starts(Elf *elf, size_t *count)
{
	uint64_t address, *starts;
	const uint8_t *table;
	size_t bytes, i;

	table = find_table(elf, &address, &bytes);
	if (!table)
		return NULL;
	*count = word(table + 8);
	if (*count > (bytes - HEADER_BYTES) / ENTRY_BYTES)
		return NULL;
	starts = tool_alloc(*count * sizeof(*starts));
	for (i = 0; i < *count; i++)
		starts[i] =
			address + (uint64_t)(int32_t)word(table + HEADER_BYTES + i * ENTRY_BYTES);
	return starts;
}
