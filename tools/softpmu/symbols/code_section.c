/* SPDX-License-Identifier: MIT */
/* code_section.c: sections of code in an ELF file. */
#include "tools/softpmu/symbols/code_section.h"

#include <stddef.h>

bool code_section_end(Elf *elf, const GElf_Sym *sym, uint64_t *end)
{
	GElf_Shdr header;
	Elf_Scn *section;

	if (sym->st_shndx == SHN_UNDEF || sym->st_shndx >= SHN_LORESERVE)
		return false;
	section = elf_getscn(elf, sym->st_shndx);
	if (!section || !gelf_getshdr(section, &header) || !(header.sh_flags & SHF_EXECINSTR))
		return false;
	*end = header.sh_addr + header.sh_size;
	return true;
}

bool code_section_at(Elf *elf, uint64_t address, GElf_Shdr *header, const char **name)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) != 0)
		return false;
	while ((section = elf_nextscn(elf, section)) != NULL) {
		if (gelf_getshdr(section, header) && header->sh_flags & SHF_EXECINSTR &&
		    address >= header->sh_addr && address - header->sh_addr < header->sh_size) {
			*name = elf_strptr(elf, names, header->sh_name);
			return *name != NULL;
		}
	}
	return false;
}
