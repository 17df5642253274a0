/* SPDX-License-Identifier: MIT */
/*
 * fixed.c: a run that is to be the same each time (LINK_WANT_FIXED): what the kernel makes
 * different in each run of a program and what moves its counts is made the same.
 *
 * The tool has switched the randomization of addresses off (personality(2)).  Here the stack begins
 * at a round address whatever the size of the environment is; the random bytes of the auxiliary
 * vector and what is read of random numbers come from one fixed sequence; and there is no
 * vDSO, whose clock functions take paths of their own as time goes by: the C library
 * makes the system call.
 *
 * Not made the same: what process numbers, files and other processes say, and clocks but for
 * clocks.c.
 */
#include <asm/unistd.h>
#include <linux/auxvec.h>

#include "engine.h"
#include "sys.h"

#define STACK_STEP   UINT64_C(0x10000) /* the environment seldom needs more */
#define ENGINE_STACK UINT64_C(0x8000)  /* at the start the engine's own frames are below */
#define RANDOM_BYTES 16		       /* of AT_RANDOM */

/* In struct stat: st_mode and st_rdev; the device numbers of /dev/random and /dev/urandom. */
#define STAT_WORDS     18
#define MODE_TYPE      0170000u
#define MODE_DEVICE    0020000u
#define DEVICE_RANDOM  (1u << 8 | 8u)
#define DEVICE_URANDOM (1u << 8 | 9u)

static uint64_t state;

bool fixed_wanted(void)
{
	return engine_link->want & LINK_WANT_FIXED;
}

/* SplitMix64: every step adds a constant, and the sum is mixed. */
static uint64_t next_word(void)
{
	uint64_t z = __atomic_add_fetch(&state, UINT64_C(0x9e3779b97f4a7c15), __ATOMIC_RELAXED);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

void fixed_random(uint64_t to, uint64_t bytes)
{
	for (uint64_t at = 0; at < bytes; at += 8) {
		uint64_t word = next_word(), left = bytes - at;

		memcpy((void *)(to + at), &word, left < 8 ? left : 8);
	}
}

bool fixed_is_random_file(int fd)
{
	uint64_t stat[STAT_WORDS] = {0};

	return !syscall2(__NR_fstat, fd, (long)stat) &&
	       ((uint32_t)stat[3] & MODE_TYPE) == MODE_DEVICE &&
	       (stat[5] == DEVICE_RANDOM || stat[5] == DEVICE_URANDOM);
}

static void fix_auxiliary(uint64_t *aux)
{
	for (; *aux; aux += 2) {
		if (aux[0] == AT_SYSINFO_EHDR)
			aux[0] = AT_IGNORE;
		if (aux[0] == AT_RANDOM)
			fixed_random(aux[1], RANDOM_BYTES);
	}
}

uint64_t *fixed_start(uint64_t *stack)
{
	uint64_t *end = stack + 1 + stack[0] + 1, bytes, to;

	while (*end++)
		;
	fix_auxiliary(end);
	while (*end)
		end += 2;
	bytes = (uint64_t)(end + 2) - (uint64_t)stack;
	to = ((uint64_t)stack - bytes - ENGINE_STACK) & -STACK_STEP;
	memcpy((void *)to, stack, bytes);
	return (uint64_t *)to;
}
