/* SPDX-License-Identifier: MIT */
/* values.h: the values of parameters that are neither numbers nor sizes. */
#ifndef SOFTPMU_TOOL_MACHINE_VALUES_H
#define SOFTPMU_TOOL_MACHINE_VALUES_H

#include <softpmu/uarch.h>

/* Words for the values 0, 1, 2 ... of an enumeration; NULL ends the list. */
extern const char *const machine_conditional_words[];
extern const char *const machine_inclusion_words[];
extern const char *const machine_switch_words[];

/* Returns the number of a word in a list, or -1.  Ignores case. */
int machine_word_find(const char *const *words, const char *text);

/* Returns "a, b or c", to free(). */
char *machine_words_text(const char *const *words);

/* lru, fifo, plru, mru, or a name of QLRU such as QLRU_H11_M1_R0_U0. */
bool machine_policy_read(const char *text, struct spmu_replacement *policy);
#define MACHINE_POLICIES "lru, fifo, plru, mru or a name such as QLRU_H11_M1_R0_U0"

/* Sizes of pages, joined by +: 4K+2M. */
bool machine_pages_read(const char *text, uint32_t *shifts);
char *machine_pages_text(uint32_t shifts);
#define MACHINE_PAGES "4K, 2M, 1G or several, such as 4K+2M"

#endif
