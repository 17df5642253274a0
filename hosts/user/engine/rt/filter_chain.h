/* SPDX-License-Identifier: MIT */
/*
 * filter_chain.h: the filters of system calls as the program gave them, and what they answer
 * (filter_chain.c).
 */
#ifndef SOFTPMU_ENGINE_FILTER_CHAIN_H
#define SOFTPMU_ENGINE_FILTER_CHAIN_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ACTION_DATA 0xffffu /* of an answer; the rest is its action */

/* A filter, and all that the thread had before.  It never changes. */
struct filter {
	struct filter *older;
	uint32_t users;	 /* threads whose newest it is, and filters right after it */
	uint32_t length; /* instructions */
	struct sock_filter insn[];
};

/* Returns true if the kernel prefers the first answer, by their actions. */
static inline bool filter_is_graver(uint32_t answer, uint32_t than)
{
	return (int32_t)(answer & ~ACTION_DATA) < (int32_t)(than & ~ACTION_DATA);
}

/* Returns a new filter after `older`, which may be NULL.  It takes over the caller's use of
 * that. */
struct filter *filter_add(struct filter *older, const struct sock_filter *insn, uint32_t length);
/* One more user of `newest`, which it returns; NULL: there is no filter. */
struct filter *filter_share(struct filter *newest);
/* One user less.  Frees what nobody uses any more. */
void filter_leave(struct filter *newest);
/* Returns the kernel's answer to this call: the gravest, of equal actions the newest filter's. */
uint32_t filter_answer(const struct filter *newest, const struct seccomp_data *call);

/* Returns how many bytes filter_write() writes. */
size_t filter_bytes(const struct filter *newest);
/* Writes the filters to a file.  Returns false if that fails. */
bool filter_write(const struct filter *newest, int fd);
/* Reads filters of `bytes` bytes from a file, and returns the newest; NULL: there is none. */
struct filter *filter_read(int fd, size_t bytes);

/* The running thread's chain: its newest filter. */
struct filter **filter_chain(void);

#endif
