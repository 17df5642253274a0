/* SPDX-License-Identifier: MIT */
/*
 * vector: kernels written with intrinsics; compiled for AVX2 or AVX-512 (VECTOR_512).  Prints a
 * checksum of each.  The loop bodies call through pointers, so vector registers live over
 * indirect transfers.
 */
#include <immintrin.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT (1 << 16)

static float a[COUNT], b[COUNT], c[COUNT];
static uint32_t words[COUNT];

static void fill(void)
{
	uint32_t seed = 12345;
	int i;

	for (i = 0; i < COUNT; i++) {
		seed = seed * 1664525 + 1013904223;
		words[i] = seed;
		a[i] = (float)(seed >> 8) / 65536.0f;
		b[i] = (float)(seed & 0xffff) / 4096.0f;
	}
}

#ifdef VECTOR_512
static void multiply_add(float scale)
{
	__m512 s = _mm512_set1_ps(scale);
	int i;

	for (i = 0; i < COUNT; i += 16)
		_mm512_storeu_ps(
			c + i, _mm512_fmadd_ps(_mm512_loadu_ps(a + i), s, _mm512_loadu_ps(b + i)));
}

/* Keeps the words above a limit, in order, and sums them by mask. */
static uint64_t compress(uint32_t limit)
{
	__m512i l = _mm512_set1_epi32((int)limit);
	uint64_t sum = 0;
	uint32_t kept[16];
	int i, k;

	for (i = 0; i < COUNT; i += 16) {
		__m512i w = _mm512_loadu_si512(words + i);
		__mmask16 m = _mm512_cmpgt_epu32_mask(w, l);

		memset(kept, 0, sizeof(kept));
		_mm512_mask_compressstoreu_epi32(kept, m, w);
		for (k = 0; k < __builtin_popcount(m); k++)
			sum = sum * 31 + kept[k];
	}
	return sum;
}

static uint64_t gather(uint32_t step)
{
	__m512i sum = _mm512_setzero_si512();
	uint32_t out[16];
	uint64_t total = 0;
	int i;

	for (i = 0; i < COUNT; i += 16) {
		__m512i index = _mm512_and_si512(_mm512_mullo_epi32(_mm512_set1_epi32((int)step),
								    _mm512_loadu_si512(words + i)),
						 _mm512_set1_epi32(COUNT - 1));
		__mmask16 odd = _mm512_test_epi32_mask(index, _mm512_set1_epi32(1));

		sum = _mm512_add_epi32(sum, _mm512_mask_i32gather_epi32(sum, odd, index, words, 4));
		sum = _mm512_rol_epi32(sum, 3);
	}
	_mm512_storeu_si512(out, sum);
	for (i = 0; i < 16; i++)
		total += out[i];
	return total;
}
#else
static void multiply_add(float scale)
{
	__m256 s = _mm256_set1_ps(scale);
	int i;

	for (i = 0; i < COUNT; i += 8)
		_mm256_storeu_ps(
			c + i, _mm256_fmadd_ps(_mm256_loadu_ps(a + i), s, _mm256_loadu_ps(b + i)));
}

static uint64_t compress(uint32_t limit)
{
	__m256i l = _mm256_set1_epi32((int)(limit ^ 0x80000000u));
	uint64_t sum = 0;
	int i, k;

	for (i = 0; i < COUNT; i += 8) {
		__m256i w = _mm256_loadu_si256((const __m256i *)(words + i));
		__m256i above = _mm256_cmpgt_epi32(
			_mm256_xor_si256(w, _mm256_set1_epi32((int)0x80000000u)), l);
		int m = _mm256_movemask_ps(_mm256_castsi256_ps(above));

		for (k = 0; k < 8; k++)
			if (m >> k & 1)
				sum = sum * 31 + words[i + k];
	}
	return sum;
}

static uint64_t gather(uint32_t step)
{
	__m256i sum = _mm256_setzero_si256();
	uint32_t out[8];
	uint64_t total = 0;
	int i;

	for (i = 0; i < COUNT; i += 8) {
		__m256i index = _mm256_and_si256(
			_mm256_mullo_epi32(_mm256_set1_epi32((int)step),
					   _mm256_loadu_si256((const __m256i *)(words + i))),
			_mm256_set1_epi32(COUNT - 1));

		sum = _mm256_add_epi32(sum, _mm256_i32gather_epi32((const int *)words, index, 4));
		sum = _mm256_or_si256(_mm256_slli_epi32(sum, 3), _mm256_srli_epi32(sum, 29));
	}
	_mm256_storeu_si256((__m256i *)out, sum);
	for (i = 0; i < 8; i++)
		total += out[i];
	return total;
}
#endif

static uint64_t (*volatile const kernel[])(uint32_t) = {compress, gather};

int main(void)
{
	uint64_t sum = 0, checksum = 0;
	int round, i;

	fill();
	for (round = 1; round <= 40; round++) {
		uint32_t bits;

		multiply_add((float)round / 3.0f);
		for (i = 0; i < COUNT; i += 97) {
			memcpy(&bits, &c[i], sizeof(bits));
			sum = sum * 33 + bits;
		}
		checksum = checksum * 7 + kernel[round & 1]((uint32_t)round * 100000007u);
	}
	printf("%016lx %016lx\n", sum, checksum);
	return 0;
}
