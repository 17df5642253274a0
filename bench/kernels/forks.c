// SPDX-License-Identifier: MIT
/* forks.c: many processes that end at once, to measure what a fork costs. */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define FORKS 2000

int main(void)
{
	for (int i = 0; i < FORKS; i++) {
		int status;
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
			return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}
