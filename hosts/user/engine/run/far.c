/* SPDX-License-Identifier: MIT */
/*
 * far.c: far transfers in user mode: far CALL, JMP and RET, and IRET (Vol.  2; Vol.  3A 5.8).
 *
 * The engine performs the transfer itself, because its target is not where the translated code
 * is.  A transfer that the processor would refuse runs unchanged: it faults before it has
 * changed anything.  Linux has two code segments for programs.  The one for 32-bit code ends the
 * run.
 */
#include "engine/count/count.h"
#include "engine/memory/access.h"
#include "engine/rt/context.h"
#include "engine/rt/engine.h"
#include "engine/rt/segments.h"
#include "engine/rt/sys.h"
#include "engine/run/far.h"
#include "engine/run/near.h"
#include "engine/signal/faults.h"
#include "engine/signal/one.h"
#include "engine/translate/translate.h"
#include "engine/x86/cpuid.h"
#include "engine/x86/keys.h"
#include "engine/x86/opcodes.h"

#define CODE_64	    0x33 /* Linux's selector of 64-bit code */
#define RIGHTS_CODE 0x1800u
#define FLAGS_LOADED                                                                               \
	UINT64_C(0x244cd5) /* flags that IRET loads at CPL 3: ID AC NT OF DF SF ZF AF PF CF */

/* What the prefixes select. */
struct form {
	unsigned opcode, reg;	/* reg: of ModRM */
	unsigned bytes;		/* of an operand */
	unsigned pointer_bytes; /* bytes of the offset of a far pointer in memory */
};

static struct form form_of(const struct step *s, const struct insn *insn)
{
	READING_CODE;
	const uint8_t *at = (const uint8_t *)s->pc;
	bool wide = insn->opcode_offset && is_rex_w(at[insn->opcode_offset - 1]);
	bool narrow = false;
	struct form f = {.opcode = insn->opcode};

	for (unsigned i = 0; i < insn->prefix_bytes; i++)
		narrow |= at[i] == PREFIX_OPERAND;
	f.bytes = wide ? 8 : narrow ? 2 : 4;
	/* AMD's processors have no far pointer with 64 bits of offset (APM Vol. 3, JMP far). */
	f.pointer_bytes = wide && cpuid_is_amd() ? (narrow ? 2 : 4) : f.bytes;
	if (insn->modrm_offset)
		f.reg = at[insn->modrm_offset] >> 3 & 7;
	return f;
}

static uint64_t read_word(uint64_t at, unsigned bytes)
{
	uint64_t value = 0;

	memcpy(&value, (const void *)at, bytes);
	return value;
}

/* Returns whether it is Linux's 64-bit code segment; another code segment ends the run. */
static bool is_code(uint64_t selector)
{
	uint32_t rights = 0;

	if ((uint16_t)(selector | 3) == CODE_64)
		return true;
	__asm__("lar %1, %0" : "+r"(rights) : "r"((uint32_t)(uint16_t)selector) : "cc");
	if ((rights & RIGHTS_CODE) == RIGHTS_CODE)
		engine_unsupported("the program goes on in a segment of 32-bit code, which cannot "
				   "be run yet");
	return false;
}

static void go(const struct step *s, const struct insn *insn, uint64_t pc, struct accesses *list)
{
	current->pc = pc;
	current->run.one_bytes = insn->length;
	counting_retire(s->pc, pc, insn->signals, list);
}

/* Lists what it pops: `words` from the stack. */
static void list_pops(struct accesses *list, unsigned words, unsigned bytes)
{
	if (!list)
		return;
	list->n = 0;
	for (unsigned i = 0; i < words; i++)
		accesses_add(list, current->gpr[4] + (uint64_t)i * bytes, bytes, SPMU_ACCESS_LOAD);
}

static bool run_return(const struct step *s, const struct insn *insn, const struct form *f,
		       struct accesses *list)
{
	uint64_t sp = current->gpr[4], pc, selector;

	if (!access_readable(sp, 2 * f->bytes))
		return false;
	pc = read_word(sp, f->bytes);
	selector = read_word(sp + f->bytes, f->bytes);
	if (!is_canonical(pc) || (selector & 3) != 3 || !is_code(selector))
		return false;
	list_pops(list, 2, f->bytes);
	current->gpr[4] += 2 * f->bytes + insn->immediate;
	go(s, insn, pc, list);
	return true;
}

static uint16_t stack_segment(void)
{
	uint16_t ss;

	__asm__ volatile("mov %%ss, %0" : "=r"(ss));
	return ss;
}

/* Returns false if IRET would refuse the selector. */
static bool load_stack_segment(uint16_t selector)
{
	bool writable;

	if (selector == stack_segment())
		return true;
	__asm__("verw %1" : "=@ccz"(writable) : "r"(selector));
	if ((selector & 3) != 3 || !writable)
		return false;
	__asm__ volatile("mov %0, %%ss" : : "r"(selector));
	return true;
}

static void load_flags(uint64_t flags, unsigned bytes)
{
	uint64_t loaded = bytes == 2 ? FLAGS_LOADED & UINT16_MAX : FLAGS_LOADED;

	current->rflags = (current->rflags & ~loaded) | (flags & loaded);
	current->run.trap_flag = flags & FLAG_TF;
}

static bool run_iret(const struct step *s, const struct insn *insn, const struct form *f,
		     struct accesses *list)
{
	uint64_t frame[5];

	if (!access_readable(current->gpr[4], 5 * f->bytes))
		return false;
	for (unsigned i = 0; i < 5; i++)
		frame[i] = read_word(current->gpr[4] + i * f->bytes, f->bytes);
	if (!is_canonical(frame[0]) || (frame[1] & 3) != 3 || !is_code(frame[1]) ||
	    !load_stack_segment((uint16_t)frame[4]))
		return false;
	list_pops(list, 5, f->bytes);
	load_flags(frame[2], f->bytes);
	current->gpr[4] = frame[3];
	go(s, insn, frame[0], list);
	return true;
}

static bool push_return(const struct form *f, uint64_t back)
{
	uint64_t sp = current->gpr[4] - 2 * f->bytes, selector = CODE_64;

	if (!access_writable(sp, 2 * f->bytes))
		return false;
	memcpy((void *)(sp + f->bytes), &selector, f->bytes);
	memcpy((void *)sp, &back, f->bytes);
	current->gpr[4] = sp;
	return true;
}

/* Lists the far pointer, and the selector and address that CALL has pushed. */
static void list_pointer(struct accesses *list, const struct form *f, uint64_t operand)
{
	uint64_t rsp = current->gpr[4];

	list->n = 0;
	accesses_add(list, operand, f->pointer_bytes + 2, SPMU_ACCESS_LOAD);
	if (f->reg != 3)
		return;
	accesses_add(list, rsp + f->bytes, f->bytes, SPMU_ACCESS_STORE);
	accesses_add(list, rsp, f->bytes, SPMU_ACCESS_STORE);
}

static bool run_pointer(const struct step *s, const struct insn *insn, const struct form *f,
			struct accesses *list)
{
	uint64_t operand =
		insn_data_address(insn, s->pc, current->gpr, read_fs_base(), current->program_gs);
	uint64_t pc;

	if (!access_readable(operand, f->pointer_bytes + 2))
		return false;
	pc = read_word(operand, f->pointer_bytes);
	if (!is_canonical(pc) || !is_code(read_word(operand + f->pointer_bytes, 2)))
		return false;
	if (f->reg == 3 && !push_return(f, s->pc + insn->length))
		return false;
	if (list)
		list_pointer(list, f, operand);
	go(s, insn, pc, list);
	return true;
}

bool far_is_call(const struct insn *insn)
{
	return insn->kind == INSN_FAR && insn->opcode == OPCODE_INT &&
	       insn->immediate == SYSCALL_VECTOR;
}

bool far_run(const struct step *s, const struct insn *insn, struct accesses *list)
{
	struct form f = form_of(s, insn);

	switch (f.opcode) {
	case OPCODE_RETF_IMM:
	case OPCODE_RETF:
		return run_return(s, insn, &f, list);
	case OPCODE_IRET:
		return run_iret(s, insn, &f, list);
	case OPCODE_GROUP_5:
		return run_pointer(s, insn, &f, list);
	case OPCODE_INT: /* INT n: a trap, a fault, or a system call that the kernel can make */
		return false;
	default: /* SYSENTER, which is undefined on AMD's processors */
		if (!cpuid_is_amd())
			engine_unsupported("the program executes SYSENTER, which cannot be run");
		unknown_run(s);
		return true;
	}
}
