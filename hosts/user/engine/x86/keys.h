/* SPDX-License-Identifier: MIT */
/*
 * keys.h: protection keys (Vol.  3A, 4.6.2; pkeys(7)).  They forbid reads and writes of data,
 * not the fetch of instructions, so a program may run code that it may not read.  The engine
 * reads code with all rights.  The rights are a register of the thread, PKRU.
 */
#ifndef SOFTPMU_ENGINE_KEYS_H
#define SOFTPMU_ENGINE_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#define RIGHTS_UNTOUCHED UINT64_MAX

extern bool keys_used; /* the program has allocated a key, so this register exists */

static inline uint32_t keys_rights(void)
{
	uint32_t rights;

	__asm__ volatile("rdpkru" : "=a"(rights) : "c"(0) : "rdx");
	return rights;
}

static inline void keys_set_rights(uint32_t rights)
{
	__asm__ volatile("wrpkru" : : "a"(rights), "c"(0), "d"(0) : "memory");
}

static inline uint64_t keys_open(void)
{
	uint64_t rights;

	if (!__atomic_load_n(&keys_used, __ATOMIC_RELAXED))
		return RIGHTS_UNTOUCHED;
	rights = keys_rights();
	keys_set_rights(0);
	return rights;
}

static inline void keys_close(const uint64_t *rights)
{
	if (*rights != RIGHTS_UNTOUCHED)
		keys_set_rights((uint32_t)*rights);
}

/* From here to the end of the function the engine can read all code. */
#define READING_CODE __attribute__((cleanup(keys_close), unused)) uint64_t rights = keys_open()

#endif
