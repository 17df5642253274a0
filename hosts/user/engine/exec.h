/* SPDX-License-Identifier: MIT */
/* exec.h: the program that is going to be executed (exec_find.c, exec.c). */
#ifndef SOFTPMU_ENGINE_EXEC_H
#define SOFTPMU_ENGINE_EXEC_H

#include <hosts/user/link.h>
#include <stdbool.h>

#define LINE	     256	 /* the kernel looks no further for the end of a `#!` line */
#define DEPTH	     5		 /* scripts whose interpreter is a script */
#define WORDS_BEFORE (2 * DEPTH) /* interpreters and their arguments */

struct target {
	char file[LINK_PATH_MAX];    /* as the program says */
	char program[LINK_PATH_MAX]; /* the ELF file */
	/* What is opened first: a name in this folder. */
	char name[LINK_PATH_MAX];
	int folder;
	bool nofollow;	   /* not if it is a symbolic link */
	bool inaccessible; /* the descriptor that it is named by will be closed */
	char lines[DEPTH][LINE + 1];
	const char *before[WORDS_BEFORE]; /* of argv, the last first */
	unsigned words;
	const char *why; /* it cannot be observed; NULL: it can */
	long fd;	 /* of the ELF file, if it can */
	char scratch[LINK_PATH_MAX];
};

/* Why a program runs natively. */
extern const char too_few_descriptors[];

struct syscall_arguments;

/* Returns 0, or the error of the call. */
long exec_find(struct target *t, const struct syscall_arguments *c);

#endif
