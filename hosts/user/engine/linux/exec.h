/* SPDX-License-Identifier: MIT */
/* exec.h: the program that will be executed (exec_find.c, exec.c). */
#ifndef SOFTPMU_ENGINE_EXEC_H
#define SOFTPMU_ENGINE_EXEC_H

#include "engine/rt/call.h"

#include <hosts/user/link.h>
#include <stdbool.h>

struct filter;

#define LINE	     256	 /* the kernel searches the end of a `#!` line only up to here */
#define DEPTH	     5		 /* how deep interpreters of scripts may be scripts */
#define WORDS_BEFORE (2 * DEPTH) /* interpreters and their arguments */

struct target {
	char file[LINK_PATH_MAX];    /* as the program names it */
	char program[LINK_PATH_MAX]; /* the ELF file */
	/* The file that is opened first: a name in this folder. */
	char name[LINK_PATH_MAX];
	int folder;
	bool nofollow;	   /* fail if it is a symbolic link */
	bool inaccessible; /* the descriptor in its name will be closed */
	char lines[DEPTH][LINE + 1];
	const char *before[WORDS_BEFORE]; /* words before argv, the last first */
	unsigned words;
	const char *why; /* why it cannot be observed; NULL: it can */
	long fd;	 /* of the ELF file, if it can be observed */
	char scratch[LINK_PATH_MAX];
};

/* The reasons why a program runs natively. */
extern const char exec_too_few_descriptors[];

/* exec.c */
long exec_run(const struct syscall_arguments *c);
/* Returns what this image is to run, when a program of the run has executed it, else NULL.  The
 * filters are those of the process. */
const struct link_exec *exec_request(int fd, struct filter **filters);
/* Returns its second name: the ELF file. */
const char *exec_program(const struct link_exec *request);

/* exec_find.c */
/* Returns 0, or the error of the call. */
long exec_find(struct target *t, const struct syscall_arguments *c);

#endif
