/* SPDX-License-Identifier: MIT */
/*
 * traps.c: debug exceptions at one instruction are one exception (Vol. 3B 17.2.3). Uses ptrace: a
 * store that is single-stepped hits two data breakpoints, one or none. Prints DR6 for each step:
 * 4000 is single-step, 1 and 2 are the data breakpoints.
 *
 * If a second exception interrupts a kernel's handler of the first, the kernel does not return from
 * it.
 */
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define DR(n)	offsetof(struct user, u_debugreg[n])
#define DR6	DR(6)
#define DR7	DR(7)
#define WRITE_4 0xd	 /* of a data breakpoint: writes of four bytes */
#define LOCAL	1ul	 /* enabled */
#define STEPS	4	 /* instructions that child() runs after it has stopped itself */
#define BITS	0x400ful /* of DR6: single-step, data breakpoints */

static volatile int first, second;

/* Stops itself, then stores to both words, to the first and to none. */
static void child(void)
{
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	__asm__ volatile("mov $62, %%eax\n"
			 "mov %[pid], %%edi\n"
			 "mov %[stop], %%esi\n"
			 "syscall\n"
			 "movl $1, %[first]\n"
			 "lock incl %[first]\n"
			 "nop\n"
			 "movl $1, %[second]\n"
			 : [first] "+m"(first), [second] "+m"(second)
			 : [pid] "r"(getpid()), [stop] "i"(SIGSTOP)
			 : "rax", "rcx", "r11", "rdi", "rsi", "memory");
	_exit(0);
}

static void watch(pid_t pid, int number, volatile int *where)
{
	unsigned long dr7 = ptrace(PTRACE_PEEKUSER, pid, DR7, NULL);

	ptrace(PTRACE_POKEUSER, pid, DR(number), where);
	dr7 |= LOCAL << 2 * number | (unsigned long)WRITE_4 << (16 + 4 * number);
	ptrace(PTRACE_POKEUSER, pid, DR7, dr7);
}

int main(void)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		child();
	waitpid(pid, &status, 0);
	watch(pid, 0, &first);
	watch(pid, 1, &second);
	for (int step = 0; step < STEPS; step++) {
		ptrace(PTRACE_POKEUSER, pid, DR6, 0);
		if (step == 1) /* both breakpoints now watch the first */
			ptrace(PTRACE_POKEUSER, pid, DR(1), &first);
		if (step == 2)
			ptrace(PTRACE_POKEUSER, pid, DR(1), &second);
		ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL);
		waitpid(pid, &status, 0);
		if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP)
			break;
		printf("%lx ", ptrace(PTRACE_PEEKUSER, pid, DR6, NULL) & BITS);
	}
	printf("\n");
	ptrace(PTRACE_DETACH, pid, NULL, NULL);
	waitpid(pid, &status, 0);
	return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}
