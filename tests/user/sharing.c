/* SPDX-License-Identifier: MIT */
/*
 * sharing.c false|last: a program of two threads for machine_c2c.sh.
 *
 * false	The threads change different words of one line in turn, ROUNDS times each.
 * last		One thread loads each of LINES lines, and then the other one does.
 */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>

#define ROUNDS 400u
#define LINES  20000u
#define WORDS  8u /* of a line */

static _Alignas(64) volatile unsigned turn;
_Alignas(64) struct {
	volatile uint64_t first, between[6], last;
} shared;
static _Alignas(4096) volatile uint64_t table[LINES * WORDS];

static void wait_for(unsigned whose)
{
	while (turn != whose)
		sched_yield();
}

__attribute__((noinline)) void change_first(void)
{
	shared.first++;
}

__attribute__((noinline)) void change_last(void)
{
	shared.last++;
}

static void *other(void *unused)
{
	for (unsigned n = 0; n < ROUNDS; n++) {
		wait_for(1);
		change_last();
		turn = 0;
	}
	return unused;
}

static void *load_all(void *unused)
{
	for (unsigned n = 0; n < LINES; n++)
		(void)table[n * WORDS];
	return unused;
}

int main(int argc, char **argv)
{
	int falsely = argc > 1 && !strcmp(argv[1], "false");
	pthread_t thread;

	if (pthread_create(&thread, NULL, falsely ? other : load_all, NULL))
		return 1;
	for (unsigned n = 0; falsely && n < ROUNDS; n++) {
		wait_for(0);
		change_first();
		turn = 1;
	}
	pthread_join(thread, NULL);
	if (!falsely)
		load_all(NULL);
	return 0;
}
