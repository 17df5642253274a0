/* SPDX-License-Identifier: MIT */
/*
 * signals-corners.c: rare uses of signals. The kernel refuses frames, stacks cannot be written
 * to, and synchronous signals (such as SIGSEGV) are sent while they are blocked. The argument
 * names the subject.
 */
#define _GNU_SOURCE
#include "corners.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/rseq.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>

static sigjmp_buf again;
static char stack_memory[65536];

static void handle(int number, void (*function)(int, siginfo_t *, void *), int flags)
{
	struct sigaction action = {.sa_sigaction = function, .sa_flags = SA_SIGINFO | flags};

	need(sigaction(number, &action, NULL) == 0, "sigaction");
}

static void use_altstack(void *memory)
{
	stack_t stack = {.ss_sp = memory, .ss_size = sizeof(stack_memory)};

	need(sigaltstack(&stack, NULL) == 0, "sigaltstack");
}

/* --- frames that are refused --- */

static int damage;
static uint64_t place; /* of the frame that is returned from */

enum { CODE, NO_CODE, STACK, STATE_SIZE, STATE_HEADER, STATE_POINTER, STATE_UNREADABLE, DAMAGES };

static void refused(int number, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;
	greg_t *regs = uc->uc_mcontext.gregs;
	sigset_t set;

	pthread_sigmask(SIG_BLOCK, NULL, &set);
	printf("%d: signal %d, code %d, address %p, USR2 blocked: %d, RBX %llx, CS %llx, trap "
	       "%lld, error %llx\n",
	       damage, number, info->si_code, info->si_addr, sigismember(&set, SIGUSR2),
	       regs[REG_RBX], regs[REG_CSGSFS] & 0xffff, damage <= STACK ? regs[REG_TRAPNO] : 0,
	       damage <= STACK ? regs[REG_ERR] : 0);
	siglongjmp(again, 1);
}

static void damages(int number, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;
	greg_t *regs = uc->uc_mcontext.gregs;
	uint8_t *state = (uint8_t *)uc->uc_mcontext.fpregs;

	(void)number;
	(void)info;
	regs[REG_RBX] = 0x1234;
	sigaddset(&uc->uc_sigmask, SIGUSR2);
	switch (damage) {
	case CODE: /* data */
		regs[REG_CSGSFS] = (regs[REG_CSGSFS] & ~0xffffLL) | 0x2b;
		break;
	case NO_CODE: /* beyond the table */
		regs[REG_CSGSFS] = (regs[REG_CSGSFS] & ~0xffffLL) | 0xfffb;
		break;
	case STACK:
		regs[REG_CSGSFS] = (regs[REG_CSGSFS] & 0xffffffffffffLL) | 0xfff3LL << 48;
		break;
	case STATE_SIZE: /* no extended state, then: the header is not looked at */
		memset(state + 464, 0, 48);
		regs[REG_CSGSFS] = (regs[REG_CSGSFS] & ~0xffffLL) | 0x2b;
		break;
	case STATE_HEADER:
		memset(state + 520, 0xff, 48);
		break;
	case STATE_POINTER:
		uc->uc_mcontext.fpregs = (void *)UINT64_C(0x8000000000000000);
		break;
	default:
		uc->uc_mcontext.fpregs = (void *)64;
	}
}

static void frames(void)
{
	use_altstack(stack_memory);
	handle(SIGSEGV, refused, SA_ONSTACK);
	handle(SIGBUS, refused, SA_ONSTACK);
	handle(SIGUSR1, damages, 0);
	for (damage = 0; damage < DAMAGES; damage++)
		if (!sigsetjmp(again, 1))
			raise(SIGUSR1);
}

static void no_frame(int number, siginfo_t *info, void *context)
{
	(void)context;
	printf("signal %d, code %d, address %p\n", number, info->si_code, info->si_addr);
	siglongjmp(again, 1);
}

static void return_from(uint64_t stack)
{
	__asm__ volatile("mov %0, %%rsp\n\tmov $15, %%eax\n\tsyscall\n\tud2"
			 :
			 : "r"(stack)
			 : "memory");
}

/* There is no frame. */
static void pointers(void)
{
	static const uint64_t at[] = {4096, UINT64_C(0x8000000000000000), 0};

	use_altstack(stack_memory);
	handle(SIGSEGV, no_frame, SA_ONSTACK);
	for (unsigned i = 0; i < sizeof(at) / sizeof(*at); i++) {
		place = at[i];
		if (!sigsetjmp(again, 1))
			return_from(place);
	}
	printf("and by itself\n");
	fflush(stdout);
	signal(SIGSEGV, SIG_IGN);
	return_from(4096);
}

/* --- stacks that cannot be written to --- */

static void plain(int number, siginfo_t *info, void *context)
{
	(void)context;
	printf("signal %d, code %d, address %p\n", number, info->si_code, info->si_addr);
	siglongjmp(again, 1);
}

static void unwritable(void)
{
	void *memory =
		mmap(NULL, sizeof(stack_memory), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int child;

	need(memory != MAP_FAILED, "mmap");
	use_altstack(memory);
	handle(SIGUSR1, plain, SA_ONSTACK);
	handle(SIGSEGV, plain, 0);
	if (!sigsetjmp(again, 1))
		raise(SIGUSR1);
	printf("with SIGSEGV blocked, ignored, on the same stack\n");
	fflush(stdout);
	for (int how = 0; how < 3; how++) {
		int status;
		sigset_t set;

		child = fork();
		if (!child) {
			sigemptyset(&set);
			sigaddset(&set, SIGSEGV);
			if (how == 0)
				pthread_sigmask(SIG_BLOCK, &set, NULL);
			else if (how == 1)
				signal(SIGSEGV, SIG_IGN);
			else
				handle(SIGSEGV, plain, SA_ONSTACK);
			raise(SIGUSR1);
			_exit(0);
		}
		need(waitpid(child, &status, 0) == child, "waitpid");
		printf("status %x\n", status);
		fflush(stdout);
	}
}

/* --- blocked --- */

static const int kinds[] = {SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV, SIGSYS};
#define KINDS (sizeof(kinds) / sizeof(*kinds))

static void count(int number, siginfo_t *info, void *context)
{
	(void)context;
	printf("handler: %d, code %d\n", number, info->si_code);
}

static void *send_later(void *to)
{
	usleep(20000);
	for (unsigned i = 0; i < KINDS; i++)
		if (to)
			pthread_kill(*(pthread_t *)to, kinds[i]);
		else
			kill(getpid(), kinds[i]);
	return NULL;
}

static void show_pending(const char *when)
{
	sigset_t set;

	sigpending(&set);
	printf("%s:", when);
	for (unsigned i = 0; i < KINDS; i++)
		printf(" %d", sigismember(&set, kinds[i]));
	printf("\n");
}

/* Each of them comes once, in any order. */
static void show_all(const int *code, const char *how)
{
	for (unsigned i = 0; i < KINDS; i++)
		printf("%s: %d, code %d\n", how, kinds[i], code[kinds[i]]);
}

static void wait_for_all(const sigset_t *set, const char *how)
{
	struct timespec long_time = {30, 0};
	int code[NSIG];
	siginfo_t info;

	memset(code, 99, sizeof(code));
	for (unsigned i = 0; i < KINDS; i++) {
		int number = sigtimedwait(set, &info, &long_time);

		need(number > 0, how);
		code[number] = info.si_code;
	}
	show_all(code, how);
}

static void read_all(int fd)
{
	struct signalfd_siginfo info;
	int code[NSIG];

	memset(code, 99, sizeof(code));
	for (unsigned i = 0; i < KINDS; i++) {
		need(read(fd, &info, sizeof(info)) == sizeof(info), "read");
		code[info.ssi_signo] = info.ssi_code;
	}
	show_all(code, "read");
}

static void blocked(void)
{
	struct timespec no_time = {0, 0};
	pthread_t self = pthread_self(), thread;
	sigset_t set, old;
	int fd;

	sigemptyset(&set);
	for (unsigned i = 0; i < KINDS; i++) {
		handle(kinds[i], count, 0);
		sigaddset(&set, kinds[i]);
	}
	pthread_sigmask(SIG_BLOCK, &set, &old);
	show_pending("before");
	for (unsigned i = 0; i < KINDS; i++)
		if (i % 2)
			kill(getpid(), kinds[i]);
		else
			sigqueue(getpid(), kinds[i], (union sigval){.sival_int = 3});
	show_pending("sent");
	wait_for_all(&set, "taken");
	show_pending("taken");
	printf("none: %d\n", sigtimedwait(&set, NULL, &no_time));
	pthread_create(&thread, NULL, send_later, &self);
	wait_for_all(&set, "waited for");
	pthread_join(thread, NULL);
	pthread_create(&thread, NULL, send_later, NULL);
	wait_for_all(&set, "waited for");
	pthread_join(thread, NULL);
	fd = signalfd(-1, &set, 0);
	pthread_create(&thread, NULL, send_later, &self);
	read_all(fd);
	pthread_join(thread, NULL);
	signal(SIGILL, SIG_IGN);
	kill(getpid(), SIGILL);
	show_pending("ignored and sent");
	kill(getpid(), SIGFPE);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	show_pending("at last");
}

/* A blocked signal that was sent is still pending after execve. */
static void inherited(void)
{
	char *argv[] = {"signals-corners", "executed", NULL};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGILL);
	sigprocmask(SIG_BLOCK, &set, NULL);
	raise(SIGILL);
	execv("/proc/self/exe", argv);
}

static void executed(void)
{
	sigset_t set;

	show_pending("executed");
	sigemptyset(&set);
	handle(SIGILL, count, 0);
	sigprocmask(SIG_SETMASK, &set, NULL);
	show_pending("at last");
}

/* --- the time-stamp counter --- */

static void no_counter(int number, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	printf("signal %d, code %d, trap %lld\n", number, info->si_code,
	       uc->uc_mcontext.gregs[REG_TRAPNO]);
	prctl(PR_SET_TSC, PR_TSC_ENABLE);
}

static void counter(void)
{
	int status, mode = 0;

	handle(SIGSEGV, no_counter, 0);
	need(!prctl(PR_SET_TSC, PR_TSC_SIGSEGV), "prctl");
	__builtin_ia32_rdtsc();
	prctl(PR_GET_TSC, &mode);
	printf("mode %d\n", mode);
	prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
	fflush(stdout);
	if (!fork()) {
		signal(SIGSEGV, SIG_DFL);
		__builtin_ia32_rdtsc();
		_exit(0);
	}
	wait(&status);
	printf("child %x\n", status);
	fflush(stdout);
	if (!fork()) {
		execl("/bin/echo", "echo", "executed", NULL);
		_exit(1);
	}
	wait(&status);
	printf("child %x\n", status);
}

/* --- system calls that raise SIGSYS --- */

static volatile char selector;

static void instead(int number, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	selector = 0;
	printf("signal %d, code %d, call %d, at its end: %d\n", number, info->si_code,
	       info->si_syscall,
	       (uint64_t)info->si_call_addr == (uint64_t)uc->uc_mcontext.gregs[REG_RIP]);
	uc->uc_mcontext.gregs[REG_RAX] = 77;
}

static void *in_thread(void *unused)
{
	selector = 1;
	syscall(SYS_getppid);
	selector = 0;
	return unused;
}

static void dispatched(void)
{
	pthread_t thread;
	int status;
	long result;

	handle(SIGSYS, instead, 0);
	printf("wrong mode: %d\n", prctl(PR_SET_SYSCALL_USER_DISPATCH, 9, 0, 0, 0));
	need(!prctl(PR_SET_SYSCALL_USER_DISPATCH, 1, 0, 0, &selector), "prctl");
	for (int i = 0; i < 3; i++) {
		selector = 1;
		result = syscall(SYS_getppid);
		printf("%ld\n", result);
	}
	pthread_create(&thread, NULL, in_thread, NULL);
	pthread_join(thread, NULL);
	fflush(stdout);
	if (!fork()) {
		selector = 1;
		_exit(3);
	}
	wait(&status);
	printf("child %x\n", status);
	need(!prctl(PR_SET_SYSCALL_USER_DISPATCH, 1, 1, INT64_MAX, NULL), "prctl");
	printf("all of it: %d\n", syscall(SYS_getppid) == getppid());
}

/* --- a thread that unmaps its own memory --- */

#define VANISHING (1ul << 20)

static int stays_registered;

static void *vanish(void *memory)
{
	/* The C library never hears of the thread again. */
	if (__rseq_size && !stays_registered)
		syscall(SYS_rseq, (char *)__builtin_thread_pointer() + __rseq_offset, 32, 1,
			0x53053053);
	__asm__ volatile(
		"mov $11, %%eax\n\tsyscall\n\tmov $60, %%eax\n\txor %%edi, %%edi\n\tsyscall"
		:
		: "D"(memory), "S"(VANISHING)
		: "memory", "rax", "rcx", "r11");
	return NULL;
}

static void vanishes(void)
{
	char *memory;
	pthread_attr_t attributes;
	pthread_t thread;

	memory = mmap(NULL, VANISHING, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	need(memory != MAP_FAILED, "mmap");
	pthread_attr_init(&attributes);
	pthread_attr_setstack(&attributes, memory, VANISHING);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	need(!pthread_create(&thread, &attributes, vanish, memory), "pthread_create");
	usleep(200000);
	printf("%d\n", mincore(memory + VANISHING - 4096, 4096, (unsigned char[1]){0}));
	fflush(stdout);
	_exit(0);
}

/* Also unmaps its rseq(2) area.  If the kernel then misses the area, it ends the process. */
static void vanishes_registered(void)
{
	stays_registered = 1;
	vanishes();
}

int main(int argc, char **argv)
{
	static const struct subject subjects[] = {
		{"frames", frames},
		{"pointers", pointers},
		{"unwritable", unwritable},
		{"blocked", blocked},
		{"inherited", inherited},
		{"counter", counter},
		{"vanishes", vanishes},
		{"executed", executed},
		{"vanishes-registered", vanishes_registered},
		{"dispatched", dispatched},
		{NULL, NULL},
	};

	return run_subject(subjects, argc, argv);
}
