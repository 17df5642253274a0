/* SPDX-License-Identifier: MIT */
/*
 * parameter.h: the parameters of a machine (softpmu/uarch.h) by name, as in `l2.size = 1M`.
 *
 * Functions that return a message return NULL if nothing is wrong, otherwise text to free().  The
 * message names the key and says what is allowed.
 */
#ifndef SOFTPMU_TOOL_MACHINE_PARAMETER_H
#define SOFTPMU_TOOL_MACHINE_PARAMETER_H

#include <softpmu/uarch.h>

/* Changes one parameter.  Returns a message. */
char *parameter_set(struct spmu_machine *machine, const char *name, const char *value);

/* Changes a cache by LEVEL=SIZE,WAYS[,LINE], for example "L2=1M,16".  Returns a message. */
char *machine_cache_set(struct spmu_machine *machine, const char *text);

/* Returns a message if parameters do not fit together. */
char *machine_check(const struct spmu_machine *machine);

/* Returns the value of a parameter as parameter_set() reads it, to free(); NULL: no such key. */
char *parameter_value(const struct spmu_machine *machine, const char *name);

/* Returns key number `index`, or NULL after the last. */
const char *parameter_at(size_t index);

/* Returns whether the key is a size in bytes, or a number.  Others are words. */
bool parameter_is_size(const char *name);
bool parameter_is_number(const char *name);

#endif
