/* SPDX-License-Identifier: MIT */
/* spin: two loops of 10 instructions, 6 to 4, one of them in a shared library when LIBRARY is
 * defined. */
#define LOOP                                                                                       \
	"1:\n\tadd $1, %%rax\n\tlea 3(%%rax), %%rdx\n\tnop\n\tnop\n\tnop\n\tnop\n\txor %%edx, "    \
	"%%edx"                                                                                    \
	"\n\tnop\n\tdec %0\n\tjnz 1b"

#ifdef LIBRARY
void spin_library(long times)
{
	__asm__ volatile(LOOP : "+r"(times) : : "rax", "rdx", "cc");
}
#else
void spin_library(long times);

__attribute__((noinline)) static void spin_program(long times)
{
	__asm__ volatile(LOOP : "+r"(times) : : "rax", "rdx", "cc");
}

int main(void)
{
	volatile long times = 600000;

	spin_library(times);
	times = 400000;
	spin_program(times);
	return 0;
}
#endif
