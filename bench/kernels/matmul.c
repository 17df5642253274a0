// SPDX-License-Identifier: MIT
/* matmul.c: a product of two matrices of doubles, as a textbook writes it with the middle
 * loop innermost. */
#include <stdio.h>

#define SIZE 512

static double a[SIZE][SIZE], b[SIZE][SIZE], c[SIZE][SIZE];

static void multiply(void)
{
	for (int i = 0; i < SIZE; i++)
		for (int k = 0; k < SIZE; k++)
			for (int j = 0; j < SIZE; j++)
				c[i][j] += a[i][k] * b[k][j];
}

int main(void)
{
	double trace = 0;

	for (int i = 0; i < SIZE; i++) {
		for (int j = 0; j < SIZE; j++) {
			a[i][j] = (i * 7 + j) % 13;
			b[i][j] = (i + j * 5) % 11;
		}
	}
	for (int round = 0; round < 36; round++)
		multiply();
	for (int i = 0; i < SIZE; i++)
		trace += c[i][i];
	printf("%.0f\n", trace);
	return 0;
}
