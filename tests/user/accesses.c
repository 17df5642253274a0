/* SPDX-License-Identifier: MIT */
/*
 * accesses.c: instructions with memory accesses of all kinds, and which accesses they make
 * (softpmu/accesses.h).
 *
 * For each it prints "ADDRESS:" and for each access " KIND LINEAR BYTES REPEATS;".  The addresses
 * follow from the manual's pseudocode (Vol. 2).  accesses.sh compares the lines with those of
 * accesses-engine.c.
 */
#include <asm/prctl.h>
#include <softpmu/accesses.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOAD  SPMU_ACCESS_LOAD
#define STORE SPMU_ACCESS_STORE
#define BOTH  SPMU_ACCESS_DATA

uint8_t data[4096] __attribute__((aligned(4096)));
uint64_t stack, frame, far_pointer[2];
static unsigned cases;

#define D ((uint64_t)data)

/* Makes the function run_NAME, which runs `before`, one instruction at at_NAME, and `after`.  RSI,
 * RDI and RDX are data, data + 1024 and data + 2048; `stack` and `frame` become RSP and RBP. */
#define CASE(name, before, instruction, after)                                                     \
	extern const char at_##name[];                                                             \
	void run_##name(void);                                                                     \
	__asm__(".section .cases, \"ax\"\n"                                                        \
		".globl run_" #name ", at_" #name "\n"                                             \
		"run_" #name ": push %rbp\n push %rbx\n mov %rsp, %rbx\n"                          \
		"lea data(%rip), %rsi\n lea 1024(%rsi), %rdi\n lea 2048(%rsi), %rdx\n" before      \
		"\n mov %rsp, stack(%rip)\n mov %rbp, frame(%rip)\n"                               \
		"at_" #name ": " instruction "\n" after                                            \
		"\n cld\n emms\n mov %rbx, %rsp\n pop %rbx\n pop %rbp\n ret\n"                     \
		".text\n");
#define NONE ""

CASE(load, NONE, "mov 8(%rsi), %rax", NONE)
CASE(store, NONE, "mov %eax, 4(%rdi)", NONE)
CASE(modify, NONE, "add %al, 3(%rdi)", NONE)
CASE(locked, NONE, "lock addl $1, (%rdi)", NONE)
CASE(exchange, NONE, "xchg %ax, (%rdi)", NONE)
CASE(wide, "xor %eax, %eax\n push %rdx\n mov %rbx, %r9\n cdq", "lock cmpxchg16b 1024(%rsi)",
     "mov %r9, %rbx\n lea -8(%rbx), %rsp\n pop %rdx")
CASE(in_fs, NONE, "mov %fs:0, %rax", NONE)
CASE(in_gs, NONE, "mov %gs:16, %eax", NONE)
CASE(push, NONE, "push %rax", NONE)
CASE(push_memory, NONE, "push 24(%rsi)", NONE)
CASE(pop_memory, "push %rax", "pop 24(%rdi)", NONE)
CASE(call_memory, "lea 1f(%rip), %rax\n mov %rax, 32(%rsi)", "call *32(%rsi)", "1:")
CASE(leave, "mov %rsp, %rbp\n push %rax", "leave", NONE)
CASE(enter, NONE, "enter $16, $0", NONE)
CASE(enter_nested, "lea 512(%rdi), %rbp", "enter $16, $3", NONE)
CASE(enter_narrow, NONE, "data16 enter $16, $0", NONE)
CASE(far_return, "mov %cs, %eax\n push %rax\n lea 1f(%rip), %rax\n push %rax", "lretq", "1:")
CASE(far_call,
     "lea 1f(%rip), %rax\n mov %eax, far_pointer(%rip)\n mov %cs, %eax\n mov %ax, "
     "far_pointer+4(%rip)",
     "lcall *far_pointer(%rip)", "1:")
CASE(return_from_interrupt,
     "mov %rsp, %r8\n mov %ss, %eax\n push %rax\n push %r8\n pushf\n mov %cs, %eax\n push %rax\n "
     "lea 1f(%rip), %rax\n push %rax",
     "iretq", "1:")
CASE(compare, NONE, "cmpsw", NONE)
CASE(move, NONE, "movsq", NONE)
CASE(repeated_move, "mov $100, %ecx", "rep movsb", NONE)
CASE(repeated_address32, "mov $7, %ecx\n bts $40, %rcx", "addr32 rep movsl", NONE)
CASE(repeated_down, "mov $5, %ecx\n std", "rep stosl", NONE)
CASE(repeated_once, "mov $1, %ecx\n std", "rep lodsb", NONE)
CASE(repeated_never, "xor %ecx, %ecx", "rep movsb", NONE)
CASE(repeated_compare, "mov $50, %ecx\n movb $1, 9(%rdi)", "repe cmpsb", "movb $0, 1033(%rsi)")
CASE(repeated_scan, "mov $20, %ecx\n mov $1, %eax\n movw $1, 8(%rdi)", "repne scasw", NONE)
CASE(translate, "push %rbx\n mov %rsi, %rbx\n mov $0x1205, %eax", "xlat", "pop %rbx")
CASE(prefetch, NONE, "prefetcht0 100(%rsi)", NONE)
CASE(prefetch_once, NONE, "prefetchnta 100(%rsi)", NONE)
CASE(nontemporal, NONE, "movntdq %xmm0, 64(%rdi)", NONE)
CASE(x87, "fldz", "fstpt 16(%rdi)", NONE)
CASE(save, NONE, "fxsave 512(%rdi)", NONE)
CASE(masked_bytes, "movdqu 256(%rsi), %xmm14", "maskmovdqu %xmm14, %xmm1", NONE)
CASE(masked_mmx, "movq 256(%rsi), %mm5", "maskmovq %mm5, %mm1", NONE)
CASE(masked_mmx_moved, "movq 256(%rsi), %mm5\n fninit\n fldz\n fldz\n movq 256(%rsi), %mm5",
     "maskmovq %mm5, %mm1", NONE)

/* With AVX2: the highest bits of elements are the mask. */
CASE(masked_load, "vmovdqu 320(%rsi), %ymm13", "vmaskmovps 4(%rdi), %ymm13, %ymm1", NONE)
CASE(masked_store, "vmovdqu 320(%rsi), %ymm3", "vpmaskmovq %xmm1, %xmm3, 8(%rdi)", NONE)
CASE(gather, "vmovdqu 320(%rsi), %ymm3\n vmovdqu 384(%rsi), %ymm12",
     "vpgatherdd %ymm3, 8(%rdi,%ymm12,4), %ymm1", NONE)
CASE(gather_wide_index, "vmovdqu 320(%rsi), %ymm3\n vmovdqu 448(%rsi), %ymm2",
     "vpgatherqd %xmm3, (%rdi,%ymm2,8), %xmm1", NONE)

/* With AVX-512. */
#define MASK(n) "mov $" #n ", %eax\n kmovd %eax, %k3"
CASE(elements_loaded, MASK(0x8421), "vmovdqu32 (%rdi), %zmm20{%k3}{z}", NONE)
CASE(elements_stored, MASK(0x80000005), "vmovdqu8 %ymm20, 64(%rdi){%k3}", NONE)
CASE(element_broadcast, MASK(0x10), "vaddps (%rdi){1to16}, %zmm1, %zmm2{%k3}", NONE)
CASE(element_not_broadcast, MASK(0x10), "vaddps (%rdi){1to4}, %xmm1, %xmm2{%k3}", NONE)
CASE(elements_broadcast, MASK(0x21), "vbroadcastf32x4 (%rdi), %zmm2{%k3}", NONE)
CASE(scalar_masked, MASK(2), "vmovss %xmm1, (%rdi){%k3}", NONE)
CASE(compressed, MASK(0x70f1), "vpcompressd %zmm1, (%rdi){%k3}", NONE)
CASE(expanded, MASK(0x81), "vpexpandq (%rdi), %zmm1{%k3}", NONE)
CASE(narrowed, MASK(0x85), "vpmovqb %zmm1, (%rdi){%k3}", NONE)
CASE(whole, MASK(1), "vpshufb (%rdi), %zmm1, %zmm2{%k3}", NONE)
CASE(unmasked, NONE, "vmovdqu64 (%rdi), %zmm2", NONE)
CASE(gathered, MASK(0x209) "\n vmovdqu32 384(%rsi), %ymm27",
     "vgatherdpd (%rdi,%ymm27,2), %zmm1{%k3}", NONE)
CASE(scattered, MASK(0x8001) "\n vmovdqu64 384(%rsi), %zmm27",
     "vpscatterdd %zmm1, 16(%rdi,%zmm27,4){%k3}", NONE)

/* Begins the line of a case. */
static void line(const char *at)
{
	printf("%s%lu:", cases++ ? "\n" : "", (uint64_t)at);
}

static void access_of(unsigned kind, uint64_t linear, unsigned bytes)
{
	printf(" %u %lu %u 0;", kind, linear, bytes);
}

static void repeated(unsigned kind, uint64_t linear, unsigned bytes, unsigned repeats)
{
	printf(" %u %lu %u %u;", kind, linear, bytes, repeats);
}

/* Runs a case several times, because only every second overflow is reported at once: the others arm
 * PEBS.  A different number of accesses comes before each. */
static void run(void (*function)(void))
{
	static volatile unsigned touched;

	for (unsigned turn = 0; turn < 6; turn++) {
		for (unsigned i = 0; i < turn % 3; i++)
			touched++;
		function();
	}
}

/* Runs a case; its accesses follow. */
#define RUN(name) (run(run_##name), line(at_##name))

static void single(void)
{
	RUN(load), access_of(LOAD, D + 8, 8);
	RUN(store), access_of(STORE, D + 1028, 4);
	RUN(modify), access_of(BOTH, D + 1027, 1);
	RUN(locked), access_of(BOTH | SPMU_ACCESS_LOCKED, D + 1024, 4);
	RUN(exchange), access_of(BOTH | SPMU_ACCESS_LOCKED, D + 1024, 2);
	RUN(wide), access_of(BOTH | SPMU_ACCESS_LOCKED, D + 1024, 16);
	RUN(in_fs), access_of(LOAD, (uint64_t)__builtin_thread_pointer(), 8);
	RUN(in_gs), access_of(LOAD, D + 16, 4);
	RUN(translate), access_of(LOAD, D + 5, 1);
	RUN(prefetch), access_of(LOAD | SPMU_ACCESS_PREFETCH, D + 100, 1);
	RUN(prefetch_once);
	access_of(LOAD | SPMU_ACCESS_PREFETCH | SPMU_ACCESS_NONTEMPORAL, D + 100, 1);
	RUN(nontemporal), access_of(STORE | SPMU_ACCESS_NONTEMPORAL, D + 1088, 16);
	RUN(x87), access_of(STORE, D + 1040, 10);
	RUN(save), access_of(STORE, D + 1536, 512);
}

static void stacks(void)
{
	RUN(push), access_of(STORE, stack - 8, 8);
	RUN(push_memory), access_of(LOAD, D + 24, 8), access_of(STORE, stack - 8, 8);
	RUN(pop_memory), access_of(LOAD, stack, 8), access_of(STORE, D + 1048, 8);
	RUN(call_memory), access_of(LOAD, D + 32, 8), access_of(STORE, stack - 8, 8);
	RUN(leave), access_of(LOAD, frame, 8);
	RUN(enter), access_of(STORE, stack - 8, 8);
	RUN(enter_nested), access_of(STORE, stack - 8, 8);
	for (unsigned i = 1; i < 3; i++) {
		access_of(LOAD, frame - 8 * i, 8);
		access_of(STORE, stack - 8 - 8 * i, 8);
	}
	access_of(STORE, stack - 32, 8);
	RUN(enter_narrow), access_of(STORE, stack - 2, 2);
	RUN(far_return), access_of(LOAD, stack, 8), access_of(LOAD, stack + 8, 8);
	RUN(far_call), access_of(LOAD, (uint64_t)far_pointer, 6);
	access_of(STORE, stack - 4, 4), access_of(STORE, stack - 8, 4);
	RUN(return_from_interrupt);
	for (unsigned i = 0; i < 5; i++)
		access_of(LOAD, stack + 8 * i, 8);
}

static void strings(void)
{
	const unsigned down = SPMU_ACCESS_DOWN;

	RUN(compare), access_of(LOAD, D, 2), access_of(LOAD, D + 1024, 2);
	RUN(move), access_of(LOAD, D, 8), access_of(STORE, D + 1024, 8);
	RUN(repeated_move), repeated(LOAD, D, 1, 99), repeated(STORE, D + 1024, 1, 99);
	RUN(repeated_address32), repeated(LOAD, D, 4, 6), repeated(STORE, D + 1024, 4, 6);
	RUN(repeated_down), repeated(STORE | down, D + 1024, 4, 4);
	RUN(repeated_once), repeated(LOAD, D, 1, 0);
	RUN(repeated_never);
	memset(data, 0, 2048);
	RUN(repeated_compare), repeated(LOAD, D, 1, 9), repeated(LOAD, D + 1024, 1, 9);
	RUN(repeated_scan), repeated(LOAD, D + 1024, 2, 4);
}

static void masks(void)
{
	const unsigned kind = STORE | SPMU_ACCESS_NONTEMPORAL;

	memset(data, 0x7f, 2048);
	data[256] = data[258] = data[259] = data[263] = data[271] = 0x80;
	RUN(masked_bytes);
	for (unsigned i = 0; i < 16; i++)
		if (data[256 + i] == 0x80)
			access_of(kind, D + 1024 + i, 1);
	for (unsigned turn = 0; turn < 2; turn++) {
		if (turn)
			RUN(masked_mmx_moved);
		else
			RUN(masked_mmx);
		for (unsigned i = 0; i < 8; i++)
			if (data[256 + i] == 0x80)
				access_of(kind, D + 1024 + i, 1);
	}
}

static void avx2(void)
{
	static const int32_t index[16] = {0,  -3, 5,  7,  100, -100, 9,	 2,
					  40, 41, 42, 43, 44,  45,   46, -7};
	static const int64_t wide_index[4] = {1, -2, 3, 17};

	memset(data + 320, 0x7f, 64);
	data[323] = data[327] = data[335] = data[351] = 0xff; /* elements 0, 1, 3, 7 of 4 bytes */
	memcpy(data + 384, index, sizeof(index));
	memcpy(data + 448, wide_index, sizeof(wide_index));
	RUN(masked_load);
	access_of(LOAD, D + 1028, 4), access_of(LOAD, D + 1032, 4);
	access_of(LOAD, D + 1040, 4), access_of(LOAD, D + 1056, 4);
	RUN(masked_store), access_of(STORE, D + 1032, 8), access_of(STORE, D + 1040, 8);
	RUN(gather);
	for (unsigned i = 0; i < 8; i++)
		if (i < 2 || i == 3 || i == 7)
			access_of(LOAD, D + 1032 + 4 * (uint64_t)index[i], 4);
	RUN(gather_wide_index);
	for (unsigned i = 0; i < 4; i++)
		if (i != 2)
			access_of(LOAD, D + 1024 + 8 * (uint64_t)wide_index[i], 4);
}

/* Prints an access of each selected element, `bytes` apart. */
static void elements(unsigned kind, uint64_t at, unsigned bytes, uint64_t mask)
{
	for (unsigned i = 0; i < 64; i++)
		if (mask >> i & 1)
			access_of(kind, at + i * bytes, bytes);
}

static void avx512(void)
{
	static const int32_t index[16] = {0,  -3, 5,  7,  100, -100, 9,	 2,
					  40, 41, 42, 43, 44,  45,   46, -7};

	memcpy(data + 384, index, sizeof(index));
	RUN(elements_loaded), elements(LOAD, D + 1024, 4, 0x8421);
	RUN(elements_stored), elements(STORE, D + 1088, 1, 0x80000005);
	RUN(element_broadcast), access_of(LOAD, D + 1024, 4);
	RUN(element_not_broadcast);
	RUN(elements_broadcast), elements(LOAD, D + 1024, 4, 3);
	RUN(scalar_masked);
	RUN(compressed), elements(STORE, D + 1024, 4, 0xff);
	RUN(expanded), elements(LOAD, D + 1024, 8, 3);
	RUN(narrowed), elements(STORE, D + 1024, 1, 0x85);
	RUN(whole), access_of(LOAD, D + 1024, 64);
	RUN(unmasked), access_of(LOAD, D + 1024, 64);
	RUN(gathered);
	access_of(LOAD, D + 1024, 8), access_of(LOAD, D + 1024 + 14, 8);
	RUN(scattered);
	access_of(STORE, D + 1040, 4), access_of(STORE, D + 1040 - 28, 4);
}

int main(void)
{
	syscall(SYS_arch_prctl, ARCH_SET_GS, data);
	single();
	stacks();
	strings();
	masks();
	if (__builtin_cpu_supports("avx2"))
		avx2();
	if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
		avx512();
	printf("\n");
	return cases > 35 ? 0 : 1;
}
