/* SPDX-License-Identifier: MIT */
/*
 * cesr.c: the two counters of a Pentium, which one register programs (18.23.1).
 *
 * A counter of clocks (duration) counts the clocks in which its event happens or lasts, however
 * often it happens in a clock. Only the counter's pin reports an overflow. Levels 0 to 2 are one
 * ring for this family (os_cpl in struct counter_layout).
 */
#include "src/pmu/core.h"
#include "src/pmu/counters.h"

#define COUNT_OS     1u /* of a CC field */
#define COUNT_USR    2u
#define COUNT_CLOCKS 4u

/* A counter's half of the register, at the position of counter 0's half. */
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
		if (!event || !event_supplied(core, event)) {
			thread->absent |= 1u << n;
			continue;
		}
		thread->counter[n] = (struct counter){
			.signals = event->signals,
			.at_least = (control(part) & COUNT_CLOCKS) != 0,
			.pin = pin_of(core, (part & FIELD(CESR, PC0)) != 0),
			.tallies = &thread->counter_tallies[n],
		};
		counter_adds_tally(&thread->counter[n], event->tally);
		thread->counter[n].rings[lp] =
			(uint8_t)((control(part) & COUNT_OS ? SPMU_RING0 : 0) |
				  (control(part) & COUNT_USR ? SPMU_RING_USER : 0));
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
