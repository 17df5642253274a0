/* SPDX-License-Identifier: MIT */
/* timeline_tallies.c: what a timeline has counted (timeline.c, account.c, front.c). */
#include "src/uarch/timeline.h"

/* After a misprediction dispatch waits for longer than the last instruction needs. */
static uint64_t now(const struct spmu_timeline *t)
{
	return later(t->retired, t->dispatched);
}

uint64_t spmu_timeline_clocks(const struct spmu_timeline *timeline)
{
	return now(timeline) / PART;
}

void spmu_timeline_account(struct spmu_timeline *timeline)
{
	if (!timeline->account.on)
		account_begin(&timeline->account, timeline->dispatched, now(timeline));
}

void spmu_timeline_follow_front(struct spmu_timeline *timeline)
{
	timeline->front.on = timeline->account.learns = timeline->core.front.decoders != 0;
}

uint64_t spmu_timeline_tally(const struct spmu_timeline *timeline, enum spmu_tally_kind tally)
{
	if (tally == SPMU_TALLY_CLEARS)
		return front_tally(&timeline->front, SPMU_TALLY_CLEARS_CODE) +
		       account_tally(&timeline->account, &timeline->core, now(timeline),
				     SPMU_TALLY_CLEARS_ORDER);
	if (spmu_tally_is_of_front(tally) && tally != SPMU_TALLY_CLEARS_ORDER)
		return front_tally(&timeline->front, tally);
	return account_tally(&timeline->account, &timeline->core, now(timeline), tally);
}
