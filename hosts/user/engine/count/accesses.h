/* SPDX-License-Identifier: MIT */
/* accesses.h: the memory accesses of an instruction that is reported to the units by itself
 * (accesses.c). */
#ifndef SOFTPMU_ENGINE_ACCESSES_H
#define SOFTPMU_ENGINE_ACCESSES_H

#include <hosts/user/decode/decode.h>
#include <softpmu/accesses.h>
#include <stdbool.h>
#include <stdint.h>

#define ACCESSES_LISTED_MAX 64 /* elements of bytes in a vector; ENTER has at most 62 */

struct accesses {
	unsigned n;
	struct spmu_memory_access at[ACCESSES_LISTED_MAX];
};

/* Lists the accesses of an instruction that the thread is about to run.  `code`: its bytes. */
void accesses_list(struct accesses *list, const struct insn *insn, const uint8_t *code,
		   uint64_t pc);
/* Adds one. */
void accesses_add(struct accesses *list, uint64_t linear, unsigned bytes, unsigned kind);
/* A repeated string instruction, whose list has an element of each operand, has done n elements, to
 * lower addresses if `down` is set. */
void accesses_repeat(struct accesses *list, uint64_t n, bool down);

#endif
