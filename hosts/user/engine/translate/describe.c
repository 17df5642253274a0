/* SPDX-License-Identifier: MIT */
/* describe.c: describes what a block accesses, and has its log emitted (count/activity.c). */
#include "engine/translate/describe.h"

#include "engine/cache/persistent.h"
#include "engine/count/costs.h"
#include "engine/count/meter_list.h"
#include "engine/count/timing.h"
#include "engine/rt/context.h"
#include "engine/rt/sys.h"

#define ACCESSES_MAX (PLAIN_INSNS_MAX * INSN_ACCESSES_MAX)

static const uint8_t *code_of(const struct path *p, unsigned i)
{
	return (const uint8_t *)p->pc[i];
}

/* Returns which of R8 to R15 the first n instructions use. */
static unsigned registers_of(const struct path *p, unsigned n)
{
	unsigned used = 0;

	for (unsigned i = 0; i < n; i++)
		used |= emit_high_registers(&p->insn[i], code_of(p, i));
	return used;
}

void describe_shorten(struct path *p)
{
	uint8_t log, other;

	if (!current->list->activity)
		return;
	while (p->n > 1 && !emit_choose_registers(registers_of(p, p->n), &log, &other))
		p->n--;
}

static bool is_constant(const struct insn_access *access)
{
	return access->base == INSN_NO_REG && access->index == INSN_NO_REG;
}

static uint8_t form_of(const struct insn_access *access)
{
	return (is_constant(access) ? SPMU_UARCH_CONSTANT : 0) |
	       (access->address32 ? SPMU_UARCH_ADDRESS32 : 0) |
	       (access->in_fs ? SPMU_UARCH_SEGMENT : 0);
}

/* Of the block being translated, under the lock: its accesses, and what the description has of
 * them. */
static struct insn_access address[ACCESSES_MAX];
static struct spmu_uarch_block_access list[ACCESSES_MAX];

/* Lists the accesses of a path.  Returns their number. */
static unsigned list_accesses(const struct path *p, uint8_t *words)
{
	unsigned n = 0;

	*words = 1;
	for (unsigned i = 0; i < p->n && current->list->activity & ACTIVITY_ACCESSES; i++) {
		unsigned end = n + insn_accesses(&p->insn[i], code_of(p, i), p->pc[i], address + n);

		for (; n < end; n++)
			list[n] = (struct spmu_uarch_block_access){
				.displacement = address[n].displacement,
				.bytes = address[n].bytes,
				.kind = activity_kind(&address[n]),
				.form = form_of(&address[n]),
				.word = is_constant(&address[n]) ? 0 : (*words)++,
				.insn = (uint8_t)i,
			};
	}
	return n;
}

/* Returns the block of a path for the model of time. */
static const struct spmu_timed_block *describe_time(const struct path *p)
{
	static struct spmu_code code[BLOCK_INSNS_MAX]; /* used under the lock */

	for (unsigned i = 0; i < p->n; i++)
		code[i] = (struct spmu_code){code_of(p, i), p->insn[i].length};
	return spmu_timed_block_create(activity_allocate(spmu_timed_block_bytes(p->n)),
				       timing_core(), p->pc[0], code, p->n);
}

struct activity_block *describe_path(const struct path *p)
{
	const struct insn *last = &p->insn[p->n - 1];
	struct activity_block *b;
	uint8_t words;
	unsigned n;

	if (!current->list->activity)
		return NULL;
	persistent_off(); /* code names descriptions, which are not saved */
	n = list_accesses(p, &words);
	b = activity_allocate(sizeof(*b) + n * sizeof(b->access[0]));
	*b = (struct activity_block){
		.code = {.pc = p->pc[0],
			 .target = last->target,
			 .bytes = (uint16_t)(p->pc[p->n] - p->pc[0]),
			 .branch_at = (uint16_t)(p->pc[p->n - 1] - p->pc[0]),
			 .branch = activity_branch_kind(last)},
		.run = {.linear = p->pc[0],
			.bytes = (uint32_t)(p->pc[p->n] - p->pc[0]),
			.accesses = n,
			.access = b->access},
		.insns = (uint8_t)p->n,
		.words = words,
	};
	if (current->list->activity & ACTIVITY_CLOCKS)
		b->timed = describe_time(p);
	memcpy(b->access, list, n * sizeof(list[0]));
	costs_describe(b, p->pc, p->insn);
	emit_choose_registers(registers_of(p, p->n), &b->log_register, &b->other_register);
	return b;
}

void describe_emit_begin(struct emit *e, const struct activity_block *b)
{
	emit_activity_begin(e, b->log_register, b->other_register, activity_number(b));
}

void describe_emit_insn(struct emit *e, const struct activity_block *b, unsigned insn)
{
	for (unsigned i = 0; i < b->run.accesses; i++) {
		const struct spmu_uarch_block_access *at = &b->access[i];

		if (at->insn != insn || !at->word)
			continue;
		if (address[i].index == INSN_NO_REG)
			emit_activity_register(e, b->log_register, at->word, address[i].base);
		else
			emit_activity_sum(e, b->log_register, b->other_register, at->word,
					  &address[i]);
	}
}

void describe_emit_end(struct emit *e, const struct activity_block *b)
{
	emit_activity_end(e, b->log_register, b->other_register, b->words);
}
