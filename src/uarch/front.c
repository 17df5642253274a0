/* SPDX-License-Identifier: MIT */
/*
 * front.c: where a front end takes micro-operations from: the cache of decoded instructions (DSB),
 * the decoders (MITE), microcode (MS) or the loop buffer (LSD).
 *
 * Geometry and rules: Intel's Optimization Reference Manual (decoded ICache, loop stream detector),
 * and Abel and Reineke, "uiCA: Accurate Throughput Prediction of Basic Blocks on Recent Intel
 * Microarchitectures" (ICS 2022).  A way of the DSB has six micro-operations of 32 bytes of code.
 * Code that needs more than three ways is not kept.  An instruction of more than four
 * micro-operations comes from microcode.  A loop is in the loop buffer once two turns were equal.
 *
 * Simplified: nothing here delays dispatch.  The DSB replaces what was used least recently, and
 * does not lose lines that leave the first-level cache.  A way can have any number of branches.  Of
 * loops in loops, the buffer has the last one that began again.
 *
 * A store to a line from which code was fetched is a machine clear.  There is a place for each of
 * 512 lines, by their lowest bits.
 */
#include "src/uarch/front.h"

#define WINDOW		32u
#define WAY_UOPS	6u
#define WINDOW_WAYS_MAX 3u
#define FETCH_BYTES	16u /* that are decoded together */
#define MICROCODE_UOPS	4u  /* more come from microcode */
#define MICROCODE_CLOCK 4u  /* of them in a clock */
#define LINE_SHIFT	6u

/* Ends a clock: what comes next is delivered in another one. */
static void end_clock(struct front *f, const struct spmu_core_shape *core)
{
	static const uint8_t counts[] = {[SOURCE_DSB] = FRONT_CLOCKS_DSB,
					 [SOURCE_MITE] = FRONT_CLOCKS_MITE,
					 [SOURCE_LSD] = FRONT_CLOCKS_LSD};

	if (f->uops && f->source != SOURCE_MS) {
		f->n[counts[f->source]]++;
		f->n[counts[f->source] + 1] += f->uops >= core->width;
	}
	f->uops = 0;
	f->decoded = 0;
}

/* Takes the micro-operations of an instruction from a source, which delivers `most` in a clock. */
static void take(struct front *f, const struct spmu_core_shape *core, unsigned slots, unsigned most)
{
	if (f->uops + slots > most)
		end_clock(f, core);
	f->uops = (uint16_t)(f->uops + slots);
}

/* --- the cache of decoded instructions --- */

static struct front_window *find_window(struct front *f, const struct spmu_core_shape *core,
					uint64_t window)
{
	struct front_window *set = f->window[window % core->front.sets];

	for (unsigned i = 0; i < core->front.ways; i++)
		if (set[i].window == window + 1)
			return &set[i];
	return NULL;
}

/* Lets the set of a window have at most as many ways in use as there are. */
static void make_room(struct front *f, const struct spmu_core_shape *core,
		      const struct front_window *kept)
{
	struct front_window *set = f->window[(kept->window - 1) % core->front.sets];

	for (;;) {
		struct front_window *oldest = NULL;
		unsigned ways = 0;

		for (unsigned i = 0; i < core->front.ways; i++) {
			ways += set[i].window ? set[i].ways : 0;
			if (set[i].window && &set[i] != kept &&
			    (!oldest || set[i].used < oldest->used))
				oldest = &set[i];
		}
		if (ways <= core->front.ways || !oldest)
			return;
		oldest->window = 0;
	}
}

/* Gives a window a place, in that of the one that was used least recently. */
static struct front_window *place_window(struct front *f, const struct spmu_core_shape *core,
					 uint64_t window)
{
	struct front_window *set = f->window[window % core->front.sets], *best = set;

	for (unsigned i = 1; i < core->front.ways; i++)
		if (!set[i].window || (best->window && set[i].used < best->used))
			best = &set[i];
	*best = (struct front_window){.window = window + 1, .ways = 1};
	return best;
}

/* Keeps an instruction that was decoded. */
static void keep(struct front *f, const struct spmu_core_shape *core, uint64_t at, unsigned slots)
{
	struct front_window *w = find_window(f, core, at / WINDOW);

	if (!w)
		w = place_window(f, core, at / WINDOW);
	w->starts |= UINT32_C(1) << at % WINDOW;
	w->uops = (uint16_t)(w->uops + (slots > MICROCODE_UOPS ? WAY_UOPS : slots));
	w->ways = (uint8_t)((w->uops + WAY_UOPS - 1) / WAY_UOPS);
	w->ways = w->ways ? w->ways : 1;
	w->used = ++f->time;
	if (w->ways > WINDOW_WAYS_MAX) {
		w->refused = true;
		w->ways = 1;
	}
	make_room(f, core, w);
}

/* Returns whether the instruction at an address is there. */
static bool has(struct front *f, const struct spmu_core_shape *core, uint64_t at)
{
	struct front_window *w = core->front.sets ? find_window(f, core, at / WINDOW) : NULL;

	if (!w || w->refused || !(w->starts >> at % WINDOW & 1))
		return false;
	w->used = ++f->time;
	return true;
}

/* --- sources --- */

static void switch_to(struct front *f, const struct spmu_core_shape *core, enum front_source source)
{
	if (f->source == source)
		return;
	end_clock(f, core);
	if (source == SOURCE_MS) {
		f->n[FRONT_MS_SWITCHES]++;
		f->n[FRONT_MS_DSB_SWITCHES] += f->source == SOURCE_DSB;
	}
	f->n[FRONT_DSB_SWITCHES] += f->source == SOURCE_DSB && source == SOURCE_MITE;
	f->source = (uint8_t)source;
}

/* Begins another clock if code is from another piece than before. */
static void enter_piece(struct front *f, const struct spmu_core_shape *core, uint64_t piece)
{
	if (piece != f->piece)
		end_clock(f, core);
	f->piece = piece;
}

static void from_microcode(struct front *f, const struct spmu_core_shape *core, unsigned slots,
			   bool dsb)
{
	uint64_t clocks = (slots + MICROCODE_CLOCK - 1) / MICROCODE_CLOCK;

	switch_to(f, core, dsb ? SOURCE_DSB : SOURCE_MITE);
	switch_to(f, core, SOURCE_MS);
	f->n[FRONT_UOPS_MS] += slots;
	f->n[dsb ? FRONT_UOPS_MS_DSB : FRONT_UOPS_MS_MITE] += slots;
	f->n[FRONT_CLOCKS_MS] += clocks;
	f->n[dsb ? FRONT_CLOCKS_MS_DSB : FRONT_CLOCKS_MS_MITE] += clocks;
}

static void from_decoders(struct front *f, const struct spmu_core_shape *core,
			  const struct timed_insn *in, uint64_t at)
{
	switch_to(f, core, SOURCE_MITE);
	enter_piece(f, core, at / FETCH_BYTES);
	f->n[FRONT_DECODED_INSNS]++;
	if (in->mark == MARK_LENGTH)
		f->n[FRONT_CLOCKS_LENGTH] += core->front.length;
	if (!in->slots)
		return;
	/* Only the first decoder makes more than one micro-operation. */
	if (f->decoded == core->front.decoders || (f->decoded && in->slots > 1))
		end_clock(f, core);
	f->decoded++;
	f->n[FRONT_UOPS_MITE] += in->slots;
	take(f, core, in->slots, UINT16_MAX);
}

static void from_dsb(struct front *f, const struct spmu_core_shape *core,
		     const struct timed_insn *in, uint64_t at)
{
	switch_to(f, core, SOURCE_DSB);
	enter_piece(f, core, at / WINDOW);
	f->n[FRONT_UOPS_DSB] += in->slots;
	take(f, core, in->slots, core->front.deliver);
}

/* --- the loop buffer --- */

/* Begins a turn, or a loop, at the target of a branch.  Returns whether the buffer has the
 * block. */
static bool in_loop(struct front *f, const struct spmu_core_shape *core,
		    const struct spmu_timed_block *b, unsigned uops, uint64_t before)
{
	struct front_loop *l = &f->loop;

	if (!core->front.loop)
		return false;
	if (b->linear == l->first) {
		l->held = l->uops && l->uops == l->last_uops && l->blocks == l->last_blocks;
		l->last_uops = l->uops;
		l->last_blocks = l->blocks;
		l->uops = l->blocks = 0;
	} else if (b->linear < before && (!l->held || l->uops > l->last_uops)) {
		*l = (struct front_loop){.first = b->linear};
	}
	l->uops += uops;
	l->blocks++;
	if (l->uops > core->front.loop ||
	    (l->held && (l->uops > l->last_uops || l->blocks > l->last_blocks)))
		*l = (struct front_loop){.first = 0};
	return l->held;
}

/* Returns the micro-operations of a block; more than any loop buffer holds if there is
 * microcode. */
static unsigned loop_uops(const struct spmu_timed_block *b, unsigned insns)
{
	unsigned uops = 0;

	for (unsigned i = 0; i < insns; i++) {
		if (b->insn[i].slots > MICROCODE_UOPS)
			return UINT16_MAX;
		uops += b->insn[i].slots;
	}
	return uops;
}

static void run_loop(struct front *f, const struct spmu_core_shape *core, unsigned uops)
{
	switch_to(f, core, SOURCE_LSD);
	f->n[FRONT_UOPS_LSD] += uops;
	for (; uops; uops--)
		take(f, core, 1, core->width);
}

/* --- what is fetched --- */

static void note_fetch(struct front *f, const struct spmu_timed_block *b, uint64_t before)
{
	uint64_t *known = &f->branch[(before ^ before >> 12) % FRONT_BRANCHES];

	for (uint64_t line = b->linear >> LINE_SHIFT; line <= (b->end - 1) >> LINE_SHIFT; line++)
		f->line[line % FRONT_LINES] = line;
	if (b->linear == before || !before)
		return;
	f->n[FRONT_RESTEERS] += *known != before;
	*known = before;
}

void front_run(struct front *f, const struct spmu_core_shape *core,
	       const struct spmu_timed_block *block, unsigned insns, uint64_t before)
{
	uint64_t at = block->linear, missed = 0;
	unsigned uops = loop_uops(block, insns);

	note_fetch(f, block, before);
	if (in_loop(f, core, block, uops, before)) {
		run_loop(f, core, uops);
		return;
	}
	if (block->linear != before)
		end_clock(f, core);
	for (unsigned i = 0; i < insns; at += block->insn[i++].length) {
		const struct timed_insn *in = &block->insn[i];
		bool dsb = has(f, core, at);

		if (!dsb && core->front.sets) {
			f->n[FRONT_DSB_MISSES] += missed != at / WINDOW + 1;
			missed = at / WINDOW + 1;
			keep(f, core, at, in->slots);
		}
		if (in->slots > MICROCODE_UOPS)
			from_microcode(f, core, in->slots, dsb);
		else if (dsb)
			from_dsb(f, core, in, at);
		else
			from_decoders(f, core, in, at);
	}
}

void front_store(struct front *f, uint64_t linear)
{
	uint64_t *line = &f->line[(linear >> LINE_SHIFT) % FRONT_LINES];

	if (*line != linear >> LINE_SHIFT)
		return;
	f->n[FRONT_CLEARS_CODE]++;
	*line = 0;
}

uint64_t front_tally(const struct front *f, unsigned tally)
{
	unsigned count = tally - SPMU_TALLY_UOPS_DSB;

	switch (count) {
	case FRONT_UOPS_IDQ:
		return f->n[FRONT_UOPS_DSB] + f->n[FRONT_UOPS_MITE] + f->n[FRONT_UOPS_MS];
	case FRONT_UOPS_ANY_DSB:
		return f->n[FRONT_UOPS_DSB] + f->n[FRONT_UOPS_MS_DSB];
	case FRONT_UOPS_ANY_MITE:
		return f->n[FRONT_UOPS_MITE] + f->n[FRONT_UOPS_MS_MITE];
	case FRONT_CLOCKS_ANY_DSB:
		return f->n[FRONT_CLOCKS_DSB] + f->n[FRONT_CLOCKS_MS_DSB];
	case FRONT_CLOCKS_ANY_MITE:
		return f->n[FRONT_CLOCKS_MITE] + f->n[FRONT_CLOCKS_MS_MITE];
	default:
		return count < FRONT_COUNTS ? f->n[count] : 0;
	}
}

_Static_assert(SPMU_TALLY_CLEARS_CODE - SPMU_TALLY_UOPS_DSB == FRONT_CLEARS_CODE, "the same order");

bool spmu_tally_is_of_front(unsigned tally)
{
	return (tally >= SPMU_TALLY_UOPS_DSB && tally <= SPMU_TALLY_CLEARS_CODE) ||
	       tally == SPMU_TALLY_CLEARS_ORDER || tally == SPMU_TALLY_CLEARS;
}
