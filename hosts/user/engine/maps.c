/* SPDX-License-Identifier: MIT */
/*
 * maps.c: what is known of a block afterwards.  Its map has the lengths of its parts and its
 * charges; the program's code, which is the same as when it was translated, says the rest.
 */
#include "path.h"
#include "sys.h"

void block_path(struct path *p, const struct block *b)
{
	const uint8_t *pcs = block_map(b) + 2 + b->insns;

	if (!b->trace) {
		path_of_block(p, b->pc, memory_block_end(b->pc),
			      b->careful ? CAREFUL_INSNS_MAX : PLAIN_INSNS_MAX, false);
		return;
	}
	p->n = b->insns;
	for (unsigned i = 0; i <= p->n; i++) {
		uint32_t low;

		memcpy(&low, pcs + 4 * i, 4);
		p->pc[i] = low;
		if (i < p->n)
			path_decode(low, memory_code_end(low), &p->insn[i]);
	}
}

unsigned block_occurrences(const struct block *b, unsigned first, unsigned last, unsigned m)
{
	struct path p;
	unsigned n = 0;

	block_path(&p, b);
	for (unsigned i = first; i < last && i < p.n; i++)
		n += path_occurrences(&p, i, m);
	return n;
}

unsigned syscall_occurrences(unsigned m)
{
	static const uint8_t bytes[] = {0x0f, 0x05};
	struct path p = {.n = 1};

	insn_decode(bytes, sizeof(bytes), 0, &p.insn[0]);
	return path_occurrences(&p, 0, m);
}

uint64_t block_pc_of(const struct block *b, unsigned index)
{
	struct path p;

	if (!index)
		return b->pc;
	block_path(&p, b);
	return p.pc[index < p.n ? index : p.n];
}

/* In the map, behind all else. */
struct charge {
	uint16_t n, offset;
	uint8_t meter;
} __attribute__((packed));

void block_map_charge(unsigned m, unsigned n, unsigned offset)
{
	struct charge c = {(uint16_t)n, (uint16_t)offset, (uint8_t)m};

	memcpy(block_map_space(sizeof(c)), &c, sizeof(c));
}

struct block_charge block_take_back(const struct block *b, unsigned index)
{
	const uint8_t *at = block_map(b) + 2 + b->insns + (b->trace ? 4 * (b->insns + 1) : 0);
	unsigned lane = b->careful ? 0 : lane_of(block_number(b));
	struct charge c;

	for (unsigned i = 0; i <= index; i++) {
		memcpy(&c, at + i * sizeof(c), sizeof(c));
		current->lane[c.meter][lane] += c.n;
	}
	return (struct block_charge){c.meter, c.n, (uint64_t)cache_base + b->code + c.offset};
}

uint64_t block_check_code(const struct block *block)
{
	const uint8_t *map = block_map(block);
	uint64_t code = (uint64_t)cache_base + block->code;

	for (unsigned i = 0; i < block->check_at; i++)
		code += map[2 + i];
	return code;
}

void block_leave_at_check(const struct block *b)
{
	struct path p;
	bool decoded = false;

	for (unsigned m = 0; m < meters && b->check_at; m++) {
		if (meter_signals[m] == SPMU_SIGBIT(INSTRUCTIONS)) {
			current->lane[m][0] -= b->check_at;
			continue;
		}
		if (!decoded)
			path_of_block(&p, b->pc, memory_block_end(b->pc), b->check_at, false);
		decoded = true;
		for (unsigned i = 0; i < b->check_at; i++)
			current->lane[m][0] -= path_occurrences(&p, i, m);
	}
}
