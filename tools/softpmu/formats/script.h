/* SPDX-License-Identifier: MIT */
/* script.h: the samples of a perf.data as lines of text, one after the other (script.c). */
#ifndef SOFTPMU_TOOL_SCRIPT_H
#define SOFTPMU_TOOL_SCRIPT_H

#include <stdio.h>

#include "tools/softpmu/profile/profile.h"

/* What a line has, in this order. */
enum script_field {
	SCRIPT_COMM = 1,
	SCRIPT_PID = 2,
	SCRIPT_TID = 4,
	SCRIPT_CPU = 8,
	SCRIPT_TIME = 16,
	SCRIPT_PERIOD = 32,
	SCRIPT_EVENT = 64,
	SCRIPT_ADDR = 128, /* of the data; of the target of a traced branch */
	SCRIPT_IP = 256,   /* or the call chain */
	SCRIPT_SYM = 512,
	SCRIPT_SYMOFF = 1024,
	SCRIPT_DSO = 2048,
	SCRIPT_BRSTACK = 4096,
	SCRIPT_BRSTACKSYM = 8192,
	SCRIPT_DATA_SRC = 16384,       /* after the address of the data */
	SCRIPT_WEIGHT = 32768,	       /* after that */
	SCRIPT_SRCLINE = 65536,	       /* on a line of its own after each place */
	SCRIPT_BRSTACKINSN = 131072,   /* the code between the last branches: its bytes */
	SCRIPT_BRSTACKDISASM = 262144, /* or its instructions */
};

struct script {
	unsigned fields; /* 0: the usual ones of each event, with `add` and without `remove` */
	unsigned add, remove;
	bool nanoseconds;
	unsigned max_stack; /* functions of a call chain, the innermost; 0: all */
};

/*
 * Takes a list of fields: "comm,ip", or changes of the usual ones: "+brstack,-time".  Returns NULL,
 * or a message to free().
 */
char *script_fields(struct script *script, const char *list);

/* Writes a line for each sample, and more lines if it has a call chain. */
void script_write(const struct script *script, struct profile *profile, FILE *to);

#endif
