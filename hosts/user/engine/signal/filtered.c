/* SPDX-License-Identifier: MIT */
/* filtered.c: system calls that a filter has trapped, and what the filters decide about them. */
#include "engine/signal/filtered.h"

#include <linux/audit.h>
#include <linux/seccomp.h>

#include "engine/rt/context.h"
#include "engine/rt/filter_chain.h"
#include "engine/rt/lock.h"
#include "engine/rt/signal_state.h"
#include "engine/rt/sys.h"

void filtered_note(const siginfo_t *info, const struct sigcontext *regs)
{
	bool is_64_bit = info->si_arch == AUDIT_ARCH_X86_64;

	current->trapped = (struct seccomp_data){
		.nr = info->si_syscall,
		.arch = info->si_arch,
		.instruction_pointer = (uint64_t)info->si_call_addr,
		.args = {regs->rdi, regs->rsi, regs->rdx, regs->r10, regs->r8, regs->r9},
	};
	if (!is_64_bit)
		memcpy(current->trapped.args,
		       (uint64_t[]){(uint32_t)regs->rbx, (uint32_t)regs->rcx, (uint32_t)regs->rdx,
				    (uint32_t)regs->rsi, (uint32_t)regs->rdi, (uint32_t)regs->rbp},
		       sizeof(current->trapped.args));
}

/* Takes the lock, because another thread may be installing the filter that trapped. */
enum fatal filtered_decide(siginfo_t *info)
{
	uint32_t answer, action;

	lock_take();
	answer = filter_answer(*filter_chain(), &current->trapped);
	lock_release();
	action = answer & ~ACTION_DATA;
	if (action == SECCOMP_RET_KILL_THREAD)
		return FATAL_THREAD;
	if (filter_is_graver(answer, SECCOMP_RET_TRAP))
		return FATAL_PROCESS;
	if (action == SECCOMP_RET_TRAP)
		info->si_errno = (int)(answer & ACTION_DATA);
	return NOT_FATAL; /* otherwise a filter has trapped that is older than the run */
}
