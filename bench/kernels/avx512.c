// SPDX-License-Identifier: MIT
/* avx512.c: 512-bit vectors: integer mixing under a mask and fused multiply-add over an array in
 * cache. */
#include <immintrin.h>
#include <stdint.h>
#include <stdio.h>

#define WORDS  8192
#define ROUNDS 1000000

static uint32_t words[WORDS] __attribute__((aligned(64)));
static float reals[WORDS] __attribute__((aligned(64)));

__attribute__((target("avx512f"), noinline)) static void mix(void)
{
	const __m512i factor = _mm512_set1_epi32(0x9e3779b1);
	const __m512 scale = _mm512_set1_ps(0.99f), shift = _mm512_set1_ps(0.5f);

	for (int i = 0; i < WORDS; i += 16) {
		__m512i v = _mm512_load_si512((__m512i *)&words[i]);
		__m512 r = _mm512_load_ps(&reals[i]);

		v = _mm512_mask_mullo_epi32(v, 0xfff7,
					    _mm512_xor_si512(v, _mm512_srli_epi32(v, 15)), factor);
		r = _mm512_fmadd_ps(r, scale, shift);
		_mm512_store_si512((__m512i *)&words[i], v);
		_mm512_store_ps(&reals[i], r);
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
