/* SPDX-License-Identifier: MIT */
/* code_section.h: sections of code in an ELF file. */
#ifndef SOFTPMU_CODE_SECTION_H
#define SOFTPMU_CODE_SECTION_H

#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>

/* Finds the end of the symbol's section.  Returns false if that contains no code. */
bool code_section_end(Elf *elf, const GElf_Sym *sym, uint64_t *end);
/* Finds the section of code that contains the address.  Returns false if there is none. */
bool code_section_at(Elf *elf, uint64_t address, GElf_Shdr *header, const char **name);

#endif
