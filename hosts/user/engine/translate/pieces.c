/* SPDX-License-Identifier: MIT */
/*
 * pieces.c: static clocks of instructions that run as precise steps.
 *
 * The clocks of an instruction depend on the piece of straight code in which it is, from the place
 * where control came to it (path_clocks.c).  So a thread that steps remembers its piece.  It steps
 * to the end of it, because bulk code that began in the middle would be another piece.
 */
#include "engine/translate/pieces.h"

#include <hosts/user/hash.h>
#include <softpmu/uarch_time.h>

#include "engine/cache/cache.h"
#include "engine/count/meter_list.h"
#include "engine/count/units.h"
#include "engine/memory/regions.h"
#include "engine/rt/context.h"
#include "engine/rt/engine.h"
#include "engine/rt/run_state.h"
#include "engine/rt/sys.h"
#include "engine/translate/path.h"
#include "engine/translate/translate.h"
#include "engine/x86/keys.h"

#define PIECES_BETWEEN 64 /* two branches, at most */
#define PIECES_SHIFT   12 /* bits of the number of pieces that a thread keeps */

struct piece {
	uint64_t pc, changes; /* number of code changes when it was made */
	unsigned insns;
	uint16_t clocks[PLAIN_INSNS_MAX];
	uint8_t length[PLAIN_INSNS_MAX];
};

struct pieces {
	struct piece piece[1 << PIECES_SHIFT];
	struct piece in;   /* the thread's; without instructions: none */
	unsigned at;	   /* the instruction that was stepped last, or is stepped next */
	uint64_t pc, next; /* of that instruction, and after it */
};

static struct pieces *mine(void)
{
	struct counting *c = current->counting;

	if (!c->pieces)
		c->pieces = heap_allocate(sizeof(*c->pieces));
	return c->pieces;
}

static void make(struct piece *piece, uint64_t pc)
{
	struct path p;
	READING_CODE;

	path_of_block(&p, pc, region_block_end(pc), PLAIN_INSNS_MAX, false);
	if (!current->list->clocks) /* steps count by clocks */
		path_clocks(&p);
	*piece = (struct piece){.pc = pc, .changes = cache_changes, .insns = p.n};
	for (unsigned i = 0; i < p.n; i++) {
		piece->clocks[i] = p.clocks[i];
		piece->length[i] = p.insn[i].length;
	}
}

static void go_on(struct pieces *mine)
{
	mine->pc = mine->next;
	mine->next += mine->in.length[mine->at];
}

/* Returns the piece at pc.  It has no instructions if no code is there. */
static const struct piece *find(struct pieces *mine, uint64_t pc)
{
	struct piece *piece = &mine->piece[hash_of(pc) >> (64 - PIECES_SHIFT)];

	if (piece->pc != pc || piece->changes != cache_changes || !piece->insns)
		make(piece, pc);
	return piece;
}

/* Begins the piece at pc. */
static void begin(struct pieces *mine, uint64_t pc)
{
	mine->in = *find(mine, pc);
	mine->at = 0;
	mine->next = pc;
	go_on(mine);
}

/* Steps to the instruction at pc, within the piece or at the begin of another one. */
static void step_to(struct pieces *mine, uint64_t pc)
{
	if (!mine->in.insns || mine->in.changes != cache_changes)
		begin(mine, pc);
	else if (pc == mine->next && mine->at + 1 < mine->in.insns)
		mine->at++, go_on(mine);
	else if (pc != mine->pc)
		begin(mine, pc);
}

unsigned pieces_clocks(const struct step *s)
{
	struct pieces *p = mine();

	if (region_is_volatile(s->pc) || current->run.unwatched) {
		p->in.insns = 0; /* what follows may not be there yet */
		return SPMU_CLOCK_PARTS;
	}
	step_to(p, s->pc);
	return p->in.insns ? p->in.clocks[p->at] : SPMU_CLOCK_PARTS;
}

unsigned pieces_enter(uint64_t pc, unsigned index)
{
	struct pieces *p = mine();
	unsigned parts = 0;

	for (begin(p, pc); p->at < index && p->at + 1 < p->in.insns; go_on(p))
		parts += p->in.clocks[p->at++];
	return parts;
}

bool pieces_inside(void)
{
	const struct pieces *p = current->list->clocks ? current->counting->pieces : NULL;

	return p && p->at + 1 < p->in.insns && current->pc == p->next;
}

unsigned pieces_between(uint64_t pc, uint64_t last, bool included)
{
	struct pieces *p = mine();
	const struct piece *piece;
	unsigned parts = 0;

	for (unsigned n = 0; n < PIECES_BETWEEN && !region_is_volatile(pc); n++) {
		piece = find(p, pc);
		for (unsigned i = 0; i < piece->insns; i++) {
			if (pc == last)
				return parts + (included ? piece->clocks[i] : 0);
			parts += piece->clocks[i];
			pc += piece->length[i];
		}
		if (!piece->insns || pc > last)
			break;
	}
	return 0;
}

void pieces_leave(void)
{
	if (current->list->clocks && current->counting->pieces)
		current->counting->pieces->in.insns = 0;
}
