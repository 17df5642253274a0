/* SPDX-License-Identifier: MIT */
/*
 * syscalls.c: the program's system calls.  Nearly all go to the kernel as they are.
 * Those that change executable memory, signals or the process itself are seen to
 * here; what cannot be run yet ends the run with one line.
 */
#include <asm/errno.h>
#include <asm/prctl.h>
#include <asm/unistd.h>
#include <linux/fcntl.h>
#include <linux/mman.h>
#include <linux/prctl.h>
#include <linux/rseq.h>

#include "descriptors.h"
#include "dispatch.h"
#include "engine.h"
#include "faults.h"
#include "files.h"
#include "fixed.h"
#include "filters.h"
#include "keep.h"
#include "keys.h"
#include "limits.h"
#include "pages.h"
#include "pinned.h"
#include "places.h"
#include "signals.h"
#include "sys.h"
#include "threads.h"
#include "userfault.h"
#include "views.h"

#define TRIES		   8
#define TCB_BYTES	   4096	 /* struct pthread */
#define MAP_DENYWRITE_FLAG 0x800 /* what dynamic loaders map modules with */
#define HINTS_MAX	   16	 /* mappings with a hint that the code cache makes room for */

static long pass_on(const struct syscall_arguments *c)
{
	bool lent;
	long result;

	thread_outside();
	lent = signals_lend_faults(c->nr);
	result = syscall_program(c->nr, c->a);
	if (lent)
		result = signals_faults_lent(c->nr, result);
	thread_inside();
	return result;
}

static void unwatch(uint64_t start, uint64_t bytes)
{
	engine_lock();
	memory_unwatch_range(start, bytes);
	engine_unlock();
}

/* The kernel writes to memory of the program where code may have been translated. */
static long pass_on_writing(const struct syscall_arguments *c, uint64_t start, uint64_t bytes)
{
	if (memory_watches(start, bytes))
		unwatch(start, bytes);
	return pass_on(c);
}

long syscall_pass_on(const struct syscall_arguments *c)
{
	long result = pass_on(c);

	/* A write-protected page of code may have been in the way; other threads may make another
	 * one such meanwhile. */
	for (unsigned i = 0; i < TRIES && result == -EFAULT && memory_watches(0, PROGRAM_END);
	     i++) {
		unwatch(0, PROGRAM_END);
		result = pass_on(c);
	}
	return result;
}

static int without_exec(uint64_t protection)
{
	return (int)((protection & ~(uint64_t)PROT_EXEC) |
		     (protection & PROT_EXEC ? PROT_READ : 0));
}

/* The lock is held until the change is done, so nothing is translated anew before. */
void syscall_code_changes(uint64_t start, uint64_t bytes)
{
	if (memory_watches(start, bytes))
		memory_unwatch_range(start, bytes);
	if (memory_has_translations(start, bytes))
		memory_forget(start, bytes);
}

/* The program replaces what is mapped there. */
static void take_place(uint64_t start, uint64_t bytes)
{
	if (!places_leave(start, bytes))
		engine_unsupported("the program maps memory at a fixed address where softpmu has "
				   "its own; /proc/self/maps shows that without rights");
	syscall_code_changes(start, bytes);
}

/* A place that the program would like to have, or that must be free. */
static void ask_for_place(const struct syscall_arguments *c)
{
	static unsigned hints;

	if (c->a[3] & MAP_FIXED_NOREPLACE || (c->a[0] && hints++ < HINTS_MAX))
		places_leave(c->a[0] & -PAGE, c->a[1]);
}

static long do_mmap(struct syscall_arguments *c)
{
	const struct syscall_arguments asked = *c;
	uint64_t protection = c->a[2], flags = c->a[3], placed = 0;
	bool fixed = flags & (MAP_FIXED | MAP_FIXED_NOREPLACE);
	bool module = !(flags & MAP_ANONYMOUS) && flags & MAP_DENYWRITE_FLAG;
	long at;

	if (flags & MAP_FIXED)
		take_place(c->a[0], c->a[1]);
	else
		ask_for_place(c);
	if (!fixed && !c->a[0] && c->a[1] && (module || protection & PROT_EXEC))
		c->a[0] = placed = place_library(c->a[1], PAGE);
	/* A mere hint is not followed for a large file: Linux would like to align that. */
	if (placed)
		c->a[3] |= MAP_FIXED_NOREPLACE;
	c->a[2] = (uint64_t)without_exec(protection);
	at = placed ? pass_on(c) : -EEXIST;
	if (at == -EEXIST) {
		c->a[0] = placed ? 0 : c->a[0];
		c->a[3] = flags;
		at = fixed_wanted() && !fixed ? fixed_mmap(c) : pass_on(c);
	}
	if (is_error(at))
		return at;
	memory_mapped((uint64_t)at, c->a[1], (int)protection);
	views_mapped((uint64_t)at, c->a[1], &asked);
	if (protection & PROT_EXEC && !(protection & PROT_WRITE) &&
	    !(flags & (MAP_ANONYMOUS | MAP_SHARED)))
		keep_mapped((uint64_t)at, c->a[1], (int)c->a[4], c->a[5]);
	if (protection & PROT_EXEC)
		ring_mmap((uint64_t)at, (c->a[1] + 4095) & ~UINT64_C(4095), c->a[5],
			  (int)protection, (int)flags, flags & MAP_ANONYMOUS ? -1 : (int)c->a[4],
			  flags & MAP_ANONYMOUS ? "//anon" : NULL);
	return at;
}

/* All but what the engine has mapped there, which the program takes for free. */
static long unmap_around(const struct syscall_arguments *c)
{
	uint64_t at = c->a[0], end = at + ((c->a[1] + PAGE - 1) & -PAGE);
	long result = 0;

	while (!result && at < end) {
		uint64_t from = at, to = end;
		struct syscall_arguments part = *c;

		if (!places_of_engine(&from, &to))
			from = to = end;
		part.a[0] = at;
		part.a[1] = from - at;
		if (from > at)
			result = pass_on(&part);
		at = to;
	}
	return result;
}

/*
 * The thread's area for restartable sequences is going to be unmapped.  Natively the thread can
 * still end if it is not interrupted before that; the engine takes longer, so the kernel forgets
 * the area.
 */
static void leave_area(uint64_t start, uint64_t bytes)
{
	uint64_t area = (uint64_t)current->sequence - sizeof(*current->sequence);

	if (!current->sequence || area - start >= bytes)
		return;
	syscall4(__NR_rseq, (long)area, current->sequence_bytes, RSEQ_FLAG_UNREGISTER,
		 current->sequence_signature);
	current->sequence = NULL;
}

static long do_munmap(struct syscall_arguments *c)
{
	bool free = places_leave(c->a[0], c->a[1]);
	long result;

	syscall_code_changes(c->a[0], c->a[1]);
	leave_area(c->a[0], c->a[1]);
	result = free ? pass_on(c) : unmap_around(c);
	if (!result) {
		memory_unmapped(c->a[0], c->a[1]);
		views_unmapped(c->a[0], c->a[1]);
	}
	return result;
}

static long do_mprotect(struct syscall_arguments *c)
{
	uint64_t protection = c->a[2];
	bool was_code = memory_code_end(c->a[0]) != 0;
	long result;

	if (!places_leave(c->a[0], c->a[1]))
		return -ENOMEM; /* for the program nothing is mapped there */
	syscall_code_changes(c->a[0], c->a[1]);
	c->a[2] = (uint64_t)without_exec(protection);
	result = pass_on(c);
	if (result)
		return result;
	if (protection & PROT_EXEC && protection & PROT_GROWSDOWN)
		memory_stack(c->a[0], c->a[0] + c->a[1]);
	else
		memory_mapped(c->a[0], c->a[1], (int)protection);
	views_protected(c->a[0], c->a[1], protection);
	if (protection & PROT_EXEC && !was_code)
		ring_mmap(c->a[0], (c->a[1] + 4095) & ~UINT64_C(4095), 0, (int)protection,
			  MAP_PRIVATE, -1, "//anon");
	return 0;
}

static long do_mremap(struct syscall_arguments *c)
{
	bool code = memory_code_end(c->a[0]) != 0;
	long at;

	if (!places_leave(c->a[0], c->a[1]))
		return -EFAULT; /* for the program nothing is mapped there */
	if (c->a[3] & MREMAP_FIXED)
		take_place(c->a[4], c->a[2]);
	syscall_code_changes(c->a[0], c->a[1]);
	at = fixed_wanted() ? fixed_mremap(c) : pass_on(c);
	if (is_error(at))
		return at;
	memory_unmapped(c->a[0], c->a[1]);
	memory_mapped((uint64_t)at, c->a[2], code ? PROT_READ | PROT_WRITE | PROT_EXEC : PROT_READ);
	views_moved(c->a[0], c->a[1], (uint64_t)at, c->a[2],
		    !c->a[1] || c->a[3] & MREMAP_DONTUNMAP);
	return at;
}

/* Random numbers, by the call or from a file. */
static long do_getrandom(struct syscall_arguments *c)
{
	long result = syscall_pass_on(c);

	if (!is_error(result) && fixed_wanted())
		fixed_random(c->a[0], (uint64_t)result);
	return result;
}

static long do_read(struct syscall_arguments *c)
{
	long result = pass_on_writing(c, c->a[1], c->a[2]);

	if (fixed_wanted() && !is_error(result) && fixed_is_random_file((int)c->a[0]))
		fixed_random(c->a[1], (uint64_t)result);
	return result;
}

bool keys_used;

static long do_pkey_alloc(const struct syscall_arguments *c)
{
	long result = pass_on(c);

	if (!is_error(result))
		__atomic_store_n(&keys_used, true, __ATOMIC_RELAXED);
	return result;
}

/* What changes the memory map. */
static long run_locked(struct syscall_arguments *c)
{
	long result;

	engine_lock();
	switch (c->nr) {
	case __NR_mmap:
		result = do_mmap(c);
		break;
	case __NR_munmap:
		result = do_munmap(c);
		break;
	case __NR_mremap:
		result = do_mremap(c);
		break;
	case __NR_shmat:
		result = fixed_shmat(c);
		break;
	default:
		result = do_mprotect(c);
	}
	engine_unlock();
	return result;
}

/* The kernel also loads this selector; the base of GS stays the engine's. */
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
		if (!memory_writable(c->a[1], sizeof(current->program_gs)))
			return -EFAULT;
		memcpy((void *)c->a[1], &current->program_gs, sizeof(current->program_gs));
		return 0;
	}
	return pass_on(c);
}

static long do_prctl(struct syscall_arguments *c)
{
	long result;

	if (filters_take(c, &result))
		return result;
	if (c->a[0] == PR_SET_SYSCALL_USER_DISPATCH)
		return dispatch_set(c);
	result = pass_on(c);
	if (c->a[0] == PR_SET_NAME && !result) {
		char name[16] = "";

		syscall2(__NR_prctl, PR_GET_NAME, (long)name);
		ring_comm(name, false);
	}
	return result;
}

/* The signal mask is replaced while the call waits. */
static long pass_on_waiting(const struct syscall_arguments *c, uint64_t mask_address)
{
	long result;

	signals_waits_with(mask_address);
	result = syscall_pass_on(c);
	signals_waits_with(0);
	return result;
}

static long do_pselect(const struct syscall_arguments *c)
{
	uint64_t mask[2] = {0, 0}; /* address, size */

	if (c->a[5] && memory_readable(c->a[5], sizeof(mask)))
		memcpy(mask, (const void *)c->a[5], sizeof(mask));
	return pass_on_waiting(c, mask[0]);
}

/*
 * The kernel would look for an interrupted sequence in the program's place, which is not where it
 * runs.  So there is none, but for the C library's area, which has the processor's number in it and
 * stands behind its thread's FS base: sequences there are refused when they are used.
 */
static long do_rseq(const struct syscall_arguments *c)
{
	long result;

	if (c->a[0] - read_fs_base() >= TCB_BYTES)
		return -ENOSYS;
	result = syscall_pass_on(c);
	if (result)
		return result;
	current->sequence = c->a[2] & RSEQ_FLAG_UNREGISTER ? NULL : (const uint64_t *)c->a[0] + 1;
	current->sequence_bytes = (uint32_t)c->a[1];
	current->sequence_signature = (uint32_t)c->a[3];
	return 0;
}

static long do_seccomp(struct syscall_arguments *c)
{
	long result;

	return filters_take(c, &result) ? result : syscall_pass_on(c);
}

static long run(struct syscall_arguments *c)
{
	long result;

	if (descriptors_leads_elsewhere(c))
		descriptors_keep();
	switch (c->nr) {
	case __NR_exit:
		return filters_allow_exit(c) ? children_end_thread(c) : syscall_pass_on(c);
	case __NR_exit_group:
		if (!filters_allow_exit(c))
			return syscall_pass_on(c);
		engine_exit(__NR_exit_group, (int)c->a[0]);
	case __NR_read:
	case __NR_pread64:
		return do_read(c);
	case __NR_recvfrom:
		return pass_on_writing(c, c->a[1], c->a[2]);
	case __NR_write:
	case __NR_pwrite64:
	case __NR_writev:
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
		return c->a[3] & AT_SYMLINK_NOFOLLOW ? syscall_pass_on(c) : files_look_up(c, 1);
	case __NR_statx:
		return c->a[2] & AT_SYMLINK_NOFOLLOW ? syscall_pass_on(c) : files_look_up(c, 1);
	case __NR_process_vm_writev:
		return pass_on_writing(c, 0, PROGRAM_END);
	case __NR_mmap:
	case __NR_munmap:
	case __NR_mprotect:
	case __NR_pkey_mprotect:
	case __NR_mremap:
		return run_locked(c);
	case __NR_shmat:
		return fixed_wanted() ? run_locked(c) : syscall_pass_on(c);
	case __NR_brk:
		return program_has_heap ? syscall_pass_on(c) : (long)FIXED_HEAP;
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
		return signals_action((long)c->a[0], c->a[1], c->a[2], c->a[3]);
	case __NR_sigaltstack:
		return frame_altstack(c->a[0], c->a[1]);
	case __NR_rt_sigprocmask:
		return signals_procmask((long)c->a[0], c->a[1], c->a[2], c->a[3]);
	case __NR_signalfd:
	case __NR_signalfd4:
		signals_reads(c->a[1]);
		return syscall_pass_on(c);
	case __NR_kill:
	case __NR_tkill:
	case __NR_tgkill:
	case __NR_rt_sigqueueinfo:
	case __NR_rt_tgsigqueueinfo:
		signals_sent();
		return syscall_pass_on(c);
	case __NR_rt_sigsuspend:
		return pass_on_waiting(c, c->a[0]);
	case __NR_ppoll:
		return pass_on_waiting(c, c->a[3]);
	case __NR_epoll_pwait:
	case __NR_epoll_pwait2:
		return pass_on_waiting(c, c->a[4]);
	case __NR_pselect6:
		return do_pselect(c);
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
		return limits_call(c);
	case __NR_ioctl:
		return userfault_ioctl(c);
	case __NR_io_uring_register:
		return pinned_register(c);
	case __NR_close:
	case __NR_close_range:
	case __NR_dup2:
	case __NR_dup3:
		return descriptors_guard(c, &result) ? result : syscall_pass_on(c);
	default:
		return syscall_pass_on(c);
	}
}

static long run_timed(struct syscall_arguments *c)
{
	struct clocks_wait wait = clocks_wait_of(c);

	return clocks_after(c, wait, run(c));
}

long syscall_make(struct syscall_arguments *c)
{
	if (filters_forbid(c->nr))
		signals_end(SIGKILL, FATAL_THREAD);
	return clocks_wanted() ? run_timed(c) : run(c);
}

void syscall_registers(void)
{
	current->gpr[1] = current->pc;
	current->gpr[11] = current->rflags | (current->run.trap_flag ? FLAG_TF : 0);
}

/* RAX and where the program goes on, after a call whose instruction has two bytes. */
static bool complete(long result)
{
	if (result == SYSCALL_AGAIN || result == SYSCALL_NOT_BEGUN)
		current->pc -= 2; /* the call again, after the handler; RAX is still the number */
	else if (result != SYSCALL_TRAPPED)
		current->gpr[0] = (uint64_t)result;
	return result != SYSCALL_NOT_BEGUN;
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
