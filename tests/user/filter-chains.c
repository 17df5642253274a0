/* SPDX-License-Identifier: MIT */
/*
 * filter-chains.c: a program with several filters of system calls (seccomp(2)), of which one kills:
 * one subject for each argument.  What is printed, and how it ends, is the same in every run.
 */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>

#include "corners.h"

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define ANSWER(k)   BPF_STMT(BPF_RET | BPF_K, (k))
#define UNKNOWN	    0x00010000u /* no action of the kernel's, which kills for it */

static void say(const char *what, long number)
{
	char line[80];
	int n = snprintf(line, sizeof(line), "%s %ld\n", what, number);

	need(write(1, line, (size_t)n) == n, "write");
}

static long install(const struct sock_filter *filter, size_t n, unsigned flags)
{
	struct sock_fprog program = {(unsigned short)n, (struct sock_filter *)filter};
	long result;

	need(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no new privileges");
	result = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
	need(result >= 0, "seccomp");
	return result;
}

/* Of this call; all others are allowed. */
static long answer(long nr, uint32_t action, unsigned flags)
{
	const struct sock_filter filter[] = {
		LOAD(nr),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)nr, 0, 1),
		ANSWER(action),
		ANSWER(SECCOMP_RET_ALLOW),
	};

	return install(filter, 4, flags);
}

static void trapped(int sig, siginfo_t *info, void *context)
{
	const greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;

	say("handler: signal", sig);
	say("handler: data", info->si_errno);
	say("handler: after the call", info->si_call_addr == (void *)regs[REG_RIP]);
}

static void handle(void)
{
	struct sigaction action = {.sa_sigaction = trapped, .sa_flags = SA_SIGINFO};

	need(!sigaction(SIGSYS, &action, NULL), "sigaction");
}

static void say_end(const char *what, pid_t pid)
{
	int status;

	need(waitpid(pid, &status, __WALL) == pid, "waitpid");
	if (WIFSIGNALED(status))
		say(what, -WTERMSIG(status));
	else
		say(what, WEXITSTATUS(status));
}

static void *call_as_thread(void *argument)
{
	long result;

	handle();
	__asm__ volatile("syscall" : "=a"(result) : "a"(SYS_getppid) : "rcx", "r11", "memory");
	say("it returned", result == SYS_getppid ? 0 : result == getppid() ? 1 : result);
	return argument;
}

/* In a thread, so that what kills the thread and what kills the process differ. */
static void call_in_thread(void)
{
	pthread_t thread;

	need(!pthread_create(&thread, NULL, call_as_thread, NULL), "pthread_create");
	pthread_join(thread, NULL);
}

static const uint32_t actions[] = {
	SECCOMP_RET_KILL_PROCESS,     SECCOMP_RET_KILL_THREAD, UNKNOWN,
	SECCOMP_RET_TRAP | 0x5350,    SECCOMP_RET_TRAP | 2,    SECCOMP_RET_ERRNO | 5,
	SECCOMP_RET_KILL_PROCESS | 7, SECCOMP_RET_ALLOW,
};
#define ACTIONS (sizeof(actions) / sizeof(actions[0]))

/* Two filters of the same call, in each order. */
static void pairs(void)
{
	for (unsigned i = 0; i < ACTIONS * ACTIONS; i++) {
		pid_t pid;

		say("older", i / ACTIONS);
		say("newer", i % ACTIONS);
		pid = fork();
		if (!pid) {
			answer(SYS_getppid, actions[i / ACTIONS], 0);
			answer(SYS_getppid, actions[i % ACTIONS], 0);
			call_in_thread();
			_exit(3);
		}
		say_end("end", pid);
	}
}

/* --- what filters compute --- */

#define A(operation, k) BPF_STMT(BPF_ALU | (operation) | BPF_K, (k))
#define AX(operation)	BPF_STMT(BPF_ALU | (operation) | BPF_X, 0)
#define LOW_0		LOAD(args[0])

/* Each leaves a word in A, which is compared with the call's second argument. */
static const struct {
	struct sock_filter insn[6];
	uint32_t argument, expected;
} programs[] = {
	{{LOW_0, A(BPF_ADD, 0xfffffff0)}, 0x20, 0x10},
	{{LOW_0, A(BPF_SUB, 0x30)}, 0x20, 0xfffffff0},
	{{LOW_0, A(BPF_MUL, 0x10001)}, 0x12345, 0x23462345},
	{{LOW_0, A(BPF_DIV, 7)}, 0xffffffff, 0x24924924},
	{{LOW_0, A(BPF_AND, 0xff00)}, 0x12345678, 0x5600},
	{{LOW_0, A(BPF_OR, 0xff00)}, 0x12345678, 0x1234ff78},
	{{LOW_0, A(BPF_XOR, 0xff00)}, 0x12345678, 0x1234a978},
	{{LOW_0, A(BPF_LSH, 5)}, 0x98765432, 0x0eca8640},
	{{LOW_0, A(BPF_RSH, 5)}, 0x98765432, 0x04c3b2a1},
	{{LOW_0, A(BPF_NEG, 0)}, 5, 0xfffffffb},
	{{LOW_0, BPF_STMT(BPF_MISC | BPF_TAX, 0), AX(BPF_MUL)}, 0x10001, 0x20001},
	{{LOW_0, BPF_STMT(BPF_MISC | BPF_TAX, 0), A(BPF_ADD, 9), AX(BPF_SUB)}, 77, 9},
	{{LOW_0, BPF_STMT(BPF_LDX | BPF_IMM, 37), AX(BPF_LSH)}, 3, 96},
	{{LOW_0, BPF_STMT(BPF_LDX | BPF_IMM, 3), AX(BPF_DIV)}, 100, 33},
	{{BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0)}, 0, 64},
	{{BPF_STMT(BPF_LDX | BPF_W | BPF_LEN, 0), BPF_STMT(BPF_MISC | BPF_TXA, 0)}, 0, 64},
	{{LOW_0, BPF_STMT(BPF_ST, 3), BPF_STMT(BPF_LD | BPF_IMM, 0), BPF_STMT(BPF_LD | BPF_MEM, 3)},
	 0xabc,
	 0xabc},
	{{BPF_STMT(BPF_LDX | BPF_IMM, 6), BPF_STMT(BPF_STX, 15), BPF_STMT(BPF_LDX | BPF_IMM, 0),
	  BPF_STMT(BPF_LDX | BPF_MEM, 15), BPF_STMT(BPF_MISC | BPF_TXA, 0)},
	 0,
	 6},
	{{LOW_0, BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x10, 0, 1), A(BPF_ADD, 1)}, 0x30, 0x31},
	{{LOW_0, BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, 0x30, 0, 1), A(BPF_ADD, 1)}, 0x30, 0x30},
	{{LOW_0, BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x30, 0, 1), A(BPF_ADD, 1)}, 0x30, 0x31},
	{{LOW_0, BPF_STMT(BPF_MISC | BPF_TAX, 0), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_X, 0, 0, 1),
	  A(BPF_ADD, 1)},
	 8,
	 9},
	{{LOW_0, BPF_STMT(BPF_JMP | BPF_JA, 1), A(BPF_ADD, 1), A(BPF_ADD, 2)}, 8, 10},
};

static size_t length_of(const struct sock_filter *insn)
{
	size_t n = 6;

	while (n && !insn[n - 1].code && !insn[n - 1].k)
		n--;
	return n;
}

/* Kills if the word in A is the call's second argument; each other call is allowed. */
static void compare(const struct sock_filter *insn)
{
	struct sock_filter filter[20] = {
		LOAD(nr),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 1, 0),
		ANSWER(SECCOMP_RET_ALLOW),
	};
	const struct sock_filter end[] = {
		BPF_STMT(BPF_MISC | BPF_TAX, 0),
		LOAD(args[1]),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_X, 0, 0, 1),
		ANSWER(SECCOMP_RET_KILL_PROCESS),
		ANSWER(SECCOMP_RET_ALLOW),
	};
	size_t n = 3;

	memcpy(filter + n, insn, length_of(insn) * sizeof(*insn));
	n += length_of(insn);
	memcpy(filter + n, end, sizeof(end));
	install(filter, n + sizeof(end) / sizeof(end[0]), 0);
}

/* The newer filter traps: so the older one is asked by the translator, if there is one. */
static void computes(void)
{
	for (unsigned i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		for (uint32_t wrong = 0; wrong < 2; wrong++) {
			pid_t pid = fork();

			if (!pid) {
				compare(programs[i].insn);
				answer(SYS_getppid, SECCOMP_RET_TRAP, 0);
				handle();
				syscall(SYS_getppid, programs[i].argument,
					programs[i].expected + wrong);
				_exit(4);
			}
			say_end("end", pid);
		}
}

/* --- who has the older filter --- */

static void trap_and_call(void)
{
	handle();
	answer(SYS_getppid, SECCOMP_RET_TRAP, 0);
	syscall(SYS_getppid);
}

static void *thread_calls(void *argument)
{
	trap_and_call();
	return argument;
}

static void in_threads(void)
{
	pthread_t thread;

	answer(SYS_getppid, SECCOMP_RET_KILL_THREAD, 0);
	for (int i = 0; i < 20; i++) {
		need(!pthread_create(&thread, NULL, thread_calls, NULL), "pthread_create");
		pthread_join(thread, NULL);
	}
	say("threads ended", 20);
}

static volatile int turn;

static void *waits(void *argument)
{
	while (!turn)
		sched_yield();
	trap_and_call();
	return argument;
}

/* A thread that has no filter when it begins; another one gives it the filter or does not. */
static void of_all(unsigned flags)
{
	pid_t pid = fork();
	pthread_t thread;

	if (!pid) {
		need(!pthread_create(&thread, NULL, waits, NULL), "pthread_create");
		answer(SYS_getppid, SECCOMP_RET_KILL_PROCESS, flags);
		turn = 1;
		pthread_join(thread, NULL);
		_exit(5);
	}
	say_end("end", pid);
}

static void synchronized(void)
{
	of_all(SECCOMP_FILTER_FLAG_TSYNC);
	of_all(0);
}

static int child_calls(void *argument)
{
	(void)argument;
	trap_and_call();
	return 6;
}

/* A child in the same memory that kills itself; then its parent is trapped, and lives. */
static void shared(void)
{
	static uint8_t stack[1 << 16];
	static const int flags[] = {SIGCHLD, CLONE_VM | SIGCHLD, CLONE_VM | CLONE_VFORK | SIGCHLD};

	for (unsigned i = 0; i < 3; i++) {
		pid_t pid = fork();

		if (!pid) {
			answer(SYS_getppid, SECCOMP_RET_KILL_PROCESS, 0);
			say_end("child", clone(child_calls, stack + sizeof(stack), flags[i], NULL));
			_exit(7);
		}
		say_end("parent", pid);
	}
}

static int child_installs(void *argument)
{
	(void)argument;
	answer(SYS_getppid, SECCOMP_RET_KILL_PROCESS, 0);
	_exit(8);
}

/* What a child installs for itself is not its parent's. */
static void apart(void)
{
	static uint8_t stack[1 << 16];
	static const int flags[] = {SIGCHLD, CLONE_VM | SIGCHLD, CLONE_VM | CLONE_VFORK | SIGCHLD};

	for (unsigned i = 0; i < 3; i++)
		say_end("child", clone(child_installs, stack + sizeof(stack), flags[i], NULL));
	trap_and_call();
	say("parent lives", 1);
}

static void after_exec(void)
{
	handle();
	answer(SYS_getppid, SECCOMP_RET_TRAP, 0);
	syscall(SYS_getppid);
}

/* Filters that the next image cannot ask for again: more than a pipe holds. */
static void executes_long(void)
{
	static struct sock_filter filter[4000];

	for (unsigned i = 0; i < 4000; i++)
		filter[i] = (struct sock_filter)LOAD(nr);
	filter[3999] = (struct sock_filter)ANSWER(SECCOMP_RET_ALLOW);
	answer(SYS_getppid, SECCOMP_RET_KILL_PROCESS, 0);
	for (int i = 0; i < 4; i++)
		install(filter, 4000, 0);
	execl("/proc/self/exe", "filter-chains", "after-exec", NULL);
}

static void executes(void)
{
	char *arguments[] = {"filter-chains", "after-exec", NULL}, *environment[] = {NULL};
	pid_t pid;

	answer(SYS_getppid, SECCOMP_RET_KILL_PROCESS, 0);
	need(!posix_spawn(&pid, "/proc/self/exe", NULL, NULL, arguments, environment), "spawn");
	say_end("spawned", pid);
	execl("/proc/self/exe", "filter-chains", "after-exec", NULL);
}

/* --- other corners --- */

/* INT 80H: number 64 is getppid there. */
static void by_int80(void)
{
	for (int i = 0; i < 2; i++) {
		pid_t pid = fork();
		long result = 64;

		if (!pid) {
			answer(64, i ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_TRAP, 0);
			handle();
			__asm__ volatile("int $0x80" : "+a"(result) : : "memory");
			_exit((int)result);
		}
		say_end("end", pid);
	}
}

static volatile int listener = -1;

static void *supervised(void *argument)
{
	listener =
		(int)answer(SYS_getppid, SECCOMP_RET_USER_NOTIF, SECCOMP_FILTER_FLAG_NEW_LISTENER);
	for (int i = 0; i < 6; i++)
		say("supervised", syscall(SYS_getppid) < 0 ? errno : 0);
	return argument;
}

/* A supervisor's answers that the kernel itself uses to restart calls. */
static void restarts(void)
{
	pthread_t thread;

	need(!pthread_create(&thread, NULL, supervised, NULL), "pthread_create");
	while (listener < 0)
		sched_yield();
	for (int i = 0; i < 6; i++) {
		struct seccomp_notif call = {0};
		struct seccomp_notif_resp response = {0};

		need(!ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call), "receive");
		response.id = call.id;
		response.error = -511 - i;
		need(!ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response), "send");
	}
	pthread_join(thread, NULL);
}

static long error_of(unsigned flags, const void *program)
{
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, program) < 0 ? errno : 0;
}

/* The kernel looks at the flags before it reads the filter. */
static void unreadable(void)
{
	uint8_t *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (unsigned flags = 0; flags < 64; flags = flags * 2 + 1) {
		say("flags", flags);
		say("nowhere", error_of(flags, NULL));
		say("no rights", error_of(flags, page));
	}
	say("unknown", error_of(1u << 30, NULL));
	say("by prctl", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, page) ? errno : 0);
}

int main(int argc, char **argv)
{
	static const struct subject subjects[] = {
		{"pairs", pairs},
		{"computes", computes},
		{"in-threads", in_threads},
		{"synchronized", synchronized},
		{"shared", shared},
		{"apart", apart},
		{"executes", executes},
		{"executes-long", executes_long},
		{"after-exec", after_exec},
		{"by-int80", by_int80},
		{"restarts", restarts},
		{"unreadable", unreadable},
		{NULL, NULL},
	};

	return run_subject(subjects, argc, argv);
}
