/* SPDX-License-Identifier: MIT */
/*
 * plenty.c: much code of a file beside another thread.  Each piece has a branch that goes both
 * ways.
 *
 *	plenty half	runs the second half of the pieces
 *	plenty all	runs all of them
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TURNS 4

int half(int which), all(int which);

__asm__(".text\n"
	".macro pieces\n"
	".rept 60000\n"
	"	test $1, %edi\n	je 1f\n	inc %eax\n"
	"1:\n"
	".endr\n"
	".endm\n"
	".globl all, half\n"
	"half:	xor %eax, %eax\n	jmp second\n"
	"all:	xor %eax, %eax\n	pieces\n"
	"second:\n	pieces\n	ret\n");

static void *read_until_closed(void *descriptor)
{
	char byte;

	while (read(*(int *)descriptor, &byte, 1) > 0)
		;
	return NULL;
}

int main(int argc, char **argv)
{
	int (*run)(int) = argc == 2 && !strcmp(argv[1], "half") ? half : all;
	pthread_t other;
	int end[2];

	if (pipe(end) || pthread_create(&other, NULL, read_until_closed, &end[0]))
		return 1;
	for (int i = 0; i < TURNS; i++)
		printf("%d\n", run(i & 1));
	close(end[1]);
	pthread_join(other, NULL);
	return 0;
}
