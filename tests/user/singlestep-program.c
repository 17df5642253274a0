/* SPDX-License-Identifier: MIT */
/* The program that singlestep.sh counts: it uses printf, qsort, malloc and strings. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1, n;
	char *name[40];

	for (n = 0; n < 40; n++) {
		char text[64];

		snprintf(text, sizeof(text), "name-%d-%x", n * 7919 % 40, n * 31);
		name[n] = strdup(text);
	}
	for (n = 0; n < rounds; n++)
		qsort(name, 40, sizeof(name[0]), compare);
	for (n = 0; n < 40; n += 10)
		printf("%s %.3f\n", name[n], n / 7.0);
	for (n = 0; n < 40; n++)
		free(name[n]);
	return 0;
}
