/* SPDX-License-Identifier: MIT */
/* profile-machine.c: instructions whose costs on a machine are known, each at a symbol. */
#include <stdint.h>
#include <sys/mman.h>

#define PAGES 4096
#define PAGE  4096
#define TIMES 4096

/* Loads from one page after the other. */
__attribute__((noinline)) static void pages(const uint8_t *memory)
{
	for (uint64_t i = 0; i < PAGES; i++)
		__asm__ volatile(".globl new_page\nnew_page:\n mov (%0), %%rax\n"
				 ".globl after_page\nafter_page:\n nop"
				 :
				 : "r"(memory + i * PAGE)
				 : "rax", "memory");
}

/* Multiplications of which each needs the one before it. */
__attribute__((noinline)) static void multiply(void)
{
	uint64_t times = TIMES;

	__asm__ volatile(".globl chain\n1:\nchain: imul %%rax, %%rax\n dec %0\n jnz 1b"
			 : "+r"(times)
			 :
			 : "rax", "cc");
}

/* A branch by the bits of xorshift, and one that is always taken. */
__attribute__((noinline)) static void jump(void)
{
	uint64_t x = 88172645463325252, times = TIMES;

	__asm__ volatile("1: mov %0, %%rax\n shl $13, %%rax\n xor %%rax, %0\n"
			 "mov %0, %%rax\n shr $7, %%rax\n xor %%rax, %0\n"
			 "mov %0, %%rax\n shl $17, %%rax\n xor %%rax, %0\n"
			 "test $0x100, %0\n"
			 ".globl guess\nguess: jz 2f\n nop\n"
			 "2: test %0, %0\n"
			 ".globl always\nalways: jnz 3f\n nop\n"
			 "3: dec %1\n jnz 1b"
			 : "+r"(x), "+r"(times)
			 :
			 : "rax", "cc");
}

int main(void)
{
	const uint8_t *memory = mmap(0, (size_t)PAGES * PAGE, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return 1;
	pages(memory);
	multiply();
	jump();
	return 0;
}
