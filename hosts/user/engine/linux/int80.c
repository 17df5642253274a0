/* SPDX-License-Identifier: MIT */
/*
 * int80.c: system calls by INT 80H, which have the numbers and the arguments of 32-bit
 * programs.  Most of them only concern the kernel, so the instruction runs unchanged.  For a
 * call that the engine must handle, the engine makes the 64-bit call that does the same.  If the
 * structures differ, the run ends with one line.
 */
#include <asm/unistd.h>

#include "engine/linux/int80.h"
#include "engine/linux/syscalls.h"
#include "engine/rt/call.h"
#include "engine/rt/context.h"
#include "engine/rt/engine.h"
#include "engine/rt/sys.h"

#define REFUSED (-1)
#define MMAP2	192

/* By their 32-bit numbers (arch/x86/entry/syscalls/syscall_32.tbl). */
static const struct {
	uint16_t from;
	int16_t to;
} call[] = {
	{1, __NR_exit},
	{2, __NR_fork},
	{3, __NR_read},
	{4, __NR_write},
	{5, __NR_open},
	{6, __NR_close},
	{11, REFUSED}, /* execve: pointers of 32 bits */
	{48, REFUSED}, /* signal */
	{63, __NR_dup2},
	{67, REFUSED}, /* sigaction */
	{68, REFUSED}, /* sgetmask, ssetmask, sigsuspend */
	{69, REFUSED},
	{72, REFUSED},
	{85, __NR_readlink},
	{90, REFUSED}, /* mmap with its arguments in memory */
	{91, __NR_munmap},
	{117, REFUSED}, /* ipc: shmat */
	{119, REFUSED}, /* sigreturn */
	{120, REFUSED}, /* clone: another order of arguments */
	{125, __NR_mprotect},
	{126, REFUSED}, /* sigprocmask */
	{163, __NR_mremap},
	{172, __NR_prctl},
	{173, REFUSED}, /* rt_sigreturn to rt_sigprocmask */
	{174, REFUSED},
	{175, REFUSED},
	{179, REFUSED}, /* rt_sigsuspend */
	{186, REFUSED}, /* sigaltstack */
	{190, __NR_vfork},
	{MMAP2, __NR_mmap},
	{243, REFUSED}, /* set_thread_area: the kernel would load GS anew */
	{252, __NR_exit_group},
	{295, __NR_openat},
	{305, __NR_readlinkat},
	{308, REFUSED}, /* pselect6, ppoll, epoll_pwait: masks of signals */
	{309, REFUSED},
	{319, REFUSED},
	{330, __NR_dup3},
	{354, REFUSED}, /* seccomp */
	{355, __NR_getrandom},
	{358, REFUSED}, /* execveat */
	{380, __NR_pkey_mprotect},
	{381, __NR_pkey_alloc},
	{386, REFUSED}, /* rseq */
	{435, REFUSED}, /* clone3 */
	{436, __NR_close_range},
	{437, __NR_openat2},
	{441, REFUSED}, /* epoll_pwait2 */
};

/* Finds the 64-bit call, or REFUSED.  Returns false if the kernel makes the call. */
static bool find(uint32_t nr, long *to)
{
	for (unsigned i = 0; i < sizeof(call) / sizeof(call[0]); i++)
		if (call[i].from == nr) {
			*to = call[i].to;
			return true;
		}
	return false;
}

bool int80_is_plain(void)
{
	long to;

	return !find((uint32_t)current->gpr[0], &to);
}

static _Noreturn void refuse(uint32_t nr)
{
	char message[128];
	struct text t;

	text_start(&t, message, sizeof(message));
	text_add(&t, "the program makes the 32-bit system call ");
	text_add_number(&t, nr);
	text_add(&t, " by INT 80H, which cannot be run yet");
	engine_unsupported(message);
}

bool int80_run(bool *made)
{
	const uint64_t *g = current->gpr;
	uint32_t nr = (uint32_t)g[0];
	/* EBX, ECX, EDX, ESI, EDI, EBP */
	struct syscall_arguments c = {
		.a = {(uint32_t)g[3], (uint32_t)g[1], (uint32_t)g[2], (uint32_t)g[6],
		      (uint32_t)g[7], (uint32_t)g[5]},
	};

	if (!find(nr, &c.nr))
		return false;
	if (c.nr == REFUSED)
		refuse(nr);
	if (nr == MMAP2)
		c.a[5] *= PAGE;
	*made = syscall_run_as(&c);
	return true;
}
