/* SPDX-License-Identifier: MIT */
/*
 * path_clocks.c: what the instructions of a path add to the time of the machine's core if nothing
 * misses: static clocks (softpmu/uarch_time.h).
 *
 * The core's model sees each piece of straight code alone, again and again, up to the branch that
 * ends it.  So a piece has the same clocks in each path that begins it.  A jump back into a piece
 * is a loop: its turn is a piece of its own.
 */
#include <softpmu/uarch_time.h>

#include "engine/count/meter_list.h"
#include "engine/count/units.h"
#include "engine/rt/context.h"
#include "engine/rt/engine.h"
#include "engine/rt/sys.h"
#include "engine/translate/path.h"
#include "engine/x86/emit.h"

static const struct spmu_core_shape *core(void)
{
	static const struct spmu_core_shape *found;

	if (!found)
		found = spmu_core_shape_find(engine_link->core);
	return found;
}

/* Returns the thread's timeline. */
static struct spmu_timeline *scratch(void)
{
	struct counting *c = current->counting;

	if (!c->scratch && spmu_timeline_create(heap_allocate(spmu_timeline_bytes()), core(),
						&c->scratch) != SPMU_OK)
		engine_fail(125, "the model of time cannot be created");
	return c->scratch;
}

/* Returns whether instruction i has a known target that is not ahead, to which it mostly goes. */
static bool goes_back(const struct path *p, unsigned i)
{
	return (path_is_conditional(&p->insn[i]) || p->insn[i].kind == INSN_JMP_REL) &&
	       p->insn[i].target <= p->pc[i];
}

/* Returns whether the instruction is alone in its piece: some events need it to be so. */
static bool is_alone(const struct insn *insn)
{
	return insn->rep || insn->memory_kind == INSN_MEM_XLAT;
}

static bool ends_piece(const struct insn *insn)
{
	return is_alone(insn) || path_is_conditional(insn) || path_is_indirect(insn) ||
	       insn->kind == INSN_JMP_REL || insn->kind == INSN_CALL_REL ||
	       insn->kind == INSN_SYSCALL;
}

/* Lists the memory operands of instructions first to end-1 that may meet.  Returns their number. */
static unsigned list_places(const struct path *p, unsigned first, unsigned end,
			    struct spmu_timed_place *place)
{
	struct insn_access access[INSN_ACCESSES_MAX];
	unsigned n = 0;

	for (unsigned i = first; i < end; i++) {
		unsigned count =
			insn_accesses(&p->insn[i], (const uint8_t *)p->pc[i], p->pc[i], access);

		for (unsigned k = 0; k < count && n < SPMU_PLACES_MAX; k++) {
			unsigned kind = access[k].kind & SPMU_ACCESS_DATA;

			if (!kind || access[k].index != INSN_NO_REG || access[k].in_fs ||
			    access[k].in_gs || access[k].in_al)
				continue;
			place[n++] = (struct spmu_timed_place){
				.displacement = access[k].displacement,
				.base = access[k].base == INSN_NO_REG ? SPMU_PLACE_CONSTANT
								      : access[k].base,
				.insn = (uint8_t)(i - first),
				.kind = (uint8_t)kind,
			};
		}
	}
	return n;
}

/* Finds the clocks of instructions first to end-1. */
static void find_clocks(struct path *p, unsigned first, unsigned end)
{
	const struct insn *last = &p->insn[end - 1];
	struct spmu_code code[BLOCK_INSNS_MAX];
	uint64_t memory[(SPMU_TIMED_BLOCK_OF_ONE * BLOCK_INSNS_MAX) / sizeof(uint64_t)];
	struct spmu_timed_place place[SPMU_PLACES_MAX];
	struct spmu_timed_block *block;
	bool taken = ends_piece(last) && !is_alone(last) &&
		     (!path_is_conditional(last) || goes_back(p, end - 1));
	unsigned i = first;

	do
		code[i - first] = (struct spmu_code){(const uint8_t *)p->pc[i], p->insn[i].length};
	while (++i < end);
	block = spmu_timed_block_create(memory, core(), p->pc[first], code, end - first);
	spmu_timed_block_clocks(block, scratch(), taken, place, list_places(p, first, end, place),
				p->clocks + first);
}

/* Returns the instruction after `first` to which the last of a piece goes back; `end`: none. */
static unsigned loop_head(const struct path *p, unsigned first, unsigned end)
{
	for (unsigned i = first + 1; i < end && goes_back(p, end - 1); i++)
		if (p->pc[i] == p->insn[end - 1].target)
			return i;
	return end;
}

/* Returns where the piece ends that begins at instruction `first`.  Where blocks that log for a
 * model of the machine end early (describe.c), pieces do so in each run. */
static unsigned end_of_piece(const struct path *p, unsigned first)
{
	unsigned used = 0, end = first;
	uint8_t log, other;

	do {
		used |= emit_high_registers(&p->insn[end], (const uint8_t *)p->pc[end]);
		if (end > first && !emit_choose_registers(used, &log, &other))
			return end;
		end++;
	} while (end < p->n && end - first < PLAIN_INSNS_MAX && !ends_piece(&p->insn[end - 1]) &&
		 !is_alone(&p->insn[end]));
	return end;
}

void path_clocks(struct path *p)
{
	unsigned end, head;

	for (unsigned first = 0; first < p->n; first = end) {
		end = end_of_piece(p, first);
		head = loop_head(p, first, end);
		find_clocks(p, first, head);
		if (head < end)
			find_clocks(p, head, end);
	}
}

void path_clocks_cut(struct path *p)
{
	while (current->list->clocks && p->n && !ends_piece(&p->insn[p->n - 1]))
		p->n--;
}
