/* SPDX-License-Identifier: MIT */
/*
 * fuzz_msr.c: bytes become a program (program.h) for one of the models. It has register accesses,
 * RDPMC, CPUID, LVT, instructions, branches, exceptions, clocks, SMM, memory and guards, with any
 * values in any order. The unit in bulk, the unit one by one and the reference must agree, and a
 * callback may only come where the contract allows it.
 */
#include "fuzz.h"
#include "tests/reference/program.h"

#include <stdio.h>
#include <stdlib.h>

/* fuzz-selftest builds this with a wrong reference. The fuzzer must find it. */
#ifndef FUZZ_DEFECT
#define FUZZ_DEFECT REFERENCE_SOUND
#endif

/* Half of the numbers are addresses of registers, or addresses next to one. */
static uint32_t take_msr(struct fuzz_input *input, const struct family *family)
{
	unsigned choice = fuzz_byte(input), count;
	const uint32_t *msrs = program_msrs(family, &count);

	return choice & 0x80 ? (uint32_t)fuzz_word(input) : msrs[choice % count];
}

/*
 * Values near the interesting ones: addresses in the windows, counters before overflow, any value.
 */
static uint64_t take_value(struct fuzz_input *input)
{
	unsigned choice = fuzz_byte(input);

	if (choice & 8) /* an ESCR or a CCCR: the low half at will, few of the high bits */
		return (fuzz_word(input) & 0xffffffff) & ~UINT64_C(0x30000000);
	switch (choice & 7) {
	case 0:
		return WORLD_MIDDLE + (fuzz_word(input) & 0xfff);
	case 1:
		return 0 - (fuzz_word(input) & 0xfff);
	case 2:
		return (0 - (fuzz_word(input) & 0x3f)) & 0xffffffffffff;
	case 3:
		return UINT64_C(1) << (fuzz_byte(input) & 63);
	case 4:
		return fuzz_word(input) & 0xffff;
	case 5: /* an event select that counts, or both halves of a CESR */
		return (fuzz_word(input) & 0xff0cffff) | 0x430000;
	default:
		return fuzz_word(input);
	}
}

static void take_operation(struct fuzz_input *input, const struct program *program,
			   struct operation *op)
{
	const struct family *family = family_find(program->model);
	unsigned kind = fuzz_byte(input);

	*op = (struct operation){.kind = (uint8_t)(kind % OP_KINDS),
				 .lp = (uint8_t)((kind >> 6) % program->threads)};
	switch (op->kind) {
	case OP_RUN:
		op->count = 1 + (fuzz_byte(input) & 63);
		op->value = fuzz_byte(input);
		break;
	case OP_WRMSR:
		op->number = take_msr(input, family);
		op->value = take_value(input);
		break;
	case OP_RDMSR:
		op->number = take_msr(input, family);
		break;
	case OP_RDPMC:
		op->number = fuzz_byte(input) & 15 ? fuzz_byte(input) * 0x08000001u
						   : (uint32_t)fuzz_word(input);
		op->value = fuzz_byte(input);
		break;
	case OP_LVT:
		op->value = fuzz_byte(input) << 4 | (fuzz_byte(input) & 3) << 15;
		break;
	case OP_CLOCKS:
		op->number = fuzz_byte(input) & 15;
		op->value = take_value(input) & UINT64_C(0x3ffffffffffff);
		break;
	case OP_CPUID:
		op->number = fuzz_byte(input);
		op->value = fuzz_word(input);
		break;
	case OP_POKE: /* the areas, field by field, and what follows them */
		op->address = WORLD_MIDDLE + 4 * (fuzz_byte(input) & 127);
		op->value = take_value(input);
		break;
	case OP_EVENT:
		op->number = fuzz_byte(input) & 15;
		op->value = 0x401000 + fuzz_byte(input);
		op->address = 0x8000 + fuzz_byte(input);
		break;
	case OP_GUARD: /* mostly the window that holds the areas */
		op->number = 64 + fuzz_byte(input) % 128;
		op->value = fuzz_byte(input);
		break;
	default:
		op->value = fuzz_byte(input);
		break;
	}
}

static void add(struct program *program, const struct operation *op)
{
	program->op[program->ops++] = *op;
}

static void poke_field(struct program *program, const struct family *family, unsigned field,
		       uint64_t value)
{
	add(program,
	    &(struct operation){.kind = OP_POKE,
				.address = PROGRAM_AREA(0) + (uint64_t)field * family->area->field,
				.value = value});
}

/*
 * Some inputs begin with a thread whose PEBS, branch trace and last branch records work, so that
 * their edge cases come within reach.
 */
static void start_with_buffers(struct program *program, const struct family *family)
{
	unsigned bts = family->area->bts_bytes;

	poke_field(program, family, 0, PROGRAM_BTS(0));
	poke_field(program, family, 1, PROGRAM_BTS(0));
	poke_field(program, family, 2, PROGRAM_BTS(0) + 5 * bts + 7);
	poke_field(program, family, 3, PROGRAM_BTS(0) + 4 * bts);
	poke_field(program, family, 4, PROGRAM_PEBS(0));
	poke_field(program, family, 5, PROGRAM_PEBS(0));
	poke_field(program, family, 6, PROGRAM_PEBS(0) + 0x578);
	poke_field(program, family, 7, PROGRAM_PEBS(0) + 0x320);
	add(program, &(struct operation){.kind = OP_POKE,
					 .address = PROGRAM_AREA(0) + family->area->reset_at,
					 .value = UINT64_C(0) - 5});
	add(program, &(struct operation){.kind = OP_IA32E, .value = 1});
	add(program, &(struct operation){.kind = OP_WRMSR, .number = 0x600, .value = WORLD_MIDDLE});
	add(program, &(struct operation){.kind = OP_WRMSR,
					 .number = 0x1d9,
					 .value = family_debugctl(family, 0xc1)});
	add(program, &(struct operation){.kind = OP_LVT, .value = 0x400});
}

/*
 * Sets up a counter of instructions or tagged loads, with PEBS if there is any, shortly before it
 * wraps.
 */
static void start_counter(struct program *program, const struct family *family)
{
	static const uint32_t writes[][5][2] = {
		[BY_SELECTS] = {{0x186, 0x4300c0}, {0xc1, 0xfffffff0}, {0x3f1, 1}},
		[BY_CESR] = {{0x11, 0x00d600d6}, {0x12, 0xfffffff0}, {0x13, 0xffffff00}},
		[BY_ESCRS] = {{0x3bc, 0x0400060f},
			      {0x3cc, 0x1000020f},
			      {0x370, 0x0403b000},
			      {0x310, 0xfffffff0},
			      {0x3f1, 0x02000000}},
	};

	for (unsigned i = 0; i < 5 && writes[family->programming][i][0]; i++) {
		uint64_t value = writes[family->programming][i][1];

		/* Counters that are written in their full width. */
		if (family->programming != BY_SELECTS && value > 0xffffff00 - 1)
			value |= UINT64_C(0xff) << 32;
		add(program, &(struct operation){.kind = OP_WRMSR,
						 .number = writes[family->programming][i][0],
						 .value = value});
	}
}

/* Chooses a model that the reference knows: one with architectural performance monitoring. */
static const struct family *take_family(struct fuzz_input *input)
{
	size_t index = fuzz_byte(input) % spmu_model_count();

	for (;; index = (index + 1) % spmu_model_count()) {
		struct spmu_model_info info = spmu_model_describe(spmu_model_at(index));
		const struct family *family = family_find(info.name);

		FUZZ_HOLDS(family || !info.perfmon_version);
		if (family)
			return family;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct program program;
	struct fuzz_input input = {data, size};
	struct program_failure failure;
	unsigned shape = fuzz_byte(&input);

	const struct family *family = take_family(&input);

	program = (struct program){
		.model = family->model,
		.enables = ((UINT64_C(1) << family->generals_ht) - 1) |
			   ((UINT64_C(1) << family->fixed) - 1) << 32,
		.threads = 1 + (shape & 1),
		.service = shape & 2,
		.clocks = shape & 4,
		.block_max = 1 + (shape >> 2 & 31),
		.rings = shape & 8 ? 20 : 0,
		.modelled = !(shape & 0x80),
		.hide_absent = shape & 0x40,
	};
	program.seed = fuzz_byte(&input);
	if (program.seed & 4 && family->area)
		start_with_buffers(&program, family);
	if (program.seed & 4)
		start_counter(&program, family);
	while (input.size && program.ops < PROGRAM_OPS_MAX)
		take_operation(&input, &program, &program.op[program.ops++]);
	if (program_run(&program, FUZZ_DEFECT, NULL, &failure))
		return 0;
	program_shrink(&program, FUZZ_DEFECT, &failure);
	program_print(&program);
	printf("  operation %u: %s\n", failure.op, failure.what);
	fflush(stdout);
	abort();
}
