/* SPDX-License-Identifier: MIT */
/*
 * offcore.c: off-core response events, which a register of their own selects (18.9.5, 18.13.2).
 * It has bits for kinds of request, for who supplied the data, and for the outcome of snoops.
 *
 * A request is counted if its kind is selected, and either any response, or its supplier and its
 * outcome.  A host reports each kind of request with each kind of response as a tally.  So the
 * register selects a set of tallies.
 *
 * What comes from memory needs no snoop if the part is alone, or if it knows that no other socket
 * has the line (from Ice Lake server on).  Earlier servers ask the other sockets, which miss.
 * Intel's events of local memory select these outcomes.
 *
 * Simplified: M, E, S and F lines of the last level are one supplier.  No prefetcher makes
 * requests, and no other processor supplies anything, so bits for them add nothing.  Write-backs
 * are absent.
 */
#include "src/pmu/core.h"
#include "src/pmu/counters.h"

#define BIT(n) (UINT64_C(1) << (n))

/* Requests: demand data reads, reads for ownership, code reads; and others. */
#define REQUESTS     3
#define ALL_REQUESTS UINT64_C(0xffff)

/* Responses. */
#define ANY	   BIT(16)
#define LAST_LEVEL (BIT(18) | BIT(19) | BIT(20) | BIT(21))
#define NOT_NEEDED BIT(32) /* a snoop was not needed */
#define MISS	   BIT(33) /* nobody else had the line */
#define NO_FORWARD BIT(34) /* another core had it, unchanged */
#define MODIFIED   BIT(36) /* another core had changed it */

/* Returns whether a response with this supplier and this outcome is selected. */
static bool selects(uint64_t response, uint64_t supplier, uint64_t outcome)
{
	return response & ANY || (response & supplier && response & outcome);
}

/*
 * Which register selects: B7H and BBH are the codes up to Tiger Lake, 2AH and 2BH those after it.
 */
static unsigned register_of(unsigned code)
{
	return code != 0xb7 && code != 0x2a;
}

bool spmu_offcore_tallies(const struct spmu_model *model, uint64_t value,
			  struct spmu_tally_set *set)
{
	const bool selected[] = {
		selects(value, LAST_LEVEL, NOT_NEEDED),
		selects(value, LAST_LEVEL, NO_FORWARD),
		selects(value, LAST_LEVEL, MODIFIED),
		selects(value, model->counters->offcore_memory,
			model->asks_sockets ? MISS : NOT_NEEDED),
	};
	const unsigned responses = sizeof(selected) / sizeof(selected[0]);
	bool any = false;

	*set = (struct spmu_tally_set){{0}};
	for (unsigned i = 0; i < REQUESTS * responses; i++) {
		if (!(value >> i / responses & 1) || !selected[i % responses])
			continue;
		spmu_tally_set_add(set, SPMU_TALLY_OFFCORE_DATA_L3 + i);
		any = true;
	}
	return any && !(value & ALL_REQUESTS & ~(BIT(REQUESTS) - 1));
}

void offcore_adds(const struct spmu_core *core, const struct thread *thread,
		  const struct spmu_event *event, struct counter *counter)
{
	unsigned n = register_of(event->code & 0xff);
	struct spmu_tally_set set;

	(void)spmu_offcore_tallies(core->model, thread->state.reg[SLOT_OFFCORE_RSP + n], &set);
	for (unsigned tally = SPMU_TALLY_OFFCORE_DATA_L3; tally <= SPMU_TALLY_OFFCORE_CODE_MEMORY;
	     tally++)
		if (spmu_tally_set_has(&set, tally))
			counter_adds_tally(counter, tally);
}
