/* SPDX-License-Identifier: MIT */
/*
 * profile-program.cc: calls of all kinds whose numbers are known: recursion, calls through the
 * procedure linkage table, jumps to functions, longjmp, exceptions, contexts, signals, threads,
 * processes.  profile.sh compares them with an exact profile.
 */
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define FUNCTION extern "C" __attribute__((noinline))

static volatile unsigned sink;

FUNCTION void leaf(unsigned n)
{
	while (n--)
		sink = sink + 1;
}

/* --- recursion: 177 calls of fibonacci(10), 8 of each of two functions that call each other ---- */

FUNCTION unsigned fibonacci(unsigned n)
{
	unsigned sum = n;

	if (n >= 2) {
		sum = fibonacci(n - 1);
		sum += fibonacci(n - 2);
	}
	sink = sink + 1; /* not a loop */
	return sum;
}

FUNCTION void odd(unsigned n);
FUNCTION void even(unsigned n)
{
	leaf(1);
	if (n)
		odd(n - 1);
	sink = sink + 1; /* not a jump to odd() */
}
FUNCTION void odd(unsigned n)
{
	leaf(1);
	if (n)
		even(n - 1);
	sink = sink + 1;
}

/* --- jumps to functions: three times from tail_first() to tail_second() to leaf() ------------- */

FUNCTION void tail_second(unsigned n)
{
	leaf(n + 1);
}
FUNCTION void tail_first(unsigned n)
{
	tail_second(n + 1);
}

/* --- longjmp: out of the middle of a recursion, five times ------------------------------------ */

static jmp_buf back;

FUNCTION void jump_inner(unsigned n)
{
	if (!n)
		longjmp(back, 1);
	jump_inner(n - 1);
	sink = sink + 1;
}
FUNCTION void after_jump()
{
	leaf(100);
	sink = sink + 1;
}
FUNCTION void jump_outer()
{
	if (!setjmp(back))
		jump_inner(3);
	else
		after_jump();
	sink = sink + 1;
}

/* --- exceptions: out of the middle of a recursion, four times --------------------------------- */

FUNCTION void throw_inner(unsigned n)
{
	if (!n)
		throw 1;
	throw_inner(n - 1);
	sink = sink + 1;
}
FUNCTION void after_catch()
{
	leaf(100);
	sink = sink + 1;
}
FUNCTION void catch_outer()
{
	try {
		throw_inner(3);
	} catch (int) {
		after_catch();
	}
	sink = sink + 1;
}

/* --- contexts: two, which take turns seven times ---------------------------------------------- */

static ucontext_t main_context, context[2];

FUNCTION void context_step(unsigned n)
{
	leaf(n);
	sink = sink + 1;
}
FUNCTION void context_deep(unsigned which)
{
	context_step(10 + 10 * which);
	swapcontext(&context[which], which ? &main_context : &context[1]);
	sink = sink + 1;
}
FUNCTION void context_main(unsigned which)
{
	for (;;)
		context_deep(which);
}
FUNCTION void contexts()
{
	static char stack[2][65536];

	for (unsigned i = 0; i < 2; i++) {
		getcontext(&context[i]);
		context[i].uc_stack.ss_sp = stack[i];
		context[i].uc_stack.ss_size = sizeof(stack[i]);
		makecontext(&context[i], (void (*)())context_main, 1, i);
	}
	for (unsigned i = 0; i < 7; i++) {
		swapcontext(&main_context, &context[0]);
		leaf(5);
	}
}

/* --- signals: six handlers return, two are left by siglongjmp --------------------------------- */

static sigjmp_buf out;

FUNCTION void in_handler(unsigned n)
{
	leaf(n);
	sink = sink + 1;
}
FUNCTION void handler(int)
{
	in_handler(20);
	sink = sink + 1;
}
FUNCTION void leaving_handler(int)
{
	in_handler(30);
	siglongjmp(out, 1);
}
FUNCTION void signalled(int sig)
{
	raise(sig);
	leaf(2);
	sink = sink + 1;
}
FUNCTION void left()
{
	leaf(3);
	sink = sink + 1;
}
FUNCTION void signals()
{
	signal(SIGUSR1, handler);
	signal(SIGUSR2, leaving_handler);
	for (unsigned i = 0; i < 6; i++)
		signalled(SIGUSR1);
	for (unsigned i = 0; i < 2; i++) {
		if (!sigsetjmp(out, 1))
			signalled(SIGUSR2);
		left();
	}
}

/* --- threads and processes -------------------------------------------------------------------- */

FUNCTION void *thread(void *times)
{
	for (size_t i = 0; i < (size_t)times; i++)
		leaf(7);
	return NULL;
}
FUNCTION void threads()
{
	pthread_t id[2];

	for (size_t i = 0; i < 2; i++)
		pthread_create(&id[i], NULL, thread, (void *)(i + 11));
	for (size_t i = 0; i < 2; i++)
		pthread_join(id[i], NULL);
}
FUNCTION void in_child()
{
	leaf(9);
	sink = sink + 1;
}
FUNCTION void children()
{
	for (unsigned i = 0; i < 3; i++) {
		if (!fork()) {
			in_child();
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
	if (!vfork()) {
		in_child();
		execl("/nonexistent", "x", (char *)NULL);
		execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
	wait(NULL);
}

/* A call that fills several buffers of the log. */
FUNCTION void busy()
{
	for (unsigned i = 0; i < 100000; i++) {
		leaf(0);
		sink = sink + 1;
	}
	sink = sink + 1;
}
FUNCTION void busy_alone()
{
	busy();
	sink = sink + 1;
}
FUNCTION void busy_while_a_child_begins()
{
	for (unsigned i = 0; i < 10; i++) {
		if (!fork())
			_exit(0);
		busy();
		wait(NULL);
	}
}

/* --- the procedure linkage table -------------------------------------------------------------- */

FUNCTION int compare(const void *a, const void *b)
{
	sink = sink + 1;
	return *(const int *)a - *(const int *)b;
}
FUNCTION void linkage()
{
	int list[2] = {2, 1};

	for (unsigned i = 0; i < 13; i++)
		qsort(list, 2, sizeof(list[0]), compare);
	for (unsigned i = 0; i < 4; i++)
		sink = sink + (unsigned)strtol("12", NULL, 10);
}

/* A REP instruction of no length accesses no memory. */
FUNCTION void repeated(size_t n)
{
	static char buffer[64];
	void *to = buffer;

	for (unsigned i = 0; i < 5; i++) {
		size_t count = n;

		__asm__ volatile("rep stosb" : "+D"(to), "+c"(count) : "a"(0) : "memory");
	}
}

/* --- indirect branches: seven calls of each of two functions, by a jump the same, and a switch ------- */

FUNCTION void first()
{
	leaf(1);
	sink = sink + 1;
}
FUNCTION void second()
{
	leaf(2);
	sink = sink + 1;
}
static void (*volatile target[2])() = {first, second};
FUNCTION void jump_on(unsigned n)
{
	target[n]();
}
FUNCTION void switched(unsigned n)
{
	static const void *const place[] = {&&zero, &&one, &&two};

	goto *place[n];
zero:
	leaf(3);
one:
	leaf(4);
two:
	sink = sink + 1;
}
FUNCTION void indirect()
{
	for (unsigned i = 0; i < 14; i++) {
		target[i % 2]();
		jump_on(i % 2);
		switched(i % 3);
	}
}

/* Everything that one thread does, several times. */
static void rounds(unsigned n)
{
	for (; n; n--) {
		sink = fibonacci(6);
		even(7);
		tail_first(5);
		jump_outer();
		catch_outer();
		contexts();
		signals();
		linkage();
		indirect();
		jump_outer();
		first();
	}
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		rounds((unsigned)atoi(argv[1]));
		return 0;
	}
	sink = fibonacci(10);
	even(7);
	for (unsigned i = 0; i < 3; i++)
		tail_first(5);
	for (unsigned i = 0; i < 5; i++)
		jump_outer();
	for (unsigned i = 0; i < 4; i++)
		catch_outer();
	contexts();
	signals();
	threads();
	children();
	busy_alone();
	busy_while_a_child_begins();
	linkage();
	repeated(0);
	repeated(3);
	puts("done");
	return 0;
}
