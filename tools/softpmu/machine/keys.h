/* SPDX-License-Identifier: MIT */
/*
 * keys.h: the parameters of a machine (softpmu/uarch.h) by name, as in `l2.size = 1M`.
 *
 * Functions that return a message return NULL if nothing is wrong, otherwise text to free().  The
 * message names the key and says what is allowed.
 */
#ifndef SOFTPMU_TOOL_MACHINE_KEYS_H
#define SOFTPMU_TOOL_MACHINE_KEYS_H

#include <softpmu/uarch.h>

/* Changes one parameter.  Returns a message. */
char *machine_set(struct spmu_machine *machine, const char *name, const char *value);

/* Changes a cache by LEVEL=SIZE,WAYS[,LINE], for example "L2=1M,16".  Returns a message. */
char *machine_set_cache(struct spmu_machine *machine, const char *text);

/* Returns a message if parameters do not fit together. */
char *machine_check(const struct spmu_machine *machine);

/* Returns the value of a parameter as machine_set() reads it, to free(); NULL: no such key. */
char *machine_value(const struct spmu_machine *machine, const char *name);

/* Returns key number `index`, or NULL after the last. */
const char *machine_key_at(size_t index);

/* Returns whether the key is a size in bytes, or a number.  Others are words. */
bool machine_key_is_size(const char *name);
bool machine_key_is_number(const char *name);

/* Reads a size such as 262144, 256K or 4M (powers of 1024).  Returns false for other text. */
bool machine_size_read(const char *text, uint64_t *bytes);

/* Writes a size the same way, as short as possible.  Returns text to free(). */
char *machine_size_text(uint64_t bytes);

/* Returns the name of a replacement policy, to free(). */
char *machine_policy_text(const struct spmu_replacement *policy);

#endif
