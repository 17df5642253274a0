/* SPDX-License-Identifier: MIT */
/*
 * late.c: the libraries that read object files and disassemble, loaded when the first of their
 * functions is called.
 *
 * The dynamic linker takes longer to load these three, and the three that they need, than a short
 * program runs, and to count a program takes none of them.  So the tool is not linked with them:
 * each of their functions that is called is listed here, as a jump through a word, which leads to
 * late_first until the function has been found.  One that is missing here is missing when the tool
 * is linked.
 */
#include <dlfcn.h>
#include <stdlib.h>

#include "commands.h"

enum library { LIBELF, LIBDW, LIBZYDIS, LIBRARIES };

/* Their names at run time, of which mk/tool.mk asks those that the compiler finds. */
extern const char late_elf[], late_dw[], late_zydis[];
static const char *const soname[LIBRARIES] = {late_elf, late_dw, late_zydis};

struct late {
	const void *code; /* first: what is jumped to */
	const char *name;
	enum library library;
};

const void *late_find(struct late *function);

/* None of them takes or returns a floating-point number, so vector registers are not kept. */
__asm__("	.text\n"
	"late_first:\n"
	"	push	%rax\n"
	"	push	%rdi\n"
	"	push	%rsi\n"
	"	push	%rdx\n"
	"	push	%rcx\n"
	"	push	%r8\n"
	"	push	%r9\n"
	"	mov	%r11, %rdi\n"
	"	call	late_find\n"
	"	mov	%rax, %r11\n"
	"	pop	%r9\n"
	"	pop	%r8\n"
	"	pop	%rcx\n"
	"	pop	%rdx\n"
	"	pop	%rsi\n"
	"	pop	%rdi\n"
	"	pop	%rax\n"
	"	jmp	*%r11\n");

#define LATE(library, function)                                                                    \
	extern const char first_##function[];                                                      \
	static struct late late_##function                                                         \
		__attribute__((used)) = {first_##function, #function, library};                    \
	__asm__("\t.text\n"                                                                        \
		"\t.globl\t" #function "\n"                                                        \
		"\t.type\t" #function ", @function\n" #function ":\n"                              \
		"\tjmp\t*late_" #function "(%rip)\n"                                               \
		"first_" #function ":\n"                                                           \
		"\tlea\tlate_" #function "(%rip), %r11\n"                                          \
		"\tjmp\tlate_first\n"                                                              \
		"\t.size\t" #function ", . - " #function "\n")

LATE(LIBELF, elf_begin);
LATE(LIBELF, elf_end);
LATE(LIBELF, elf_getdata);
LATE(LIBELF, elf_getphdrnum);
LATE(LIBELF, elf_getscn);
LATE(LIBELF, elf_getshdrstrndx);
LATE(LIBELF, elf_kind);
LATE(LIBELF, elf_memory);
LATE(LIBELF, elf_nextscn);
LATE(LIBELF, elf_rawfile);
LATE(LIBELF, elf_strptr);
LATE(LIBELF, elf_version);
LATE(LIBELF, gelf_getehdr);
LATE(LIBELF, gelf_getphdr);
LATE(LIBELF, gelf_getshdr);
LATE(LIBELF, gelf_getsym);

LATE(LIBDW, dwarf_attr);
LATE(LIBDW, dwarf_begin_elf);
LATE(LIBDW, dwarf_end);
LATE(LIBDW, dwarf_formstring);
LATE(LIBDW, dwarf_get_units);
LATE(LIBDW, dwarf_getsrc_die);
LATE(LIBDW, dwarf_haspc);
LATE(LIBDW, dwarf_lineno);
LATE(LIBDW, dwarf_linesrc);
LATE(LIBDW, dwelf_elf_gnu_build_id);

LATE(LIBZYDIS, ZydisCalcAbsoluteAddress);
LATE(LIBZYDIS, ZydisDecoderDecodeFull);
LATE(LIBZYDIS, ZydisDecoderDecodeInstruction);
LATE(LIBZYDIS, ZydisDecoderInit);
LATE(LIBZYDIS, ZydisFormatterFormatInstruction);
LATE(LIBZYDIS, ZydisFormatterInit);
LATE(LIBZYDIS, ZydisFormatterSetProperty);
LATE(LIBZYDIS, ZydisMnemonicGetString);
LATE(LIBZYDIS, ZydisRegisterGetString);

static void *library_of(enum library which)
{
	static void *opened[LIBRARIES];

	if (!opened[which])
		opened[which] = dlopen(soname[which], RTLD_LAZY);
	if (!opened[which])
		exit(tool_error("%s", dlerror()));
	return opened[which];
}

/* Called by late_first. */
const void *late_find(struct late *function)
{
	function->code = dlsym(library_of(function->library), function->name);
	if (!function->code)
		exit(tool_error("%s", dlerror()));
	return function->code;
}

void tool_load_libraries(void)
{
	for (enum library i = 0; i < LIBRARIES; i++)
		library_of(i);
}
