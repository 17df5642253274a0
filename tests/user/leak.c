/* SPDX-License-Identifier: MIT */
/*
 * leak [lose]: threads have pointers to memory only on their stacks and in a register.  With `lose`
 * two blocks are lost.  Leak checkers stop all threads and search for pointers.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void *in_global;
static volatile int ready;

/* The pointer is in one register only, in code that never leaves. */
/* Calls malloc(3) in a way that hides the leak from static analysis. */
static void *(*const volatile allocate)(size_t) = malloc;

static __attribute__((noinline)) void hold(void *held)
{
	__asm__ volatile("movq %0, %%r12\n\txorl %k0, %k0\n\tlock incl %1\n1:\n\tpause\n\tjmp 1b"
			 : "+r"(held), "+m"(ready)
			 :
			 : "r12", "cc", "memory");
}

static void *spins(void *argument)
{
	hold(allocate(333));
	return argument;
}

static void *sleeps(void *argument)
{
	void *volatile on_stack = allocate(444);

	__atomic_add_fetch(&ready, 1, __ATOMIC_SEQ_CST);
	while (on_stack)
		pause();
	return argument;
}

static __attribute__((noinline)) void lose(size_t bytes)
{
	char *volatile lost = allocate(bytes);

	*lost = 1;
	lost = NULL;
}

int main(int argc, char **argv)
{
	pthread_t id;

	(void)argv;
	in_global = allocate(555);
	if (argc > 1) {
		lose(1234);
		lose(77);
	}
	pthread_create(&id, NULL, spins, NULL);
	pthread_create(&id, NULL, sleeps, NULL);
	while (ready < 2)
		usleep(1000);
	puts("done");
	return 0;
}
