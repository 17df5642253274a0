/* SPDX-License-Identifier: MIT */
/*
 * opcodes.c: runs single instructions of every opcode map from prepared registers and memory, and
 * prints a digest of what each block of them did.  opcodes.sh compares a native run with one under
 * the translator; opcodes.md lists what is left out.
 *
 *	opcodes native SKIPS SEED FIRST COUNT	digests of the forms FIRST to FIRST + COUNT - 1;
 *						writes the numbers of forms that cannot be
 *						compared to the file SKIPS
 *	opcodes again SKIPS SEED FIRST COUNT	the same without the forms in SKIPS
 *	opcodes -v ...				a line for each form
 *
 * A form is its number: that chooses opcode map and opcode in turn, and seeds what chooses
 * prefixes, ModRM, SIB, displacement, immediate and the registers before it.  Many forms are
 * written to a page of fresh code.  Each is followed by NOPs, which are also harmless as immediates
 * of any size, and a jump back.
 */
#define _GNU_SOURCE
#include <cpuid.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ucontext.h>

#include "opcodes.h"

#define CODE_LOW    UINT64_C(0x40000000)
#define CODE_HIGH   UINT64_C(0x500060000000)
#define BATCH	    512u /* forms that are written at a time, and of one digest */
#define SLOT	    64u
#define POPFQ	    0x9d
#define NEAR	    UINT64_C(0x100000)
#define SLED	    40u /* bytes of a slot before the jump back */
#define STATES	    61u
#define XSAVE_BYTES 2752u
#define XSAVE_TAKEN 0xe7u /* x87, SSE, AVX, AVX-512 */
#define COMPONENTS  8u
#define HEADER_AT   512u

/* Shared with the assembly below. */
struct registers {
	uint64_t gpr[16]; /* in encoding order */
	uint64_t flags, fs, gs;
	uint16_t ds, es, fs_selector, gs_selector, ss, pad[3];
};
struct registers before, after;
uint8_t xsave_before[XSAVE_BYTES] __attribute__((aligned(64)));
uint8_t xsave_after[XSAVE_BYTES] __attribute__((aligned(64)));
uint64_t xsave_mask, target, own_rsp, own_fs;
uint32_t with_gs; /* the form may change GS */

void run_form(void);
extern const char landing[], aborted[];

__asm__(".text\n"
	"run_form:\n"
	"	pushq %rbx\n	pushq %rbp\n	pushq %r12\n	pushq %r13\n	pushq %r14\n"
	"	pushq %r15\n"
	"	movq %rsp, own_rsp(%rip)\n"
	"	rdfsbase %rax\n	movq %rax, own_fs(%rip)\n"
	"	movl xsave_mask(%rip), %eax\n	xorl %edx, %edx\n"
	"	xrstor64 xsave_before(%rip)\n"
	"	cmpl $0, with_gs(%rip)\n	je 1f\n"
	"	movq before+144(%rip), %rax\n	wrgsbase %rax\n"
	"1:	movq before+136(%rip), %rax\n	wrfsbase %rax\n"
	"	movq before+0(%rip), %rax\n	movq before+8(%rip), %rcx\n"
	"	movq before+16(%rip), %rdx\n	movq before+24(%rip), %rbx\n"
	"	movq before+40(%rip), %rbp\n	movq before+48(%rip), %rsi\n"
	"	movq before+56(%rip), %rdi\n	movq before+64(%rip), %r8\n"
	"	movq before+72(%rip), %r9\n	movq before+80(%rip), %r10\n"
	"	movq before+88(%rip), %r11\n	movq before+96(%rip), %r12\n"
	"	movq before+104(%rip), %r13\n	movq before+112(%rip), %r14\n"
	"	movq before+120(%rip), %r15\n"
	"	movq before+32(%rip), %rsp\n"
	"	pushq before+128(%rip)\n" /* the slot begins with POPFQ */
	"	jmp *target(%rip)\n"
	".globl landing\n"
	"landing:\n"
	"	movq %rsp, after+32(%rip)\n"
	"	movq own_rsp(%rip), %rsp\n"
	"	pushfq\n	popq after+128(%rip)\n"
	"	pushq $2\n	popfq\n"
	"	movq %rax, after+0(%rip)\n	movq %rcx, after+8(%rip)\n"
	"	movq %rdx, after+16(%rip)\n	movq %rbx, after+24(%rip)\n"
	"	movq %rbp, after+40(%rip)\n	movq %rsi, after+48(%rip)\n"
	"	movq %rdi, after+56(%rip)\n	movq %r8, after+64(%rip)\n"
	"	movq %r9, after+72(%rip)\n	movq %r10, after+80(%rip)\n"
	"	movq %r11, after+88(%rip)\n	movq %r12, after+96(%rip)\n"
	"	movq %r13, after+104(%rip)\n	movq %r14, after+112(%rip)\n"
	"	movq %r15, after+120(%rip)\n"
	"	movl xsave_mask(%rip), %eax\n	xorl %edx, %edx\n"
	"	xsave64 xsave_after(%rip)\n"
	".globl aborted\n"
	"aborted:\n"
	"	rdfsbase %rax\n	movq %rax, after+136(%rip)\n"
	"	cmpl $0, with_gs(%rip)\n	je 1f\n"
	"	rdgsbase %rax\n	movq %rax, after+144(%rip)\n"
	"1:	movw %ds, after+152(%rip)\n	movw %es, after+154(%rip)\n"
	"	movw %fs, after+156(%rip)\n	movw %gs, after+158(%rip)\n"
	"	movw %ss, after+160(%rip)\n"
	"	movl after+156(%rip), %eax\n	orl after+152(%rip), %eax\n	je 1f\n"
	"	xorl %eax, %eax\n	movl %eax, %ds\n	movl %eax, %es\n"
	"	movl %eax, %fs\n	movl %eax, %gs\n"
	"1:	movq own_fs(%rip), %rax\n	wrfsbase %rax\n"
	"	cld\n	popq %r15\n	popq %r14\n	popq %r13\n	popq %r12\n"
	"	popq %rbp\n	popq %rbx\n	ret\n");

/* What a form did, except registers and memory. */
struct result {
	uint64_t signal, code, address, rip, error, trap, page;
	uint64_t segments;
};
static struct result result;

static struct {
	unsigned at, bytes;
} component[COMPONENTS];

static struct registers state[STATES];
static uint8_t xsave_state[STATES][XSAVE_BYTES] __attribute__((aligned(64)));
static uint8_t pristine[SCRATCH_BYTES];
static uint64_t code_base;

/* --- random numbers --- */

static uint64_t seed_now;

static uint64_t mix(uint64_t x)
{
	x ^= x >> 30;
	x *= UINT64_C(0xbf58476d1ce4e5b9);
	x ^= x >> 27;
	x *= UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

uint64_t draw(void)
{
	return mix(seed_now += UINT64_C(0x9e3779b97f4a7c15));
}

static void seed_draw(uint64_t seed, uint64_t number)
{
	seed_now = mix(seed * 0x10001 + 1) ^ mix(number);
}

/* --- prepared states --- */

static uint64_t draw_pointer(bool aligned)
{
	uint64_t offset = draw() % 1024;

	return SCRATCH_AT + SCRATCH_BYTES / 3 + (aligned ? offset & ~UINT64_C(63) : offset);
}

static void make_registers(struct registers *r, bool aligned)
{
	static const uint64_t flags[] = {0x202, 0x8d7, 0x246, 0xa93, 0x602};

	for (unsigned i = 0; i < 16; i++)
		r->gpr[i] = draw() % 4 && !(aligned && i == 5) ? draw_pointer(aligned)
			    : draw() % 2		       ? draw() % 32
							       : draw() >> draw() % 48;
	if (draw() % 4)
		r->gpr[1] = draw() % 24;
	r->gpr[4] = STACK_AT + (aligned ? 0 : draw() % 4 * 8);
	r->gpr[6] = draw_pointer(aligned);
	r->gpr[7] = draw_pointer(aligned);
	r->flags = flags[draw() % 5];
	r->fs = draw_pointer(true) - (draw() % 2 ? SCRATCH_AT : 64);
	r->gs = draw_pointer(true) - (draw() % 2 ? SCRATCH_AT : 64);
}

/* Values that are useful as numbers, addresses and indexes. */
static uint64_t draw_element(void)
{
	static const uint64_t numbers[] = {
		UINT64_C(0x3ff8000000000000), UINT64_C(0x3fc000003f800000),
		UINT64_C(0xc008000000000000), UINT64_C(0x7ff8000000000001),
		UINT64_C(0x7ff0000000000000), UINT64_C(0x0000000000000001),
		UINT64_C(0x8000000080000000), UINT64_C(0x42c8000041200000),
	};

	switch (draw() % 4) {
	case 0:
		return numbers[draw() % 8];
	case 1:
		return draw() % 64 | draw() % 64 << 32;
	case 2:
		return draw_pointer(false);
	default:
		return draw();
	}
}

static void draw_elements(uint8_t *at, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i += 8) {
		uint64_t word = draw_element();

		memcpy(at + i, &word, 8);
	}
}

static void find_components(void)
{
	unsigned low, high, c, d;

	__asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	xsave_mask = low & XSAVE_TAKEN;
	for (unsigned i = 2; i < COMPONENTS; i++)
		if (xsave_mask >> i & 1)
			__cpuid_count(0xd, i, component[i].bytes, component[i].at, c, d);
}

static void make_vectors(uint8_t *area)
{
	static const uint16_t fcw[] = {0x37f, 0x37f, 0x27f, 0x7f};
	uint64_t in_use = xsave_mask, word;
	uint32_t mxcsr = draw() % 8 ? 0x1f80 : 0x1f80 & ~(uint32_t)(draw() & 0x1f80);
	uint16_t control = fcw[draw() % 4];

	memset(area, 0, XSAVE_BYTES);
	draw_elements(area + 160, 256);
	for (unsigned i = 2; i < COMPONENTS; i++)
		draw_elements(area + component[i].at, component[i].bytes);
	for (unsigned i = 0; i < 8; i++) {
		/* Of the x87 registers: a normal number. */
		uint16_t exponent = (uint16_t)(0x3ff0 + draw() % 64);

		word = draw() | UINT64_C(1) << 63;
		memcpy(area + 32 + 16 * i, &word, 8);
		memcpy(area + 40 + 16 * i, &exponent, 2);
	}
	memcpy(area, &control, 2);
	area[4] = (uint8_t)(draw() % 3 ? 0xff : draw()); /* which x87 registers are in use */
	memcpy(area + 24, &mxcsr, 4);
	memcpy(area + HEADER_AT, &in_use, 8);
}

/* What is popped and returned to: as far as IRETQ needs it. */
static void make_stack(uint8_t *scratch)
{
	uint64_t frame[] = {(uint64_t)landing, 0x33, 0x246, STACK_AT + 256, 0x2b,
			    (uint64_t)landing, 0x33};

	memcpy(scratch + (STACK_AT - SCRATCH_AT), frame, sizeof(frame));
}

static void make_states(uint64_t seed)
{
	find_components();
	seed_draw(seed, ~UINT64_C(0));
	for (unsigned i = 0; i < STATES; i++) {
		make_registers(&state[i], i < ALIGNED_STATES);
		make_vectors(xsave_state[i]);
	}
	for (unsigned i = 0; i < SCRATCH_BYTES; i += 8) {
		uint64_t word = draw() % 3 ? draw() >> 17 : draw_pointer(true);

		memcpy(pristine + i, &word, 8);
	}
	make_stack(pristine);
}

/* --- signals --- */

/* The parts of a frame that XSAVE has written.  Between them is old stack content. */
static void take_frame(const uint8_t *area)
{
	memcpy(xsave_after, area, 416);
	memcpy(xsave_after + HEADER_AT, area + HEADER_AT, 64);
	for (unsigned i = 2; i < COMPONENTS; i++)
		memcpy(xsave_after + component[i].at, area + component[i].at, component[i].bytes);
}

/* The kernel leaves RFLAGS.AC as the form has set it; C code makes accesses that are not aligned.
 */
void signal_entry(int sig, siginfo_t *info, void *context);
__asm__(".text\n"
	"signal_entry:\n"
	"	pushfq\n	andl $~0x40000, (%rsp)\n	popfq\n"
	"	jmp on_signal\n");

void on_signal(int sig, siginfo_t *info, void *context);
void on_signal(int sig, siginfo_t *info, void *context)
{
	static const uint8_t order[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
					  REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
					  REG_R12, REG_R13, REG_R14, REG_R15};
	ucontext_t *uc = context;
	greg_t *g = uc->uc_mcontext.gregs;

	result = (struct result){
		.signal = (uint64_t)sig,
		.code = (uint64_t)info->si_code,
		.address = (uint64_t)info->si_addr,
		.rip = (uint64_t)g[REG_RIP],
		.error = (uint64_t)g[REG_ERR],
		.trap = (uint64_t)g[REG_TRAPNO],
		.page = g[REG_TRAPNO] == 14 ? (uint64_t)g[REG_CR2] : 0,
		.segments = (uint64_t)g[REG_CSGSFS] & 0xffff00000000ffff,
	};
	for (unsigned i = 0; i < 16; i++)
		after.gpr[i] = (uint64_t)g[order[i]];
	after.flags = (uint64_t)g[REG_EFL];
	/* An instruction of the NOPs that follow: opcodes.md */
	if (result.rip != target + 1)
		after.flags &= ~UINT64_C(0x8d5);
	take_frame((const uint8_t *)uc->uc_mcontext.fpregs);
	g[REG_RIP] = (greg_t)aborted;
	g[REG_RSP] = (greg_t)own_rsp;
	g[REG_EFL] = 0x202;
}

static void catch_signals(void)
{
	static const int signals[] = {SIGILL, SIGSEGV, SIGBUS, SIGFPE, SIGTRAP};
	static uint8_t stack[65536];
	stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction action = {.sa_sigaction = signal_entry,
				   .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};

	sigaltstack(&alternate, NULL);
	for (unsigned i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &action, NULL);
}

/* --- what only the native run shows --- */

static FILE *skips;
static bool writes_skips;
static uint64_t next_skip; /* UINT64_MAX: no more */

/* Below 2 GiB the translator may have memory where a native run has none, except near this
 * program's own. */
static bool may_be_engines(uint64_t address)
{
	return address >= UINT64_C(0x10000) - 64 && address < UINT64_C(0x80000000) &&
	       address - (CODE_LOW - NEAR) >= 2 * NEAR && address - (SCRATCH_AT - NEAR) >= 2 * NEAR;
}

/* A #GP of a branch to a non-canonical address.  The translator reports it at the target, unless
 * the target is in GS.  The last prefix of FS and GS counts. */
static bool is_wild_branch(const struct form *f)
{
	bool in_gs = false;
	unsigned i = 0;

	for (; is_legacy_prefix(f->byte[i]) || f->byte[i] >> 4 == 4; i++)
		if ((f->byte[i] & 0xfe) == 0x64)
			in_gs = f->byte[i] == 0x65;
	if (result.rip != target + 1)
		return result.trap == 13;
	in_gs &= f->byte[i + 1] < 0xc0;
	return result.trap == 13 && ((f->byte[i] & 0xfe) == 0xc2 || (f->byte[i] == 0xff && !in_gs));
}

/* Returns whether what the form did cannot be compared. */
static bool skip(uint64_t number, const struct form *f)
{
	bool is = writes_skips &&
		  (is_wild_branch(f) || (result.trap == 14 && may_be_engines(result.page)));

	if (is)
		fprintf(skips, "%llu\n", (unsigned long long)number);
	return is;
}

static void read_skip(void)
{
	unsigned long long n;

	next_skip = fscanf(skips, "%llu", &n) == 1 ? n : UINT64_MAX;
}

/* Returns whether this form must not run.  Forms are asked for in order. */
static bool is_skipped(uint64_t number)
{
	if (writes_skips || number != next_skip)
		return false;
	read_skip();
	return true;
}

/* --- running --- */

static uint64_t digest, before_form;

static void take(const void *from, size_t bytes)
{
	const uint8_t *at = from;
	uint64_t word;

	for (; bytes >= 8; bytes -= 8, at += 8) {
		memcpy(&word, at, 8);
		digest = (digest ^ word) * UINT64_C(0x9fb21c651e98df25);
		digest ^= digest >> 35;
	}
}

/* A component in its initial state may be stored or not; the address of the last x87 instruction is
 * where that ran. */
static void normalize_vectors(void)
{
	uint64_t stored;
	uint16_t control = 0x37f;

	memcpy(&stored, xsave_after + HEADER_AT, 8);
	if (!(stored & 1)) {
		memset(xsave_after, 0, 24);
		memset(xsave_after + 32, 0, 128);
		memcpy(xsave_after, &control, 2);
	}
	if (!(stored & 2))
		memset(xsave_after + 160, 0, 256);
	for (unsigned i = 2; i < COMPONENTS; i++)
		if (!(stored >> i & 1))
			memset(xsave_after + component[i].at, 0, component[i].bytes);
	memset(xsave_after + 6, 0, 18); /* FOP, FIP, FDP */
	memset(xsave_after + 28, 0, 4);
	memset(xsave_after + HEADER_AT, 0, 64);
}

static void run_one(const struct form *f, uint64_t at)
{
	uint8_t *scratch = (uint8_t *)SCRATCH_AT, *flags;
	uint64_t word;

	before = state[f->state];
	flags = pristine + (before.gpr[4] - 8 - SCRATCH_AT); /* where POPFQ finds them */
	memcpy(&word, flags, 8);
	memcpy(flags, &before.flags, 8);
	memcpy(xsave_before, xsave_state[f->state], XSAVE_BYTES);
	before_form = digest;
	with_gs = f->touches_gs;
	memset(&after, 0, sizeof(after));
	memset(xsave_after, 0, XSAVE_BYTES);
	result = (struct result){.signal = 0};
	target = at;
	run_form();
	normalize_vectors();
	take(&after, sizeof(after));
	take(xsave_after, XSAVE_BYTES);
	take(&result, sizeof(result));
	if (memcmp(scratch, pristine, SCRATCH_BYTES) != 0) {
		take(scratch, SCRATCH_BYTES);
		memcpy(scratch, pristine, SCRATCH_BYTES);
	}
	memcpy(flags, &word, 8);
	memcpy(scratch + (before.gpr[4] - 8 - SCRATCH_AT), &word, 8);
}

static void print_form(uint64_t number, const struct form *f)
{
	static const char *const name[16] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp",
					     "rsi", "rdi", "r8",  "r9",	 "r10", "r11",
					     "r12", "r13", "r14", "r15"};

	printf("%llu:", (unsigned long long)number);
	for (unsigned i = 0; i < f->bytes; i++)
		printf(" %02x", f->byte[i]);
	printf(" state %u: signal %llu code %lld at %llx rip %llx err %llx trap %llx cr2 %llx "
	       "flags %llx ds %x es %x fs %x gs %x ss %x fsbase %llx gsbase %llx",
	       f->state, (unsigned long long)result.signal, (long long)result.code,
	       (unsigned long long)result.address, (unsigned long long)result.rip,
	       (unsigned long long)result.error, (unsigned long long)result.trap,
	       (unsigned long long)result.page, (unsigned long long)after.flags, after.ds, after.es,
	       after.fs_selector, after.gs_selector, after.ss, (unsigned long long)after.fs,
	       (unsigned long long)after.gs);
	for (unsigned i = 0; i < 16; i++)
		if (after.gpr[i] != before.gpr[i])
			printf(" %s %llx", name[i], (unsigned long long)after.gpr[i]);
	printf(" digest %016llx\n", (unsigned long long)digest);
}

/* The forms of one batch, as fresh code at one of two addresses. */
static void run_batch(uint64_t seed, uint64_t first, unsigned count, bool verbose)
{
	static struct form form[BATCH];
	uint64_t back = (uint64_t)landing;
	uint8_t *code;

	code_base = first / BATCH % 4 == 3 ? CODE_HIGH : CODE_LOW;
	code = mmap((void *)code_base, BATCH * SLOT, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	if (code == MAP_FAILED) {
		perror("opcodes: mmap");
		exit(2);
	}
	memset(code, 0x90, BATCH * SLOT);
	for (unsigned i = 0; i < count; i++) {
		uint8_t *slot = code + i * SLOT;

		seed_draw(seed, first + i);
		make_form(&form[i], first + i);
		slot[0] = POPFQ;
		memcpy(slot + 1, form[i].byte, form[i].bytes);
		memcpy(slot + SLED, (const uint8_t[]){0xff, 0x25, 0, 0, 0, 0}, 6); /* JMP */
		memcpy(slot + SLED + 6, &back, 8);
	}
	mprotect(code, BATCH * SLOT, PROT_READ | PROT_EXEC);
	digest = 0;
	for (unsigned i = 0; i < count; i++) {
		if (form[i].excluded || is_skipped(first + i))
			continue;
		if (verbose)
			digest = 0;
		run_one(&form[i], code_base + i * SLOT);
		if (skip(first + i, &form[i]))
			digest = before_form;
		else if (verbose)
			print_form(first + i, &form[i]);
	}
	munmap(code, BATCH * SLOT);
}

static bool start(const char *how, const char *file)
{
	writes_skips = !strcmp(how, "native");
	skips = fopen(file, writes_skips ? "w" : "r");
	if (!skips ||
	    mmap((void *)SCRATCH_AT, SCRATCH_BYTES, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != (void *)SCRATCH_AT) {
		perror("opcodes");
		return false;
	}
	if (!writes_skips)
		read_skip();
	return true;
}

int main(int argc, char **argv)
{
	bool verbose = argc > 1 && !strcmp(argv[1], "-v");
	uint64_t seed, first, end;

	argv += verbose;
	if (argc != 6 + verbose) {
		fprintf(stderr, "usage: opcodes [-v] native|again SKIPS SEED FIRST COUNT\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	seed = strtoull(argv[3], NULL, 0);
	first = strtoull(argv[4], NULL, 0);
	end = first + strtoull(argv[5], NULL, 0);
	if (!start(argv[1], argv[2]))
		return 2;
	make_states(seed);
	memcpy((void *)SCRATCH_AT, pristine, SCRATCH_BYTES);
	catch_signals();
	for (; first < end; first += BATCH) {
		run_batch(seed, first, end - first < BATCH ? (unsigned)(end - first) : BATCH,
			  verbose);
		if (!verbose)
			printf("%llu %016llx\n", (unsigned long long)first,
			       (unsigned long long)digest);
	}
	return fclose(skips) ? 2 : 0;
}
