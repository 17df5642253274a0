/* SPDX-License-Identifier: MIT */
/*
 * spaces.h: which file is mapped where in each process of a profile, and how its threads are
 * called, as the records of a perf.data tell it in order of time.
 */
#ifndef SOFTPMU_TOOL_SPACES_H
#define SOFTPMU_TOOL_SPACES_H

#include "src/perfdata/perfdata.h"
#include "tools/softpmu/profile.h"

struct spaces;

/* Files are looked for below `root`; build-ids are the reader's. */
struct spaces *spaces_new(struct perfdata_reader *reader, const char *root);
void spaces_free(struct spaces *spaces);

/* Begin anew: no process, no mapping.  What was opened stays open. */
void spaces_rewind(struct spaces *spaces);

/* What the records say: a mapping covers earlier ones, exec empties a process, fork copies it. */
void spaces_mmap(struct spaces *spaces, const struct perfdata_mmap *mmap);
void spaces_comm(struct spaces *spaces, uint32_t pid, uint32_t tid, const char *name, bool exec);
void spaces_fork(struct spaces *spaces, uint32_t pid, uint32_t tid, uint32_t parent);

/* A thread is called as the one of that number, else as its process. */
const char *spaces_comm_of(const struct spaces *spaces, uint32_t pid, uint32_t tid);

/* The process of a thread. */
uint32_t spaces_process_of(const struct spaces *spaces, uint32_t tid);

/* Equal texts are the same pointer. */
const char *spaces_intern(struct spaces *spaces, const char *text);

/* In which process, and when: nanoseconds of CLOCK_MONOTONIC. */
struct spaces_where {
	uint32_t pid;
	uint64_t time_ns;
};

/* File and function of the address, into *sample; what else is in it stays. */
void spaces_place(struct spaces *spaces, const struct spaces_where *where, uint64_t ip, bool kernel,
		  struct profile_sample *sample);

#endif
