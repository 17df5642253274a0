/* SPDX-License-Identifier: MIT */
/*
 * call_chains.cc: functions whose callers are known.  Each leaf_ function is called in one way, and
 * works for a while.  Frames have no frame pointers, unless the compiler is told otherwise.
 */
#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

/* TURNS: of the loop of a leaf; ROUNDS: how often each is called.  WITHOUT_TASKS leaves out what a debugger cannot step through:
 * handlers of signals and threads.  WITHOUT_EXCEPTIONS leaves out what needs unwind tables. */
#ifndef TURNS
#define TURNS  4000
#define ROUNDS 3
#endif

#define PLAIN extern "C" __attribute__((noipa))

static volatile unsigned work;

#define LEAF(name)                                                                                 \
	PLAIN void leaf_##name(void)                                                               \
	{                                                                                          \
		for (unsigned i = 0; i < TURNS; i++)                                               \
			work = work + i;                                                           \
	}
LEAF(recursion)
LEAF(tail)
LEAF(alloca)
LEAF(handler)
LEAF(other_stack)
LEAF(cleanup)
LEAF(catch)
LEAF(longjmp)
LEAF(compare)
LEAF(context)
LEAF(thread)
LEAF(pointer)
LEAF(start)

PLAIN void recursion(unsigned depth)
{
	if (depth)
		recursion(depth - 1);
	else
		leaf_recursion();
	work = work + 1;
}

PLAIN void tail(void)
{
	leaf_tail(); /* a jump */
}

PLAIN void with_alloca(unsigned bytes)
{
	char *room = (char *)alloca(bytes);

	memset(room, 1, bytes);
	leaf_alloca();
	work = work + room[bytes - 1];
}

PLAIN void handler(int sig)
{
	leaf_handler();
	work = work + (unsigned)sig;
}

PLAIN void other_handler(int sig)
{
	leaf_other_stack();
	work = work + (unsigned)sig;
}

PLAIN void trap_handler(int sig)
{
	leaf_start();
	work = work + (unsigned)sig;
}

/* The signal arrives before the first instruction of at_start(). */
PLAIN void before_start(void);
__asm__(".text\n"
	".type before_start, @function\n"
	"before_start:\n"
	"	.cfi_startproc\n	int3\n	.cfi_endproc\n"
	".size before_start, . - before_start\n"
	".type at_start, @function\n"
	"at_start:\n"
	"	.cfi_startproc\n	nop\n	ret\n	.cfi_endproc\n"
	".size at_start, . - at_start\n");

/* The signal arrives at the instruction after SYSCALL. */
PLAIN void interrupted(int sig)
{
	long result = SYS_tgkill;

	__asm__ volatile("syscall"
			 : "+a"(result)
			 : "D"((long)getpid()), "S"(syscall(SYS_gettid)), "d"((long)sig)
			 : "rcx", "r11", "memory");
	work = work + (unsigned)result;
}

PLAIN void signals(void)
{
	static char stack[65536];
	stack_t other = {};
	struct sigaction action = {};

	action.sa_handler = handler;
	sigaction(SIGUSR1, &action, nullptr);
	other.ss_sp = stack;
	other.ss_size = sizeof(stack);
	sigaltstack(&other, nullptr);
	action.sa_handler = other_handler;
	action.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR2, &action, nullptr);
	action.sa_handler = trap_handler;
	action.sa_flags = 0;
	sigaction(SIGTRAP, &action, nullptr);
	interrupted(SIGUSR1);
	interrupted(SIGUSR2);
	before_start();
	work = work + 1;
}

PLAIN void cleanup(void)
{
	leaf_cleanup();
	work = work + 1;
}

struct guard {
	~guard()
	{
		cleanup();
	}
};

PLAIN void thrower(int value)
{
	guard guard;

	throw value;
}

PLAIN void catcher(void)
{
	try {
		thrower(1);
	} catch (int value) {
		leaf_catch();
		work = work + (unsigned)value;
	}
}

static jmp_buf place;

PLAIN void jump(void)
{
	longjmp(place, 1);
}

PLAIN void jumper(unsigned depth)
{
	if (depth)
		jumper(depth - 1);
	else
		jump();
	work = work + 1;
}

PLAIN void jumps(void)
{
	if (setjmp(place))
		leaf_longjmp();
	else
		jumper(5);
	work = work + 1;
}

PLAIN int compare(const void *a, const void *b)
{
	leaf_compare();
	return *(const int *)a - *(const int *)b;
}

PLAIN void sorter(void)
{
	int values[4] = {4, 2, 3, 1};

	qsort(values, 4, sizeof(values[0]), compare);
	work = work + (unsigned)values[0];
}

static ucontext_t context, back;

PLAIN void in_context(void)
{
	leaf_context();
	work = work + 1;
}

PLAIN void contexts(void)
{
	static char stack[65536];

	getcontext(&context);
	context.uc_stack.ss_sp = stack;
	context.uc_stack.ss_size = sizeof(stack);
	context.uc_link = &back;
	makecontext(&context, in_context, 0);
	swapcontext(&back, &context);
	work = work + 1;
}

PLAIN void *thread(void *argument)
{
	leaf_thread();
	work = work + 1;
	return argument;
}

PLAIN void threads(void)
{
	pthread_t id;

	pthread_create(&id, nullptr, thread, nullptr);
	pthread_join(id, nullptr);
	work = work + 1;
}

PLAIN void pointer(void (*volatile function)(void))
{
	function();
	work = work + 1;
}

int main()
{
	for (unsigned i = 0; i < ROUNDS; i++) {
		recursion(5);
		tail();
		with_alloca(1000);
#ifndef WITHOUT_TASKS
		signals();
		threads();
#endif
#ifndef WITHOUT_EXCEPTIONS
		catcher();
#endif
		jumps();
		sorter();
		contexts();
		pointer(leaf_pointer);
	}
	return 0;
}
