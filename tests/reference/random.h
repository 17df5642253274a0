/* SPDX-License-Identifier: MIT */
/* random.h: a small seeded generator (splitmix64), the same on every machine. */
#ifndef SOFTPMU_RANDOM_H
#define SOFTPMU_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct random {
	uint64_t state;
};

static inline uint64_t random_mix(uint64_t z)
{
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static inline uint64_t random_next(struct random *r)
{
	return random_mix(r->state += UINT64_C(0x9e3779b97f4a7c15));
}

/* 0 to n - 1 */
static inline uint64_t random_below(struct random *r, uint64_t n)
{
	return (uint64_t)((unsigned __int128)random_next(r) * n >> 64);
}

static inline bool random_chance(struct random *r, unsigned percent)
{
	return random_below(r, 100) < percent;
}

#endif
