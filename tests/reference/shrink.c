/* SPDX-License-Identifier: MIT */
/*
 * shrink.c: make a failing program as short as it can be, and print it.
 *
 * Greedy: what follows the failure goes first, then each operation by itself,
 * then runs are halved, as long as the program still fails.
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

static void print_run(const struct program *program, const struct operation *op)
{
	static struct spmu_insn insn[PROGRAM_RUN_MAX];

	printf("run %u instructions, stream %llx\n", op->count, (unsigned long long)op->value);
	if (op->count > 24)
		return;
	program_stream(program, op, insn);
	for (unsigned i = 0; i < op->count; i++)
		printf("           ip %llx cpl %u cycles %u signals %llx data %llx\n",
		       (unsigned long long)insn[i].ip, insn[i].cpl, insn[i].cycles,
		       (unsigned long long)insn[i].signals,
		       (unsigned long long)insn[i].data_address);
}

static void print_operation(const struct program *program, const struct operation *op)
{
	static const char *const name[OP_KINDS] = {
		"run",	   "wrmsr",	      "rdmsr",	"rdpmc", "lvt",
		"clocks",  "cpuid",	      "settle", "poke",	 "guard",
		"compare", "save and load",   "reset",	"init",	 "event",
		"smm",	   "debug exception", "ia32e",	"halt",	 "machine check"};

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
