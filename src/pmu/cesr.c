/* SPDX-License-Identifier: MIT */
/*
 * cesr.c: the two counters of a Pentium, programmed by one register (18.23.1).
 *
 * A counter that counts clocks (duration) counts those in which its event happens or lasts,
 * however often it happens in one.  Nothing tells of an overflow but the counter's pin.
 * CPL 0 to 2 are one ring for it (os_cpl in struct counter_layout).
 */
#include "src/pmu/core.h"

#define COUNT_OS     1u /* of a CC field */
#define COUNT_USR    2u
#define COUNT_CLOCKS 4u

/* A counter's half of the register, in the place of counter 0's. */
static uint64_t half(const struct thread_state *state, unsigned n)
{
	return state->reg[SLOT_PERFEVTSEL] >> (FIELD_LOW(CESR, ES1) * n);
}

static unsigned control(uint64_t part)
{
	return (unsigned)((part & FIELD(CESR, CC0)) >> FIELD_LOW(CESR, CC0));
}

void cesr_update(const struct spmu_core *core, struct thread *thread)
{
	unsigned lp = thread_number(core, thread);

	for (unsigned n = 0; n < core->general; n++) {
		uint64_t part = half(&thread->state, n);
		unsigned code = (unsigned)(part & FIELD(CESR, ES0));
		const struct spmu_event *event = event_on(core->model, code, n);

		if (!(control(part) & (COUNT_OS | COUNT_USR)))
			continue;
		if (!event || !signals_supplied(core, event->signals)) {
			thread->absent |= 1u << n;
			continue;
		}
		thread->counter[n] = (struct counter){
			.signals = event->signals,
			.at_least = (control(part) & COUNT_CLOCKS) != 0,
			.pin = pin_of(core, (part & FIELD(CESR, PC0)) != 0),
		};
		thread->counter[n].rings[lp] =
			(uint8_t)((control(part) & COUNT_OS ? SPMU_RING0 : 0) |
				  (control(part) & COUNT_USR ? SPMU_RINGX : 0));
		thread->active |= 1u << n;
	}
}

uint32_t cesr_clocked(const struct spmu_core *core, const struct thread_state *state)
{
	uint32_t clocked = 0;

	for (unsigned n = 0; n < core->general; n++)
		if (control(half(state, n)) & COUNT_CLOCKS)
			clocked |= 1u << n;
	return clocked;
}
