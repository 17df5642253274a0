/* SPDX-License-Identifier: MIT */
/*
 * event_meaning.c: how the count of an event is computed, in the words of signals.h and tallies.h.
 */
#include "tools/softpmu/events/event_meaning.h"

#include <stdlib.h>
#include <string.h>

#include <hosts/user/launch.h>

#include "tools/softpmu/base/tool.h"

/* Adds words to a text that is to be freed. */
static char *add(char *text, const char *between, const char *words)
{
	char *longer = text ? tool_print("%s%s%s", text, between, words) : tool_copy(words);

	free(text);
	return longer;
}

static char *meaning_of_signals(uint64_t signals)
{
	char *text = NULL;

	for (unsigned s = 0; s < SPMU_SIGNALS; s++)
		if (signals >> s & 1)
			text = add(text, "; ", spmu_signal_meaning((enum spmu_signal)s));
	return text;
}

static bool is_supplied(unsigned tally)
{
	return spmu_tally_set_has(&launch_supply.exact_tallies, tally) ||
	       spmu_tally_set_has(&launch_supply.modelled_tallies, tally);
}

/* Returns the sentence without its end. */
static char *counted(const struct spmu_event *row)
{
	const uint64_t judged = SPMU_SIGBIT(BRANCH_MISS) | SPMU_SIGBIT(BRANCH_PREDICTED);
	uint64_t kinds = row->signals & ~judged;
	char *text;

	if (row->instead && is_supplied(row->instead))
		return add(tool_copy("Counts each "), "", spmu_tally_meaning(row->instead));
	if (row->tally && !row->signals)
		return add(tool_copy("Counts each "), "", spmu_tally_meaning(row->tally));
	text = meaning_of_signals(kinds && kinds != row->signals ? kinds : row->signals);
	if (kinds && kinds != row->signals)
		return add(tool_copy(row->signals & SPMU_SIGBIT(BRANCH_MISS)
					     ? "Counts the mispredicted ones of: "
					     : "Counts the predicted ones of: "),
			   "", text);
	text = add(tool_copy("Counts each "), "", text);
	return row->tally ? add(text, "; ", spmu_tally_meaning(row->tally)) : text;
}

char *event_meaning(const struct spmu_event *row)
{
	enum spmu_fidelity fidelity = spmu_event_fidelity(row, &launch_supply);

	if (fidelity == SPMU_ABSENT)
		return NULL;
	return add(counted(row), "", fidelity == SPMU_EXACT ? "." : ", by a model.");
}
