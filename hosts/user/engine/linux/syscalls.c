/* SPDX-License-Identifier: MIT */
/*
 * syscalls.c: the program's system calls.  Most of them go to the kernel unchanged.  The engine
 * handles those that change executable memory, signals or the process itself.  A call that
 * cannot be followed ends the run with one line.
 */
#include <asm/errno.h>
#include <asm/prctl.h>
#include <asm/unistd.h>
#include <linux/fcntl.h>
#include <linux/mman.h>
#include <linux/prctl.h>
#include <linux/rseq.h>

#include "engine/count/count.h"
#include "engine/linux/children.h"
#include "engine/linux/clocks.h"
#include "engine/linux/descriptors.h"
#include "engine/linux/deterministic.h"
#include "engine/linux/dispatch.h"
#include "engine/linux/exec.h"
#include "engine/linux/files.h"
#include "engine/linux/filters.h"
#include "engine/linux/image.h"
#include "engine/linux/mappings.h"
#include "engine/linux/pass_on.h"
#include "engine/linux/perf_calls.h"
#include "engine/linux/perf_open.h"
#include "engine/linux/perf_poll.h"
#include "engine/linux/perf_rings.h"
#include "engine/linux/pinned.h"
#include "engine/linux/prlimit.h"
#include "engine/linux/redirect.h"
#include "engine/linux/syscalls.h"
#include "engine/linux/tracing.h"
#include "engine/linux/userfault.h"
#include "engine/memory/access.h"
#include "engine/memory/regions.h"
#include "engine/rt/call.h"
#include "engine/rt/context.h"
#include "engine/rt/context_words.h"
#include "engine/rt/engine.h"
#include "engine/rt/segments.h"
#include "engine/rt/signal_state.h"
#include "engine/rt/sys.h"
#include "engine/signal/faults.h"
#include "engine/signal/finish.h"
#include "engine/signal/frames.h"
#include "engine/signal/rseq.h"
#include "engine/signal/signals.h"
#include "engine/x86/keys.h"

/* Returns random numbers, for the call or from a file. */
static long do_getrandom(struct syscall_arguments *c)
{
	long result = pass_on(c);

	if (!is_error(result) && deterministic_wanted())
		deterministic_random(c->a[0], (uint64_t)result);
	return result;
}

static long do_read(struct syscall_arguments *c)
{
	long result;

	if (c->nr == __NR_read && perf_calls_read(c, &result))
		return result;
	result = pass_on_writing(c, c->a[1], c->a[2]);
	if (deterministic_wanted() && !is_error(result) &&
	    deterministic_is_random_file((int)c->a[0]))
		deterministic_random(c->a[1], (uint64_t)result);
	return result;
}

static long do_pkey_alloc(const struct syscall_arguments *c)
{
	long result = pass_on_once(c);

	if (!is_error(result))
		__atomic_store_n(&keys_used, true, __ATOMIC_RELAXED);
	return result;
}

/* The kernel also loads this selector.  The base of GS is still the engine's. */
static void load_gs_selector(uint32_t selector)
{
	__asm__ volatile("mov %1, %%gs\n\twrgsbase %0"
			 :
			 : "r"(read_gs_base()), "r"(selector)
			 : "memory");
}

static long do_arch_prctl(struct syscall_arguments *c)
{
	if (c->a[0] == ARCH_SET_GS) {
		if (c->a[1] >= PROGRAM_END)
			return -EPERM;
		load_gs_selector(0);
		current->program_gs = c->a[1];
		return 0;
	}
	if (c->a[0] == ARCH_GET_GS) {
		if (!access_writable(c->a[1], sizeof(current->program_gs)))
			return -EFAULT;
		memcpy((void *)c->a[1], &current->program_gs, sizeof(current->program_gs));
		return 0;
	}
	return pass_on_once(c);
}

static long do_prctl(struct syscall_arguments *c)
{
	long result;

	if (filters_take(c, &result))
		return result;
	if (c->a[0] == PR_SET_SYSCALL_USER_DISPATCH)
		return dispatch_set(c);
	result = pass_on_once(c);
	if (c->a[0] == PR_SET_NAME && !result) {
		char name[16] = "";

		syscall2(__NR_prctl, PR_GET_NAME, (long)name);
		record_comm(name, false);
	}
	return result;
}

/* Makes a call that replaces the signal mask while it waits. */
static long pass_on_waiting(const struct syscall_arguments *c, uint64_t mask_address)
{
	long result;

	signals_waits_with(mask_address);
	result = pass_on(c);
	signals_waits_with(0);
	return result;
}

static long do_pselect(const struct syscall_arguments *c)
{
	uint64_t mask[2] = {0, 0}; /* address, size */

	if (c->a[5] && access_readable(c->a[5], sizeof(mask)))
		memcpy(mask, (const void *)c->a[5], sizeof(mask));
	return pass_on_waiting(c, mask[0]);
}

static long do_rseq(const struct syscall_arguments *c)
{
	long result = pass_on(c);

	if (!result && c->a[2] & RSEQ_FLAG_UNREGISTER)
		rseq_unregistered();
	else if (!result)
		rseq_registered(c->a[0], (uint32_t)c->a[1], (uint32_t)c->a[3]);
	return result;
}

static long do_seccomp(struct syscall_arguments *c)
{
	long result;

	return filters_take(c, &result) ? result : pass_on(c);
}

/* Events have no position. */
static long do_readv(struct syscall_arguments *c)
{
	bool in_place = c->nr == __NR_readv || (int64_t)c->a[3] == -1;
	long result;

	return in_place && perf_calls_read(c, &result) ? result : pass_on(c);
}

static long do_write(const struct syscall_arguments *c)
{
	long result;

	return perf_calls_write(c, &result) ? result : files_write(c, (int)c->a[0]);
}

static long do_ioctl(const struct syscall_arguments *c)
{
	long result;

	return perf_calls_ioctl(c, &result) ? result : userfault_ioctl(c);
}

static long do_mmap(struct syscall_arguments *c)
{
	long result;

	return perf_rings_map(c, &result) ? result : mappings_call(c);
}

/* After calls that can close many descriptors, events that were closed are looked for. */
static long do_close(const struct syscall_arguments *c)
{
	long result;

	if (c->nr == __NR_close && perf_calls_close(c, &result))
		return result;
	result = descriptors_call(c);
	if (c->nr == __NR_fcntl && c->a[1] == F_SETFL)
		perf_calls_flags(c, result);
	if (c->nr != __NR_close && c->nr != __NR_dup && c->nr != __NR_fcntl)
		perf_open_collect();
	return result;
}

static long run(struct syscall_arguments *c)
{
	if (descriptors_leads_elsewhere(c))
		descriptors_keep(c->nr == __NR_landlock_restrict_self);
	switch (c->nr) {
	case __NR_exit:
		return filters_allow_exit(c) ? children_end_thread(c) : pass_on(c);
	case __NR_exit_group:
		if (!filters_allow_exit(c))
			return pass_on(c);
		finish_by_exit(__NR_exit_group, (int)c->a[0]);
	case __NR_read:
	case __NR_pread64:
		return do_read(c);
	case __NR_readv:
	case __NR_preadv2:
		return do_readv(c);
	case __NR_recvfrom:
		return pass_on_writing(c, c->a[1], c->a[2]);
	case __NR_write:
	case __NR_writev:
		return do_write(c);
	case __NR_pwrite64:
	case __NR_pwritev:
	case __NR_pwritev2:
	case __NR_ftruncate:
	case __NR_fallocate:
	case __NR_sendfile:
		return files_write(c, (int)c->a[0]);
	case __NR_copy_file_range:
		return files_write(c, (int)c->a[2]);
	case __NR_splice:
		return files_splice(c);
	case __NR_open:
	case __NR_openat:
	case __NR_openat2:
		return files_open(c);
	case __NR_stat:
		return files_look_up(c, 0);
	case __NR_newfstatat:
		return c->a[3] & AT_SYMLINK_NOFOLLOW ? redirect_call(c, 1) : files_look_up(c, 1);
	case __NR_statx:
		return c->a[2] & AT_SYMLINK_NOFOLLOW ? redirect_call(c, 1) : files_look_up(c, 1);
	case __NR_access:
	case __NR_lstat:
	case __NR_statfs:
	case __NR_chdir:
	case __NR_getxattr:
	case __NR_lgetxattr:
	case __NR_listxattr:
	case __NR_llistxattr:
		return redirect_call(c, 0);
	case __NR_faccessat:
	case __NR_faccessat2:
		return redirect_call(c, 1);
	case __NR_process_vm_writev:
		return pass_on_writing(c, 0, PROGRAM_END);
	case __NR_mmap:
		return do_mmap(c);
	case __NR_munmap:
	case __NR_mprotect:
	case __NR_pkey_mprotect:
	case __NR_mremap:
		return mappings_call(c);
	case __NR_shmat:
		return deterministic_wanted() ? mappings_call(c) : pass_on(c);
	case __NR_brk:
		return image_has_heap ? pass_on(c) : (long)DETERMINISTIC_HEAP;
	case __NR_pkey_alloc:
		return do_pkey_alloc(c);
	case __NR_readlink:
		return files_readlink(c, c->a[0], c->a[1], c->a[2]);
	case __NR_readlinkat:
		return files_readlink(c, c->a[1], c->a[2], c->a[3]);
	case __NR_getrandom:
		return do_getrandom(c);
	case __NR_arch_prctl:
		return do_arch_prctl(c);
	case __NR_prctl:
		return do_prctl(c);
	case __NR_seccomp:
		return do_seccomp(c);
	case __NR_rt_sigaction:
		return actions_sigaction((long)c->a[0], c->a[1], c->a[2], c->a[3]);
	case __NR_sigaltstack:
		return frame_altstack(c->a[0], c->a[1]);
	case __NR_rt_sigprocmask:
		return signals_procmask((long)c->a[0], c->a[1], c->a[2], c->a[3]);
	case __NR_signalfd:
	case __NR_signalfd4:
		held_reads(c->a[1]);
		return pass_on(c);
	case __NR_kill:
	case __NR_tkill:
	case __NR_tgkill:
	case __NR_rt_sigqueueinfo:
	case __NR_rt_tgsigqueueinfo:
		signals_sent();
		return pass_on(c);
	case __NR_rt_sigsuspend:
		return pass_on_waiting(c, c->a[0]);
	case __NR_poll:
		return perf_poll_after(c, pass_on(c));
	case __NR_ppoll:
		return perf_poll_after(c, pass_on_waiting(c, c->a[3]));
	case __NR_epoll_wait:
	case __NR_select:
		return perf_poll_after_other(pass_on(c));
	case __NR_epoll_pwait:
	case __NR_epoll_pwait2:
		return perf_poll_after_other(pass_on_waiting(c, c->a[4]));
	case __NR_pselect6:
		return perf_poll_after_other(do_pselect(c));
	case __NR_clone:
	case __NR_clone3:
	case __NR_fork:
	case __NR_vfork:
		return children_fork(c);
	case __NR_execve:
	case __NR_execveat:
		return exec_run(c);
	case __NR_ptrace:
		return tracing_run(c);
	case __NR_rseq:
		return do_rseq(c);
	case __NR_prlimit64:
	case __NR_getrlimit:
	case __NR_setrlimit:
		return prlimit_call(c);
	case __NR_ioctl:
		return do_ioctl(c);
	case __NR_perf_event_open:
		return perf_open(c);
	case __NR_io_uring_register:
		return pinned_register(c);
	case __NR_close:
	case __NR_close_range:
	case __NR_dup:
	case __NR_dup2:
	case __NR_dup3:
	case __NR_fcntl:
	case __NR_unshare:
		return do_close(c);
	default:
		return pass_on(c);
	}
}

static long run_timed(struct syscall_arguments *c)
{
	struct clocks_wait wait = clocks_wait_of(c);

	return clocks_after(c, wait, run(c));
}

long syscall_make(struct syscall_arguments *c)
{
	long result;

	if (filters_forbid(c->nr))
		finish_by_signal(SIGKILL, FATAL_THREAD);
	current->call = CALL_MADE;
	result = engine_wants(LINK_WANT_TIME) ? run_timed(c) : run(c);
	if (deterministic_wanted() && !is_error(result))
		deterministic_file_times(c);
	return result;
}

void syscall_registers(void)
{
	current->gpr[1] = current->pc;
	current->gpr[11] = current->rflags | (current->run.trap_flag ? FLAG_TF : 0);
}

/* Sets RAX and where the program continues, after a call whose instruction has two bytes. */
static bool complete(long result)
{
	switch (current->call) {
	case CALL_AGAIN:
	case CALL_NOT_BEGUN:
		current->pc -=
			2; /* the call is made again after the handler; RAX is still the number */
		break;
	case CALL_TRAPPED:
		break;
	default:
		current->gpr[0] = (uint64_t)result;
	}
	return current->call != CALL_NOT_BEGUN;
}

bool syscall_run(void)
{
	const uint64_t *g = current->gpr;
	struct syscall_arguments c = {(long)g[0], {g[7], g[6], g[2], g[10], g[8], g[9]}};

	if (current->user_dispatch.of && dispatch_takes(c.nr))
		return true;
	if (c.nr == __NR_rt_sigreturn && !filters_forbid(c.nr)) {
		signals_return();
		return true;
	}
	return complete(syscall_make(&c));
}

bool syscall_run_as(struct syscall_arguments *c)
{
	return complete(syscall_make(c));
}
