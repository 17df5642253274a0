/* SPDX-License-Identifier: MIT */
/*
 * jail.c: runs a program as a container's runtime does by default: with a filter of system calls
 * (seccomp(2)) that refuses what Docker's default profile does, without new privileges.
 *
 *	jail [--no-ptrace] PROGRAM ARGUMENT...
 *
 * --no-ptrace refuses what reaches into other processes, too, as that profile does on kernels
 * before Linux 4.8.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NAMESPACES                                                                                 \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |             \
	 CLONE_NEWPID | CLONE_NEWNET)
#define LOAD(field)	   BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define RETURN(value)	   BPF_STMT(BPF_RET | BPF_K, value)
#define EQUAL(value, skip) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skip)
#define REFUSE(error)	   RETURN(SECCOMP_RET_ERRNO | (error))
#define REFUSED(call)	   EQUAL(call, 1), REFUSE(EPERM)

static struct sock_filter filter[] = {
	LOAD(arch),
	EQUAL(AUDIT_ARCH_X86_64, 1),
	LOAD(nr),
	REFUSED(SYS_acct),
	REFUSED(SYS_add_key),
	REFUSED(SYS_bpf),
	REFUSED(SYS_clock_adjtime),
	REFUSED(SYS_clock_settime),
	REFUSED(SYS_delete_module),
	REFUSED(SYS_fanotify_init),
	REFUSED(SYS_finit_module),
	REFUSED(SYS_get_mempolicy),
	REFUSED(SYS_init_module),
	REFUSED(SYS_io_uring_enter),
	REFUSED(SYS_io_uring_register),
	REFUSED(SYS_io_uring_setup),
	REFUSED(SYS_ioperm),
	REFUSED(SYS_iopl),
	REFUSED(SYS_kcmp),
	REFUSED(SYS_kexec_file_load),
	REFUSED(SYS_kexec_load),
	REFUSED(SYS_keyctl),
	REFUSED(SYS_mbind),
	REFUSED(SYS_mount),
	REFUSED(SYS_move_pages),
	REFUSED(SYS_name_to_handle_at),
	REFUSED(SYS_open_by_handle_at),
	REFUSED(SYS_perf_event_open),
	REFUSED(SYS_pivot_root),
	REFUSED(SYS_quotactl),
	REFUSED(SYS_reboot),
	REFUSED(SYS_request_key),
	REFUSED(SYS_set_mempolicy),
	REFUSED(SYS_setns),
	REFUSED(SYS_settimeofday),
	REFUSED(SYS_swapoff),
	REFUSED(SYS_swapon),
	REFUSED(SYS_syslog),
	REFUSED(SYS_umount2),
	REFUSED(SYS_unshare),
	REFUSED(SYS_userfaultfd),
	REFUSED(SYS_vhangup),
	/* The C library then calls clone(2).  A filter can read its flags. */
	EQUAL(SYS_clone3, 1),
	REFUSE(ENOSYS),
	EQUAL(SYS_clone, 4),
	LOAD(args[0]),
	BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, NAMESPACES, 0, 1),
	REFUSE(EPERM),
	RETURN(SECCOMP_RET_ALLOW),
	/* A few values are allowed: those of old programs, and the query. */
	EQUAL(SYS_personality, 7),
	LOAD(args[0]),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x0, 4, 0),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x8, 3, 0),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x20000, 2, 0),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0xffffffff, 1, 0),
	REFUSE(EPERM),
	RETURN(SECCOMP_RET_ALLOW),
	RETURN(SECCOMP_RET_ALLOW),
};

static struct sock_filter apart[] = {
	LOAD(nr),
	REFUSED(SYS_ptrace),
	REFUSED(SYS_process_vm_readv),
	REFUSED(SYS_process_vm_writev),
	RETURN(SECCOMP_RET_ALLOW),
};

static int install(struct sock_filter *rules, size_t count)
{
	const struct sock_fprog program = {(unsigned short)count, rules};

	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char **argv)
{
	int no_ptrace = argc > 1 && !strcmp(argv[1], "--no-ptrace"), command = 1 + no_ptrace;

	if (argc <= command || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    install(filter, sizeof(filter) / sizeof(*filter)) ||
	    (no_ptrace && install(apart, sizeof(apart) / sizeof(*apart)))) {
		perror("jail");
		return 125;
	}
	execvp(argv[command], argv + command);
	perror(argv[command]);
	return 127;
}
