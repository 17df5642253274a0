/* SPDX-License-Identifier: MIT */
/*
 * side_tables.c: the description of a block.  Its side table has the lengths of its parts and
 * its charges.  The rest follows from the program's code, which has not changed since the
 * translation.
 */
#include "engine/cache/cache.h"
#include "engine/count/count.h"
#include "engine/count/meter_list.h"
#include "engine/memory/regions.h"
#include "engine/rt/context.h"
#include "engine/rt/sys.h"
#include "engine/translate/path.h"
#include "engine/translate/pieces.h"
#include "engine/translate/translate.h"
#include "engine/x86/recognise.h"

/* Address i of a trace. */
static uint64_t trace_pc(const struct block *b, unsigned i)
{
	uint32_t low;

	memcpy(&low, block_map(b) + 2 + b->insns + sizeof(low) * i, sizeof(low));
	return low;
}

void side_table_path(struct path *p, const struct block *b)
{
	if (!b->trace) {
		path_of_block(p, b->pc, region_block_end(b->pc),
			      b->low_headroom ? LOW_HEADROOM_INSNS_MAX : PLAIN_INSNS_MAX, false);
		return;
	}
	p->n = b->insns;
	for (unsigned i = 0; i <= p->n; i++) {
		p->pc[i] = trace_pc(b, i);
		if (i < p->n)
			path_decode(p->pc[i], region_code_end(p->pc[i]), &p->insn[i]);
	}
	if (current->list->clocks)
		path_clocks(p);
}

unsigned side_table_occurrences(const struct block *b, unsigned first, unsigned last, unsigned m)
{
	struct path p;
	unsigned n = 0;

	side_table_path(&p, b);
	for (unsigned i = first; i < last && i < p.n; i++)
		n += path_occurrences(&p, i, m);
	return n;
}

unsigned side_table_syscall_occurrences(unsigned m)
{
	struct path p = {.n = 1}; /* without static clocks: they are counted again */

	insn_decode(recognise_syscall, SYSCALL_BYTES, 0, &p.insn[0]);
	return path_occurrences(&p, 0, m);
}

uint64_t side_table_pc_of(const struct block *b, unsigned index)
{
	struct path p;

	if (!index)
		return b->pc;
	if (b->trace)
		return trace_pc(b, index);
	if (index == b->insns) /* each system call asks */
		return b->pc + b->bytes;
	side_table_path(&p, b);
	return p.pc[index];
}

/* At the end of the side table. */
struct charge {
	uint32_t n;
	uint16_t offset;
	uint8_t meter;
} __attribute__((packed));

void side_table_add_charge(unsigned m, unsigned n, unsigned offset)
{
	struct charge c = {n, (uint16_t)offset, (uint8_t)m};

	memcpy(block_map_space(sizeof(c)), &c, sizeof(c));
}

struct block_charge side_table_take_back(const struct block *b, unsigned index)
{
	const uint8_t *at = block_map(b) + 2 + b->insns + (b->trace ? 4 * (b->insns + 1) : 0);
	unsigned shard = b->low_headroom ? 0 : shard_of(block_number(b));
	struct charge c;

	for (unsigned i = 0; i <= index; i++) {
		memcpy(&c, at + i * sizeof(c), sizeof(c));
		current->shard[c.meter][shard] += c.n;
	}
	return (struct block_charge){c.meter, c.n, (uint64_t)cache_base + b->code + c.offset};
}

uint64_t side_table_check_code(const struct block *block)
{
	const uint8_t *map = block_map(block);
	uint64_t code = (uint64_t)cache_base + block->code;

	for (unsigned i = 0; i < block->check_at; i++)
		code += map[2 + i];
	return code;
}

void side_table_leave_at_check(const struct block *b)
{
	unsigned parts = current->list->clocks ? pieces_enter(b->pc, b->check_at) : 0;
	struct path p;
	bool decoded = false;

	for (unsigned m = 0; m < current->list->meters && b->check_at; m++) {
		if (current->list->signals[m] == SPMU_SIGBIT(INSTRUCTIONS)) {
			current->shard[m][0] -= b->check_at;
			continue;
		}
		if (meter_counts_clocks(m)) {
			current->shard[m][0] -= parts;
			continue;
		}
		if (!decoded)
			path_of_block(&p, b->pc, region_block_end(b->pc), b->check_at, false);
		decoded = true;
		for (unsigned i = 0; i < b->check_at; i++)
			current->shard[m][0] -= path_occurrences(&p, i, m);
	}
}
