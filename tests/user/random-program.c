/* SPDX-License-Identifier: MIT */
/*
 * random-program SEED: writes a random assembly program that ends, to standard output.
 *
 * It has integer instructions of all widths and operand forms on random registers and memory.
 * Forward branches depend on the flags that the code before them left. There are counted loops,
 * jump tables, calls (direct, by register, by memory), prefixed branches and string instructions.
 * Flags are live over all of them. R15 is the base of a buffer and the stack is the program's own,
 * so every value is the same in every run. At the end registers, flags and buffer are written to
 * standard output.
 */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define FUNCTIONS 6

static uint64_t state;
static int label;

static unsigned pick(unsigned below)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(state >> 33) % below;
}

static const char *const width_suffix = "bwlq";
static const char *const reg[4][15] = {
	{"al", "cl", "dl", "bl", "sil", "dil", "bpl", "r8b", "r9b", "r10b", "r11b", "r12b", "r13b",
	 "r14b", "al"},
	{"ax", "cx", "dx", "bx", "si", "di", "bp", "r8w", "r9w", "r10w", "r11w", "r12w", "r13w",
	 "r14w", "ax"},
	{"eax", "ecx", "edx", "ebx", "esi", "edi", "ebp", "r8d", "r9d", "r10d", "r11d", "r12d",
	 "r13d", "r14d", "eax"},
	{"rax", "rcx", "rdx", "rbx", "rsi", "rdi", "rbp", "r8", "r9", "r10", "r11", "r12", "r13",
	 "r14", "rax"},
};
static const char *const condition[] = {"o", "no", "b", "ae", "e", "ne", "be", "a",
					"s", "ns", "p", "np", "l", "ge", "le", "g"};

static void emit(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void emit(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	putchar('\t');
	vprintf(format, list);
	putchar('\n');
	va_end(list);
}

static const char *any(unsigned width)
{
	return reg[width][pick(14)];
}

/* A memory operand; may first emit an instruction that bounds an index register. */
static const char *memory(void)
{
	static char text[8][64];
	static unsigned turn;
	char *to = text[turn++ % 8];
	unsigned index;

	switch (pick(5)) {
	case 0:
		snprintf(to, sizeof(text[0]), "buffer+%u(%%rip)", pick(4000));
		break;
	case 1:
		snprintf(to, sizeof(text[0]), "buffer+%u", pick(4000));
		break;
	case 2:
		index = pick(14);
		emit("and $0xff, %%%s", reg[2][index]);
		snprintf(to, sizeof(text[0]), "%u(%%r15,%%%s,%u)", pick(2000), reg[3][index],
			 1u << pick(4));
		break;
	case 3:
		snprintf(to, sizeof(text[0]), "%u(%%r15d)", pick(4000));
		break;
	default:
		snprintf(to, sizeof(text[0]), "%u(%%r15)", pick(4000));
	}
	return to;
}

static unsigned immediate(unsigned width)
{
	return pick(2) ? pick(128) : pick(width == 0 ? 256 : width == 1 ? 65536 : 0x7fffffff);
}

static void arithmetic(void)
{
	static const char *const op[] = {"add", "sub", "adc", "sbb", "and",
					 "or",	"xor", "cmp", "mov"};
	const char *name = op[pick(9)];
	unsigned w = pick(4);

	switch (pick(6)) {
	case 0:
		emit("%s%c $%u, %%%s", name, width_suffix[w], immediate(w), any(w));
		break;
	case 1: {
		const char *m = memory();

		emit("%s%c %s, %%%s", name, width_suffix[w], m, any(w));
		break;
	}
	case 2: {
		const char *m = memory();

		emit("%s%c %%%s, %s", name, width_suffix[w], any(w), m);
		break;
	}
	case 3: {
		const char *m = memory();

		emit("%s%c $%u, %s", name, width_suffix[w], immediate(w), m);
		break;
	}
	default:
		emit("%s%c %%%s, %%%s", name, width_suffix[w], any(w), any(w));
	}
}

static void unary(void)
{
	static const char *const op[] = {"inc", "dec", "neg", "not"};
	static const char *const shift[] = {"shl", "shr", "sar", "rol", "ror", "rcl", "rcr"};
	unsigned w = pick(4);

	switch (pick(5)) {
	case 0:
		emit("%s%c %s", op[pick(4)], width_suffix[w], memory());
		break;
	case 1:
		emit("%s%c $%u, %%%s", shift[pick(7)], width_suffix[w], pick(64), any(w));
		break;
	case 2:
		emit("%s%c %%cl, %%%s", shift[pick(7)], width_suffix[w], any(w));
		break;
	case 3:
		emit("%s%c $%u, %s", shift[pick(7)], width_suffix[w], pick(32), memory());
		break;
	default:
		emit("%s%c %%%s", op[pick(4)], width_suffix[w], any(w));
	}
}

/* After flags that the manual leaves undefined: what they hold is the processor's own matter, and
 * a host may have used them in between. */
static void define_flags(void)
{
	unsigned w = pick(4);

	emit("add%c $%u, %%%s", width_suffix[w], pick(100), any(w));
}

static void various(void)
{
	unsigned w = 1 + pick(3), r = pick(14);
	const char *m;

	switch (pick(22)) {
	case 0:
		emit("imul%c %%%s, %%%s", width_suffix[w], any(w), any(w));
		define_flags();
		break;
	case 1:
		emit("imul%c $%u, %s, %%%s", width_suffix[w], pick(100), memory(), any(w));
		define_flags();
		break;
	case 2:
		emit("mul%c %s", width_suffix[w], memory());
		define_flags();
		break;
	case 3:
		emit("bts%c $%u, %%%s", width_suffix[w], pick(16), any(w));
		define_flags();
		break;
	case 4:
		emit("cmov%s%c %s, %%%s", condition[pick(16)], width_suffix[w], memory(), any(w));
		break;
	case 5:
		emit("set%s %%%s", condition[pick(16)], any(0));
		break;
	case 6:
		emit("set%s %s", condition[pick(16)], memory());
		break;
	case 7:
		m = memory();
		emit("xchg%c %%%s, %s", width_suffix[w], any(w), m);
		break;
	case 8:
		m = memory();
		emit("lock xadd%c %%%s, %s", width_suffix[w], any(w), m);
		break;
	case 9:
		m = memory();
		emit("cmpxchg%c %%%s, %s", width_suffix[w], any(w), m);
		break;
	case 10:
		emit("lea %u(%%%s,%%%s,4), %%%s", pick(5000), any(3), any(3), any(3));
		break;
	case 11:
		emit("movzb%c %%%s, %%%s", width_suffix[w], any(0), any(w));
		break;
	case 12:
		emit("movsb%c %s, %%%s", width_suffix[w], memory(), any(w));
		break;
	case 13:
		emit("%s", pick(2) ? "lahf" : "sahf");
		break;
	case 14:
		emit("%s", pick(3) == 0 ? "clc" : pick(2) ? "stc" : "cmc");
		break;
	case 15:
		emit("push %%%s", reg[3][r]);
		arithmetic();
		emit("pop %%%s", any(3));
		break;
	case 16:
		emit("pushq %s", memory());
		emit("popq %s", memory());
		break;
	case 17:
		emit("pushfq");
		unary();
		emit("popfq");
		break;
	case 18:
		emit("popcnt%c %%%s, %%%s", width_suffix[w], any(w), any(w));
		break;
	case 19:
		emit("movq %%%s, %%xmm%u", any(3), pick(16));
		emit("paddd %%xmm%u, %%xmm%u", pick(16), pick(16));
		emit("movq %%xmm%u, %%%s", pick(16), any(3));
		break;
	case 20:
		emit("shld%c $%u, %%%s, %%%s", width_suffix[w], pick(16), any(w), any(w));
		define_flags();
		break;
	default:
		emit("addb %%%ch, %%%cl", "abcd"[pick(4)], "abcd"[pick(4)]);
	}
}

static void strings(void)
{
	static const char *const op[] = {"rep movs", "rep stos", "rep lods", "repe cmps",
					 "repne scas"};
	unsigned w = pick(4);

	emit("lea %u(%%r15), %%rsi", 1000 + pick(1000));
	emit("lea %u(%%r15), %%rdi", 1000 + pick(1000));
	if (pick(4) == 0)
		emit("std");
	emit("mov $%u, %%ecx", pick(3) ? pick(20) : 0);
	emit("%s%c", op[pick(5)], width_suffix[w]);
	if (pick(2))
		emit("%s%c", pick(2) ? "movs" : "scas", width_suffix[pick(4)]);
	emit("cld");
}

static void system_call(void)
{
	emit("mov $24, %%eax"); /* sched_yield */
	emit("syscall");
	emit("mov $0, %%r11d"); /* the flags, with the trap flag under a debugger */
}

static void block(unsigned depth);

static void straight(unsigned count)
{
	while (count--) {
		unsigned n = pick(20);

		if (n < 9)
			arithmetic();
		else if (n < 13)
			unary();
		else
			various();
	}
}

static void conditional(unsigned depth)
{
	int here = label++;
	unsigned n = pick(12);

	if (n == 0) {
		emit("jrcxz .L%d", here);
		straight(pick(4)); /* within reach */
	} else if (n == 1) {
		static const char *const op[] = {"loop", "loope", "loopne"};

		emit("%s .L%d", op[pick(3)], here);
		straight(pick(4));
	} else {
		emit("%sj%s .L%d", n == 2 ? "bnd " : "", condition[pick(16)], here);
		block(depth + 1);
	}
	printf(".L%d:\n", here);
}

static void counted_loop(unsigned depth)
{
	int here = label++;

	emit("pushq $%u", 1 + pick(4));
	printf(".L%d:\n", here);
	block(depth + 1);
	emit("decl (%%rsp)");
	emit("jnz .L%d", here);
	emit("%s", pick(2) ? "pop %rax" : "lea 8(%rsp), %rsp");
}

static void jump_table(unsigned depth)
{
	int first = label, end, n;
	unsigned r = pick(14);

	label += 4;
	end = label++;
	emit("and $3, %%%s", reg[2][r]);
	emit("jmp *.Ltable%d(,%%%s,8)", first, reg[3][r]);
	emit(".pushsection .data");
	printf(".Ltable%d:\n", first);
	for (n = 0; n < 4; n++)
		emit(".quad .L%d", first + n);
	emit(".popsection");
	for (n = 0; n < 4; n++) {
		printf(".L%d:\n", first + n);
		straight(1 + pick(3));
		if (depth < 2 && pick(4) == 0)
			conditional(depth + 2);
		if (n < 3)
			emit("jmp .L%d", end);
	}
	printf(".L%d:\n", end);
}

static unsigned function; /* the one being written; it calls later ones only */

static void call(void)
{
	unsigned callee = function + 1 + pick(2), r;

	if (callee >= FUNCTIONS)
		return;
	switch (pick(4)) {
	case 0:
		emit("call *pointer+%u(%%rip)", callee * 8);
		break;
	case 1:
		r = pick(14);
		emit("lea function%u(%%rip), %%%s", callee, reg[3][r]);
		emit("call *%%%s", reg[3][r]);
		break;
	default:
		emit("call function%u", callee);
	}
}

static void block(unsigned depth)
{
	unsigned parts = 1 + pick(depth < 2 ? 4 : 2);

	while (parts--) {
		unsigned n = pick(depth < 3 ? 12 : 6);

		straight(1 + pick(6));
		if (n == 5)
			strings();
		else if (n == 6 || n == 7 || n == 8)
			conditional(depth);
		else if (n == 9)
			counted_loop(depth);
		else if (n == 10)
			jump_table(depth);
		else if (n == 11 && pick(6) == 0)
			system_call();
	}
}

int main(int argc, char **argv)
{
	static const char *const ret[] = {"ret", "ret", "rep ret", "bnd ret"};
	unsigned n;

	if (argc != 2)
		return 2;
	state = strtoul(argv[1], NULL, 10) * UINT64_C(0x9e3779b97f4a7c15) + 1;
	printf("\t.globl _start\n_start:\n");
	emit("mov $stack_end, %%rsp");
	emit("mov $buffer, %%r15d");
	for (n = 0; n < 14; n++)
		emit("movabs $0x%x%08x, %%%s", pick(0x7fffffff), pick(0x7fffffff), reg[3][n]);
	emit("call function0");
	emit("pushfq");
	emit("andl $0x8d5, (%%rsp)");
	emit("mov %%rax, buffer+4096(%%rip)");
	emit("pop %%rax");
	emit("mov %%rax, buffer+4104(%%rip)");
	for (n = 1; n < 14; n++)
		emit("mov %%%s, buffer+%u(%%rip)", reg[3][n], 4104 + n * 8);
	emit("mov %%rsp, buffer+4216(%%rip)");
	emit("mov $1, %%edi\n\tmov $buffer, %%esi\n\tmov $4224, %%edx\n\tmov $1, %%eax\n\tsyscall");
	emit("mov $60, %%eax\n\txor %%edi, %%edi\n\tsyscall");
	for (function = 0; function < FUNCTIONS; function++) {
		printf("function%u:\n", function);
		for (n = 1 + pick(3); n--;) {
			block(0);
			call();
		}
		block(1);
		emit("%s", ret[pick(4)]);
	}
	printf("\t.data\npointer:\n");
	for (n = 0; n < FUNCTIONS; n++)
		emit(".quad function%u", n);
	printf("\t.bss\n\t.balign 64\nbuffer:\t.zero 8192\n\t.zero 65536\nstack_end:\n");
	return 0;
}
