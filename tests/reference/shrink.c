/* SPDX-License-Identifier: MIT */
/*
 * shrink.c: makes a failing program as short as possible, and prints it.
 *
 * It first removes what follows the failure, then each operation by itself, and then halves runs,
 * as long as the program still fails.
 */
#include "program.h"

#include <stdio.h>
#include <string.h>

static bool fails(const struct program *program, enum reference_defect defect,
		  struct program_failure *failure)
{
	struct program_failure now;

	if (program_run(program, defect, NULL, &now))
		return false;
	*failure = now;
	return true;
}

static bool without(struct program *program, unsigned at, enum reference_defect defect,
		    struct program_failure *failure)
{
	struct program smaller = *program;

	smaller.ops--;
	memmove(&smaller.op[at], &smaller.op[at + 1], (smaller.ops - at) * sizeof(smaller.op[0]));
	if (!fails(&smaller, defect, failure))
		return false;
	*program = smaller;
	return true;
}

static bool shorter(struct program *program, unsigned at, uint32_t count,
		    enum reference_defect defect, struct program_failure *failure)
{
	struct program smaller = *program;

	if (program->op[at].kind != OP_RUN || count >= program->op[at].count || !count)
		return false;
	smaller.op[at].count = count;
	if (!fails(&smaller, defect, failure))
		return false;
	*program = smaller;
	return true;
}

void program_shrink(struct program *program, enum reference_defect defect,
		    struct program_failure *failure)
{
	bool progress = true;

	if (!fails(program, defect, failure))
		return;
	if (failure->op + 1 < program->ops)
		program->ops = failure->op + 1;
	while (progress) {
		progress = false;
		for (unsigned at = program->ops; at-- > 0;)
			progress |= without(program, at, defect, failure);
		for (unsigned at = 0; at < program->ops; at++) {
			while (shorter(program, at, program->op[at].count / 2, defect, failure))
				progress = true;
			while (shorter(program, at, program->op[at].count - 1, defect, failure))
				progress = true;
		}
	}
	(void)fails(program, defect, failure);
}

static void print_insn(const struct spmu_insn *insn)
{
	printf("           ip %llx cpl %u cycles %u signals %llx", (unsigned long long)insn->ip,
	       insn->cpl, insn->cycles, (unsigned long long)insn->signals);
	for (unsigned i = 0; i < insn->access_count; i++)
		printf(" access %x at %llx", insn->accesses[i].kind,
		       (unsigned long long)insn->accesses[i].linear);
	for (unsigned i = 0; i < insn->tally_count; i++)
		printf(" tally %u: %u", insn->tallies[i].kind, insn->tallies[i].count);
	printf("\n");
}

static void print_run(const struct program *program, const struct operation *op)
{
	static struct spmu_insn insn[PROGRAM_RUN_MAX];

	printf("run %u instructions, stream %llx\n", op->count, (unsigned long long)op->value);
	if (op->count > 24)
		return;
	program_stream(program, op, insn);
	for (unsigned i = 0; i < op->count; i++)
		print_insn(&insn[i]);
}

static void print_operation(const struct program *program, const struct operation *op)
{
	static const char *const name[OP_KINDS] = {"run",
						   "wrmsr",
						   "rdmsr",
						   "rdpmc",
						   "lvt",
						   "clocks",
						   "cpuid",
						   "sync",
						   "poke",
						   "guard",
						   "compare",
						   "save and load",
						   "reset",
						   "init",
						   "event",
						   "smm",
						   "debug exception",
						   "ia32e",
						   "halt",
						   "machine check",
						   "deep sleep",
						   "tally"};

	printf("  thread %u ", op->lp);
	switch (op->kind) {
	case OP_RUN:
		print_run(program, op);
		break;
	case OP_POKE:
		printf("poke %llx = %llx\n", (unsigned long long)op->address,
		       (unsigned long long)op->value);
		break;
	default:
		printf("%s %x %llx\n", name[op->kind], op->number, (unsigned long long)op->value);
	}
}

void program_print(const struct program *program)
{
	printf("program %llx, model %s, %u threads%s%s\n", (unsigned long long)program->seed,
	       program->model, program->threads, program->service ? ", PMIs serviced" : "",
	       program->clocks ? ", clocks" : "");
	for (unsigned i = 0; i < program->ops; i++)
		print_operation(program, &program->op[i]);
}
