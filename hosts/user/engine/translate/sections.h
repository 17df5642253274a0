/* SPDX-License-Identifier: MIT */
/* sections.h: code that is a critical section of restartable sequences (sections.c). */
#ifndef SOFTPMU_ENGINE_SECTIONS_H
#define SOFTPMU_ENGINE_SECTIONS_H

#include <linux/rseq.h>

#include <stdbool.h>
#include <stdint.h>

struct insn;

/* Reads the descriptor at this address.  Returns false if it cannot be read. */
bool sections_read(uint64_t descriptor, struct rseq_cs *cs);
/* Returns whether the kernel takes it from a thread that has registered this signature. */
bool sections_accept(const struct rseq_cs *cs, uint32_t signature);

/* Returns whether pc is in a known section, or at the instruction before one. */
bool sections_hold(uint64_t pc);
/* The same, including sections that are not published yet.  The lock is held. */
bool sections_will_hold(uint64_t pc);
/* Returns whether a known section begins at pc. */
bool sections_begin(uint64_t pc);

/*
 * Returns whether the instruction at pc, for which operand_may_be_constant() is true, loads the
 * address of a descriptor: such code arms a section soon.  Notes the section.  The lock is held.
 */
bool sections_named(const struct insn *insn, uint64_t pc);
/* Notes the section of this descriptor.  The lock is held. */
void sections_add(const struct rseq_cs *cs);
/* Returns how many are known.  If the number changes, paths must be examined again. */
unsigned sections_count(void);
/* Publishes the sections that have become known, and drops their translations.  Returns false if
 * there are none.  The lock is held. */
bool sections_publish(void);

/* Notes the signature with which a thread registers its area. */
void sections_expect(uint32_t signature);
/* Forgets sections in memory that is no longer code.  The lock is held. */
void sections_unmapped(uint64_t start, uint64_t end);

#endif
