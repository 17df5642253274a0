/* SPDX-License-Identifier: MIT */
/* fuzz.h: takes a fuzzer's bytes from the front. It returns 0 when there are no more. */
#ifndef SOFTPMU_FUZZ_H
#define SOFTPMU_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct fuzz_input {
	const uint8_t *data;
	size_t size;
};

static inline void fuzz_take(struct fuzz_input *input, void *to, size_t bytes)
{
	size_t have = bytes < input->size ? bytes : input->size;

	memset(to, 0, bytes);
	if (have)
		memcpy(to, input->data, have);
	input->data += have;
	input->size -= have;
}

static inline unsigned fuzz_byte(struct fuzz_input *input)
{
	uint8_t byte;

	fuzz_take(input, &byte, 1);
	return byte;
}

static inline uint64_t fuzz_word(struct fuzz_input *input)
{
	uint64_t word;

	fuzz_take(input, &word, sizeof(word));
	return word;
}

/* A condition that must hold for any input. */
#define FUZZ_HOLDS(condition)                                                                      \
	do {                                                                                       \
		if (!(condition))                                                                  \
			__builtin_trap();                                                          \
	} while (0)

#endif
