// SPDX-License-Identifier: MIT
/* filters.c: system calls that long filters look at, to measure what the changed filters cost. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FILTERS	    8
#define COMPARISONS 500
#define CALLS	    100000

/* The kernel does not remember the answers of a filter that reads an argument. */
static int install(void)
{
	static struct sock_filter code[COMPARISONS + 2];
	struct sock_fprog program = {.len = COMPARISONS + 2, .filter = code};

	code[0] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
					       offsetof(struct seccomp_data, args));
	for (int i = 0; i < COMPARISONS; i++)
		code[1 + i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							   0x10000000 + i, 0, 0);
	code[COMPARISONS + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

int main(void)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return EXIT_FAILURE;
	for (int i = 0; i < FILTERS; i++)
		if (install())
			return EXIT_FAILURE;
	for (int i = 0; i < CALLS; i++)
		syscall(SYS_getppid, 0);
	return EXIT_SUCCESS;
}
