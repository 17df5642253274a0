/* SPDX-License-Identifier: MIT */
/*
 * exchange.c [LIBRARY...]: long loops that are in two files: one of the program that calls the
 * library's step(), and one of the library, turns(), that calls the program's own_step().  Both
 * files are built from this one, the library with -DLIBRARY.  -DADD=N is what a step of the file
 * adds.  Each library is loaded and run, and unloaded when another one takes its place.
 */
#include <dlfcn.h>
#include <stdio.h>

#ifndef ADD
#define ADD 1
#endif
#define TURNS 1000000

typedef unsigned step_function(unsigned x);

/* The loops call through a word in memory, as a procedure linkage table does. */
static step_function *called;

static unsigned turns_of(void)
{
	unsigned x = 0;

	for (int i = 0; i < TURNS; i++)
		x = called(x) ^ 1;
	/* If most instructions are the caller's, the engine more likely finds the loop there
	 * first. */
	for (int i = 0; i < TURNS; i++) {
		__asm__(".rept 40\n\tnop\n\t.endr");
		x = called(x) ^ 1;
	}
	return x;
}

#ifdef LIBRARY

unsigned step(unsigned x);
unsigned turns(step_function *call);

unsigned step(unsigned x)
{
	return x + ADD;
}

unsigned turns(step_function *call)
{
	called = call;
	return turns_of();
}

#else

static unsigned own_step(unsigned x)
{
	return x + ADD;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		void *library = dlopen(argv[i], RTLD_NOW);
		unsigned (*turns)(step_function * call);
		unsigned x;

		if (!library)
			return 1;
		called = (step_function *)dlsym(library, "step");
		turns = (unsigned (*)(step_function *))dlsym(library, "turns");
		x = turns_of();
		printf("%x %x\n", x, turns(own_step));
		if (i + 1 < argc)
			dlclose(library);
	}
	return 0;
}

#endif
