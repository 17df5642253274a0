/* SPDX-License-Identifier: MIT */
/*
 * signals-program MODE: what programs do with signals.  Each mode prints what it saw, without
 * addresses or times, so that a run under the engine can be compared with a native one.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <immintrin.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

static volatile sig_atomic_t seen;
static sigjmp_buf again;
static char text[8192];
static volatile int *volatile nowhere_at = (volatile int *)16;

static void say(const char *format, long a, long b)
{
	size_t n = strlen(text);

	snprintf(text + n, sizeof(text) - n, format, a, b);
}

static void mask_of(const char *where)
{
	sigset_t set;
	unsigned long word;

	sigprocmask(SIG_BLOCK, NULL, &set);
	memcpy(&word, &set, sizeof(word));
	say(where, 0, 0);
	say(" mask %lx\n", (long)word, 0);
}

static void handle(int number, void (*function)(int, siginfo_t *, void *), int flags)
{
	struct sigaction action = {.sa_flags = SA_SIGINFO | flags};

	action.sa_sigaction = function;
	sigaddset(&action.sa_mask, SIGUSR2);
	sigaction(number, &action, NULL);
}

static void tell(int number, siginfo_t *info, void *context)
{
	(void)context;
	say("signal %ld code %ld\n", number, info->si_code);
	say("value %ld from self %ld\n", info->si_value.sival_int, info->si_pid == getpid());
	mask_of("in handler:");
	seen++;
}

/* --- masks, flags, order --- */

static void nested(int number, siginfo_t *info, void *context)
{
	(void)context;
	(void)info;
	say("enter %ld\n", number, 0);
	mask_of("nested:");
	if (number == SIGUSR1)
		raise(SIGHUP);
	say("leave %ld\n", number, 0);
}

static void masks(void)
{
	union sigval value = {.sival_int = 42};
	sigset_t all, pending;

	handle(SIGUSR1, nested, 0);
	handle(SIGUSR2, tell, 0);
	handle(SIGHUP, nested, SA_NODEFER);
	handle(SIGRTMIN, tell, 0);
	raise(SIGUSR1);
	mask_of("after:");
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	mask_of("all:");
	for (int i = 0; i < 3; i++, value.sival_int++)
		sigqueue(getpid(), SIGRTMIN, value);
	raise(SIGUSR2);
	raise(SIGUSR2);
	kill(getpid(), SIGSEGV);
	sigpending(&pending);
	say("pending %ld %ld\n", sigismember(&pending, SIGUSR2), sigismember(&pending, SIGHUP));
	handle(SIGSEGV, tell, 0);
	sigprocmask(SIG_UNBLOCK, &all, NULL);
	say("seen %ld\n", seen, 0);
	mask_of("end:");
}

static void flags(void)
{
	struct sigaction now;

	handle(SIGUSR1, tell, (int)SA_RESETHAND);
	raise(SIGUSR1);
	sigaction(SIGUSR1, NULL, &now);
	say("default again %ld, flags %lx\n", now.sa_handler == SIG_DFL, now.sa_flags);
	say("bad signal %ld %ld\n", sigaction(99, NULL, NULL), errno);
	say("not to be caught %ld %ld\n", sigaction(SIGKILL, &now, NULL), errno);
	signal(SIGUSR1, SIG_IGN);
	raise(SIGUSR1);
	say("seen %ld\n", seen, 0);
}

/* --- alternate stack --- */

static char stack_memory[65536];

static void on_stack(int number, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;
	char here;
	stack_t now;

	(void)info;
	sigaltstack(NULL, &now);
	say("signal %ld on the stack %ld\n", number,
	    &here >= stack_memory && &here < stack_memory + sizeof(stack_memory));
	say("flags %ld, saved %ld\n", now.ss_flags, (char *)uc->uc_stack.ss_sp == stack_memory);
	say("saved flags %lx, change %ld\n", uc->uc_stack.ss_flags, sigaltstack(&now, NULL));
	if (number == SIGUSR1)
		raise(SIGUSR2);
	seen++;
}

static int deep(int n)
{
	volatile char room[4096];

	room[0] = (char)n;
	return n < 1 << 30 ? deep(n + 1) + room[0] : 0;
}

static void overflowed(int number, siginfo_t *info, void *context)
{
	on_stack(number, info, context);
	siglongjmp(again, 1);
}

static void stacks(void)
{
	stack_t stack = {.ss_sp = stack_memory, .ss_size = sizeof(stack_memory)}, small = stack;

	small.ss_size = 100;
	say("too small %ld %ld\n", sigaltstack(&small, NULL), errno);
	say("set %ld\n", sigaltstack(&stack, NULL), 0);
	handle(SIGUSR1, on_stack, SA_ONSTACK);
	handle(SIGUSR2, on_stack, SA_ONSTACK);
	handle(SIGHUP, on_stack, 0);
	raise(SIGUSR1);
	raise(SIGHUP);
	handle(SIGSEGV, overflowed, SA_ONSTACK);
	if (!sigsetjmp(again, 1))
		deep(0);
	say("back from overflow, seen %ld\n", seen, 0);
	stack.ss_flags = SS_ONSTACK | (int)(1u << 31); /* SS_AUTODISARM */
	say("disarming %ld\n", sigaltstack(&stack, NULL), 0);
	raise(SIGUSR2);
	sigaltstack(NULL, &stack);
	say("flags after it %lx\n", stack.ss_flags, 0);
}

/* --- faults --- */

static volatile long *target;

static void on_fault(int number, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;
	greg_t *g = uc->uc_mcontext.gregs;

	say("fault %ld code %ld\n", number, info->si_code);
	say("trap %ld error %lx\n", g[REG_TRAPNO], g[REG_ERR]);
	say("address %ld rip %ld\n",
	    number == SIGSEGV ? info->si_addr == (void *)target
			      : (long)info->si_addr == (long)g[REG_RIP],
	    *(unsigned char *)g[REG_RIP]);
	say("rax %lx rbx %lx\n", (long)g[REG_RAX], (long)g[REG_RBX]);
	say("flags %lx cr2 %ld\n", g[REG_EFL] & 0x10cd5,
	    number != SIGSEGV || g[REG_CR2] == (greg_t)target);
	g[REG_RIP] += g[REG_R12];
	g[REG_RAX] = 0x77;
}

#define FAULTING(length, code)                                                                     \
	({                                                                                         \
		long result = 0x55;                                                                \
		__asm__ volatile(                                                                  \
			"mov %[n], %%r12\n\tmov $0x1234, %%ebx\n\tcmp %%ebx, %%ebx\n\t" code       \
			: "+a"(result)                                                             \
			: [n] "i"(length), "D"(target)                                             \
			: "rbx", "rcx", "rdx", "r12", "memory", "cc");                             \
		result;                                                                            \
	})

static void faults(void)
{
	target = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	handle(SIGSEGV, on_fault, 0);
	handle(SIGILL, on_fault, 0);
	handle(SIGFPE, on_fault, 0);
	handle(SIGTRAP, on_fault, 0);
	for (int i = 0; i < 3; i++) {
		say("ud2: %lx\n", FAULTING(2, "ud2"), 0);
		say("store: %lx\n", FAULTING(3, "mov %%rax, (%%rdi)"), 0);
		say("divide: %lx\n",
		    FAULTING(2, "xor %%edx, %%edx\n\txor %%ecx, %%ecx\n\tdiv %%ecx"), 0);
		say("call: %lx\n", FAULTING(2, "mov %%rsp, %%r13\n\tud2\n\tmov %%r13, %%rsp"), 0);
	}
	say("int3: %lx\n", FAULTING(0, "int3"), 0);
	munmap((void *)target, 4096);
	say("load: %lx\n", FAULTING(3, "mov (%%rdi), %%rax"), 0);
	say("jump through memory: %lx\n", FAULTING(2, "jmp *(%%rdi)"), 0);
	say("call through memory: %lx\n", FAULTING(2, "call *(%%rdi)"), 0);
	say("blocked and not raised: %ld\n", seen, 0);
}

/* Jumps to memory that is not executable.  The handler sees that address and returns. */
static void on_nowhere(int number, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;
	greg_t *g = uc->uc_mcontext.gregs;

	say("fault %ld code %ld\n", number, info->si_code);
	say("at the target %ld %ld\n", g[REG_RIP] == (greg_t)target,
	    info->si_addr == (void *)target);
	g[REG_RIP] = *(greg_t *)g[REG_RSP];
	g[REG_RSP] += 8;
}

static void nowhere(void)
{
	target = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	handle(SIGSEGV, on_nowhere, 0);
	for (int i = 0; i < 3; i++)
		((void (*)(void))target)();
	target = (long *)64;
	((void (*)(void))target)();
	say("back\n", 0, 0);
}

/* --- extended state --- */

static void on_state(int number, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;
	struct _libc_fpstate *state = uc->uc_mcontext.fpregs;
	const unsigned *software = (const unsigned *)((char *)state + 464);
	unsigned long *xmm15 = (unsigned long *)&state->_xmm[15];

	(void)number;
	(void)info;
	say("magic %lx, end %lx\n", software[0], *(unsigned *)((char *)state + software[4]));
	say("size %ld aligned %ld\n", software[1], (long)state % 64);
	say("features %lx size %ld\n", *(const unsigned long *)(software + 2), software[4]);
	say("xmm15 %lx mxcsr %lx\n", (long)*xmm15, state->mxcsr);
	*xmm15 = 0xabcd;
	__asm__ volatile("pxor %%xmm15, %%xmm15\n\tpxor %%xmm14, %%xmm14\n\tfninit\n\tfldpi"
			 :
			 :
			 : "xmm14", "xmm15");
}

static void state(void)
{
	long a = 0x1111, b = 0x2222, x, y;
	double pi;

	handle(SIGUSR1, on_state, 0);
	for (int i = 0; i < 3; i++) {
		__asm__ volatile("movq %3, %%xmm15\n\tmovq %4, %%xmm14\n\tfninit\n\tfld1\n\t"
				 "mov $62, %%eax\n\tsyscall\n\t"
				 "movq %%xmm15, %0\n\tmovq %%xmm14, %1\n\tfstpl %2"
				 : "=r"(x), "=r"(y), "=m"(pi)
				 : "r"(a), "r"(b), "D"((long)getpid()), "S"((long)SIGUSR1)
				 : "rax", "rcx", "r11", "xmm14", "xmm15", "memory");
		say("xmm15 %lx xmm14 %lx\n", x, y);
		say("x87 %ld\n", (long)pi, 0);
	}
}

/* --- system calls --- */

static int write_to; /* ends a read that is made again */

static void count(int number)
{
	(void)number;
	seen += !write_to || write(write_to, "x", 1) == 1;
}

static void alarm_in(long us, int flags)
{
	struct sigaction action = {.sa_handler = count, .sa_flags = flags};
	struct itimerval once = {{0, 0}, {0, us}};

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &once, NULL);
}

/* Repeats the signal: on a busy machine the first may come before the call that it must
 * interrupt. */
static void alarms(int flags)
{
	struct sigaction action = {.sa_handler = count, .sa_flags = flags};
	struct itimerval often = {{0, 20000}, {0, 20000}};

	seen = 0;
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
}

/* Returns whether one came. */
static long alarms_end(void)
{
	const struct itimerval never = {{0, 0}, {0, 0}};

	setitimer(ITIMER_REAL, &never, NULL);
	return seen > 0;
}

static void calls(void)
{
	struct timespec long_time = {1000, 0}, left;
	struct timeval long_wait = {1000, 0};
	int pair[2];
	char byte;
	long got;
	sigset_t none, alarm_set, set;
	struct signalfd_siginfo from;
	siginfo_t info;

	if (pipe(pair))
		return;
	alarms(0);
	got = read(pair[0], &byte, 1);
	say("read %ld errno %ld\n", got, errno);
	say("seen %ld\n", alarms_end(), 0);
	write_to = pair[1];
	alarms(SA_RESTART);
	got = read(pair[0], &byte, 1);
	say("restarted read %ld %ld\n", got, byte);
	say("seen %ld\n", alarms_end(), 0);
	write_to = 0;
	alarms(SA_RESTART);
	got = nanosleep(&long_time, &left);
	say("nanosleep %ld errno %ld\n", got, errno);
	say("left %ld, seen %ld\n", left.tv_sec >= 500, alarms_end());
	alarms(SA_RESTART);
	got = select(0, NULL, NULL, NULL, &long_wait);
	say("select %ld errno %ld\n", got, errno);
	say("seen %ld\n", alarms_end(), 0);
	seen = 0;
	sigemptyset(&none);
	sigemptyset(&alarm_set);
	sigaddset(&alarm_set, SIGALRM);
	sigprocmask(SIG_BLOCK, &alarm_set, NULL);
	for (int i = 0; i < 3; i++) {
		alarm_in(i * 5000 + 1, 0);
		got = i == 0   ? sigsuspend(&none)
		      : i == 1 ? ppoll(NULL, 0, &long_time, &none)
			       : pselect(0, NULL, NULL, NULL, &long_time, &none);
		say("waits with a mask %ld errno %ld\n", got, errno);
		say("seen %ld\n", seen, 0);
		sigprocmask(SIG_BLOCK, NULL, &set);
		say("blocked again %ld\n", sigismember(&set, SIGALRM), 0);
	}
	alarm_in(1000, 0);
	got = sigwaitinfo(&alarm_set, &info);
	say("sigwaitinfo %ld code %ld\n", got, info.si_code);
	alarm_in(1000, 0);
	got = signalfd(-1, &alarm_set, 0);
	got = read((int)got, &from, sizeof(from));
	say("signalfd %ld %ld\n", got, from.ssi_signo);
	say("seen %ld\n", seen, 0);
}

/* --- away from handlers --- */

static void jump(int number)
{
	seen++;
	siglongjmp(again, number);
}

static void jumps(void)
{
	volatile int n = 0;
	int number;

	signal(SIGSEGV, jump);
	signal(SIGFPE, jump);
	signal(SIGUSR1, jump);
	number = sigsetjmp(again, 1);
	say("came by %ld, %ld\n", number, n);
	if (n++ < 9) {
		if (n % 3 == 0)
			*nowhere_at = 1;
		else if (n % 3 == 1)
			raise(SIGUSR1);
		else
			n = 1 / (n - n) + n;
	}
	say("seen %ld\n", seen, 0);
}

static void to_altered(int number, siginfo_t *info, void *context)
{
	static ucontext_t saved;
	ucontext_t *uc = context;

	(void)info;
	if (number == SIGUSR1) {
		memcpy(&saved, uc, sizeof(saved));
		return;
	}
	uc->uc_mcontext.gregs[REG_R15] = 0x99;
	sigaddset(&uc->uc_sigmask, SIGHUP);
}

static void altered(void)
{
	long r15 = 1;

	handle(SIGUSR2, to_altered, 0);
	__asm__ volatile("mov $1, %%r15\n\tmov $62, %%eax\n\tsyscall\n\tmov %%r15, %0"
			 : "=r"(r15)
			 : "D"((long)getpid()), "S"((long)SIGUSR2)
			 : "rax", "rcx", "r11", "r15", "memory");
	say("r15 %lx\n", r15, 0);
	mask_of("after:");
}

/* --- many, while code is made and runs --- */

static void profile(void)
{
	struct itimerval every = {{0, 300}, {0, 300}};
	unsigned char code[] = {0xb8, 1, 0, 0, 0, 0xc3};
	unsigned char *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned sum = 0;

	signal(SIGPROF, count);
	signal(SIGVTALRM, count);
	signal(SIGALRM, count);
	setitimer(ITIMER_PROF, &every, NULL);
	setitimer(ITIMER_VIRTUAL, &every, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	for (unsigned n = 0; n < 3000 || seen < 100; n++) {
		code[1] = (unsigned char)n;
		memcpy(at, code, sizeof(code));
		sum += (unsigned)((int (*)(void))at)() == (n & 255);
		sum -= 1;
		getppid();
	}
	memset(&every, 0, sizeof(every));
	setitimer(ITIMER_PROF, &every, NULL);
	setitimer(ITIMER_VIRTUAL, &every, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	say("wrong %ld\n", sum, 0);
}

static void dies(void)
{
	sigset_t set;

	sigfillset(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	handle(SIGSEGV, tell, 0);
	*nowhere_at = 1; /* blocked: the handler is not asked */
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} modes[] = {
		{"masks", masks},     {"flags", flags},	    {"stacks", stacks}, {"faults", faults},
		{"nowhere", nowhere}, {"state", state},	    {"calls", calls},	{"jumps", jumps},
		{"altered", altered}, {"profile", profile}, {"dies", dies},
	};

	for (unsigned n = 0; n < sizeof(modes) / sizeof(modes[0]); n++)
		if (argc > 1 && !strcmp(modes[n].name, argv[1])) {
			modes[n].run();
			fputs(text, stdout);
			return 40;
		}
	return 99;
}
