// SPDX-License-Identifier: MIT
/* signals.c: many signals that a process sends itself, to measure what a delivery costs. */
#include <signal.h>
#include <stdlib.h>

#define SIGNALS 200000

static volatile sig_atomic_t came;

static void note(int number)
{
	(void)number;
	came++;
}

int main(void)
{
	struct sigaction action = {.sa_handler = note};

	if (sigaction(SIGUSR1, &action, NULL))
		return EXIT_FAILURE;
	for (int i = 0; i < SIGNALS; i++)
		raise(SIGUSR1);
	return came == SIGNALS ? EXIT_SUCCESS : EXIT_FAILURE;
}
