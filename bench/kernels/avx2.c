// SPDX-License-Identifier: MIT
/* avx2.c: 256-bit vectors: integer mixing and fused multiply-add over an array in cache. */
#include <immintrin.h>
#include <stdint.h>
#include <stdio.h>

#define WORDS  8192
#define ROUNDS 1000000

static uint32_t words[WORDS] __attribute__((aligned(64)));
static float reals[WORDS] __attribute__((aligned(64)));

__attribute__((target("avx2,fma"), noinline)) static void mix(void)
{
	const __m256i factor = _mm256_set1_epi32(0x9e3779b1);
	const __m256 scale = _mm256_set1_ps(0.99f), shift = _mm256_set1_ps(0.5f);

	for (int i = 0; i < WORDS; i += 8) {
		__m256i v = _mm256_load_si256((__m256i *)&words[i]);
		__m256 r = _mm256_load_ps(&reals[i]);

		v = _mm256_mullo_epi32(_mm256_xor_si256(v, _mm256_srli_epi32(v, 15)), factor);
		r = _mm256_fmadd_ps(r, scale, shift);
		_mm256_store_si256((__m256i *)&words[i], v);
		_mm256_store_ps(&reals[i], r);
	}
}

int main(void)
{
	uint32_t sum = 0;

	for (int i = 0; i < WORDS; i++)
		words[i] = (uint32_t)i + 1;
	for (int round = 0; round < ROUNDS; round++)
		mix();
	for (int i = 0; i < WORDS; i++)
		sum ^= words[i];
	printf("%08x %.3f\n", sum, (double)reals[7]);
	return 0;
}
