/* SPDX-License-Identifier: MIT */
/*
 * descriptor_table.h: which descriptors are not simply the program's (descriptor_table.c).
 */
#ifndef SOFTPMU_ENGINE_DESCRIPTOR_TABLE_H
#define SOFTPMU_ENGINE_DESCRIPTOR_TABLE_H

#include <stdbool.h>
#include <stdint.h>

/* What a descriptor is for the engine. */
enum descriptor_role {
	DESCRIPTOR_OF_PROGRAM, /* in no table: the engine has nothing to do with it */
	DESCRIPTOR_IMAGE,      /* the engine's image, for the next program */
	DESCRIPTOR_RUN,	       /* the memory of the run, for the next program */
};

#define DESCRIPTORS_MAX 30

/* The descriptors of the tasks that share them in the kernel (CLONE_FILES). */
struct descriptor_table {
	struct descriptor_table *next; /* of those that nobody uses */
	uint32_t users;		       /* contexts */
	uint32_t count;
	struct {
		int fd;
		enum descriptor_role role;
	} entry[DESCRIPTORS_MAX];
};

/* Returns an empty table with one user. */
struct descriptor_table *descriptor_table_new(void);
/* For another context: a copy, which has one user, or the same table.  Then when a context leaves
 * it.  The lock is held. */
struct descriptor_table *descriptor_table_copy(const struct descriptor_table *of);
struct descriptor_table *descriptor_table_share(struct descriptor_table *of);
void descriptor_table_leave(struct descriptor_table *of);

/* Returns false if no descriptor has a role, so that nothing else needs to be asked. */
static inline bool descriptor_table_is_used(const struct descriptor_table *t)
{
	return t && t->count;
}

enum descriptor_role descriptor_role(const struct descriptor_table *t, int fd);
/* Returns the descriptor that has this role; -1: there is none. */
int descriptor_with(const struct descriptor_table *t, enum descriptor_role role);
/* Returns the lowest descriptor with a role from `first` to `last`; -1: there is none. */
int descriptor_between(const struct descriptor_table *t, uint32_t first, uint32_t last);
/* The descriptor gets a role; DESCRIPTOR_OF_PROGRAM: it has none any more.  The lock is held. */
void descriptor_set(struct descriptor_table *t, int fd, enum descriptor_role role);

#endif
