/* SPDX-License-Identifier: MIT */
/*
 * kernels.c: small loops whose time bench/accuracy.py compares with the model's.
 *
 * kernels list			prints their names
 * kernels loops		prints those of loops.c
 * kernels run NAME TURNS	runs one
 * kernels clocks NAME TURNS	prints the core clocks of a turn
 * kernels frequency TURNS	prints core clocks in a second
 *
 * `clock` is a chain of additions of one clock each: it tells how many ticks a clock has.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <x86intrin.h>

#include "kernels.h"

/* Many short runs: some of them nobody interrupts. */
#define RUNS	    40
#define CLOCK_TURNS 20000
#define ARENA	    (64u << 20)
#define STREAM	    (8u << 20)
#define TOUCHED	    (64u << 10) /* by loops */

static uint8_t *arena;

/* A loop whose body is `body`.  RSI and RBX have the arena's address, RCX is 3, and RDI counts. */
#define LOOP(name, body)                                                                           \
	static void name(uint64_t turns)                                                           \
	{                                                                                          \
		__asm__ volatile("mov %1, %%rsi\n\tmov %1, %%rbx\n\tmov $3, %%ecx\n\t"             \
				 "xor %%eax, %%eax\n\txor %%edx, %%edx\n\t"                        \
				 "vzeroall\n\t.p2align 6\n1:\n\t" body "\n\tdec %0\n\tjnz 1b\n\t"  \
				 "vzeroupper\n\tfninit"                                            \
				 : "+D"(turns)                                                     \
				 : "r"(arena)                                                      \
				 : "rax", "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11",    \
				   "r12", "r13", "r14", "r15", "cc", "memory");                    \
	}
#define X2(body) body "\n\t" body "\n\t"
#define X4(body) X2(body) X2(body)
#define X8(body) X4(body) X4(body)

LOOP(clock_, X8("add $1, %%rax"))
LOOP(add_4, "add $1, %%rax\n\tadd $1, %%r8\n\tadd $1, %%r9\n\tadd $1, %%r10")
LOOP(add_8, "add $1, %%rax\n\tadd $1, %%r8\n\tadd $1, %%r9\n\tadd $1, %%r10\n\tadd $1, %%r11\n\t"
	    "add $1, %%r12\n\tadd $1, %%r13\n\tadd $1, %%r14")
LOOP(nops, X8(X2("nop")))
LOOP(moves, X4("mov %%rax, %%r8\n\tmov %%r8, %%rax"))
LOOP(zeros, X8("xor %%eax, %%eax\n\tadd $1, %%rax"))
LOOP(imul_chain, X4("imul %%rcx, %%rax"))
LOOP(imul_many, "imul %%rcx, %%rax\n\timul %%rcx, %%r8\n\timul %%rcx, %%r9\n\timul %%rcx, %%r10")
LOOP(mul_wide, X4("mov %%rcx, %%rax\n\tmul %%rcx"))
LOOP(adc_chain, X4("adc %%rcx, %%rax\n\tadc %%rcx, %%r8"))
LOOP(lea_simple, X4("lea (%%rax,%%rcx), %%rax"))
LOOP(lea_scaled, X4("lea 3(%%rax,%%rcx,4), %%rax"))
LOOP(shifts, X4("shl $3, %%rax\n\tshr $1, %%r8\n\tror $5, %%r9"))
LOOP(shift_cl, X4("shl %%cl, %%rax"))
LOOP(cmov_chain, X4("cmp %%rcx, %%rax\n\tcmovb %%rcx, %%rax"))
LOOP(popcnt_many, "popcnt %%rcx, %%rax\n\tpopcnt %%rcx, %%r8\n\tpopcnt %%rcx, %%r9\n\t"
		  "popcnt %%rcx, %%r10")
LOOP(bsf_tzcnt, "tzcnt %%rcx, %%rax\n\ttzcnt %%rcx, %%r8\n\tbswap %%r9\n\tbswap %%r10")
LOOP(div_64, "mov $1000, %%eax\n\txor %%edx, %%edx\n\tdiv %%rcx")
LOOP(div_chain, "or $64, %%eax\n\txor %%edx, %%edx\n\tdiv %%ecx\n\tor $64, %%eax")
LOOP(loads_6, "mov (%%rsi), %%rax\n\tmov 8(%%rsi), %%r8\n\tmov 16(%%rsi), %%r9\n\t"
	      "mov 24(%%rsi), %%r10\n\tmov 32(%%rsi), %%r11\n\tmov 40(%%rsi), %%r12")
LOOP(load_add, "add (%%rsi), %%rax\n\tadd 8(%%rsi), %%r8\n\tadd 16(%%rsi), %%r9\n\t"
	       "add 24(%%rsi), %%r10")
LOOP(load_chain, "movq %%rsi, (%%rsi)\n\t" X8("mov (%%rbx), %%rbx"))
LOOP(stores_4, "mov %%rax, (%%rsi)\n\tmov %%rax, 64(%%rsi)\n\tmov %%rax, 128(%%rsi)\n\t"
	       "mov %%rax, 192(%%rsi)")
LOOP(copies, "mov (%%rsi), %%rax\n\tmov %%rax, 4096(%%rsi)\n\tmov 8(%%rsi), %%r8\n\t"
	     "mov %%r8, 4104(%%rsi)")
LOOP(forwarding, X2("mov %%rax, (%%rsi)\n\tmov (%%rsi), %%rax\n\tadd $1, %%rax"))
LOOP(memory_add, "add %%rcx, (%%rsi)\n\tadd %%rcx, 64(%%rsi)")
LOOP(locked_add, "lock addq $1, (%%rsi)")
LOOP(addsd_chain, X4("addsd %%xmm1, %%xmm0"))
LOOP(addsd_4, "addsd %%xmm1, %%xmm0\n\taddsd %%xmm1, %%xmm2\n\taddsd %%xmm1, %%xmm3\n\t"
	      "addsd %%xmm1, %%xmm4")
LOOP(mulsd_chain, X4("mulsd %%xmm1, %%xmm0"))
LOOP(divsd_chain, "divsd %%xmm1, %%xmm0")
LOOP(sqrtsd_chain, "sqrtsd %%xmm0, %%xmm0")
LOOP(fma_chain, X4("vfmadd231sd %%xmm1, %%xmm2, %%xmm0"))
LOOP(fma_many, "vfmadd231ps %%ymm1, %%ymm2, %%ymm0\n\tvfmadd231ps %%ymm1, %%ymm2, %%ymm3\n\t"
	       "vfmadd231ps %%ymm1, %%ymm2, %%ymm4\n\tvfmadd231ps %%ymm1, %%ymm2, %%ymm5\n\t"
	       "vfmadd231ps %%ymm1, %%ymm2, %%ymm6\n\tvfmadd231ps %%ymm1, %%ymm2, %%ymm7\n\t"
	       "vfmadd231ps %%ymm1, %%ymm2, %%ymm8\n\tvfmadd231ps %%ymm1, %%ymm2, %%ymm9")
LOOP(paddd_many, "vpaddd %%ymm1, %%ymm2, %%ymm0\n\tvpaddd %%ymm1, %%ymm2, %%ymm3\n\t"
		 "vpaddd %%ymm1, %%ymm2, %%ymm4\n\tvpaddd %%ymm1, %%ymm2, %%ymm5")
LOOP(shuffles, "vpshufb %%xmm1, %%xmm2, %%xmm0\n\tvpshufd $1, %%xmm2, %%xmm3\n\t"
	       "vpunpcklbw %%xmm1, %%xmm2, %%xmm4\n\tvpshufd $2, %%xmm2, %%xmm5")
LOOP(pmulld_chain, X4("pmulld %%xmm1, %%xmm0"))
LOOP(gpr_to_vector, "movq %%rax, %%xmm0\n\tmovq %%xmm0, %%rax")
LOOP(convert, "cvtsi2sd %%rax, %%xmm0\n\tcvttsd2si %%xmm0, %%rax")
LOOP(crc32_chain, X4("crc32q %%rcx, %%rax"))
LOOP(aes_chain, X4("aesenc %%xmm1, %%xmm0"))
LOOP(vector_loads, "vmovups (%%rsi), %%ymm0\n\tvmovups 32(%%rsi), %%ymm1\n\t"
		   "vmovups 64(%%rsi), %%ymm2\n\tvmovups 96(%%rsi), %%ymm3")
LOOP(x87_chain, "fld1\n\tfadd %%st, %%st(0)\n\tfstp %%st(0)")
LOOP(two_jumps, "test %%rcx, %%rcx\n\tjz 2f\n\tadd $1, %%rax\n2:\tcmp $7, %%ecx\n\tje 3f\n\t"
		"add $1, %%r8\n3:")
LOOP(taken_jumps, "jmp 2f\n\tnop\n2:\tjmp 3f\n\tnop\n3:\tjmp 4f\n\tnop\n4:")
LOOP(pushes, "push %%rax\n\tpush %%rcx\n\tpop %%r8\n\tpop %%r9")
LOOP(calls, "call 2f\n\tjmp 3f\n2:\tret\n3:")
LOOP(mixed, "mov (%%rsi), %%rax\n\timul %%rcx, %%rax\n\tadd %%rax, %%r8\n\txor %%r8, %%r9\n\t"
	    "shr $3, %%r9\n\tmov %%r9, 4096(%%rsi)\n\tlea 1(%%r10), %%r10\n\tcmp %%r10, %%rcx")
LOOP(dot_product, "vmovupd (%%rsi), %%ymm1\n\tvfmadd231pd 4096(%%rsi), %%ymm1, %%ymm0\n\t"
		  "vmovupd 32(%%rsi), %%ymm2\n\tvfmadd231pd 4128(%%rsi), %%ymm2, %%ymm3")
LOOP(hash_step, "mov %%rax, %%rdx\n\tshr $33, %%rdx\n\txor %%rdx, %%rax\n\timul %%rcx, %%rax\n\t"
		"add $17, %%rax")

LOOP(convert_many, "cvttsd2si %%xmm0, %%rax\n\tcvttsd2si %%xmm0, %%r8\n\tcvttsd2si %%xmm0, %%r9\n\t"
		   "cvttsd2si %%xmm0, %%r10")
LOOP(insert_extract, "pinsrq $1, %%rax, %%xmm0\n\tpextrq $1, %%xmm0, %%rax")
LOOP(mask_of_bytes, "movq %%rax, %%xmm0\n\tpmovmskb %%xmm0, %%eax")
LOOP(vector_flags, "ptest %%xmm0, %%xmm1\n\tsetz %%al\n\tmovd %%eax, %%xmm0")
LOOP(compare_flags, "comisd %%xmm0, %%xmm1\n\tsetb %%al\n\tmovd %%eax, %%xmm0")
LOOP(x87_adds, "fld1\n\t" X4("fadd %%st, %%st(0)\n\t") "fstp %%st(0)")
LOOP(div_32, "mov $1000, %%eax\n\txor %%edx, %%edx\n\tdiv %%ecx")
LOOP(div_long, "mov $-1, %%rax\n\tmov $2, %%edx\n\tdiv %%rcx")
LOOP(not_taken, X4("test %%rcx, %%rcx\n\tjz 2f\n\t") "2:")
LOOP(long_nops, X8(X2("nopl 8(%%rax)")))
LOOP(calls_4, X4("call 2f\n\t") "jmp 3f\n\t.p2align 6\n2:\tadd $1, %%rax\n\tret\n3:")
LOOP(mulx_many, "mulx %%rcx, %%rax, %%r8\n\tmulx %%rcx, %%r9, %%r10\n\tmulx %%rcx, %%r11, %%r12\n\t"
		"mulx %%rcx, %%r13, %%r14")
LOOP(unpack, "vpunpcklbw %%xmm1, %%xmm2, %%xmm0\n\tvpunpcklbw %%xmm1, %%xmm2, %%xmm3\n\t"
	     "vpunpcklbw %%xmm1, %%xmm2, %%xmm4\n\tvpunpcklbw %%xmm1, %%xmm2, %%xmm5")
LOOP(byte_shuffles, "vpshufb %%xmm1, %%xmm2, %%xmm0\n\tvpshufb %%xmm1, %%xmm2, %%xmm3\n\t"
		    "vpshufb %%xmm1, %%xmm2, %%xmm4\n\tvpshufb %%xmm1, %%xmm2, %%xmm5")
LOOP(shifts_many, X4("shr $3, %%r8\n\tshr $3, %%r9\n\tshr $3, %%r10\n\tshr $3, %%r11"))

/* Each turn follows a pointer through some bytes in random order, a line at a time. */
static void **chased;

static void chase(uint64_t turns)
{
	__asm__ volatile(".p2align 6\n1:\tmov (%0), %0\n\tdec %1\n\tjnz 1b"
			 : "+r"(chased), "+r"(turns)::"cc");
}

static void prepare_chase(size_t bytes)
{
	size_t lines = bytes / 64;
	uint32_t *next = malloc(lines * sizeof(*next));
	uint64_t seed = 88172645463325252u;

	if (!next)
		exit(1);
	for (size_t i = 0; i < lines; i++)
		next[i] = (uint32_t)i;
	/* Sattolo's algorithm: one cycle through all. */
	for (size_t i = lines - 1; i; i--) {
		uint32_t swapped = next[i];
		size_t j;

		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		j = seed % i;
		next[i] = next[j];
		next[j] = swapped;
	}
	for (size_t i = 0; i < lines; i++)
		*(void **)(arena + i * 64) = arena + (size_t)next[i] * 64;
	free(next);
	chased = (void **)arena;
	chase(2 * lines);
}

/* Adds up 8 MB in order, a line in each turn. */
static void stream(uint64_t turns)
{
	const uint8_t *at = arena, *end = arena + STREAM;
	__asm__ volatile(".p2align 6\n1:\tadd (%0), %%rax\n\tadd $64, %0\n\tcmp %3, %0\n\t"
			 "cmovae %2, %0\n\tdec %1\n\tjnz 1b"
			 : "+r"(at), "+r"(turns)
			 : "r"(arena), "r"(end)
			 : "rax", "cc");
}

/* A branch that is taken or not by chance.  No run repeats the outcomes of another one. */
static void random_jump(uint64_t turns)
{
	static uint64_t seed = 88172645463325252u;

	__asm__ volatile(".p2align 6\n1:\tmov %1, %%rax\n\tshl $13, %%rax\n\txor %%rax, %1\n\t"
			 "mov %1, %%rax\n\tshr $7, %%rax\n\txor %%rax, %1\n\tmov %1, %%rax\n\t"
			 "shl $17, %%rax\n\txor %%rax, %1\n\ttest $1, %b1\n\tjz 2f\n\t"
			 "add $1, %%rdx\n2:\tdec %0\n\tjnz 1b"
			 : "+r"(turns), "+r"(seed)
			 :
			 : "rax", "rdx", "cc");
}

/* The same, without the branch. */
static void random_alone(uint64_t turns)
{
	uint64_t seed = 88172645463325252u;

	__asm__ volatile(".p2align 6\n1:\tmov %1, %%rax\n\tshl $13, %%rax\n\txor %%rax, %1\n\t"
			 "mov %1, %%rax\n\tshr $7, %%rax\n\txor %%rax, %1\n\tmov %1, %%rax\n\t"
			 "shl $17, %%rax\n\txor %%rax, %1\n\tdec %0\n\tjnz 1b"
			 : "+r"(turns), "+r"(seed)
			 :
			 : "rax", "cc");
}

/* An inner loop of six turns. */
static void inner_loop(uint64_t turns)
{
	__asm__ volatile(
		".p2align 6\n1:\tmov $6, %%ecx\n2:\tadd %%rcx, %%rax\n\tdec %%ecx\n\tjnz 2b\n\t"
		"dec %0\n\tjnz 1b"
		: "+r"(turns)
		:
		: "rax", "rcx", "cc");
}

/* clang-format off */
static const struct kernel kernels[] = {
#define K(name)	       {#name, name, 0},
#define CHASE(name, n) {#name, chase, n},
	{"clock", clock_, 0},
	K(add_4) K(add_8) K(nops) K(long_nops) K(moves) K(zeros) K(imul_chain) K(imul_many)
	K(mul_wide) K(mulx_many) K(adc_chain) K(load_chain) K(fma_chain) K(vector_loads)
	K(hash_step) K(lea_simple) K(lea_scaled) K(shifts) K(shift_cl) K(cmov_chain)
	K(popcnt_many) K(bsf_tzcnt) K(div_64) K(div_chain) K(loads_6) K(load_add) K(stores_4)
	K(copies) K(forwarding) K(memory_add) K(locked_add) K(addsd_chain) K(addsd_4)
	K(mulsd_chain) K(divsd_chain) K(sqrtsd_chain) K(fma_many) K(paddd_many) K(shuffles)
	K(pmulld_chain) K(gpr_to_vector) K(convert) K(crc32_chain) K(aes_chain) K(x87_chain)
	K(two_jumps) K(taken_jumps) K(pushes) K(calls) K(mixed) K(dot_product) K(convert_many)
	K(insert_extract) K(mask_of_bytes) K(vector_flags) K(compare_flags) K(x87_adds) K(div_32)
	K(div_long) K(not_taken) K(calls_4) K(unpack) K(byte_shuffles) K(shifts_many)
	CHASE(chase_16k, 16 << 10) CHASE(chase_256k, 256 << 10)
	CHASE(chase_4m, 4 << 20) CHASE(chase_64m, ARENA)
	K(stream) K(random_jump) K(random_alone) K(inner_loop)
	{NULL, NULL, 0},
};
/* clang-format on */

/* Returns the ticks of some turns.  The time of one turn is subtracted. */
static double ticks_of(void (*run)(uint64_t turns), uint64_t turns)
{
	uint64_t start = __rdtsc(), middle, end;

	run(1);
	middle = __rdtsc();
	run(turns + 1);
	end = __rdtsc();
	return (double)(end - middle) - (double)(middle - start);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/*
 * Prints the core clocks of a turn.  The frequency of the core changes all the time, so `clock`
 * runs before and after each run, and only runs count whose two frequencies agree.  The lower
 * quartile of the runs is printed, because other users of the core can only make a run slower.
 */
static void print_clocks(const struct kernel *k, uint64_t turns)
{
	double clocks[RUNS], others[RUNS];
	size_t count = 0, other = 0;

	for (unsigned i = 0; i < RUNS; i++) {
		double before = ticks_of(clock_, CLOCK_TURNS), ticks = ticks_of(k->run, turns);
		double after = ticks_of(clock_, CLOCK_TURNS), ratio = after / before;
		double result = 2 * 8 * CLOCK_TURNS * ticks / (double)turns / (before + after);

		if (ratio > 0.99 && ratio < 1.01)
			clocks[count++] = result;
		else
			others[other++] = result;
	}
	if (!count)
		memcpy(clocks, others, (count = other) * sizeof(*others));
	qsort(clocks, count, sizeof(*clocks), compare);
	printf("%.4f\n", clocks[count / 4]);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Prints how many core clocks a second has. */
static void print_frequency(uint64_t turns)
{
	double least = 1e30;

	for (unsigned i = 0; i < RUNS; i++) {
		double start = now();

		clock_(turns);
		start = now() - start;
		least = start < least ? start : least;
	}
	printf("%.0f\n", 8 * (double)turns / least);
}

static const struct kernel *find(const struct kernel *list, const char *name)
{
	for (; list->name; list++)
		if (!strcmp(list->name, name))
			return list;
	return NULL;
}

static void print_names(const struct kernel *list)
{
	for (; list->name; list++)
		puts(list->name);
}

int main(int argc, char **argv)
{
	const struct kernel *k = argc == 4 ? find(kernels, argv[2]) : NULL;
	uint64_t turns = argc > 2 ? strtoull(argv[argc - 1], NULL, 10) : 0;

	if (argc == 4 && !k)
		k = find(loops, argv[2]);
	if (argc == 2) {
		if (strcmp(argv[1], "loops") != 0)
			print_names(kernels);
		print_names(loops);
		return 0;
	}
	if (argc == 3 && !strcmp(argv[1], "frequency")) {
		print_frequency(turns);
		return 0;
	}
	arena = aligned_alloc(4096, ARENA);
	if (!k || !arena)
		return 1;
	memset(arena, 0, k->run == stream ? STREAM : TOUCHED);
	loops_prepare();
	if (k->chases)
		prepare_chase(k->chases);
	if (!strcmp(argv[1], "clocks"))
		print_clocks(k, turns);
	else
		k->run(turns);
	return 0;
}
