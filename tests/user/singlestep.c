/* SPDX-License-Identifier: MIT */
/*
 * singlestep: an independent count of what retires in a program, by stepping it with ptrace.
 *
 * It shares only the names of the signals with the engine.  The program runs natively, with a trap
 * after each instruction, and Zydis decodes every instruction.  These count:
 *
 * - an instruction when the step over it ends (trap, exit or kill by a later signal); an
 *   instruction that faults has not retired;
 * - a REP string instruction once, however many steps its iterations take;
 * - SYSCALL once, including the one that ends the process;
 * - a conditional branch as taken by its condition, not by where execution continued, so a jump
 *   to the next instruction is classified too.
 *
 * Simplified: one thread; only the first memory operand has an address.
 *
 * usage: singlestep -l | [-o COUNTS] [-t TRACE] [-r REGISTERS] [-m MAPS] -- PROGRAM ...
 *   -o  counts as key=value lines (standard error without it)
 *   -t  one struct step (steps.h) for each retired instruction
 *   -l  list the keys and the events that they stand for, and stop
 *   -r  one struct step_registers for each
 *   -m  the program's executable mappings, as lines of /proc/PID/maps, of all times
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
#include <Zydis/Zydis.h>

#include "steps.h"

#define CACHE_SLOTS (1u << 16)

struct decoded {
	uint64_t ip;
	uint64_t signals; /* of a conditional branch, both outcomes */
	ZydisDecodedInstruction insn;
	ZydisDecodedOperand operand[ZYDIS_MAX_OPERAND_COUNT];
};

static struct decoded cache[CACHE_SLOTS];
static ZydisDecoder decoder;
static uint64_t count[64];
static FILE *trace, *registers, *maps;
static pid_t child;
static struct step pending; /* of the REP instruction in progress */
static bool in_rep;

static void die(const char *what)
{
	fprintf(stderr, "singlestep: %s: %s\n", what, strerror(errno));
	if (child > 0)
		kill(child, SIGKILL);
	exit(99);
}

static uint64_t branch_signals(const ZydisDecodedInstruction *i, const ZydisDecodedOperand *op)
{
	bool immediate = op[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;

	switch (i->meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
		return SPMU_SIGBIT(COND_TAKEN) | SPMU_SIGBIT(COND_NTAKEN);
	case ZYDIS_CATEGORY_CALL:
		if (i->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
			return SPMU_SIGBIT(FAR);
		return immediate ? SPMU_SIGBIT(CALL_REL) : SPMU_SIGBIT(CALL_IND);
	case ZYDIS_CATEGORY_UNCOND_BR:
		if (i->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
			return SPMU_SIGBIT(FAR);
		return immediate ? SPMU_SIGBIT(JMP_REL) : SPMU_SIGBIT(JMP_IND);
	case ZYDIS_CATEGORY_RET:
		if (i->opcode == 0xc2 || i->opcode == 0xc3)
			return SPMU_SIGBIT(RET_NEAR);
		return SPMU_SIGBIT(FAR);
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_SYSRET:
	case ZYDIS_CATEGORY_INTERRUPT:
		return SPMU_SIGBIT(FAR);
	default:
		return 0;
	}
}

static bool is_nop(const ZydisDecodedInstruction *i)
{
	return i->mnemonic == ZYDIS_MNEMONIC_NOP || i->meta.category == ZYDIS_CATEGORY_NOP ||
	       i->meta.category == ZYDIS_CATEGORY_WIDENOP ||
	       i->mnemonic == ZYDIS_MNEMONIC_ENDBR64 || i->mnemonic == ZYDIS_MNEMONIC_ENDBR32;
}

/* Moves lines between caches and memory, and no data (docs/exactness.md). */
static bool is_cache_control(const ZydisDecodedInstruction *i)
{
	return i->mnemonic == ZYDIS_MNEMONIC_CLFLUSH || i->mnemonic == ZYDIS_MNEMONIC_CLFLUSHOPT ||
	       i->mnemonic == ZYDIS_MNEMONIC_CLWB || i->mnemonic == ZYDIS_MNEMONIC_CLDEMOTE;
}

static uint64_t memory_signals(const ZydisDecodedInstruction *i, const ZydisDecodedOperand *op)
{
	uint64_t signals = 0;
	unsigned n;

	if (is_nop(i) || is_cache_control(i))
		return 0;
	for (n = 0; n < i->operand_count; n++) {
		if (op[n].type != ZYDIS_OPERAND_TYPE_MEMORY ||
		    op[n].mem.type == ZYDIS_MEMOP_TYPE_AGEN)
			continue;
		if (op[n].actions & ZYDIS_OPERAND_ACTION_MASK_READ)
			signals |= SPMU_SIGBIT(LOADS);
		if (op[n].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
			signals |= SPMU_SIGBIT(STORES);
	}
	if (i->meta.category == ZYDIS_CATEGORY_PREFETCH)
		signals = SPMU_SIGBIT(LOADS);
	if ((i->attributes & ZYDIS_ATTRIB_HAS_LOCK) ||
	    (i->mnemonic == ZYDIS_MNEMONIC_XCHG && (signals & SPMU_SIGBIT(STORES))))
		signals |= SPMU_SIGBIT(LOCK_LOADS);
	return signals;
}

static struct decoded *decode(uint64_t ip)
{
	struct decoded *d = &cache[(ip ^ ip >> 16) % CACHE_SLOTS];
	uint8_t bytes[16];
	struct iovec local = {bytes, sizeof(bytes)}, remote = {(void *)ip, sizeof(bytes)};
	ssize_t got;

	if (d->ip == ip)
		return d;
	got = process_vm_readv(child, &local, 1, &remote, 1, 0);
	if (got <= 0) {
		/* The page after this one, or the page of the target, is missing. */
		remote.iov_len = 4096 - (ip & 4095) < 16 ? 4096 - (ip & 4095) : 16;
		got = process_vm_readv(child, &local, 1, &remote, 1, 0);
	}
	if (got <= 0 || !ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, (size_t)got, &d->insn,
							     d->operand))) {
		d->ip = 0;
		return NULL; /* the step shows which fault it is */
	}
	d->ip = ip;
	d->signals = SPMU_SIGBIT(INSTRUCTIONS) | branch_signals(&d->insn, d->operand) |
		     memory_signals(&d->insn, d->operand);
	if (is_nop(&d->insn))
		d->signals |= SPMU_SIGBIT(NOP);
	return d;
}

static uint64_t counter_register(const struct decoded *d, const struct user_regs_struct *r)
{
	return d->insn.address_width == 32 ? (uint32_t)r->rcx : r->rcx;
}

static bool condition_holds(const struct decoded *d, const struct user_regs_struct *r)
{
	bool cf = r->eflags & 1, pf = r->eflags & 4, zf = r->eflags & 0x40;
	bool sf = r->eflags & 0x80, of = r->eflags & 0x800, holds = false;
	uint64_t rcx = counter_register(d, r);
	uint8_t opcode = d->insn.opcode;

	if (opcode >= 0xe0 && opcode <= 0xe2) { /* LOOPNE, LOOPE, LOOP */
		bool last = d->insn.address_width == 32 ? (uint32_t)(rcx - 1) == 0 : rcx == 1;

		return !last && (opcode == 0xe2 || zf == (opcode == 0xe1));
	}
	if (opcode == 0xe3)
		return rcx == 0;
	switch (opcode >> 1 & 7) {
	case 0:
		holds = of;
		break;
	case 1:
		holds = cf;
		break;
	case 2:
		holds = zf;
		break;
	case 3:
		holds = cf || zf;
		break;
	case 4:
		holds = sf;
		break;
	case 5:
		holds = pf;
		break;
	case 6:
		holds = sf != of;
		break;
	case 7:
		holds = zf || sf != of;
		break;
	}
	return holds != (opcode & 1);
}

/* Returns the linear address of the first memory operand with this action, or 0. */
static uint64_t operand_address(const struct decoded *d, const struct user_regs_struct *r,
				ZydisOperandActions actions)
{
	static const uint8_t order[] = {0, 1, 2, 3, 4, 5, 6, 7};
	const uint64_t gpr[16] = {r->rax, r->rcx, r->rdx, r->rbx, r->rsp, r->rbp, r->rsi, r->rdi,
				  r->r8,  r->r9,  r->r10, r->r11, r->r12, r->r13, r->r14, r->r15};
	ZydisRegisterContext context = {{0}};
	unsigned n;

	if (!(d->signals & (SPMU_SIGBIT(LOADS) | SPMU_SIGBIT(STORES))))
		return 0;
	for (n = 0; n < 16; n++) {
		context.values[ZYDIS_REGISTER_RAX + (int)n] = gpr[n];
		context.values[ZYDIS_REGISTER_EAX + (int)n] = (uint32_t)gpr[n];
	}
	context.values[ZYDIS_REGISTER_RIP] = d->ip;
	for (n = 0; n < d->insn.operand_count && n < sizeof(order); n++) {
		const ZydisDecodedOperand *op = &d->operand[n];
		ZyanU64 address;

		if (op->type != ZYDIS_OPERAND_TYPE_MEMORY || !(op->actions & actions) ||
		    op->mem.type == ZYDIS_MEMOP_TYPE_AGEN ||
		    !ZYAN_SUCCESS(
			    ZydisCalcAbsoluteAddressEx(&d->insn, op, d->ip, &context, &address)))
			continue;
		if (op->mem.segment == ZYDIS_REGISTER_FS)
			address += r->fs_base;
		if (op->mem.segment == ZYDIS_REGISTER_GS)
			address += r->gs_base;
		/* A push writes below the stack pointer that it starts from. */
		if (op->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN &&
		    op->mem.base == ZYDIS_REGISTER_RSP &&
		    (op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			address -= op->size / 8u;
		return address;
	}
	return 0;
}

/* A shift by 0 does not change the flags. */
static bool shifts_nothing(const struct decoded *d, const struct user_regs_struct *r)
{
	unsigned last = d->insn.operand_count_visible - 1u;
	const ZydisDecodedOperand *op = &d->operand[last];
	uint64_t places;

	if (d->insn.meta.category != ZYDIS_CATEGORY_SHIFT &&
	    d->insn.meta.category != ZYDIS_CATEGORY_ROTATE)
		return false;
	if (op->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		places = op->imm.value.u;
	else if (op->type == ZYDIS_OPERAND_TYPE_REGISTER && op->reg.value == ZYDIS_REGISTER_CL)
		places = r->rcx;
	else
		return false;
	return (places & (d->insn.operand_width == 64 ? 63 : 31)) == 0;
}

static struct step describe(const struct decoded *d, const struct user_regs_struct *r)
{
	struct step s = {.ip = d->ip, .signals = d->signals};
	bool rep = d->insn.attributes &
		   (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE);

	if (d->insn.meta.category == ZYDIS_CATEGORY_COND_BR)
		s.signals &= condition_holds(d, r) ? ~SPMU_SIGBIT(COND_NTAKEN)
						   : ~SPMU_SIGBIT(COND_TAKEN);
	s.store_address = operand_address(d, r, ZYDIS_OPERAND_ACTION_MASK_WRITE);
	s.data_address = operand_address(d, r, ZYDIS_OPERAND_ACTION_MASK_READ);
	if (!s.data_address)
		s.data_address = s.store_address;
	if (rep && counter_register(d, r) == 0) {
		s.signals &= ~(SPMU_SIGBIT(LOADS) | SPMU_SIGBIT(STORES));
		s.data_address = s.store_address = 0;
	} else if (d->insn.cpu_flags && !shifts_nothing(d, r)) {
		const ZydisAccessedFlags *f = d->insn.cpu_flags;

		s.flags_read = f->tested & STEP_ARITHMETIC_FLAGS;
		s.flags_written =
			(f->modified | f->set_0 | f->set_1 | f->undefined) & STEP_ARITHMETIC_FLAGS;
	}
	/* The instruction tests the whole register. */
	if (d->insn.mnemonic == ZYDIS_MNEMONIC_PUSHFQ || d->insn.mnemonic == ZYDIS_MNEMONIC_PUSHF ||
	    d->insn.meta.category == ZYDIS_CATEGORY_SYSCALL)
		s.flags_read = STEP_ARITHMETIC_FLAGS;
	return s;
}

/* `after` is NULL when the process has ended. */
static void retire(const struct step *s, const struct user_regs_struct *after)
{
	uint64_t left;

	for (left = s->signals; left; left &= left - 1)
		count[__builtin_ctzll(left)]++;
	if (trace && fwrite(s, sizeof(*s), 1, trace) != 1)
		die("trace");
	if (registers && after) {
		const struct user_regs_struct *r = after;
		const struct step_registers all = {
			{r->rax, r->rbx, r->rcx, r->rdx, r->rsi, r->rdi, r->rbp, r->rsp, r->rip,
			 r->r8, r->r9, r->r10, r->r11, r->r12, r->r13, r->r14, r->r15, r->eflags},
		};

		if (fwrite(&all, sizeof(all), 1, registers) != 1)
			die("registers");
	}
}

/* Records the executable mappings.  Called after each system call that may have changed them. */
static void note_maps(void)
{
	char path[64], line[4500];
	FILE *f;

	if (!maps)
		return;
	snprintf(path, sizeof(path), "/proc/%d/maps", child);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, " r-xp ") || strstr(line, " rwxp ") || strstr(line, " --xp "))
			fputs(line, maps);
	if (f)
		fclose(f);
}

static bool changes_mappings(const struct decoded *d, const struct user_regs_struct *r)
{
	return (d->signals & SPMU_SIGBIT(FAR)) &&
	       (r->rax == 9 || r->rax == 10 || r->rax == 11 || r->rax == 25);
}

/* Step until the program ends; returns its wait status. */
/* Returns whether the program has a handler for this signal. */
static bool is_caught(int number)
{
	char path[64], line[128];
	unsigned long long caught = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)child);
	f = fopen(path, "re");
	if (!f)
		die(path);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "SigCgt: %llx", &caught) == 1)
			break;
	fclose(f);
	return caught >> (number - 1) & 1;
}

/* Runs the program up to an address, where it stops as after a single step. */
static int run_to(uint64_t address)
{
	struct user_regs_struct r;
	long code = ptrace(PTRACE_PEEKTEXT, child, address, NULL);
	int status = 0;

	if (ptrace(PTRACE_POKETEXT, child, address, (code & ~0xffL) | 0xcc) ||
	    ptrace(PTRACE_CONT, child, NULL, 0) || waitpid(child, &status, 0) < 0 ||
	    ptrace(PTRACE_POKETEXT, child, address, code) ||
	    ptrace(PTRACE_GETREGS, child, NULL, &r))
		die("a breakpoint");
	if (r.rip == address + 1)
		r.rip = address;
	if (ptrace(PTRACE_SETREGS, child, NULL, &r))
		die("PTRACE_SETREGS");
	return status;
}

/* Runs one instruction.  Returns the status of the process.  Some hypervisors emulate CPUID and
 * then lose the trap of the single step, so that a second instruction runs. */
static int step_once(const struct decoded *d, int deliver)
{
	int status = 0;

	if (d && d->insn.mnemonic == ZYDIS_MNEMONIC_CPUID && !deliver)
		return run_to(d->ip + d->insn.length);
	if (ptrace(PTRACE_SINGLESTEP, child, NULL, deliver))
		die("PTRACE_SINGLESTEP");
	if (waitpid(child, &status, 0) < 0)
		die("waitpid");
	return status;
}

static int step_all(void)
{
	struct user_regs_struct r;
	int status = 0, deliver = 0;

	note_maps();
	if (ptrace(PTRACE_GETREGS, child, NULL, &r))
		die("PTRACE_GETREGS");
	for (;;) {
		struct decoded *d = decode(r.rip);
		struct step s = {0};
		bool remap = false, enters;
		if (d) {
			if (in_rep && pending.ip == r.rip) {
				s = pending;
			} else {
				s = describe(d, &r);
			}
			remap = changes_mappings(d, &r);
		}
		enters = deliver && is_caught(deliver);
		status = step_once(d, deliver);
		deliver = 0;
		if (WIFEXITED(status)) {
			retire(&s, NULL); /* the system call that ended it */
			return status;
		}
		if (WIFSIGNALED(status))
			return status;
		if (ptrace(PTRACE_GETREGS, child, NULL, &r))
			die("PTRACE_GETREGS");
		if (WSTOPSIG(status) != SIGTRAP) {
			deliver = WSTOPSIG(status);
			continue;
		}
		if (enters)
			continue; /* it stops before the handler's first instruction */
		if (remap) {
			memset(cache, 0, sizeof(cache));
			note_maps();
		}
		if (d && d->insn.mnemonic == ZYDIS_MNEMONIC_INT3) {
			retire(&s, &r); /* a trap: reported after the instruction */
			deliver = SIGTRAP;
			continue;
		}
		if (r.rip == s.ip && (s.signals & SPMU_SIGSET_BRANCHES) == 0) {
			pending = s; /* an iteration of a REP instruction */
			in_rep = true;
			continue;
		}
		in_rep = false;
		retire(&s, &r);
	}
}

static void print_counts(FILE *out)
{
	const struct step_event *e;

	for (e = step_events; e->key; e++) {
		uint64_t total = 0, left;

		for (left = e->signals; left; left &= left - 1)
			total += count[__builtin_ctzll(left)];
		fprintf(out, "%s=%llu\n", e->key, (unsigned long long)total);
	}
}

static int list_events(void)
{
	const struct step_event *e;

	for (e = step_events; e->key; e++)
		printf("%s %s\n", e->key, e->event);
	return 0;
}

static FILE *open_output(const char *path)
{
	FILE *f = fopen(path, "we");

	if (!f)
		die(path);
	return f;
}

int main(int argc, char **argv)
{
	FILE *out = stderr;
	int opt, status = 0;

	while ((opt = getopt(argc, argv, "+lo:t:r:m:")) != -1) {
		if (opt == 'o')
			out = open_output(optarg);
		else if (opt == 't')
			trace = open_output(optarg);
		else if (opt == 'r')
			registers = open_output(optarg);
		else if (opt == 'm')
			maps = open_output(optarg);
		else if (opt == 'l')
			return list_events();
		else
			return 99;
	}
	if (optind == argc)
		return 99;
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	child = fork();
	if (child == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execvp(argv[optind], argv + optind);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) < 0)
		die("start");
	if (WIFEXITED(status)) {
		fprintf(stderr, "singlestep: cannot run %s\n", argv[optind]);
		return 99;
	}
	ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_EXITKILL);
	status = step_all();
	print_counts(out);
	if (fflush(out) || (trace && fclose(trace)) || (registers && fclose(registers)) ||
	    (maps && fclose(maps)))
		die("output");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
