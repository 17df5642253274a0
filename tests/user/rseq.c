/* SPDX-License-Identifier: MIT */
/*
 * rseq.c: restartable sequences (rseq(2)).  The argument chooses the test; all print the same
 * natively and under softpmu.
 *
 *	errors		What the call returns for good and bad arguments.
 *	processor	The area holds the processor's number, in each thread.
 *	counters	Threads add to a counter of each processor, while signals interrupt them and
 *			they move between processors.  No addition is lost.
 *	library		The same in the C library's area, with its signature.
 *	interrupted	A signal aborts a section: registers, flags and the frame of the signal.
 *	faults		An instruction of a section faults.
 *	unnamed		A descriptor in allocated memory.
 *	refused		Descriptors that the kernel refuses end a child by SIGSEGV.
 *	children	fork(2), vfork(2), threads and execve(2).
 *	exits		A process ends in the middle of a section.
 *	alone N		N sections in one thread.  Prints how often one was aborted.
 */
#define _GNU_SOURCE
#include "corners.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>

#define OWN_SIGNATURE 0x1a2b3c4d
#define AREA_BYTES    32
#define WORKERS	      6
#define PINNED	      2
#define ADDITIONS     10000
#define FLAG_CF	      1

#define NAME_OF(value)	 #value
#define STRING_OF(value) NAME_OF(value)

static __thread struct rseq own_area;
static __thread struct rseq *area; /* the one that is registered */

static long call(void *at, unsigned bytes, int flags, unsigned signature)
{
	return syscall(SYS_rseq, at, bytes, flags, signature);
}

static struct rseq *library_area(void)
{
	return (struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);
}

static void leave_library(void)
{
	if (__rseq_size && (int)library_area()->cpu_id >= 0)
		need(!call(library_area(), AREA_BYTES, RSEQ_FLAG_UNREGISTER, RSEQ_SIG), "leave");
}

static void register_own(void)
{
	leave_library();
	area = &own_area;
	need(!call(area, AREA_BYTES, 0, OWN_SIGNATURE), "register");
}

/* --- errors --- */

static void error_of(const char *name, void *at, unsigned bytes, int flags, unsigned signature)
{
	long result = call(at, bytes, flags, signature);

	printf("%s: %s\n", name, result ? strerrorname_np(errno) : "done");
}

static void errors(void)
{
	static struct rseq first, second;

	error_of("an area besides the library's", &first, AREA_BYTES, 0, OWN_SIGNATURE);
	leave_library();
	error_of("nothing to leave", &first, AREA_BYTES, RSEQ_FLAG_UNREGISTER, OWN_SIGNATURE);
	error_of("no area to leave", NULL, AREA_BYTES, RSEQ_FLAG_UNREGISTER, OWN_SIGNATURE);
	error_of("unknown flag", &first, AREA_BYTES, 2, OWN_SIGNATURE);
	error_of("too short", &first, 16, 0, OWN_SIGNATURE);
	error_of("shorter by one", &first, AREA_BYTES - 1, 0, OWN_SIGNATURE);
	error_of("not aligned", (char *)&first + 8, AREA_BYTES, 0, OWN_SIGNATURE);
	error_of("beyond memory", (void *)-AREA_BYTES, AREA_BYTES, 0, OWN_SIGNATURE);
	error_of("registered", &first, AREA_BYTES, 0, OWN_SIGNATURE);
	error_of("again", &first, AREA_BYTES, 0, OWN_SIGNATURE);
	error_of("again, another signature", &first, AREA_BYTES, 0, RSEQ_SIG);
	error_of("again, another length", &first, 64, 0, OWN_SIGNATURE);
	error_of("another area", &second, AREA_BYTES, 0, OWN_SIGNATURE);
	error_of("left with an unknown flag", &first, AREA_BYTES, 3, OWN_SIGNATURE);
	error_of("left with another length", &first, 64, RSEQ_FLAG_UNREGISTER, OWN_SIGNATURE);
	error_of("left with another area", &second, AREA_BYTES, RSEQ_FLAG_UNREGISTER,
		 OWN_SIGNATURE);
	error_of("left with another signature", &first, AREA_BYTES, RSEQ_FLAG_UNREGISTER, RSEQ_SIG);
	error_of("left", &first, AREA_BYTES, RSEQ_FLAG_UNREGISTER, OWN_SIGNATURE);
	printf("then the processor is %d\n", (int)first.cpu_id);
	error_of("left twice", &first, AREA_BYTES, RSEQ_FLAG_UNREGISTER, OWN_SIGNATURE);
	error_of("another one", &second, AREA_BYTES, 0, RSEQ_SIG);
}

/* --- processor --- */

static int known_processor(const struct rseq *of)
{
	return of->cpu_id < CPU_SETSIZE && of->cpu_id_start < CPU_SETSIZE;
}

static void *processor_of_thread(void *unused)
{
	(void)unused;
	register_own();
	printf("own area: %d\n", known_processor(area));
	return NULL;
}

static void run_thread(void *(*body)(void *))
{
	pthread_t thread;

	need(!pthread_create(&thread, NULL, body, NULL), "pthread_create");
	pthread_join(thread, NULL);
}

static void processor(void)
{
	if (__rseq_size)
		printf("the library's area: %d\n", known_processor(library_area()));
	run_thread(processor_of_thread);
	processor_of_thread(NULL);
}

/* --- counters --- */

/*
 * Adds 1 to *to, if the thread is on this processor.  Between the load and the store the section
 * takes its time: another thread that comes between would lose its additions.  Descriptor 3 is of
 * the section from 1 to 2, which aborts at 4, after the signature.
 */
/* clang-format off */
#define ADD(signature)                                                \
	".pushsection rseq_table, \"aw\"\n\t.balign 32\n"             \
	"3:\t.long 0, 0\n\t.quad 1f, 2f - 1f, 4f\n\t.popsection\n"    \
	".pushsection .text.unlikely, \"ax\"\n"                       \
	"\t.long " STRING_OF(signature) "\n"                          \
	"4:\tjmp %l[aborted]\n\t.popsection\n"                        \
	"\tleaq 3b(%%rip), %%rax\n"                                   \
	"\tmovq %%rax, %[cs]\n"                                       \
	"1:\tcmpl %[cpu], %[cpu_id]\n"                                \
	"\tjne %l[elsewhere]\n"                                       \
	"\tmovq (%[to]), %%rcx\n"                                     \
	"\tmovl $12, %%edx\n"                                         \
	"5:\tdecl %%edx\n"                                            \
	"\tjnz 5b\n"                                                  \
	"\tincq %%rcx\n"                                              \
	"\tmovq %%rcx, (%[to])\n"                                     \
	"2:"
/* clang-format on */

enum added { ADDED, ABORTED, ELSEWHERE };

#define DEFINE_ADD(name, signature)                                                                \
	static enum added name(struct rseq *in, long *to, unsigned cpu)                            \
	{                                                                                          \
		__asm__ goto(ADD(signature)                                                        \
			     :                                                                     \
			     : [cs] "m"(in->rseq_cs), [cpu_id] "m"(in->cpu_id), [cpu] "r"(cpu),    \
			       [to] "r"(to)                                                        \
			     : "rax", "rcx", "rdx", "cc", "memory"                                 \
			     : aborted, elsewhere);                                                \
		return ADDED;                                                                      \
	aborted:                                                                                   \
		return ABORTED;                                                                    \
	elsewhere:                                                                                 \
		return ELSEWHERE;                                                                  \
	}
DEFINE_ADD(add_own, OWN_SIGNATURE)
DEFINE_ADD(add_library, 0x53053053)

static struct counter {
	long value;
	char line[56];
} counter[CPU_SETSIZE];
static int in_library;
static volatile int working;

static void *work(void *cpus)
{
	if (cpus)
		need(!sched_setaffinity(0, sizeof(cpu_set_t), cpus), "sched_setaffinity");
	if (in_library)
		area = library_area();
	else
		register_own();
	for (int done = 0; done < ADDITIONS;) {
		unsigned cpu = *(volatile unsigned *)&area->cpu_id_start;
		enum added result = in_library ? add_library(area, &counter[cpu].value, cpu)
					       : add_own(area, &counter[cpu].value, cpu);

		done += result == ADDED;
	}
	__atomic_sub_fetch(&working, 1, __ATOMIC_RELAXED);
	return NULL;
}

static void ignore(int signal)
{
	(void)signal;
}

static void handle(int number, void (*handler)(int, siginfo_t *, void *))
{
	struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};

	need(!sigaction(number, &action, NULL), "sigaction");
}

/* The n-th processor that the program may use, and how many there are. */
static int processors(int n, cpu_set_t *one)
{
	cpu_set_t all;
	int found = 0;

	need(!sched_getaffinity(0, sizeof(all), &all), "sched_getaffinity");
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &all) && found++ == n) {
			CPU_ZERO(one);
			CPU_SET(cpu, one);
		}
	return found;
}

static void disturb(const pthread_t *thread)
{
	cpu_set_t cpus;
	int n = processors(0, &cpus);

	for (unsigned i = 0; working; i++) {
		unsigned which = i % WORKERS;

		pthread_kill(thread[which], SIGUSR1);
		processors((int)(i / WORKERS) % n, &cpus);
		if (which >= PINNED)
			pthread_setaffinity_np(thread[which], sizeof(cpus), &cpus);
		usleep(300);
	}
}

static void counters(void)
{
	pthread_t thread[WORKERS];
	cpu_set_t first;
	long sum = 0;

	processors(0, &first);
	signal(SIGUSR1, ignore);
	working = WORKERS;
	for (int i = 0; i < WORKERS; i++)
		need(!pthread_create(&thread[i], NULL, work, i < PINNED ? &first : NULL), "thread");
	disturb(thread);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < CPU_SETSIZE; i++)
		sum += counter[i].value;
	printf("%ld of %d\n", sum, WORKERS * ADDITIONS);
}

static void library(void)
{
	if (!__rseq_size) {
		printf("no area\n");
		return;
	}
	in_library = 1;
	counters();
}

/* --- sections of one instruction --- */

enum { COMMITS = 100000, COMMIT_SIGNALS = 3000 };

/*
 * count_once(area, word): adds 1 to the word in a section of one instruction, and returns 1; or 0
 * if it was aborted.  The instruction is slow, so that many interrupts come directly after it.
 * Then it has committed, and may not be aborted any more.
 */
int count_once(struct rseq *in, long *word);
__asm__(".pushsection rseq_table, \"aw\"\n\t.balign 32\n"
	"3:\t.long 0, 0\n\t.quad 1f, 2f - 1f, 4f\n\t.popsection\n"
	".text\n"
	"count_once:\n\tleaq 3b(%rip), %rax\n\tmovq %rax, 8(%rdi)\n"
	"1:\tlock incq (%rsi)\n"
	"2:\tmovl $1, %eax\n\tret\n\t.long " STRING_OF(
		OWN_SIGNATURE) "\n"
			       "4:\txorl %eax, %eax\n\tret\n");

static volatile int commit_signals;

static void count_signal(int number)
{
	(void)number;
	commit_signals++;
}

static void committed(void)
{
	const struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
	long word = 0, returned = 0;

	register_own();
	signal(SIGALRM, count_signal);
	need(!setitimer(ITIMER_REAL, &often, NULL), "setitimer");
	while (returned < COMMITS || commit_signals < COMMIT_SIGNALS)
		returned += count_once(area, &word);
	need(!setitimer(ITIMER_REAL, &never, NULL), "setitimer");
	printf("committed and aborted: %ld\n", word - returned);
}

/* --- sections that wait to be aborted --- */

/*
 * wait_in(area, descriptor, word): arms the descriptor, sets registers and CF, and stores RCX into
 * the word until it is aborted.  Then it returns what is left of the registers, combined.
 */
long wait_in(struct rseq *in, const struct rseq_cs *descriptor, long *word);
extern const char wait_start[], wait_end[], wait_abort[];
__asm__(".text\n"
	"wait_in:\n\tmovl $0x100, %ecx\n\tmovl $0x20, %r8d\n\tmovl $3, %r9d\n\txorl %eax, %eax\n\t"
	"stc\n\tmovq %rsi, 8(%rdi)\n"
	"wait_start:\n\tmovq %rcx, (%rdx)\n\tpause\n\tjmp wait_start\n"
	"wait_end:\n\tud2\n\t.long " STRING_OF(
		OWN_SIGNATURE) "\n"
			       "wait_abort:\n\tsetc %al\n\tshll $16, %eax\n\taddl %ecx, "
			       "%eax\n\taddl %r8d, %eax\n\t"
			       "addl %r9d, %eax\n\tret\n");

static struct rseq_cs waiting(void)
{
	return (struct rseq_cs){
		.start_ip = (uintptr_t)wait_start,
		.post_commit_offset = (uintptr_t)(wait_end - wait_start),
		.abort_ip = (uintptr_t)wait_abort,
	};
}

static void after(long microseconds)
{
	struct itimerval timer = {{0, 0}, {0, microseconds}};

	need(!setitimer(ITIMER_REAL, &timer, NULL), "setitimer");
}

static volatile int came;
static volatile uintptr_t came_at, came_about, came_flags, came_word;

static void note(int number, siginfo_t *info, void *context)
{
	const greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;

	came = number;
	came_at = (uintptr_t)regs[REG_RIP];
	came_flags = (uintptr_t)regs[REG_EFL] & FLAG_CF;
	came_about = (uintptr_t)info->si_addr;
	came_word = area->rseq_cs;
}

static void wait_and_print(const char *name, const struct rseq_cs *descriptor)
{
	long word = 0, result;

	came = 0;
	after(3000);
	result = wait_in(area, descriptor, &word);
	printf("%s: registers %lx, stored %lx, then rseq_cs is %lx\n", name, result, word,
	       (long)area->rseq_cs);
	/* The thread may have been aborted before the timer. */
	while (!came)
		;
	printf("%s: signal %d, rseq_cs was %lx\n", name, came, came_word);
}

static void interrupted(void)
{
	static struct rseq_cs descriptor;
	long word;

	descriptor = waiting();
	register_own();
	handle(SIGALRM, note);
	for (int i = 0; i < 5; i++)
		wait_and_print("interrupted", &descriptor);
	/* Once it is the signal that aborts, the handler finds the abort handler. */
	for (int i = 0; i < 10000 && came_at != (uintptr_t)wait_abort; i++) {
		came = 0;
		after(500);
		wait_in(area, &descriptor, &word);
		while (!came)
			;
	}
	printf("at the abort handler: %d, carry %d\n", came_at == (uintptr_t)wait_abort,
	       (int)came_flags);
}

static void unnamed(void)
{
	struct rseq_cs *volatile descriptor = aligned_alloc(32, sizeof(*descriptor));
	static const unsigned char code[] = {
		0x48, 0x89, 0x77, 0x08,		 /* mov %rsi, 8(%rdi) */
		0x48, 0xff, 0x02,		 /* start: incq (%rdx) */
		0x48, 0x83, 0x3a, 0x05,		 /* cmpq $5, (%rdx) */
		0x7d, 0x05,			 /* jge spin */
		0x31, 0xc0, 0xc3,		 /* xor %eax, %eax; ret */
		0x90, 0x90,			 /* nop; nop */
		0xeb, 0xfe,			 /* spin: jmp spin */
		0x4d, 0x3c, 0x2b, 0x1a,		 /* end: the signature */
		0xb8, 0x01, 0,	  0,	0, 0xc3, /* abort: mov $1, %eax; ret */
	};
	unsigned char *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int (*run)(struct rseq *, struct rseq_cs *, long *) = (void *)at;
	long word = 0;
	int i;

	need(at != MAP_FAILED, "mmap");
	memcpy(at, code, sizeof(code));
	register_own();
	handle(SIGALRM, note);
	*descriptor = (struct rseq_cs){
		.start_ip = (uintptr_t)at + 4,
		.post_commit_offset = 16,
		.abort_ip = (uintptr_t)at + 24,
	};
	for (i = 0; i < 4; i++) /* each is done before anything comes between, or once more */
		run(area, descriptor, &word);
	after(3000);
	while (!run(area, descriptor, &word))
		;
	printf("aborted, counted %d\n", word >= 4);
}

/* --- faults --- */

#define DEFINE_FAULT(name, instruction)                                                            \
	int name(struct rseq *in);                                                                 \
	extern const char name##_at[], name##_abort[];                                             \
	__asm__(".pushsection rseq_table, \"aw\"\n\t.balign 32\n"                                  \
		"3:\t.long 0, 0\n\t.quad " #name "_at, 2f - " #name "_at, " #name                  \
		"_abort\n\t.popsection\n\t"                                                        \
		".text\n" #name ":\n\txorl %ecx, %ecx\n\tleaq 3b(%rip), %rax\n\t"                  \
		"movq %rax, 8(%rdi)\n" #name "_at:\n\t" instruction "\n"                           \
		"2:\tmovl $2, %eax\n\tret\n\t.long " STRING_OF(                                    \
			OWN_SIGNATURE) "\n" #name "_abort:\n\tmovl $1, %eax\n\tret\n");
DEFINE_FAULT(loads, "movq 0x10(%rcx), %rcx")
DEFINE_FAULT(stores, "movq %rax, 0x20(%rcx)")
DEFINE_FAULT(divides, "divl %ecx")
DEFINE_FAULT(undefined, "ud2")
DEFINE_FAULT(breaks, "int3")

static void fault(const char *name, int (*run)(struct rseq *), const char *at, const char *abort)
{
	int result;

	came = 0;
	do
		result = run(area);
	while (!came); /* it may be aborted before it faults */
	printf("%s: %d, signal %d, at the abort handler %d, about %s\n", name, result, came,
	       came_at == (uintptr_t)abort,
	       came_about == (uintptr_t)at ? "the instruction"
	       : came_about < 4096	   ? "zero"
					   : "elsewhere");
}
#define FAULT(name) fault(#name, name, name##_at, name##_abort)

static void faults(void)
{
	register_own();
	handle(SIGSEGV, note);
	handle(SIGFPE, note);
	handle(SIGILL, note);
	handle(SIGTRAP, note);
	FAULT(loads);
	FAULT(stores);
	FAULT(divides);
	FAULT(undefined);
	FAULT(breaks);
	for (int i = 0; i < 3; i++)
		FAULT(stores);
}

/* --- refused --- */

static void leave_at_once(int number, siginfo_t *info, void *context)
{
	(void)info, (void)context;
	_exit(number);
}

/* The kernel ends the child by SIGSEGV, or lets its handler do that. */
static void refuse(const char *name, const struct rseq_cs *descriptor)
{
	const struct itimerval often = {{0, 2000}, {0, 2000}};
	int status, number;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (!child) {
		long word;

		signal(SIGALRM, ignore);
		handle(SIGSEGV, leave_at_once);
		need(!setitimer(ITIMER_REAL, &often, NULL), "setitimer");
		wait_in(area, descriptor, &word); /* comes back when it is aborted */
		_exit(0);
	}
	need(waitpid(child, &status, 0) == child, "waitpid");
	number = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
	printf("%s: %s\n", name, number == SIGSEGV ? "refused" : "accepted");
}

static void refused(void)
{
	static struct rseq_cs version, flags, beyond, around, signature, abort_beyond, good;

	version = flags = beyond = around = signature = abort_beyond = good = waiting();
	version.version = 1;
	flags.flags = 1;
	beyond.post_commit_offset = UINT64_C(1) << 60;
	around.abort_ip = around.start_ip;
	signature.abort_ip++;
	abort_beyond.abort_ip = UINT64_C(1) << 60;
	register_own();
	refuse("good", &good);
	refuse("version", &version);
	refuse("flags", &flags);
	refuse("beyond memory", &beyond);
	refuse("abort in the section", &around);
	refuse("signature", &signature);
	refuse("abort beyond memory", &abort_beyond);
	refuse("unreadable", (void *)64);
	refuse("descriptor beyond memory", (void *)(UINT64_C(1) << 60));
}

/* --- children --- */

static void *unregistered(void *unused)
{
	(void)unused;
	leave_library();
	error_of("a thread's own", &own_area, AREA_BYTES, 0, OWN_SIGNATURE);
	return NULL;
}

static void wait_for(pid_t child)
{
	int status = -1;

	need(waitpid(child, &status, 0) == child, "waitpid");
	printf("status %x\n", (unsigned)status);
	fflush(stdout);
}

static void children(void)
{
	static struct rseq others;
	static struct rseq_cs descriptor;
	static volatile long in_vfork;
	pid_t child;

	descriptor = waiting();
	register_own();
	handle(SIGALRM, note);
	fflush(stdout);
	child = fork();
	if (!child) {
		error_of("a forked child again", area, AREA_BYTES, 0, OWN_SIGNATURE);
		wait_and_print("in the child", &descriptor);
		run_thread(unregistered);
		error_of("it leaves", area, AREA_BYTES, RSEQ_FLAG_UNREGISTER, OWN_SIGNATURE);
		fflush(stdout);
		_exit(5);
	}
	wait_for(child);
	child = vfork();
	if (!child) {
		in_vfork = call(&others, AREA_BYTES, 0, RSEQ_SIG);
		_exit(6);
	}
	wait_for(child);
	printf("in vfork's child: %ld\n", in_vfork);
	error_of("the parent again", area, AREA_BYTES, 0, OWN_SIGNATURE);
	wait_and_print("in the parent", &descriptor);
	child = fork();
	if (!child) {
		execl("/proc/self/exe", "rseq", "processor", NULL);
		_exit(99);
	}
	wait_for(child);
}

/* --- exits --- */

static void exits(void)
{
	register_own();
	printf("exits in a section\n");
	fflush(stdout);
	__asm__ volatile(".pushsection rseq_table, \"aw\"\n\t.balign 32\n"
			 "3:\t.long 0, 0\n\t.quad 1f, 2f - 1f, 5f\n\t.popsection\n\t"
			 ".pushsection .text.unlikely, \"ax\"\n\t.long 0x1a2b3c4d\n"
			 "5:\tjmp 4f\n\t.popsection\n\t"
			 "leaq 3b(%%rip), %%rax\n\tmovq %%rax, %0\n"
			 "1:\tmovl $231, %%eax\n\tmovl $7, %%edi\n\tsyscall\n\tnop\n"
			 "2:\n4:"
			 : "=m"(area->rseq_cs)
			 :
			 : "rax", "rdi", "rcx", "r11", "memory");
	exit(7); /* it was aborted */
}

/* --- alone --- */

/* Adds 1 to *to n times, in 35 instructions each if nothing comes between.  Returns how often
 * something did. */
long add_alone(struct rseq *in, long *to, long n);
__asm__(".pushsection rseq_table, \"aw\"\n\t.balign 32\n"
	"3:\t.long 0, 0\n\t.quad 1f, 2f - 1f, 4f\n\t.popsection\n\t"
	".text\n"
	"add_alone:\n\txorl %eax, %eax\n"
	"6:\tmovl (%rdi), %ecx\n\tleaq 3b(%rip), %r8\n\tmovq %r8, 8(%rdi)\n"
	"1:\tcmpl %ecx, 4(%rdi)\n\tjne 7f\n\tmovq (%rsi), %r9\n\tmovl $12, %r10d\n"
	"5:\tdecl %r10d\n\tjnz 5b\n\tincq %r9\n\tmovq %r9, (%rsi)\n"
	"2:\tdecq %rdx\n\tjnz 6b\n\tret\n"
	"7:\tjmp 8f\n\t.long " STRING_OF(OWN_SIGNATURE) "\n"
							"4:\tnop\n"
							"8:\tincq %rax\n\tjmp 6b\n");

static long sections;

static void alone(void)
{
	long aborted, sum = 0;

	register_own();
	aborted = add_alone(area, &sum, sections);
	printf("%ld %ld\n", sum, aborted);
}

int main(int argc, char **argv)
{
	static const struct subject subjects[] = {
		{"errors", errors},
		{"processor", processor},
		{"counters", counters},
		{"library", library},
		{"committed", committed},
		{"interrupted", interrupted},
		{"faults", faults},
		{"unnamed", unnamed},
		{"refused", refused},
		{"children", children},
		{"exits", exits},
		{"alone", alone},
		{0},
	};

	if (argc == 3) {
		sections = strtol(argv[2], NULL, 10);
		argc = 2;
	}
	return run_subject(subjects, argc, argv);
}
