/* SPDX-License-Identifier: MIT */
/* values.h: the values of parameters that are not plain numbers. */
#ifndef SOFTPMU_TOOL_MACHINE_VALUES_H
#define SOFTPMU_TOOL_MACHINE_VALUES_H

#include <softpmu/uarch.h>

/* Words for the values 0, 1, 2 ... of an enumeration; NULL ends the list. */
extern const char *const values_conditional_words[];
extern const char *const values_inclusion_words[];
extern const char *const values_switch_words[];

/* Returns the number of a word in a list, or -1.  Ignores case. */
int values_word_find(const char *const *words, const char *text);

/* Returns "a, b or c", to free(). */
char *values_words_text(const char *const *words);

/* Reads a size such as 262144, 256K or 4M (powers of 1024).  Returns false for other text. */
bool values_size_read(const char *text, uint64_t *bytes);

/* Writes a size the same way, as short as possible.  Returns text to free(). */
char *values_size_text(uint64_t bytes);

/* lru, fifo, plru, mru, or a name of QLRU such as QLRU_H11_M1_R0_U0. */
bool values_policy_read(const char *text, struct spmu_replacement *policy);
/* Returns the name of a replacement policy, to free(). */
char *values_policy_text(const struct spmu_replacement *policy);
#define MACHINE_POLICIES "lru, fifo, plru, mru or a name such as QLRU_H11_M1_R0_U0"

/* Sizes of pages, joined by +: 4K+2M. */
bool values_pages_read(const char *text, uint32_t *shifts);
char *values_pages_text(uint32_t shifts);
#define MACHINE_PAGES "4K, 2M, 1G or several, such as 4K+2M"

#endif
