/* SPDX-License-Identifier: MIT */
/*
 * processes.h: which file is mapped where in each process of a profile, and the names of its
 * threads.  The records of a perf.data, taken in order of time, keep this up to date.
 */
#ifndef SOFTPMU_TOOL_PROCESSES_H
#define SOFTPMU_TOOL_PROCESSES_H

#include "src/perfdata/perfdata.h"
#include "tools/softpmu/profile/profile.h"

struct processes;

/* Looks for files below `root`.  The reader knows the files' build-ids. */
struct processes *processes_new(struct perfdata_reader *reader, const char *root);
void processes_free(struct processes *processes);

/* Forgets all processes and mappings.  Files stay open. */
void processes_rewind(struct processes *processes);

/* Follows a record: a mapping covers earlier ones, exec empties a process, fork copies it. */
void processes_mmap(struct processes *processes, const struct perfdata_mmap *mmap);
void processes_comm(struct processes *processes, uint32_t pid, uint32_t tid, const char *name,
		    bool exec);
void processes_fork(struct processes *processes, uint32_t pid, uint32_t tid, uint32_t parent);

/* Returns the name of the thread or, if that is not known, of its process. */
const char *processes_comm_of(const struct processes *processes, uint32_t pid, uint32_t tid);

/* Returns the process of a thread. */
uint32_t processes_of_thread(const struct processes *processes, uint32_t tid);

/* Returns a copy of the text.  Equal texts are the same pointer. */
const char *processes_intern(struct processes *processes, const char *text);

/* A process at a time, in nanoseconds of CLOCK_MONOTONIC. */
struct processes_when {
	uint32_t pid;
	uint64_t time_ns;
};

/* Finds the function at an address of a file, or of a process's memory without a file. */
struct profile_place processes_place_in(struct processes *processes, uint32_t pid, const char *path,
					const uint8_t *build_id, size_t build_id_bytes,
					uint64_t address);

/* Finds the file and the function of the address. */
struct profile_place processes_place(struct processes *processes, const struct processes_when *when,
				     uint64_t ip, bool kernel);

#endif
