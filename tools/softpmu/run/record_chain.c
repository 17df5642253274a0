/* SPDX-License-Identifier: MIT */
/* record_chain.c: the call chain of a sample, as perf.data has it. */
#include "tools/softpmu/run/record.h"
#include "tools/softpmu/symbols/call_chain.h"

/* DWARF's numbers of the registers of a link_sample, which begin with RFLAGS. */
static const uint8_t dwarf_number[LINK_REGISTERS] = {
	CALL_FRAMES_REGISTERS,
	CALL_FRAMES_RIP,
	0,
	3,
	2,
	1,
	4,
	5,
	CALL_FRAMES_RBP,
	CALL_FRAMES_RSP,
	8,
	9,
	10,
	11,
	12,
	13,
	14,
	15,
};

static size_t unwind(struct record *record, const struct link_sample *link,
		     const uint64_t *registers, uint64_t *chain)
{
	struct call_frames_registers known = {.known = (1u << CALL_FRAMES_REGISTERS) - 1};
	const uint8_t *copy = (const uint8_t *)(registers + LINK_REGISTERS);
	struct call_frames_stack stack;

	for (unsigned i = 1; i < LINK_REGISTERS; i++)
		known.value[dwarf_number[i]] = registers[i];
	stack.part[0].start = known.value[CALL_FRAMES_RSP] - LINK_STACK_BELOW;
	stack.part[0].bytes = link->stack;
	stack.part[0].copy = copy;
	stack.part[1].start = link->interrupted_rsp - LINK_STACK_BELOW;
	stack.part[1].bytes = link->interrupted_stack;
	stack.part[1].copy = copy + link->stack;
	return call_chain_find(record->code, link->ip, &known, &stack, chain, LINK_CHAIN_MAX);
}

size_t record_chain(struct record *record, const struct link_sample *link,
		    struct perfdata_address *chain)
{
	const uint64_t *registers = (const uint64_t *)(link + 1);
	const struct link_branch *branches =
		(const struct link_branch *)(registers + link->registers);
	const uint64_t *from = (const uint64_t *)(branches + link->branches);
	uint64_t found[LINK_CHAIN_MAX];
	size_t count = link->chain;

	if (link->stack) {
		count = unwind(record, link, from + link->chain, found);
		from = found;
	}
	chain[0].ip = PERF_CONTEXT_USER;
	chain[1].ip = link->ip;
	for (size_t i = 1; i < count; i++)
		chain[1 + i].ip = from[i];
	return 1 + (count ? count : 1);
}
