/* SPDX-License-Identifier: MIT */
/* load.h: the program's image (load.c). */
#ifndef SOFTPMU_ENGINE_LOAD_H
#define SOFTPMU_ENGINE_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct loaded {
	uint64_t entry;					     /* first program address to run */
	uint64_t phdr, phent, phnum, program_entry;	     /* for the auxiliary vector */
	uint64_t interpreter;				     /* base of the interpreter; 0: none */
	uint64_t code_start, code_end, data_start, data_end; /* as proc(5) has them in stat */
};
/* Opens the ELF file.  It is open already if fd is not -1.  The code cache must have its place. */
void load_open(const char *path, int fd); /* the code cache has its place then */
void load_program(struct loaded *out);
void load_vdso(uint64_t base);
extern bool load_stack_executable; /* its ELF file asks for that */

#endif
