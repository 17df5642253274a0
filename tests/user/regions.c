/* SPDX-License-Identifier: MIT */
/*
 * regions.c: regions whose counts follow from the source (softpmu/client.h).  turns() is in
 * assembly: the part between its two requests has 2 * n instructions and n branches.
 *
 * Prints what it finds out about itself, which is the same with and without softpmu, except for
 * the last line.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <softpmu/client.h>

#define TEXT(x)	  #x
#define NUMBER(x) TEXT(x)
#define REQUEST(n)                                                                                 \
	".byte 0x0f, 0x1f, 0x84, 0x00\n\t.long " NUMBER(SPMU_CLIENT_REQUEST) " | " #n "\n\t"
#define FUNCTION(name) ".globl " name "\n\t.type " name ", @function\n" name ":\n\t"
#define END(name)      ".size " name ", . - " name "\n"

void turns(const char *name, unsigned n);
uint64_t untouched(void);
uint64_t recursive(unsigned n);
void tail(unsigned n);
void leaf(unsigned n);

/* clang-format off */
__asm__(".text\n"
	FUNCTION("turns")
	REQUEST(1)
	"1:\tdec %esi\n\t"
	"jnz 1b\n\t"
	REQUEST(2)
	"ret\n"
	END("turns")

	/* Returns 0 if a request changes neither flags nor registers. */
	FUNCTION("untouched")
	"mov $0x1234, %edx\n\tmov %edx, %ecx\n\tmov %edx, %r11d\n\txor %eax, %eax\n\tstc\n\t"
	"xor %edi, %edi\n\tstc\n\t"
	REQUEST(2)
	"setnc %al\n\t"
	"sub $0x1234, %rdx\n\tsub $0x1234, %rcx\n\tsub $0x1234, %r11\n\t"
	"or %rdx, %rax\n\tor %rcx, %rax\n\tor %r11, %rax\n\tor %rdi, %rax\n\tret\n"
	END("untouched")

	/* 2 * n instructions in the loop, and RET. */
	FUNCTION("leaf")
	"1:\tdec %edi\n\t"
	"jnz 1b\n\t"
	"ret\n"
	END("leaf")

	/* A tail call: leaf() returns to the caller of this.  1 instruction more. */
	FUNCTION("tail")
	"jmp leaf\n"
	END("tail")

	/* Calls itself n times: 5 instructions on each level but the last, which has 3. */
	FUNCTION("recursive")
	"dec %edi\n\t"
	"jz 1f\n\t"
	"call recursive\n\t"
	"nop\n"
	"1:\tret\n"
	END("recursive"));
/* clang-format on */

static void nest(void)
{
	spmu_client_start("outer");
	turns("inner", 1000);
	turns("inner", 500);
	spmu_client_stop("outer");
}

/* The second part is 100 turns longer than the first. */
static void parts(void)
{
	spmu_client_start("parts");
	for (unsigned i = 1; i <= 2; i++) {
		spmu_client_mark(i == 1 ? "one" : "two");
		turns("of-parts", 100 * i);
	}
	spmu_client_iterations(7);
	spmu_client_stop("parts");
}

/* A region that is started again continues, and ends with as many stops. */
static void again(void)
{
	spmu_client_start("again");
	spmu_client_start("again");
	turns("in-again", 10);
	spmu_client_stop("again");
	turns("in-again", 10);
	spmu_client_stop("again");
	turns("out-of-again", 10);
}

/* Names that cannot be used, and stops without a start. */
static void wrong(void)
{
	char name[200];

	spmu_client_stop("nothing");
	spmu_client_stop(NULL);
	spmu_client_mark("alone");
	spmu_client_start(NULL);
	spmu_client_start((const char *)8);
	spmu_client_iterations(5);
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	turns(name, 3);
	/* What is open in a region ends with it. */
	spmu_client_start("outside");
	spmu_client_start("forgotten");
	spmu_client_stop("outside");
	turns("later", 1000);
}

static void *thread(void *number)
{
	char name[32];
	unsigned n = (unsigned)(uintptr_t)number;

	snprintf(name, sizeof(name), "thread %u", n);
	for (unsigned i = 0; i < 100; i++) {
		turns(name, n * 1000);
		turns("threads", 50);
	}
	return NULL;
}

static void threads(void)
{
	pthread_t all[4];

	for (uintptr_t i = 0; i < 4; i++)
		pthread_create(&all[i], NULL, thread, (void *)(i + 1)); /* NOLINT */
	for (unsigned i = 0; i < 4; i++)
		pthread_join(all[i], NULL);
}

/* The child continues the region, so that its turns are in it, too. */
static void forks(void)
{
	spmu_client_start("forked");
	if (!fork()) {
		turns("child", 100000);
		_exit(0);
	}
	wait(NULL);
	spmu_client_stop("forked");
}

static void execs(char *self)
{
	char *const argv[] = {self, "executed", NULL};

	if (!fork()) {
		spmu_client_start("until exec");
		turns("before exec", 100000);
		execv(self, argv);
		_exit(1);
	}
	wait(NULL);
}

/* Many times, so that the code around becomes traces. */
static void often(void)
{
	for (unsigned i = 0; i < 30000; i++)
		turns("often", 4);
}

static void functions(void)
{
	for (unsigned i = 0; i < 1000; i++)
		leaf(100);
	for (unsigned i = 0; i < 100; i++)
		tail(10);
	for (unsigned i = 0; i < 10; i++)
		recursive(20);
}

/* leaf() is called in a function that is left by longjmp(). */
static jmp_buf back;
static __attribute__((noinline)) void jumps(void)
{
	leaf(10);
	longjmp(back, 1);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "executed")) {
		turns("after exec", 7);
		return 0;
	}
	if (argc > 1 && !strcmp(argv[1], "many")) {
		char name[32];

		for (unsigned i = 0; i < 300; i++) {
			snprintf(name, sizeof(name), "region %u", i);
			turns(name, 1);
		}
		return 0;
	}
	if (argc > 1 && !strcmp(argv[1], "functions")) {
		functions();
		if (!setjmp(back))
			jumps();
		return 0;
	}
	nest();
	parts();
	again();
	wrong();
	threads();
	forks();
	execs(argv[0]);
	often();
	printf("%s\n", untouched() ? "a register has changed" : "registers are the same");
	printf("%s\n", spmu_client_running() ? "with softpmu" : "alone");
	return 0;
}
