/* SPDX-License-Identifier: MIT */
/* program.h: finds and checks a program that will be run. */
#ifndef SOFTPMU_HOST_PROGRAM_H
#define SOFTPMU_HOST_PROGRAM_H

/* A program that can be run.  All members can be freed by program_forget(). */
struct launch_program {
	char *file;  /* the file that is executed: for a script, the script */
	char *path;  /* the ELF file: for a script, its interpreter */
	char **argv; /* ended by NULL; for a script as the kernel makes it */
	char *name;  /* as the user gave it, for messages */
};

/*
 * Finds the program in PATH as a shell does, follows `#!` lines and checks the ELF file.  Returns
 * 0, or the exit status (126, 127) with a message in *error, to free().
 */
int program_find(struct launch_program *program, char **argv, char **error);
void program_forget(struct launch_program *program);

#endif
