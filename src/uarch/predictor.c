/* SPDX-License-Identifier: MIT */
/*
 * predictor.c: branch predictors: two-bit counters by address or by address and history (Smith,
 * ISCA 1981; McFarling, DEC WRL TN-36, 1993), a table of last targets for indirect branches, and a
 * stack of return addresses.  tage.c has the tagged tables.
 *
 * Simplified: a branch is predicted when it is reported, with the outcomes of all earlier ones.  No
 * instruction runs on a wrong path.
 */
#include "src/uarch/predictor.h"

#include <string.h>

static unsigned counter_bits(const struct spmu_predictor_shape *shape)
{
	switch ((enum spmu_conditional_predictor)shape->conditional) {
	case SPMU_PREDICT_NONE:
		return 0;
	case SPMU_PREDICT_GSELECT:
		return shape->address_bits + shape->history_bits;
	case SPMU_PREDICT_BIMODAL:
	case SPMU_PREDICT_GSHARE:
	case SPMU_PREDICT_TAGE:
		break;
	}
	return shape->address_bits;
}

static size_t counters(const struct spmu_predictor_shape *shape)
{
	return shape->conditional ? (((size_t)1 << counter_bits(shape)) + 7) & ~(size_t)7 : 0;
}

static size_t targets(const struct spmu_predictor_shape *shape)
{
	return shape->indirect_bits ? (size_t)1 << shape->indirect_bits : 0;
}

size_t predictor_bytes(const struct spmu_predictor_shape *shape)
{
	return counters(shape) + targets(shape) * sizeof(uint64_t) +
	       shape->return_stack * sizeof(uint64_t) + tage_bytes(shape);
}

uint8_t *predictor_create(struct predictor *p, uint8_t *memory,
			  const struct spmu_predictor_shape *shape)
{
	size_t bytes = predictor_bytes(shape);

	memset(p, 0, sizeof(*p));
	memset(memory, 0, bytes);
	p->shape = *shape;
	p->target = (uint64_t *)(void *)memory;
	p->stack = p->target + targets(shape);
	p->counter = (uint8_t *)(p->stack + shape->return_stack);
	tage_create(&p->tage, p->counter + counters(shape), shape);
	return memory + bytes;
}

static uint64_t low(uint64_t value, unsigned bits)
{
	return value & ((UINT64_C(1) << bits) - 1);
}

static uint8_t *counter_of(struct predictor *p, uint64_t from)
{
	const struct spmu_predictor_shape *s = &p->shape;
	uint64_t address = low(from, s->address_bits);

	if (s->conditional == SPMU_PREDICT_GSELECT)
		return &p->counter[low(p->history, s->history_bits) << s->address_bits | address];
	if (s->conditional == SPMU_PREDICT_GSHARE)
		return &p->counter[address ^
				   low(low(p->history, s->history_bits), s->address_bits)];
	return &p->counter[address];
}

bool predictor_conditional(struct predictor *p, uint64_t from, bool taken)
{
	uint8_t *counter;
	bool missed;

	if (p->shape.conditional == SPMU_PREDICT_NONE)
		return false;
	counter = counter_of(p, from);
	if (p->shape.conditional == SPMU_PREDICT_TAGE)
		return tage_conditional(&p->tage, counter, from, taken);
	missed = (*counter >= 2) != taken;
	predictor_learn(counter, taken);
	p->history = p->history << 1 | taken;
	return missed;
}

void predictor_conditionals(struct predictor *p, const struct spmu_uarch_outcome *list,
			    size_t count, uint64_t missed[2])
{
	if (p->shape.conditional == SPMU_PREDICT_TAGE)
		tage_conditionals(&p->tage, p->counter, low(UINT64_MAX, p->shape.address_bits),
				  list, count, missed);
	else
		for (size_t i = 0; i < count; i++)
			missed[list[i].taken] +=
				predictor_conditional(p, list[i].from, list[i].taken);
}

/*
 * Predicts an indirect branch. The address and five bits of each of the newest targets form the
 * index.
 */
bool predictor_indirect(struct predictor *p, uint64_t from, uint64_t to)
{
	const struct spmu_predictor_shape *s = &p->shape;
	uint64_t path = low(p->path, s->indirect_history < 12 ? 5 * s->indirect_history : 60);
	uint64_t *target;
	bool missed;

	if (!s->indirect_bits)
		return false;
	for (unsigned shift = 30; shift >= s->indirect_bits; shift /= 2)
		path ^= path >> shift;
	target = &p->target[low(from ^ path, s->indirect_bits)];
	missed = *target != to;
	*target = to;
	p->path = p->path << 5 ^ low(to ^ to >> 5, 5) ^ low(to >> 10, 5);
	return missed;
}

void predictor_call(struct predictor *p, uint64_t next)
{
	if (!p->shape.return_stack)
		return;
	p->top = p->top + 1 == p->shape.return_stack ? 0 : p->top + 1;
	p->stack[p->top] = next;
}

bool predictor_return(struct predictor *p, uint64_t to)
{
	uint64_t predicted;

	if (!p->shape.return_stack)
		return false;
	predicted = p->stack[p->top];
	p->top = (p->top ? p->top : p->shape.return_stack) - 1;
	return predicted != to;
}
