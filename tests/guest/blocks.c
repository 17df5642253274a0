/* SPDX-License-Identifier: MIT */
/*
 * blocks.c: how often a program stops when it is stepped from taken branch to taken branch
 * (PTRACE_SINGLEBLOCK, which is IA32_DEBUGCTL.BTF).
 */
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef PTRACE_SINGLEBLOCK
#define PTRACE_SINGLEBLOCK 33
#endif

int main(int argc, char **argv)
{
	long stops = -1; /* without the stop of execve */
	int status;
	pid_t child;

	if (argc < 2)
		return 2;
	child = fork();
	if (child == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execvp(argv[1], argv + 1);
		_exit(127);
	}
	while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
		stops++;
		ptrace(PTRACE_SINGLEBLOCK, child, NULL, NULL);
	}
	printf("%ld\n", stops);
	return !WIFEXITED(status);
}
