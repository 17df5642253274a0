/* SPDX-License-Identifier: MIT */
/*
 * delayed_loading.c: loads the libraries that read object files, disassemble and compress when the
 * first of their functions is called.
 *
 * The dynamic linker takes longer to load these libraries, and those that they need, than
 * a short program runs.  Counting a program needs none of them, so the tool is not linked with
 * them. Instead, each of their functions that the tool calls is listed here as a jump through a
 * word.  The word leads to delayed_loading_first until the function has been found.  A function
 * that is missing in the list is missing when the tool is linked.
 */
#include "tools/softpmu/base/delayed_loading.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "tools/softpmu/base/tool.h"

enum library { LIBELF, LIBDW, LIBZYDIS, LIBZSTD, LIBRARIES };

/* The file names of the libraries.  mk/tool.mk asks the libraries that the compiler finds. */
extern const char delayed_elf[], delayed_dw[], delayed_zydis[], delayed_zstd[];
static const char *const soname[LIBRARIES] = {delayed_elf, delayed_dw, delayed_zydis, delayed_zstd};

struct delayed {
	const void *code; /* the target of the jump; must be the first member */
	const char *name;
	enum library library;
};

const void *delayed_loading_find(struct delayed *function);

/* No function takes or returns a floating-point number, so vector registers need not be saved. */
__asm__("	.text\n"
	"delayed_loading_first:\n"
	"	push	%rax\n"
	"	push	%rdi\n"
	"	push	%rsi\n"
	"	push	%rdx\n"
	"	push	%rcx\n"
	"	push	%r8\n"
	"	push	%r9\n"
	"	mov	%r11, %rdi\n"
	"	call	delayed_loading_find\n"
	"	mov	%rax, %r11\n"
	"	pop	%r9\n"
	"	pop	%r8\n"
	"	pop	%rcx\n"
	"	pop	%rdx\n"
	"	pop	%rsi\n"
	"	pop	%rdi\n"
	"	pop	%rax\n"
	"	jmp	*%r11\n");

#define DELAYED(library, function)                                                                 \
	extern const char first_##function[];                                                      \
	static struct delayed delayed_##function                                                   \
		__attribute__((used)) = {first_##function, #function, library};                    \
	__asm__("\t.text\n"                                                                        \
		"\t.globl\t" #function "\n"                                                        \
		"\t.type\t" #function ", @function\n" #function ":\n"                              \
		"\tjmp\t*delayed_" #function "(%rip)\n"                                            \
		"first_" #function ":\n"                                                           \
		"\tlea\tdelayed_" #function "(%rip), %r11\n"                                       \
		"\tjmp\tdelayed_loading_first\n"                                                   \
		"\t.size\t" #function ", . - " #function "\n")

DELAYED(LIBELF, elf_begin);
DELAYED(LIBELF, elf_end);
DELAYED(LIBELF, elf_getdata);
DELAYED(LIBELF, elf_getphdrnum);
DELAYED(LIBELF, elf_getscn);
DELAYED(LIBELF, elf_getshdrstrndx);
DELAYED(LIBELF, elf_kind);
DELAYED(LIBELF, elf_memory);
DELAYED(LIBELF, elf_nextscn);
DELAYED(LIBELF, elf_rawfile);
DELAYED(LIBELF, elf_strptr);
DELAYED(LIBELF, elf_version);
DELAYED(LIBELF, gelf_getehdr);
DELAYED(LIBELF, gelf_getphdr);
DELAYED(LIBELF, gelf_getshdr);
DELAYED(LIBELF, gelf_getsym);

DELAYED(LIBDW, dwarf_attr);
DELAYED(LIBDW, dwarf_begin_elf);
DELAYED(LIBDW, dwarf_cfi_addrframe);
DELAYED(LIBDW, dwarf_cfi_end);
DELAYED(LIBDW, dwarf_end);
DELAYED(LIBDW, dwarf_formstring);
DELAYED(LIBDW, dwarf_frame_cfa);
DELAYED(LIBDW, dwarf_frame_info);
DELAYED(LIBDW, dwarf_frame_register);
DELAYED(LIBDW, dwarf_get_units);
DELAYED(LIBDW, dwarf_getcfi_elf);
DELAYED(LIBDW, dwarf_getsrc_die);
DELAYED(LIBDW, dwarf_haspc);
DELAYED(LIBDW, dwarf_lineno);
DELAYED(LIBDW, dwarf_linesrc);
DELAYED(LIBDW, dwelf_elf_gnu_build_id);

DELAYED(LIBZYDIS, ZydisCalcAbsoluteAddress);
DELAYED(LIBZYDIS, ZydisDecoderDecodeFull);
DELAYED(LIBZYDIS, ZydisDecoderDecodeInstruction);
DELAYED(LIBZYDIS, ZydisDecoderInit);
DELAYED(LIBZYDIS, ZydisFormatterFormatInstruction);
DELAYED(LIBZYDIS, ZydisFormatterInit);
DELAYED(LIBZYDIS, ZydisFormatterSetProperty);
DELAYED(LIBZYDIS, ZydisMnemonicGetString);
DELAYED(LIBZYDIS, ZydisRegisterGetString);

DELAYED(LIBZSTD, ZSTD_compressStream);
DELAYED(LIBZSTD, ZSTD_createCStream);
DELAYED(LIBZSTD, ZSTD_createDStream);
DELAYED(LIBZSTD, ZSTD_decompressStream);
DELAYED(LIBZSTD, ZSTD_flushStream);
DELAYED(LIBZSTD, ZSTD_freeCStream);
DELAYED(LIBZSTD, ZSTD_freeDStream);
DELAYED(LIBZSTD, ZSTD_initCStream);
DELAYED(LIBZSTD, ZSTD_initDStream);
DELAYED(LIBZSTD, ZSTD_isError);

static void *library_of(enum library which)
{
	static void *opened[LIBRARIES];

	if (!opened[which])
		opened[which] = dlopen(soname[which], RTLD_LAZY);
	if (!opened[which])
		exit(tool_error("%s", dlerror()));
	return opened[which];
}

/* Finds the function that is called for the first time.  Called by delayed_loading_first. */
const void *delayed_loading_find(struct delayed *function)
{
	function->code = dlsym(library_of(function->library), function->name);
	if (!function->code)
		exit(tool_error("%s", dlerror()));
	return function->code;
}

void delayed_loading_load_all(void)
{
	/* Who needs the library of compressed records has used it before. */
	for (enum library i = 0; i < LIBZSTD; i++)
		library_of(i);
}
