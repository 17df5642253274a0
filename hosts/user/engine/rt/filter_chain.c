/* SPDX-License-Identifier: MIT */
/*
 * filter_chain.c: the filters of system calls as the program gave them, and what they answer.
 *
 * The kernel has them in a changed form (filters.c), in which a kill is a trap.  When a trap comes,
 * the filters that are kept here tell what the kernel would have done.  They are programs of
 * the classic BPF machine, of which seccomp(2) takes a part; the kernel has checked them.
 *
 * As in the kernel each thread has a chain of filters, from the newest to the oldest.  Chains
 * share what was installed before they parted.
 */
#include <asm/unistd.h>

#include "engine/rt/filter_chain.h"
#include "engine/rt/context.h"
#include "engine/rt/engine.h"
#include "engine/rt/sys.h"

/* --- chains --- */

static size_t bytes_of(uint32_t length)
{
	return sizeof(struct filter) + length * sizeof(struct sock_filter);
}

struct filter *filter_add(struct filter *older, const struct sock_filter *insn, uint32_t length)
{
	struct filter *f = heap_allocate(bytes_of(length));

	f->older = older;
	f->users = 1;
	f->length = length;
	memcpy(f->insn, insn, length * sizeof(*insn));
	return f;
}

struct filter *filter_share(struct filter *newest)
{
	if (newest)
		__atomic_add_fetch(&newest->users, 1, __ATOMIC_RELAXED);
	return newest;
}

void filter_leave(struct filter *newest)
{
	struct filter *f = newest, *older;

	while (f && !__atomic_sub_fetch(&f->users, 1, __ATOMIC_ACQ_REL)) {
		older = f->older;
		heap_release(f, bytes_of(f->length));
		f = older;
	}
}

/* --- what they answer --- */

/* A division by 0 ends the filter before. */
static uint32_t compute(uint16_t operation, uint32_t a, uint32_t b)
{
	switch (operation) {
	case BPF_ADD:
		return a + b;
	case BPF_SUB:
		return a - b;
	case BPF_MUL:
		return a * b;
	case BPF_DIV:
		return a / b;
	case BPF_AND:
		return a & b;
	case BPF_OR:
		return a | b;
	case BPF_XOR:
		return a ^ b;
	case BPF_LSH:
		return a << (b & 31);
	case BPF_RSH:
		return a >> (b & 31);
	default: /* BPF_NEG */
		return -a;
	}
}

static bool is_true(uint16_t comparison, uint32_t a, uint32_t b)
{
	switch (comparison) {
	case BPF_JEQ:
		return a == b;
	case BPF_JGT:
		return a > b;
	case BPF_JGE:
		return a >= b;
	default: /* BPF_JSET */
		return a & b;
	}
}

/* What BPF_LD and BPF_LDX load. */
static uint32_t load(const struct sock_filter *f, const struct seccomp_data *call,
		     const uint32_t *memory)
{
	uint32_t word;

	switch (BPF_MODE(f->code)) {
	case BPF_ABS:
		memcpy(&word, (const uint8_t *)call + f->k, sizeof(word));
		return word;
	case BPF_LEN:
		return sizeof(*call);
	case BPF_MEM:
		return memory[f->k];
	default: /* BPF_IMM */
		return f->k;
	}
}

static uint32_t answer_of(const struct filter *filter, const struct seccomp_data *call)
{
	uint32_t a = 0, x = 0, operand, memory[BPF_MEMWORDS] = {0};

	for (const struct sock_filter *f = filter->insn;; f++) {
		operand = BPF_SRC(f->code) == BPF_X ? x : f->k;
		switch (BPF_CLASS(f->code)) {
		case BPF_LD:
			a = load(f, call, memory);
			break;
		case BPF_LDX:
			x = load(f, call, memory);
			break;
		case BPF_ST:
			memory[f->k] = a;
			break;
		case BPF_STX:
			memory[f->k] = x;
			break;
		case BPF_ALU:
			if (BPF_OP(f->code) == BPF_DIV && !operand)
				return SECCOMP_RET_KILL_THREAD;
			a = compute(BPF_OP(f->code), a, operand);
			break;
		case BPF_JMP:
			if (BPF_OP(f->code) == BPF_JA)
				f += f->k;
			else
				f += is_true(BPF_OP(f->code), a, operand) ? f->jt : f->jf;
			break;
		case BPF_RET:
			return BPF_RVAL(f->code) == BPF_A ? a : f->k;
		default: /* BPF_MISC */
			if (BPF_MISCOP(f->code) == BPF_TXA)
				a = x;
			else
				x = a;
		}
	}
}

uint32_t filter_answer(const struct filter *newest, const struct seccomp_data *call)
{
	uint32_t gravest = SECCOMP_RET_ALLOW, answer;

	for (const struct filter *f = newest; f; f = f->older) {
		answer = answer_of(f, call);
		if (filter_is_graver(answer, gravest))
			gravest = answer;
	}
	return gravest;
}

/* --- for the next image of the process: the length of each, then its instructions --- */

size_t filter_bytes(const struct filter *newest)
{
	size_t bytes = 0;

	for (const struct filter *f = newest; f; f = f->older)
		bytes += sizeof(f->length) + f->length * sizeof(*f->insn);
	return bytes;
}

static bool put(int fd, const void *from, size_t bytes)
{
	return syscall3(__NR_write, fd, (long)from, (long)bytes) == (long)bytes;
}

bool filter_write(const struct filter *newest, int fd)
{
	for (const struct filter *f = newest; f; f = f->older)
		if (!put(fd, &f->length, sizeof(f->length)) ||
		    !put(fd, f->insn, f->length * sizeof(*f->insn)))
			return false;
	return true;
}

static bool get(int fd, uint8_t *to, size_t bytes)
{
	long n;

	for (; bytes; to += n, bytes -= (size_t)n) {
		n = syscall3(__NR_read, fd, (long)to, (long)bytes);
		if (n <= 0)
			return false;
	}
	return true;
}

struct filter *filter_read(int fd, size_t bytes)
{
	struct filter *newest = NULL, **last = &newest;
	uint8_t *all, *at;
	uint32_t length;

	if (!bytes)
		return NULL;
	at = all = heap_allocate(bytes);
	if (!get(fd, all, bytes))
		engine_fail(126, "the filters of system calls cannot be read");
	while (at < all + bytes) {
		memcpy(&length, at, sizeof(length));
		at += sizeof(length);
		*last = filter_add(NULL, (const struct sock_filter *)at, length);
		last = &(*last)->older;
		at += length * sizeof(*newest->insn);
	}
	heap_release(all, bytes);
	return newest;
}

/* A vfork child in the context has filters of its own. */
struct filter **filter_chain(void)
{
	return current->is_vfork_child ? &current->vfork_filters : &current->filters;
}
