/* SPDX-License-Identifier: MIT */
/*
 * tool_samples.c: samples of the tool's events, from the driver's service routine to the ring.
 *
 * If the tool wants the stack, the routine runs directly after the instruction that made the
 * record.  So the stack is that of the record.
 */
#include "engine/count/tool_samples.h"

#include <linux/time.h>

#include "engine/count/event_set.h"
#include "engine/count/samples.h"
#include "engine/count/stack.h"
#include "engine/count/unit_host.h"
#include "engine/rt/context.h"
#include "engine/rt/engine.h"
#include "engine/rt/sys.h"

/* Returns the next random number of a sequence that is the same in each run (splitmix64). */
static uint64_t random_next(uint64_t *state)
{
	uint64_t n = *state += UINT64_C(0x9e3779b97f4a7c15);

	n = (n ^ n >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	n = (n ^ n >> 27) * UINT64_C(0x94d049bb133111eb);
	return n ^ n >> 31;
}

/* Returns the period of the event or, with jitter, a random one at most a quarter away.  Periods of
 * one length would always sample the same instructions of a loop whose length divides them. */
uint64_t tool_samples_period(unsigned e)
{
	struct counting *c = current->counting;
	uint64_t quarter = c->event[e].period / 4, random;

	if (!engine_link->event[e].jitter)
		return c->event[e].period;
	random = random_next(&c->event[e].random);
	return c->event[e].period - quarter +
	       (uint64_t)((unsigned __int128)random * (2 * quarter + 1) >> 64);
}

static void begin_period(unsigned e)
{
	struct counting *c = current->counting;

	(void)event_set_period(&c->set, c->event[e].number, tool_samples_period(e));
}

/* Adapts the period to the rate of samples that the tool asks for. */
static void adapt_period(unsigned e, uint64_t tsc, uint64_t passed)
{
	struct counting *c = current->counting;
	struct samples_rate rate = {
		.frequency = engine_link->event[e].frequency,
		.period = c->event[e].period,
		.least = c->event[e].least,
		.passed = passed,
		.elapsed = tsc - c->event[e].last_tsc,
		.ticks = tsc - c->start_tsc,
		.ns = sys_clock_ns(CLOCK_MONOTONIC) - c->start_ns,
	};

	c->event[e].last_tsc = tsc;
	c->event[e].period = samples_next_period(&rate);
}

bool tool_samples_vary(unsigned e)
{
	return engine_link->event[e].frequency || engine_link->event[e].jitter;
}

/* Copies a stack up to its end.  If RSP is not in it, but in memory that the program uses as
 * another one, `end` is far away, and the copy is as large as it may be. */
static uint32_t copy_stack(void *to, uint64_t rsp, uint64_t end)
{
	uint64_t start = rsp - LINK_STACK_BELOW, bytes = end - start;

	if (bytes > engine_link->stack_bytes)
		bytes = engine_link->stack_bytes;
	return (uint32_t)stack_copy(to, start, bytes) & ~7u;
}

/* Takes the thread's registers and a copy of its stack.  Returns where they end. */
static uint64_t *take_stack(struct link_sample *out, uint64_t *at)
{
	struct spmu_registers *now = (struct spmu_registers *)at;
	uint64_t rsp, top = current->stack_top;
	bool alternate;

	unit_host_registers(now);
	rsp = now->rsp;
	at += LINK_REGISTERS;
	alternate = rsp > current->signals.alternate.start && rsp <= current->signals.alternate.end;
	out->stack = copy_stack(at, rsp, alternate ? current->signals.alternate.end : top);
	at += out->stack / sizeof(*at);
	if (!out->stack)
		return at - LINK_REGISTERS;
	if (alternate) {
		out->interrupted_rsp = current->signals.alternate.interrupted;
		out->interrupted_stack = copy_stack(at, out->interrupted_rsp, top);
	}
	return at + out->interrupted_stack / sizeof(*at);
}

static size_t take_chain(uint64_t ip, uint64_t *chain)
{
	struct spmu_registers now;

	unit_host_registers(&now);
	return stack_walk(ip, now.rbp, LINK_CHAIN_MAX, chain);
}

/* Takes what follows the record, as the tool has asked.  Returns where it ends. */
static uint64_t *take_rest(struct link_sample *out, const struct spmu_sample *sample)
{
	uint64_t *at = (uint64_t *)(out + 1);

	if (engine_link->want & LINK_WANT_REGS) {
		_Static_assert(sizeof(sample->record->regs) == 8 * LINK_REGISTERS,
			       "in the same order");
		memcpy(at, &sample->record->regs, sizeof(sample->record->regs));
		at += LINK_REGISTERS;
		out->registers = LINK_REGISTERS;
	}
	for (unsigned i = 0; i < sample->branch_count; i++) {
		*at++ = sample->branches[i].from;
		*at++ = sample->branches[i].to;
		*at++ = samples_branch_flags(current->counting->unit[0].model,
					     &sample->branches[i]);
	}
	if (engine_link->want & LINK_WANT_CHAINS) {
		out->chain = (uint32_t)take_chain(out->ip, at);
		at += out->chain;
	}
	return engine_link->want & LINK_WANT_STACKS ? take_stack(out, at) : at;
}

void tool_samples_prepare(struct counting *c)
{
	size_t words = 2 * LINK_REGISTERS + 3 * SPMU_LBR_DEPTH_MAX + LINK_CHAIN_MAX;

	if (!c->room)
		c->room = heap_allocate(
			sizeof(struct link_sample) + sizeof(uint64_t) * words +
			(engine_link->want & LINK_WANT_STACKS ? 2 * engine_link->stack_bytes : 0));
}

void tool_samples_take(const struct spmu_sample *sample)
{
	const struct spmu_pebs_record *r = sample->record;
	struct link_sample *out = current->counting->room;

	*out = (struct link_sample){
		.header.type = LINK_REC_SAMPLE,
		.branches = (uint16_t)sample->branch_count,
		.pid = current->pid,
		.tid = current->tid,
		.event = sample->tag,
		/* Formats before 2 hold only the next instruction's address. */
		.precise = sample->precise && r->eventing_ip,
		.tsc = sample->tsc,
		.ip = sample->ip,
		.period = sample->period,
		.data_address = r->data_address,
		.latency = (uint32_t)r->latency,
		.data_source = (uint32_t)r->data_source,
	};
	out->header.bytes = (uint32_t)((uint64_t)take_rest(out, sample) - (uint64_t)out);
	ring_write(&out->header);
	if (engine_link->event[sample->tag].frequency)
		adapt_period(sample->tag, sample->tsc, sample->period);
	if (tool_samples_vary(sample->tag))
		begin_period(sample->tag);
}
