/* SPDX-License-Identifier: MIT */
/*
 * instructions.c: runs instructions that the engine handles itself, and prints what happened:
 *
 * - loads of segment registers, far transfers, and system calls by INT 80H
 * - instructions under RFLAGS.TF and RFLAGS.AC
 * - instructions that reach into a page without execute permission
 * - undefined instructions, and those with fields that some processors ignore
 * - operands that a copy of the instruction does not reach
 */
#define _GNU_SOURCE
#include <asm/ldt.h>
#include <asm/prctl.h>
#include <cpuid.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/ucontext.h>
#include <unistd.h>

#define PAGE   4096
#define AC     0x40000
#define TF     0x100
#define STEPS  256
#define CODE_S 0x33

/* --- signals --- */

static struct {
	int sig, code;
	uint64_t address, rip, error, trap;
} seen;
static uint64_t resume_at; /* 0: run the instruction again, after its page has been opened */
static uint8_t *opened;

static void note(int sig, siginfo_t *info, void *context)
{
	greg_t *g = ((ucontext_t *)context)->uc_mcontext.gregs;

	seen.sig = sig;
	seen.code = info->si_code;
	seen.address = (uint64_t)info->si_addr;
	seen.rip = (uint64_t)g[REG_RIP];
	seen.error = (uint64_t)g[REG_ERR];
	seen.trap = (uint64_t)g[REG_TRAPNO];
	if (resume_at)
		g[REG_RIP] = (greg_t)resume_at;
	else
		mprotect(opened, PAGE, PROT_READ | PROT_EXEC);
}

static void catch (void (*handler)(int, siginfo_t *, void *))
{
	static const int signals[] = {SIGILL, SIGSEGV, SIGBUS, SIGTRAP, SIGFPE};
	struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};

	for (unsigned i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &action, NULL);
}

static void say(const char *what, uint64_t base)
{
	printf("%s: signal %d code %d address %llx rip %llx error %llx trap %llx\n", what, seen.sig,
	       seen.code, (unsigned long long)(seen.address ? seen.address - base : 0),
	       (unsigned long long)(seen.rip - base), (unsigned long long)seen.error,
	       (unsigned long long)seen.trap);
	memset(&seen, 0, sizeof(seen));
}

/* An instruction that may fault; `rip` is relative to it. */
#define TRY(name, instruction, ...)                                                                \
	do {                                                                                       \
		uint64_t at_;                                                                      \
		__asm__ volatile("lea 1f(%%rip), %0\n"                                             \
				 "lea 2f(%%rip), %%rcx\n"                                          \
				 "mov %%rcx, %1\n"                                                 \
				 "1: " instruction "\n"                                            \
				 "2:"                                                              \
				 : "=&r"(at_), "=m"(resume_at)                                     \
				 : __VA_ARGS__                                                     \
				 : "rcx", "memory", "cc");                                         \
		say(name, seen.sig ? at_ : 0);                                                     \
	} while (0)

/* --- segment registers --- */

static void show_gs(const char *what)
{
	uint64_t base, asked = 1;
	uint16_t selector;

	__asm__ volatile("rdgsbase %0\n mov %%gs, %1" : "=r"(base), "=r"(selector));
	syscall(SYS_arch_prctl, ARCH_GET_GS, &asked);
	printf("%s: selector %x base %llx %llx\n", what, selector, (unsigned long long)base,
	       (unsigned long long)asked);
}

static struct {
	uint32_t offset;
	uint16_t selector;
} __attribute__((packed)) pointer32 = {0x12345678, 0x2b};

/* FS holds the C library's own data. */
static void load_fs(void)
{
	uint64_t base, kept, low;
	uint16_t selector;

	__asm__ volatile("rdfsbase %0\n"
			 "mov %4, %%fs\n"
			 "mov %%fs, %1\n"
			 "rdfsbase %2\n"
			 "lfs %5, %k3\n"
			 "wrfsbase %0\n"
			 : "=&r"(kept), "=&r"(selector), "=&r"(base), "=&r"(low)
			 : "r"(0x2b), "m"(pointer32));
	printf("fs: selector %x base %llx offset %llx\n", selector, (unsigned long long)base,
	       (unsigned long long)low);
	__asm__ volatile("mov %0, %%fs\n wrfsbase %1" : : "r"(0), "r"(kept));
}

static void load_segments(void)
{
	static uint64_t words[4] = {0x1111, 0x2222, 0x3333, 0x4444};
	struct user_desc area = {
		.base_addr = 0x5000,
		.limit = 0xfffff,
		.seg_32bit = 1,
		.limit_in_pages = 1,
		.useable = 1,
	};
	uint64_t value = 0, offset = 0;

	show_gs("begin");
	syscall(SYS_arch_prctl, ARCH_SET_GS, words);
	__asm__ volatile("mov %%gs:8, %0" : "=r"(value));
	printf("word %llx\n", (unsigned long long)value);
	show_gs("arch_prctl");
	__asm__ volatile("mov %0, %%gs" : : "r"(0x2b));
	show_gs("mov");
	__asm__ volatile("wrgsbase %1\n mov %%gs:16, %0" : "=r"(value) : "r"(words));
	printf("word %llx\n", (unsigned long long)value);
	syscall(SYS_arch_prctl, ARCH_SET_GS, words + 1);
	show_gs("arch_prctl again");
	__asm__ volatile("push %0\n pop %%gs" : : "r"(UINT64_C(0x2b)));
	show_gs("pop");
	__asm__ volatile("lgs %1, %k0" : "=r"(offset) : "m"(pointer32));
	printf("offset %llx\n", (unsigned long long)offset);
	TRY("bad selector", "mov %2, %%gs", "r"(0x1234));
	TRY("base that is no address", "wrgsbase %2", "r"(UINT64_C(0x8000000000000000)));
	show_gs("as before");
	if (!syscall(SYS_modify_ldt, 1, &area, sizeof(area))) {
		__asm__ volatile("mov %0, %%gs" : : "r"(7));
		show_gs("local descriptor");
	}
	__asm__ volatile("mov %0, %%gs" : : "m"(pointer32.selector));
	show_gs("memory");
	load_fs();
	puts("done");
}

/* --- far transfers --- */

static void transfer(void)
{
	static struct {
		uint32_t offset;
		uint16_t selector;
	} __attribute__((packed)) to = {0, CODE_S};
	uint64_t value = 0, sp, before;

	__asm__ volatile("mov %%rsp, %1\n"
			 "lea 1f(%%rip), %%rax\n push $0x33\n push %%rax\n lretq\n ud2\n"
			 "1: mov %%rsp, %0\n"
			 : "=&r"(sp), "=&r"(before)
			 :
			 : "rax", "memory");
	printf("lretq: %lld\n", (long long)(sp - before));
	__asm__ volatile("mov %%rsp, %1\n"
			 "lea 1f(%%rip), %%rax\n sub $16, %%rsp\n push $0x33\n push %%rax\n"
			 "lretq $16\n ud2\n"
			 "1: mov %%rsp, %0\n"
			 : "=&r"(sp), "=&r"(before)
			 :
			 : "rax", "memory");
	printf("lretq $16: %lld\n", (long long)(sp - before));
	__asm__ volatile("mov %%rsp, %%rcx\n mov %%ss, %%edx\n push %%rdx\n push %%rcx\n"
			 "pushfq\n orq $0x4c0001, (%%rsp)\n push $0x33\n"
			 "lea 1f(%%rip), %%rax\n push %%rax\n iretq\n ud2\n"
			 "1: pushfq\n pop %0\n push $2\n popfq\n mov %%rsp, %1\n sub %%rcx, %1"
			 : "=&r"(value), "=&r"(sp)
			 :
			 : "rax", "rcx", "rdx", "memory", "cc");
	printf("iretq: flags %llx, %lld\n", (unsigned long long)value & 0x4c0001, (long long)sp);
	/* Code of this program is below 4 GB. */
	__asm__ volatile("lea 1f(%%rip), %%rax\n movl %%eax, %1\n ljmpl *%1\n ud2\n"
			 "1: lea 2f(%%rip), %%rax\n movl %%eax, %1\n mov %%rsp, %0\n"
			 "lcalll *%1\n ud2\n"
			 "2: sub %%rsp, %0\n mov 4(%%rsp), %%eax\n add $8, %%rsp"
			 : "=&r"(sp), "+m"(to), "=&a"(value));
	printf("ljmp, lcall: %lld %llx\n", (long long)sp, (unsigned long long)value & 0xffff);
	TRY("lretq to a bad selector", "push $0x1230\n push $0\n lretq");
	__asm__ volatile("add $16, %rsp");
	TRY("lretq to ring 0", "push $0x10\n push $0\n lretq");
	__asm__ volatile("add $16, %rsp");
	TRY("int 3", ".byte 0xcd, 3");
	TRY("int 4", ".byte 0xcd, 4");
	TRY("int 5", ".byte 0xcd, 5");
	TRY("int1", ".byte 0xf1");
}

/* The process is in the first 4 GB for system calls of 32 bits. */
static void call_by_interrupt(void)
{
	static char text[] = "written\n";
	long result, id;
	void *at;

	__asm__ volatile("int $0x80" : "=a"(id) : "a"(20) : "memory");
	printf("getpid: %d\n", id == getpid());
	fflush(stdout);
	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(4), "b"(1), "c"(text), "d"(sizeof(text) - 1)
			 : "memory");
	printf("write: %ld\n", result);
	__asm__ volatile("int $0x80" : "=a"(result) : "a"(6), "b"(-1) : "memory");
	printf("close: %ld\n", result);
	at = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1,
		  0);
	memcpy(at, "\xb8\x07\x00\x00\x00\xc3", 6); /* MOV EAX, 7; RET */
	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(125), "b"(at), "c"(PAGE), "d"(PROT_READ | PROT_EXEC)
			 : "memory");
	printf("mprotect: %ld, runs: %d\n", result, ((int (*)(void))at)());
	fflush(stdout);
	__asm__ volatile("int $0x80" : "=a"(result) : "a"(252), "b"(3) : "memory");
}

static void go_to_32_bits(void)
{
	static const struct {
		uint32_t offset;
		uint16_t selector;
	} __attribute__((packed)) to = {0x400000, 0x23};

	__asm__ volatile("ljmpl *%0" : : "m"(to));
}

/* --- RFLAGS.TF --- */

extern const char stepped[], stepped_end[];
static uint32_t step[STEPS];
static uint64_t step_rcx[STEPS];
static unsigned steps;

static void note_step(int sig, siginfo_t *info, void *context)
{
	greg_t *g = ((ucontext_t *)context)->uc_mcontext.gregs;

	/* Some hypervisors lose DR6.BS once in many thousand times. Then a step is TRAP_BRKPT. */
	bool of_step =
		sig == SIGTRAP && (info->si_code == TRAP_TRACE || info->si_code == TRAP_BRKPT);

	if (steps == STEPS)
		_exit(4);
	step_rcx[steps] = (uint64_t)g[REG_RCX];
	step[steps++] = (uint32_t)(g[REG_RIP] - (greg_t)stepped) | (uint32_t)!of_step << 31 |
			(uint32_t)((g[REG_EFL] & TF) != 0) << 30 |
			(uint32_t)((greg_t)info->si_addr != g[REG_RIP] && sig == SIGTRAP) << 29;
	if (sig == SIGSEGV)
		g[REG_RIP] += 3; /* over the load that faults */
}

static void trap_flag(void)
{
	static char from[8] = "abcdefg", to[8];
	uint64_t flags = 0, r11 = 0;

	catch (note_step);
	__asm__ volatile("stepped:\n"
			 "pushfq\n orq $0x100, (%%rsp)\n popfq\n"
			 "nop\n"
			 "xor %%eax, %%eax\n"
			 "jz 1f\n nop\n"
			 "1: call 2f\n jmp 3f\n"
			 "2: ret\n"
			 "3: mov $5, %%ecx\n rep movsb\n"
			 "mov $39, %%eax\n syscall\n"
			 "mov %%r11, %1\n"
			 "pushfq\n pop %0\n"
			 "mov %%ss, %%eax\n mov %%eax, %%ss\n nop\n nop\n"
			 "xor %%eax, %%eax\n"
			 "mov (%%rax), %%rax\n"
			 "lea 4f(%%rip), %%rcx\n jmp *%%rcx\n nop\n"
			 "4: rdgsbase %%rax\n"
			 "xor %%eax, %%eax\n xor %%ecx, %%ecx\n cpuid\n"
			 "int3\n"
			 "pushfq\n andq $~0x100, (%%rsp)\n popfq\n"
			 "nop\n nop\n"
			 "stepped_end:\n"
			 : "=&r"(flags), "=&r"(r11), "+S"((char *){from}), "+D"((char *){to})
			 :
			 : "rax", "rbx", "rcx", "rdx", "r11", "memory", "cc");
	printf("flags %llx r11 %llx copied %s\n", (unsigned long long)flags & TF,
	       (unsigned long long)r11 & TF, to);
	for (unsigned i = 0; i < steps; i++)
		printf("%x%s", step[i], i % 8 == 7 ? "\n" : " ");
	printf("\n%u steps\n", steps);
	/* A handler's frame sets it, and a new process begins with it. */
	steps = 0;
	fflush(stdout);
	__asm__ volatile("pushfq\n orq $0x100, (%%rsp)\n popfq\n"
			 "mov $57, %%eax\n syscall\n"
			 "nop\n nop\n"
			 "pushfq\n andq $~0x100, (%%rsp)\n popfq\n nop\n"
			 : "=a"(flags)
			 :
			 : "rcx", "r11", "memory", "cc");
	if (flags == 0) {
		printf("child: %u steps\n", steps);
		fflush(stdout);
		_exit(0);
	}
	while (syscall(SYS_wait4, -1, NULL, 0, NULL) < 0)
		;
	printf("parent: %u steps\n", steps);
}

/* --- RFLAGS.AC --- */

static void set_ac(bool on)
{
	if (on)
		__asm__ volatile("pushfq\n orq $0x40000, (%%rsp)\n popfq" : : : "memory", "cc");
	else
		__asm__ volatile("pushfq\n andq $~0x40000, (%%rsp)\n popfq" : : : "memory", "cc");
}

/* The kernel leaves AC set in a handler; C code makes accesses that are not aligned. */
uint64_t handler_flags;
static uint64_t frame_flags;
void note_alignment(int sig, siginfo_t *info, void *context);
void note_without_ac(int sig, siginfo_t *info, void *context);
__asm__(".text\n"
	"note_alignment:\n"
	"	pushfq\n	pop handler_flags(%rip)\n"
	"	pushfq\n	andq $~0x40000, (%rsp)\n	popfq\n"
	"	jmp note_without_ac\n");

void note_without_ac(int sig, siginfo_t *info, void *context)
{
	greg_t *flags = &((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL];

	frame_flags = (uint64_t)*flags;
	*flags &= ~AC;
	note(sig, info, context);
}

static void alignment(void)
{
	static uint64_t words[3] __attribute__((aligned(8)));
	uint64_t flags;

	catch (note_alignment);
	for (unsigned i = 0; i < 3; i++) {
		TRY("load", "pushfq\n orq $0x40000, (%%rsp)\n popfq\n mov %2, %%rcx",
		    "m"(*(uint64_t *)((char *)words + 1 + i)));
		printf("AC in the handler: %llx, before: %llx\n",
		       (unsigned long long)handler_flags & AC,
		       (unsigned long long)frame_flags & AC);
	}
	set_ac(true);
	__asm__ volatile("mov $39, %%eax\n syscall\n pushfq\n pop %0"
			 : "=r"(flags)
			 :
			 : "rax", "rcx", "r11", "memory");
	set_ac(false);
	printf("AC after a call: %llx\n", (unsigned long long)flags & AC);
}

/* --- bytes that cannot be fetched --- */

static void run_at(uint8_t *at)
{
	__asm__ volatile("lea 1f(%%rip), %%rcx\n mov %%rcx, %0\n"
			 "xor %%eax, %%eax\n xor %%edx, %%edx\n mov %1, %%rsi\n push %%rbp\n"
			 "mov %%rsp, %%rbp\n call *%%rsi\n"
			 "1: mov %%rbp, %%rsp\n pop %%rbp"
			 : "=m"(resume_at)
			 : "r"(at)
			 : "rax", "rcx", "rdx", "rsi", "memory", "cc");
}

/* Cuts each instruction off at every byte, at the end of the last executable page. */
static void crossing(void)
{
	static const struct {
		uint8_t bytes, byte[15];
	} insn[] = {
		{7, {0x48, 0xc7, 0xc0, 1, 0, 0, 0}},
		{5, {0xe8, 0, 0, 0, 0}},
		{3, {0x0f, 0x04, 0}},
		{4, {0x0f, 0x38, 0x40, 0}},
		{6, {0x62, 0xf1, 0x7c, 0x48, 0x58, 0xc0}},
		{15,
		 {0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66,
		  0x66, 0x90}},
	};
	static const int rights[] = {PROT_NONE, PROT_READ};
	uint8_t *page =
		mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(page + 2 * PAGE, PAGE);
	for (unsigned r = 0; r < 2; r++)
		for (unsigned i = 0; i < sizeof(insn) / sizeof(insn[0]); i++)
			for (unsigned n = 1; n < insn[i].bytes; n++) {
				uint8_t *at = page + PAGE - n;

				mprotect(page, 2 * PAGE, PROT_READ | PROT_WRITE);
				memcpy(at, insn[i].byte, n);
				mprotect(page, PAGE, PROT_READ | PROT_EXEC);
				mprotect(page + PAGE, PAGE, rights[r]);
				run_at(at);
				say("cut off", (uint64_t)at);
			}
}

/* The handler makes the page accessible, and the instruction continues. */
static void opening(void)
{
	static const uint8_t code[] = {0x48, 0xc7, 0xc0, 0x2a,
				       0,    0,	   0,	 0xc3}; /* MOV RAX, 42; RET */
	uint8_t *page =
		mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	opened = page + PAGE;
	for (unsigned n = 1; n < sizeof(code); n++) {
		uint8_t *at = page + PAGE - n;
		int result;

		mprotect(page, 2 * PAGE, PROT_READ | PROT_WRITE);
		memcpy(at, code, sizeof(code));
		mprotect(page, PAGE, PROT_READ | PROT_EXEC);
		mprotect(page + PAGE, PAGE, PROT_NONE);
		resume_at = 0;
		result = ((int (*)(void))at)();
		printf("%d ", result);
		say("opened", (uint64_t)at);
	}
}

/* --- undefined opcodes --- */

static void undefined(void)
{
	static const struct {
		uint8_t bytes, byte[8];
	} insn[] = {
		{2, {0x0f, 0x04}},
		{2, {0x0f, 0x24}},
		{3, {0x0f, 0x27, 0xc0}},
		{3, {0x0f, 0xa6, 0xc0}},
		{4, {0x0f, 0x38, 0x40, 0x00}},
		{5, {0x0f, 0x3a, 0x4f, 0xc0, 0x00}},
		{2, {0xdf, 0xfa}},
		{3, {0x66, 0xff, 0xd9}},
		{6, {0x66, 0xf3, 0x0f, 0x38, 0x10, 0xc0}},
		{3, {0x65, 0x0f, 0x04}},
		{7, {0x0f, 0x24, 0x05, 0, 0, 0, 0}},
	};
	uint8_t *page =
		mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (unsigned i = 0; i < sizeof(insn) / sizeof(insn[0]); i++) {
		mprotect(page, PAGE, PROT_READ | PROT_WRITE);
		memset(page, 0x90, PAGE);
		memcpy(page + 64, insn[i].byte, insn[i].bytes);
		mprotect(page, PAGE, PROT_READ | PROT_EXEC);
		run_at(page + 64);
		say("undefined", (uint64_t)page + 64);
	}
}

/* --- fields that an instruction does not use, which some processors ignore --- */

static struct {
	uint64_t zmm[3][8], mask;
} __attribute__((aligned(64))) vectors;

static void load_vectors(bool wide)
{
	for (unsigned i = 0; i < 24; i++)
		vectors.zmm[i / 8][i % 8] = (i + 1) * UINT64_C(0x3ff0123456789abc);
	vectors.mask = 0x5555;
	if (wide)
		__asm__ volatile("vmovdqu64 (%0), %%zmm0\n vmovdqu64 64(%0), %%zmm1\n"
				 "vmovdqu64 128(%0), %%zmm2\n kmovw 192(%0), %%k1"
				 :
				 : "r"(&vectors)
				 : "memory");
	else
		__asm__ volatile("vmovdqu (%0), %%ymm0\n vmovdqu 64(%0), %%ymm1\n"
				 "vmovdqu 128(%0), %%ymm2"
				 :
				 : "r"(&vectors)
				 : "memory");
}

static void store_vectors(bool wide)
{
	if (wide)
		__asm__ volatile("vmovdqu64 %%zmm0, (%0)\n kmovw %%k1, 192(%0)\n vzeroupper"
				 :
				 : "r"(&vectors)
				 : "memory");
	else
		__asm__ volatile("vmovdqu %%ymm0, (%0)\n vzeroupper" : : "r"(&vectors) : "memory");
}

/* AMD's Zen 3 runs the first four, and Zen 4 such forms of EVEX, too.  Intel's raise #UD. */
static void reserved(void)
{
	static const struct {
		const char *what;
		uint8_t bytes, byte[8];
		bool wide;
	} insn[] = {
		{"VPERMQ, W0", 6, {0xc4, 0xe3, 0x7d, 0x00, 0xc1, 0x1b}, false},
		{"VPERMQ, W0, memory", 6, {0xc4, 0xe3, 0x7d, 0x00, 0x06, 0x1b}, false},
		{"VPERMPD, W0", 6, {0xc4, 0xe3, 0x7d, 0x01, 0xc1, 0x1b}, false},
		{"VPERMPD, W0, memory", 6, {0xc4, 0xe3, 0x7d, 0x01, 0x06, 0x1b}, false},
		{"VPADDD, z without a mask", 6, {0x62, 0xf1, 0x75, 0xc8, 0xfe, 0xc2}, true},
		{"VPADDD, b of registers", 6, {0x62, 0xf1, 0x75, 0x58, 0xfe, 0xc2}, true},
		{"VPSHUFB, b", 6, {0x62, 0xf2, 0x75, 0x58, 0x00, 0x06}, true},
		{"VMOVDQU32, b", 6, {0x62, 0xf1, 0x7e, 0x58, 0x6f, 0x06}, true},
		{"VMOVDQU32, z of a store", 6, {0x62, 0xf1, 0x7e, 0xc9, 0x7f, 0x06}, true},
		{"VPCMPEQD, z", 6, {0x62, 0xf1, 0x75, 0xc8, 0x76, 0xca}, true},
		{"VADDSS, b of memory", 6, {0x62, 0xf1, 0x76, 0x58, 0x58, 0x06}, true},
	};
	const bool has_evex = __builtin_cpu_supports("avx512bw");
	uint8_t *page =
		mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (unsigned i = 0; i < sizeof(insn) / sizeof(insn[0]); i++) {
		if (!__builtin_cpu_supports("avx2") || (insn[i].wide && !has_evex))
			continue;
		mprotect(page, PAGE, PROT_READ | PROT_WRITE);
		memset(page, 0x90, PAGE);
		memcpy(page + 64, insn[i].byte, insn[i].bytes);
		page[64 + insn[i].bytes] = 0xc3;
		mprotect(page, PAGE, PROT_READ | PROT_EXEC);
		load_vectors(insn[i].wide);
		run_at(page + 64);
		store_vectors(insn[i].wide);
		for (unsigned word = 0; word < 8; word++)
			printf("%llx ", (unsigned long long)vectors.zmm[0][word]);
		printf("mask %llx\n", (unsigned long long)vectors.mask);
		say(insn[i].what, seen.sig ? (uint64_t)page + 64 : 0);
	}
}

/* --- operands in FS, in GS, and relative to RIP out of reach of a copy --- */

#define DISTANCE 64 /* the bases of FS and GS */

/* Sets the base of FS or GS so that each kernel keeps it at a context switch, and calls nothing:
 * libc's functions need FS. */
static inline __attribute__((always_inline)) void set_base(int which, uint64_t base)
{
	long status;

	__asm__ volatile("syscall"
			 : "=a"(status)
			 : "0"((long)SYS_arch_prctl), "D"((long)which), "S"(base)
			 : "rcx", "r11", "memory");
}

/* Calls the code at `at`; RDI is an address in the data.  Prints registers afterwards, and the
 * return address that the code may have pushed. */
static void run_with_data(const char *what, uint8_t *at, const uint8_t *data)
{
	uint64_t value = 7, rsi = 1, rdi = (uint64_t)data, flags, base, pushed, thread;
	uint16_t selector;

	syscall(SYS_arch_prctl, ARCH_GET_FS, &thread);
	set_base(ARCH_SET_GS, DISTANCE);
	set_base(ARCH_SET_FS, DISTANCE);
	__asm__ volatile("lea 1f(%%rip), %%rcx\n mov %%rcx, %4\n xor %%ecx, %%ecx\n"
			 "push %%rbp\n mov %%rsp, %%rbp\n movq $0, -16(%%rbp)\n"
			 "call *%8\n"
			 "1: mov -16(%%rbp), %7\n mov %%rbp, %%rsp\n pop %%rbp\n"
			 "pushfq\n pop %3\n rdgsbase %5\n mov %%gs, %6"
			 : "+a"(value), "+S"(rsi), "+D"(rdi), "=&r"(flags), "=m"(resume_at),
			   "=&r"(base), "=&r"(selector), "=&r"(pushed)
			 : "r"(at)
			 : "rcx", "memory", "cc");
	set_base(ARCH_SET_FS, thread);
	printf("rax %llx rsi %llx rdi %d ZF %d gs %x base %llx pushed %lld\n",
	       (unsigned long long)value, (unsigned long long)rsi, rdi == (uint64_t)data,
	       (flags & 0x40) != 0, selector, (unsigned long long)base,
	       pushed - (uint64_t)at < PAGE ? (long long)(pushed - (uint64_t)at) : -1);
	say(what, seen.sig ? (uint64_t)at : 0);
	__asm__ volatile("mov %0, %%gs" : : "r"(0));
}

/* Zen 4 and Zen 5 run VERW with LOCK, and VPERMQ without W.  Intel's processors raise #UD.  With a
 * segment and an operand relative to RIP, Zen 5 sometimes raises #UD for this VERW too. */
static void operands_in(bool gs)
{
	static const struct {
		const char *what;
		uint8_t bytes, displacement, byte[12]; /* the displacement is relative to RIP */
	} insn[] = {
		{"LOCK VERW, RIP", 8, 4, {0xf0, 0x0f, 0x00, 0x2d}},
		{"VERW, GS and RIP", 8, 4, {0x65, 0x0f, 0x00, 0x2d}},
		{"LOCK VERW, GS and RDI", 5, 0, {0xf0, 0x65, 0x0f, 0x00, 0x2f}},
		{"MOV, GS and RIP", 8, 4, {0x65, 0x48, 0x8b, 0x05}},
		{"MOV ESI, GS and RIP", 7, 3, {0x65, 0x8b, 0x35}},
		{"CALL, GS and RIP", 7, 3, {0x65, 0xff, 0x15}},
		{"CALL, FS and RIP", 7, 3, {0x64, 0xff, 0x15}},
		{"JMP, FS and RIP", 7, 3, {0x64, 0xff, 0x25}},
		{"MOV GS, RIP", 6, 2, {0x8e, 0x2d}},
		{"MOV GS, GS and RIP", 7, 3, {0x65, 0x8e, 0x2d}},
		{"VPERMQ, W0, RIP", 10, 5, {0xc4, 0xe3, 0x7d, 0x00, 0x05, 0, 0, 0, 0, 0x1b}},
		{"VPERMQ, W0, GS and RIP",
		 11,
		 6,
		 {0x65, 0xc4, 0xe3, 0x7d, 0x00, 0x05, 0, 0, 0, 0, 0x1b}},
	};
	static const uint64_t places[] = {0x41000000, UINT64_C(0x500070000000)};

	for (unsigned i = 0; i < 2 * sizeof(insn) / sizeof(insn[0]); i++) {
		unsigned k = i / 2;
		uint8_t *page = mmap((void *)places[i % 2], 2 * PAGE, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		uint8_t *end = page + 64 + insn[k].bytes, *data = page + PAGE;
		bool in_fs = insn[k].byte[0] == 0x64;
		int32_t distance = (int32_t)(data - end) + (in_fs ? DISTANCE : 0);

		if ((strstr(insn[k].what, "GS") != NULL) != gs ||
		    (insn[k].byte[0] == 0xc4 && !__builtin_cpu_supports("avx2")))
			continue;
		memcpy(page + 64, insn[k].byte, insn[k].bytes);
		if (insn[k].displacement)
			memcpy(page + 64 + insn[k].displacement, &distance, sizeof(distance));
		*end = 0xc3;
		memcpy(data, (const uint64_t[]){0x2b}, 8);
		memcpy(data + DISTANCE, (const uint64_t[]){0x123400000000002b}, 8);
		memcpy(data + 2 * DISTANCE, &end, sizeof(end));
		mprotect(page, PAGE, PROT_READ | PROT_EXEC);
		run_with_data(insn[k].what, page + 64, data);
		/* The same where the operand cannot be read. */
		mprotect(data, PAGE, PROT_NONE);
		run_with_data(insn[k].what, page + 64, data);
	}
}

static void operands(void)
{
	operands_in(false);
}

static void gs_operands(void)
{
	operands_in(true);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} subject[] = {
		{"segments", load_segments}, {"far", transfer},	     {"int80", call_by_interrupt},
		{"far32", go_to_32_bits},    {"trap", trap_flag},    {"alignment", alignment},
		{"crossing", crossing},	     {"opening", opening},   {"undefined", undefined},
		{"reserved", reserved},	     {"operands", operands}, {"gs_operands", gs_operands},
	};

	catch (note);
	for (unsigned i = 0; argc == 2 && i < sizeof(subject) / sizeof(subject[0]); i++)
		if (!strcmp(argv[1], subject[i].name)) {
			subject[i].run();
			return 0;
		}
	return 2;
}
